/** What the widget says when something is wrong, and how it goes on. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { keepScreenshot } from "../support/browser.ts";
import { openWidgetWorld, tag, type WidgetWorld, widgetOn } from "../support/widget-world.ts";

setDefaultTimeout(20_000);

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
  await widget.notice.getByText("The reply was cut off.").waitFor();
  expect(await widget.replies.last().innerText()).toContain("one two");
  await keepScreenshot(page, "cut-off");
  await widget.said.getByText("The reply was cut off.").waitFor({ state: "attached" });
  world.answerWith(["one two three four five"]);
  await widget.button("Try again").click();
  await widget.replied(1);
  world.answerWith(null);
  expect(await widget.replies.last().innerText()).toBe("one two three four five");
  expect(await widget.questions.count()).toBe(1);
  expect(await widget.notice.isVisible()).toBe(false);
});

test("a provider's failure says so, keeps the question, and can be tried again", async () => {
  const { embed_token } = await world.createCompanion();
  const { page, widget } = await openChat(embed_token);
  await widget.ask("[[fail:401]]");
  await widget.notice.getByText("The assistant cannot answer right now.").waitFor();
  expect(await widget.replies.count()).toBe(1);
  await keepScreenshot(page, "upstream-failure");
  world.answerWith(["Here I am."]);
  await widget.button("Try again").click();
  await widget.replied();
  world.answerWith(null);
});

test("a revoked token says so, without another try", async () => {
  const { id, embed_token } = await world.createCompanion();
  const { page, widget } = await openChat(embed_token);
  await world.call("PATCH", `/api/companions/${id}`, { enabled: false });
  await widget.ask("Still there?");
  await widget.notice.getByText("This chat is no longer available.").waitFor();
  expect(await widget.button("Try again").isVisible()).toBe(false);
  await keepScreenshot(page, "revoked");

  // And from the start, where nothing is known of the companion.
  const fresh = await openChat(embed_token);
  await fresh.widget.notice.getByText("This chat is no longer available.").waitFor();
  await keepScreenshot(fresh.page, "revoked-from-the-start");
});

test("a website that is not in the list is told so", async () => {
  const { embed_token } = await world.createCompanion({ allowed_origins: ["https://shop.example"] });
  const { page, widget } = await openChat(embed_token);
  await widget.notice.getByText("This chat may not be used on this website.").waitFor();
  await keepScreenshot(page, "origin-refused");
});

test("offline is said and unsaid", async () => {
  const { embed_token } = await world.createCompanion();
  const { page, widget } = await openChat(embed_token);
  const notice = widget.panel.getByText("You are offline.");
  await page.context().setOffline(true);
  await notice.waitFor();
  await keepScreenshot(page, "offline");
  await widget.ask("Hello?");
  await widget.notice.getByText("The connection failed.").waitFor();
  await page.context().setOffline(false);
  await notice.waitFor({ state: "hidden" });
  await widget.button("Try again").click();
  await widget.replied();
});

test("a message too many says how long to wait, counts down, and can then be sent", async () => {
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

test("a busy site keeps its launcher: the configuration is asked for again when the panel opens", async () => {
  await using limited = await openWidgetWorld({ env: { COMPANIOND_RATE_PER_TOKEN: "1" } });
  const { embed_token } = await limited.createCompanion();
  await fetch(`${limited.server.url}/api/embed/${embed_token}`);
  const { page } = await limited.open();
  await page.goto(limited.host(tag(limited.server, embed_token)));
  const widget = widgetOn(page);
  await widget.launcher.waitFor();
  let asked = 0;
  page.on("request", () => asked++);
  await widget.open();
  await widget.notice.getByText(/Try again in \d+ s\./).waitFor();
  expect(asked).toBe(1);
  await keepScreenshot(page, "busy-from-the-start");
  // Once there is room, the next opening shows the companion.
  await page.route(`**/api/embed/${embed_token}`, async (route) =>
    route.fulfill({
      json: {
        name: "Ada",
        avatar_url: "data:,",
        greeting: "Here at last",
        theme_color: "#0f766e",
        has_voice: false,
        has_text_agent: true,
        voice_provider: "none",
      },
      headers: { "Access-Control-Allow-Origin": "*" },
    }),
  );
  await widget.launcher.click();
  await widget.launcher.click();
  await widget.log.getByText("Here at last").waitFor();
});

test("the day's end is said as such", async () => {
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
