/** One conversation in several tabs, and the one before it. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { findViolationsInState } from "../support/axe.ts";
import { hasCount, keepScreenshot } from "../support/browser.ts";
import { openWidgetWorld, tag, type Widget, type WidgetWorld, widgetOn } from "../support/widget-world.ts";

let world: WidgetWorld;

beforeAll(async () => {
  world = await openWidgetWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

/** So many tabs of one browser on one page, with their panels open. */
async function openTabs(count: number, fields = {}) {
  const { embed_token } = await world.createCompanion(fields);
  const { page, complaints } = await world.open();
  const address = world.host(tag(world.server, embed_token));
  const pages = [page];
  while (pages.length < count) pages.push(await page.context().newPage());
  const widgets: Widget[] = [];
  for (const each of pages) {
    await each.goto(address);
    const widget = widgetOn(each);
    await widget.open();
    await widget.input.waitFor();
    widgets.push(widget);
  }
  return { pages, widgets: widgets as [Widget, Widget], complaints, token: embed_token };
}

async function transcript(widget: Widget): Promise<string[]> {
  return widget.element.locator(".row:not(.intro *) .body").allInnerTexts();
}

test("tabs follow one another: what is asked in one is answered in both, as it comes", async () => {
  const { widgets } = await openTabs(2);
  const [first, second] = widgets;
  world.respondWith(["One, ", "two, ", "three."], 700);
  await first.ask("Count");
  await second.questions.getByText("Count").waitFor();
  await second.element.locator(".row.assistant[data-state=streaming]").waitFor();
  // It is under way in the other tab: nothing was cut off.
  expect(await second.notice.isVisible()).toBe(false);
  await second.replies.getByText("One,").waitFor();
  await second.replied();
  expect(await transcript(second)).toEqual(["Count", "One, two, three."]);
  expect(await transcript(first)).toEqual(await transcript(second));
});

test("replies under way in two tabs at once are both in both, and after a reload", async () => {
  const { pages, widgets } = await openTabs(2);
  const [first, second] = widgets;
  world.respondWith(["A reply ", "of parts."], 300);
  await first.ask("From the first");
  await first.element.locator(".row.assistant[data-state=streaming]").waitFor();
  await second.ask("From the second");
  await first.replied(2);
  await second.replied(2);
  const whole = ["From the first", "A reply of parts.", "From the second", "A reply of parts."];
  expect(await transcript(first)).toEqual(whole);
  expect(await transcript(second)).toEqual(whole);
  for (const [index, page] of pages.entries()) {
    await page.reload();
    await widgets[index as 0].replied(2);
    expect(await transcript(widgets[index as 0])).toEqual(whole);
  }
});

test("a tab that ends in the middle of a reply leaves it to the other, which goes on with it", async () => {
  const { pages, widgets } = await openTabs(2);
  const [first, second] = widgets;
  const before = world.mockLlm.requests.length;
  world.respondWith(["To be ", "read ", "elsewhere."], 500);
  await first.ask("Are you there?");
  await first.replies.getByText("To be").waitFor();
  await pages[0]?.close();
  await second.replied();
  expect(await transcript(second)).toEqual(["Are you there?", "To be read elsewhere."]);
  expect(world.mockLlm.requests.length).toBe(before + 1);
});

test("a new conversation leaves a way back, in all tabs, and loses neither of the two", async () => {
  const { pages, widgets } = await openTabs(2);
  const [first, second] = widgets;
  world.respondWith(null);
  await first.ask("The old one");
  await first.replied();
  await first.button("New conversation").click();
  await hasCount(second.questions, 0);
  await first.button("Back to the previous conversation").waitFor();
  await keepScreenshot(pages[0] as NonNullable<(typeof pages)[0]>, "new-conversation");
  expect(await findViolationsInState(pages[0] as NonNullable<(typeof pages)[0]>)).toEqual([]);
  await second.ask("The new one");
  await second.replied();
  expect(JSON.stringify(world.mockLlm.requests.at(-1)?.body.messages)).not.toContain("The old one");

  await pages[0]?.reload();
  await first.button("Back to the previous conversation").click();
  await first.questions.getByText("The old one").waitFor();
  expect(await transcript(first)).toEqual(["The old one", "You said: The old one"]);
  await second.questions.getByText("The old one").waitFor();
  // The server goes on with it, too.
  await second.ask("Where were we?");
  await second.replied(2);
  expect(JSON.stringify(world.mockLlm.requests.at(-1)?.body.messages)).toContain("The old one");

  await second.button("Back to the previous conversation").click();
  await second.questions.getByText("The new one").waitFor();
  expect(await transcript(second)).toEqual(["The new one", "You said: The new one"]);
});

test("a new conversation ends the reply under way in another tab, without a word into the new one", async () => {
  const { widgets } = await openTabs(2);
  const [first, second] = widgets;
  await first.ask("[[delay:20]] [[words:300]]");
  await first.replies
    .last()
    .getByText(/\w+ \w+/)
    .waitFor();
  await second.button("New conversation").click();
  await world.mockLlm.until(() => world.mockLlm.openRequests === 0);
  for (const widget of widgets) {
    await hasCount(widget.questions, 0);
    expect(await transcript(widget)).toEqual([]);
    expect(await widget.notice.isVisible()).toBe(false);
  }
});

test("a whole reply is read to its end: the browser logs no failed request for it", async () => {
  const { pages, widgets, complaints } = await openTabs(1);
  const [page] = pages;
  const ended = new Promise<string>((resolve) => {
    const isChat = (url: string) => url.endsWith("/chat");
    page?.on("requestfinished", (request) => isChat(request.url()) && resolve("finished"));
    page?.on("requestfailed", (request) => isChat(request.url()) && resolve(`${request.failure()?.errorText}`));
  });
  world.respondWith(["Whole."], 100);
  await widgets[0].ask("To the end");
  await widgets[0].replied();
  expect(await ended).toBe("finished");
  expect(complaints).toEqual([]);
});
