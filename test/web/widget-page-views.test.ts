/** Page views that a limit refuses: what the widget draws without an answer, when it asks again, and what that leaves of the chat. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { findViolationsInState } from "../support/axe.ts";
import { hasCount, keepScreenshot } from "../support/browser.ts";
import { eventually } from "../support/eventually.ts";
import { openWidgetWorld, styleOf, tag, type WidgetWorld, widgetOn } from "../support/widget-world.ts";

let world: WidgetWorld;

beforeAll(async () => {
  world = await openWidgetWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

test("a network with too many requests is told that, and the first message goes out once the limit allows it", async () => {
  await using limited = await openWidgetWorld({ env: { COMPANIOND_RATE_PER_IP: "1" } });
  const { embed_token } = await limited.createCompanion();
  await fetch(`${limited.server.url}/api/embed/${embed_token}`);
  const { page } = await limited.open();
  await page.clock.install();
  await page.goto(limited.host(tag(limited.server, embed_token)));
  const widget = widgetOn(page);
  await widget.open();
  await widget.notice.getByText(/^Too many requests came from this network\. Try again in \d+ s\.$/).waitFor();
  // Whoever can write has been told to whom.
  expect(await widget.log.innerText()).toContain("You are chatting with an AI assistant.");
  await keepScreenshot(page, "busy-from-the-start");
  // What was said to screen readers is not found again below the notice.
  const sentences = widget.element.getByText("Too many requests came from this network.");
  await page.clock.runFor(5_000);
  await hasCount(sentences, 1);
  await widget.ask("Keep this");
  await widget.notice.getByText(/in \d+ s\. We'll send your message as soon as possible\.$/).waitFor();
  expect(await widget.questions.allInnerTexts()).toEqual(["Keep this"]);
  await page.clock.runFor(5_000);
  await hasCount(sentences, 1);
  let asked = 0;
  page.on("request", (request) => {
    if (request.url().endsWith("/chat")) asked++;
  });
  // Neither closing and opening nor writing on sends it again, before there can be room.
  await widget.launcher.click();
  await widget.open();
  await widget.ask("And this stays in the field");
  expect([asked, await widget.input.inputValue()]).toEqual([0, "And this stays in the field"]);
  const response = {
    ...{ name: "Ada", avatar_url: "data:,", greeting: "Here at last", theme_color: "#0f766e" },
    ...{ has_voice: false, has_text_agent: true, voice_provider: "none" },
  };
  const headers = { "Access-Control-Allow-Origin": "*" };
  await page.route(`**/api/embed/${embed_token}`, (route) => route.fulfill({ json: response, headers }));
  await page.route(`**/api/embed/${embed_token}/chat`, (route) =>
    route.fulfill({ body: 'data: {"text":"Sent."}\n\ndata: [DONE]\n\n', headers }),
  );
  await page.clock.runFor(62_000);
  await widget.replied();
  await widget.log.getByText("Here at last").waitFor();
  expect(await widget.questions.allInnerTexts()).toEqual(["Keep this"]);
});

test("with windows of its own, a refused page view keeps no first message waiting, and each opening asks again a few times", async () => {
  await using limited = await openWidgetWorld({ env: { COMPANIOND_CONFIG_RATE_PER_IP: "1" } });
  const { embed_token } = await limited.createCompanion();
  await fetch(`${limited.server.url}/api/embed/${embed_token}`);
  const { page } = await limited.open();
  await page.clock.install();
  const answers: number[] = [];
  page.on("response", (response) => {
    if (response.url().endsWith(`/api/embed/${embed_token}`)) answers.push(response.status());
  });
  await page.goto(limited.host(tag(limited.server, embed_token)));
  const widget = widgetOn(page);
  await widget.launcher.waitFor();
  expect(answers).toEqual([429]);
  for (const opening of [1, 2, 3]) {
    await widget.open();
    await eventually(() => answers.length === 1 + opening);
    await widget.launcher.click();
  }
  await widget.open();
  await widget.ask("Is there room for me?");
  await widget.replied(1);
  // The page view's refusal is nothing to tell whoever has got a reply.
  expect(await widget.notice.isVisible()).toBe(false);
  await keepScreenshot(page, "page-view-refused-chatting");
  expect(answers).toEqual([429, 429, 429, 429]);
  await page.reload();
  await widget.log.getByText("You said: Is there room for me?").waitFor();
  await eventually(() => answers.length === 5);
  // On the next page nobody has opened it: it is as it was left.
  await widget.ask("And again?");
  await widget.replied(2);
  expect(answers.length).toBe(5);
});

test("a first message that its own limit refuses goes out when that allows it, not when a page view may", async () => {
  const { embed_token } = await world.createCompanion();
  const { page } = await world.open();
  await page.clock.install();
  const refuse = (seconds: number) => ({
    status: 429,
    headers: {
      "Access-Control-Allow-Origin": "*",
      "Access-Control-Expose-Headers": "Retry-After",
      "Retry-After": `${seconds}`,
    },
  });
  await page.route(`**/api/embed/${embed_token}`, (route) => route.fulfill(refuse(3600)));
  await page.route(`**/api/embed/${embed_token}/chat`, (route) => route.fulfill(refuse(20)), { times: 1 });
  await page.goto(world.host(tag(world.server, embed_token)));
  const widget = widgetOn(page);
  await widget.open();
  await widget.ask("Is there room for me?");
  await widget.notice.getByText(/Try again in \d\d s\. We'll send your message/).waitFor();
  await page.clock.runFor(22_000);
  await widget.replied(1);
  expect(await widget.questions.allInnerTexts()).toEqual(["Is there room for me?"]);
});

test("a page view that is refused draws the companion as it was last known, or plainly, and asks again once it is opened", async () => {
  await using limited = await openWidgetWorld({
    env: { COMPANIOND_CONFIG_RATE_PER_IP: "1", COMPANIOND_RATE_PER_TOKEN: "30" },
  });
  const { embed_token } = await limited.createCompanion({ theme_color: "#0f766e" });
  const { page } = await limited.open();
  await page.clock.install();
  const asked: number[] = [];
  page.on("response", (response) => {
    if (response.url().endsWith(`/api/embed/${embed_token}`)) asked.push(response.status());
  });
  const widget = widgetOn(page);
  const website = limited.host(tag(limited.server, embed_token));
  await fetch(`${limited.server.url}/api/embed/${embed_token}`);

  // Nothing is known yet.
  await page.goto(website);
  await widget.launcher.waitFor();
  expect(await styleOf(page, ".launcher", "backgroundColor")).toBe("rgb(79, 70, 229)");
  await keepScreenshot(page, "page-view-refused-plain");
  await page.clock.runFor(120_000);
  expect(asked).toEqual([429]);
  await page.reload();
  await widget.open();
  await widget.notice.getByText(/^Too many requests came from this network\. Try again in \d+ s\.$/).waitFor();
  await eventually(() => asked.length === 3);
  await keepScreenshot(page, "page-view-refused-plain-open");
  expect(await findViolationsInState(page)).toEqual([]);

  // What a page knew two minutes ago is shown to the next one, and a message finds its window free.
  const known = { name: "Ada", avatar_url: "data:,", greeting: "As last known", theme_color: "#0f766e" };
  const kept = { ...known, has_voice: false, has_text_agent: true, voice_provider: "none" };
  await page.evaluate(
    `localStorage.setItem("companion:${embed_token}:config", JSON.stringify({ at: Date.now() - 120000,
      from: "${limited.server.url}", config: ${JSON.stringify(kept)} }))`,
  );
  await page.evaluate("sessionStorage.clear()");
  await page.reload();
  await widget.launcher.waitFor();
  expect(await styleOf(page, ".launcher", "backgroundColor")).toBe("rgb(15, 118, 110)");
  await keepScreenshot(page, "page-view-refused-known");
  asked.length = 0;
  await widget.open();
  await widget.log.getByText("As last known").waitFor();
  expect(await widget.notice.isVisible()).toBe(false);
  await widget.ask("Is there room for me?");
  await widget.replied(1);
  expect(asked).toEqual([429]);
  await keepScreenshot(page, "page-view-refused-known-open");

  // Once there is room, the chat that is open learns what is so now.
  await page.route(`**/api/embed/${embed_token}`, (route) =>
    route.fulfill({
      json: { ...kept, greeting: "As it is now" },
      headers: { "Access-Control-Allow-Origin": "*" },
    }),
  );
  await page.clock.runFor(62_000);
  await widget.log.getByText("As it is now").waitFor();
  expect(await widget.log.getByText("As last known").count()).toBe(0);
  expect(asked).toEqual([429, 200]);

  // A server that says nothing keeps no launcher from being drawn.
  await page.unroute(`**/api/embed/${embed_token}`);
  await page.route(`**/api/embed/${embed_token}`, () => {});
  await page.evaluate("localStorage.clear(); sessionStorage.clear()");
  await page.reload();
  await page.clock.runFor(6_000);
  await widget.launcher.waitFor();
});

test("eleven page views in several tabs are one request, and the first message is answered", async () => {
  await using limited = await openWidgetWorld({
    env: { COMPANIOND_RATE_PER_IP: "10", COMPANIOND_RATE_PER_TOKEN: "30" },
  });
  const { embed_token } = await limited.createCompanion();
  const { page } = await limited.open();
  let asked = 0;
  const pages = [page, await page.context().newPage(), await page.context().newPage()];
  for (const tab of pages) {
    tab.on("request", (request) => {
      if (request.url().endsWith(`/api/embed/${embed_token}`)) asked++;
    });
  }
  const address = limited.host(tag(limited.server, embed_token));
  for (let view = 0; view < 11; view++) {
    const tab = pages[view % 3] as typeof page;
    await tab.goto(address);
    await widgetOn(tab).launcher.waitFor();
  }
  expect(asked).toBe(1);
  const widget = widgetOn(page);
  await widget.open();
  await widget.ask("The first message");
  await widget.replied();
});

test("what was kept of a companion is asked for again after a minute, and by another server at once", async () => {
  const { embed_token } = await world.createCompanion();
  const { page } = await world.open();
  await page.clock.install();
  let asked = 0;
  page.on("request", (request) => {
    if (request.url().endsWith(`/api/embed/${embed_token}`)) asked++;
  });
  await page.goto(world.host(tag(world.server, embed_token)));
  const widget = widgetOn(page);
  await widget.launcher.waitFor();
  for (const [seconds, expected] of [
    [0, 1],
    [50, 1],
    [11, 2],
    [50, 2],
  ] as const) {
    await page.clock.fastForward(seconds * 1000);
    await page.reload();
    await widget.launcher.waitFor();
    expect([seconds, asked]).toEqual([seconds, expected]);
  }
  const other = world.server.url.replace("127.0.0.1", "localhost");
  await page.evaluate(`document.querySelector("companion-chat").remove();
    document.body.append(Object.assign(document.createElement("companion-chat"), { id: "other" }));
    document.querySelector("#other").setAttribute("base-url", "${other}");
    document.querySelector("#other").setAttribute("token", "${embed_token}")`);
  await widget.launcher.waitFor();
  expect(asked).toBe(3);
});
