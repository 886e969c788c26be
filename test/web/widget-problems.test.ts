/** What the widget says when something is wrong, and how it goes on. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { keepScreenshot } from "../support/browser.ts";
import { openWidgetWorld, styleOf, tag, type WidgetWorld, widgetOn } from "../support/widget-world.ts";

let world: WidgetWorld;

beforeAll(async () => {
  world = await openWidgetWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

async function openChat(token: string) {
  const opened = await world.open();
  await opened.page.goto(world.host(tag(world.server, token)));
  const widget = widgetOn(opened.page);
  await widget.open();
  return { ...opened, widget };
}

test("a reply cut off midway says so, and can be asked for again", async () => {
  const { embed_token } = await world.createCompanion();
  const { page, widget } = await openChat(embed_token);
  await widget.ask("[[cut:3]] [[say:one two three four five]]");
  const sentence = "The assistant stopped before its reply was complete.";
  await widget.notice.getByText(sentence).waitFor();
  expect(await widget.replies.last().innerText()).toContain("one two");
  await keepScreenshot(page, "cut-off");
  await widget.said.getByText(sentence).waitFor({ state: "attached" });
  world.respondWith(["one two three four five"]);
  await widget.button("Try again").click();
  await widget.replied(1);
  world.respondWith(null);
  expect(await widget.replies.last().innerText()).toBe("one two three four five");
  expect(await widget.questions.count()).toBe(1);
  expect(await widget.notice.isVisible()).toBe(false);
});

test("a provider's failure is reported, keeps the question, and can be tried again", async () => {
  const { embed_token } = await world.createCompanion();
  const { page, widget } = await openChat(embed_token);
  await widget.ask("[[fail:401]]");
  await widget.notice.getByText("The assistant cannot answer right now.").waitFor();
  expect(await widget.replies.count()).toBe(1);
  await keepScreenshot(page, "upstream-failure");
  world.respondWith(["Here I am."]);
  await widget.button("Try again").click();
  await widget.replied();
  world.respondWith(null);
});

test("a companion that goes away while it is shown says so, and is not drawn on the next page", async () => {
  const { id, embed_token } = await world.createCompanion();
  const { page, widget } = await openChat(embed_token);
  await world.call("PATCH", `/api/companions/${id}`, { enabled: false });
  await widget.ask("Still there?");
  await widget.notice.getByText("This chat is no longer available.").waitFor();
  expect(await widget.button("Try again").isVisible()).toBe(false);
  await keepScreenshot(page, "revoked");

  const refused = page.waitForResponse((response) => response.status() === 404);
  await page.reload();
  await refused;
  await page.waitForFunction('document.querySelector("companion-chat")?.shadowRoot.childElementCount === 0');
});

test.each([
  ["paused", { enabled: false }, "The embed token is unknown or revoked, or its companion is paused."],
  [
    "forbidden here",
    { allowed_origins: ["https://shop.example"] },
    "This companion may not be used from this website.",
  ],
])("a companion that is %s draws nothing and takes no room, and the console says why once", async (...row) => {
  const [, change, reason] = row;
  const { id, embed_token } = await world.createCompanion();
  await world.call("PATCH", `/api/companions/${id}`, change);
  const { page } = await world.open();
  const warnings: string[] = [];
  page.on("console", (message) => message.type() === "warning" && warnings.push(message.text()));
  const told = page.waitForEvent("console", (message) => message.text().includes(reason));
  const inline = `<div id="room"><companion-chat mode="inline" token="${embed_token}"></companion-chat></div>`;
  await page.goto(world.host(tag(world.server, embed_token) + inline));
  await told;
  await page.waitForFunction(`[...document.querySelectorAll("companion-chat")].every((element) =>
    getComputedStyle(element).display === "none" && element.shadowRoot.childElementCount === 0)`);
  expect((await page.locator("#room").boundingBox())?.height).toBe(0);
  expect(await page.locator(".launcher").count()).toBe(0);
  expect(warnings).toEqual([
    expect.stringMatching(/^companion-chat: there is no chat on http:\/\/127\.0\.0\.1:\d+: .*\.$/),
  ]);
  // What the page asks of it now has nowhere to go, and does no harm.
  await page.evaluate('document.querySelector("companion-chat").open()');
  await page.evaluate('document.querySelector("companion-chat").send("Hello?")');
  expect(await page.locator(".panel").count()).toBe(0);
});

test("a companion as a page of its own says why it is not there, where all else would be blank", async () => {
  const { embed_token } = await world.createCompanion({ allowed_origins: ["https://shop.example"] });
  const { page } = await world.open();
  await page.goto(
    world.host(
      `<companion-chat mode="page" token="${embed_token}"></companion-chat><script src="${world.server.url}/widget.js" async></script>`,
    ),
  );
  const widget = widgetOn(page);
  await widget.notice.getByText("This chat may not be used on this website.").waitFor();
  expect(await widget.input.isVisible()).toBe(false);
  await keepScreenshot(page, "origin-refused");
});

test("a server that fails for a while has a launcher, which finds its companion by itself", async () => {
  const { embed_token } = await world.createCompanion({ theme_color: "#0f766e" });
  const { page } = await world.open();
  await page.clock.install();
  let isDown = true;
  await page.route(`**/api/embed/${embed_token}`, (route) =>
    isDown
      ? route.fulfill({ status: 503, headers: { "Access-Control-Allow-Origin": "*" }, body: "<h1>Down</h1>" })
      : route.continue(),
  );
  await page.goto(world.host(tag(world.server, embed_token)));
  const widget = widgetOn(page);
  await widget.open();
  await widget.notice.getByText("The assistant cannot answer right now.").waitFor();
  await widget.ask("Written too early");
  await widget.notice.getByText("We'll send your message as soon as possible.").waitFor();
  await keepScreenshot(page, "server-down");
  isDown = false;
  await page.clock.runFor(30_000);
  await widget.replied();
  expect(await widget.questions.allInnerTexts()).toEqual(["Written too early"]);
  expect(await styleOf(page, ".launcher", "backgroundColor")).toBe("rgb(15, 118, 110)");
});

test("a launcher that was drawn in a bad moment goes when the server says that there is no companion", async () => {
  const { id, embed_token } = await world.createCompanion();
  await world.call("PATCH", `/api/companions/${id}`, { enabled: false });
  const { page } = await world.open();
  await page.clock.install();
  let isDown = true;
  await page.route(`**/api/embed/${embed_token}`, (route) => (isDown ? route.abort() : route.continue()));
  await page.goto(world.host(tag(world.server, embed_token)));
  const widget = widgetOn(page);
  await widget.launcher.waitFor();
  isDown = false;
  await page.clock.runFor(30_000);
  await widget.launcher.waitFor({ state: "detached" });
  expect(await widget.launcher.count()).toBe(0);
});

test("one message too many shows how long to wait, counts down, and can then be sent", async () => {
  await using limited = await openWidgetWorld({ env: { COMPANIOND_RATE_PER_TOKEN: "3" } });
  const { embed_token } = await limited.createCompanion();
  const { page } = await limited.open();
  await page.clock.install();
  await page.goto(limited.host(tag(limited.server, embed_token)));
  const widget = widgetOn(page);
  await widget.open();
  await widget.ask("one");
  await widget.replied(1);
  await widget.ask("two");
  await widget.replied(2);
  await widget.ask("three");
  await widget.notice.getByText(/This chat is very busy at the moment\. Try again in \d+ s\./).waitFor();
  expect(await widget.button("Try again").isVisible()).toBe(false);
  await keepScreenshot(page, "rate-limited");
  const before = await widget.notice.innerText();
  await page.clock.runFor(3000);
  expect(await widget.notice.innerText()).not.toBe(before);
  await page.clock.runFor(61_000);
  await widget.notice.getByText("You can try again now.").waitFor();
  await widget.button("Try again").waitFor();
});

test("a used-up daily quota shows its own sentence", async () => {
  await using limited = await openWidgetWorld({ env: { COMPANIOND_DAILY_FREE: "1" } });
  const { embed_token } = await limited.createCompanion();
  const { page } = await limited.open();
  await page.goto(limited.host(tag(limited.server, embed_token)));
  const widget = widgetOn(page);
  await widget.open();
  await widget.ask("one");
  await widget.replied(1);
  await widget.ask("two");
  await widget.notice.getByText("Please come back tomorrow.").waitFor();
  expect(await widget.button("Try again").isVisible()).toBe(false);
});
