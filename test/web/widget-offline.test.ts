/** The widget without a connection: nothing is lost, and nothing is sent twice. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { findViolationsInState } from "../support/axe.ts";
import { keepScreenshot } from "../support/browser.ts";
import { openWidgetWorld, tag, type WidgetWorld, widgetOn } from "../support/widget-world.ts";

let world: WidgetWorld;

beforeAll(async () => {
  world = await openWidgetWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

async function openChat() {
  const { embed_token } = await world.createCompanion();
  const { page } = await world.open({ reducedMotion: "reduce" });
  const address = world.host(tag(world.server, embed_token));
  await page.goto(address);
  const widget = widgetOn(page);
  await widget.open();
  await widget.input.waitFor();
  const sent = () => world.mockLlm.requests.length;
  return { page, widget, address, sent };
}

test("a message that is written offline waits under one notice, and goes out by itself, once", async () => {
  const { page, widget, sent } = await openChat();
  const before = sent();
  await page.context().setOffline(true);
  await widget.notice.getByText(/^You are offline\.$/).waitFor();
  await keepScreenshot(page, "offline");
  await widget.ask("Hello?");
  await widget.notice.getByText(/^You are offline\. We'll send your message as soon as possible\.$/).waitFor();
  await widget.said.getByText("We'll send your message").waitFor({ state: "attached" });
  expect(await widget.element.locator(".notice:visible").count()).toBe(1);
  expect(await findViolationsInState(page)).toEqual([]);
  await keepScreenshot(page, "offline-waiting");
  // Another try, in vain, changes nothing of that.
  await widget.button("Try again").click();
  await widget.notice.getByText("We'll send your message").waitFor();
  // The next one stays where it is written.
  await widget.ask("And this?");
  expect(await widget.input.inputValue()).toBe("And this?");
  expect(await widget.questions.allInnerTexts()).toEqual(["Hello?"]);

  await page.context().setOffline(false);
  await widget.replied();
  expect(await widget.notice.isVisible()).toBe(false);
  expect(sent()).toBe(before + 1);
  await widget.input.press("Enter");
  await widget.replied(2);
  expect(await widget.questions.allInnerTexts()).toEqual(["Hello?", "And this?"]);
});

test("with two tabs open, what waits is sent by one of them; by the other where the first has gone", async () => {
  const { page, widget, address, sent } = await openChat();
  const other = await page.context().newPage();
  await other.goto(address);
  await widgetOn(other).open();
  await widgetOn(other).input.waitFor();
  const before = sent();
  await page.context().setOffline(true);
  await widget.ask("From the first tab");
  await widgetOn(other).notice.getByText("We'll send your message").waitFor();
  await page.context().setOffline(false);
  await widgetOn(other).replied();
  await widget.replied();

  await page.context().setOffline(true);
  await widget.ask("From a tab that goes");
  await widgetOn(other).questions.getByText("From a tab that goes").waitFor();
  await page.close();
  await other.context().setOffline(false);
  await widgetOn(other).replied(2);
  expect(sent()).toBe(before + 2);
});

test.each([
  [": ping\n\n: error upstream_error\n\n", "The assistant cannot answer right now. Please try again."],
  ['data: {"text":"One"}\n\n: error upstream_error\n\n', "The assistant stopped before its reply was complete."],
  ['data: {"text":"One"}\n\n: error not_found\n\n', "This chat is no longer available."],
])("a reply that ends with %j shows: %s", async (body, sentence) => {
  const { page, widget } = await openChat();
  const headers = { "Access-Control-Allow-Origin": "*", "Content-Type": "text/event-stream" };
  await page.route("**/chat", (route) => route.fulfill({ body, headers }));
  await widget.ask("Hello");
  await widget.notice.getByText(sentence).waitFor();
  expect(await widget.notice.count()).toBe(1);
});

test.each([
  [503, "unavailable", "This chat is unavailable right now. Please try again."],
  [502, "upstream_error", "The assistant cannot answer right now. Please try again."],
  [500, "internal", "Something went wrong. Please try again."],
  [429, "budget_exceeded", "This chat is unavailable right now. Please try again."],
  [429, "quota_exceeded", "This chat has reached its limit for today. Please come back tomorrow."],
])("a refusal with %d %s shows its own sentence", async (status, code, sentence) => {
  const { page, widget } = await openChat();
  const headers = { "Access-Control-Allow-Origin": "*", "Content-Type": "application/problem+json" };
  await page.route("**/chat", (route) => route.fulfill({ status, headers, json: { code, detail: "A sentence." } }));
  await widget.ask("Hello");
  await widget.notice.getByText(sentence).waitFor();
  expect(await widget.notice.getByText("A sentence.").count()).toBe(0);
});
