/** What the widget remembers for a visitor: what was not delivered, waits, was drafted, missed or left; and its appearance. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { findViolations } from "../support/axe.ts";
import { hasCount, holds, keepScreenshot } from "../support/browser.ts";
import { openWidgetWorld, styleOf, tag, type WidgetWorld, widgetOn } from "../support/widget-world.ts";

let world: WidgetWorld;
let token: string;

beforeAll(async () => {
  world = await openWidgetWorld();
  token = (await world.createCompanion()).embed_token;
});
afterAll(() => world[Symbol.asyncDispose]());

async function openChat() {
  const opened = await world.open();
  const url = world.host(tag(world.server, token));
  await opened.page.goto(url);
  const widget = widgetOn(opened.page);
  await widget.open();
  return { ...opened, url, widget, delivery: widget.element.locator(".delivery:not([hidden])") };
}

test("a message that failed says so under itself, also after a reload, until another try delivers it", async () => {
  const { page, widget, delivery } = await openChat();
  world.mockLlm.respond((_request, response) => response.send(500, {}, "{}"));
  await widget.ask("Are you there?");
  await delivery.getByText("Not delivered").waitFor();
  expect(await widget.notice.innerText()).toBe("The assistant cannot answer right now. Please try again.");
  await keepScreenshot(page, "not-delivered");
  expect(await findViolations(page)).toEqual([]);
  await page.reload();
  await delivery.getByText("Not delivered").waitFor();
  world.respondWith(["I am."]);
  await widget.button("Try again").click();
  await widget.replied();
  await hasCount(delivery, 0);
  await hasCount(widget.questions, 1);
  world.respondWith(null);
});

test("what is sent while a reply comes waits for its end, and can be removed until then", async () => {
  const { widget, delivery } = await openChat();
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  world.mockLlm.respond(async (_request, response) => {
    await held;
    response.send(500, {}, "{}");
  });
  await widget.ask("First");
  await widget.button("Stop the reply").waitFor();
  await widget.ask("Second thought");
  await delivery.getByText("Waiting to be sent").waitFor();
  await widget.button("Remove").click();
  expect(await widget.questions.allInnerTexts()).toEqual(["First"]);
  await widget.ask("Third");
  await delivery.getByText("Waiting to be sent").waitFor();
  world.respondWith(["Answered"]);
  release();
  await widget.replied();
  await hasCount(widget.questions, 2);
  expect(JSON.stringify(world.mockLlm.requests.at(-1)?.body.messages)).toContain("Third");
  world.respondWith(null);
});

test("a reply that ends behind the closed panel is counted on the launcher, also on the next page, until it is read", async () => {
  const { page, widget } = await openChat();
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  world.mockLlm.respond(async (_request, response) => {
    await held;
    await response.write(
      'data: {"choices":[{"index":0,"delta":{"content":"Late"}}]}\n\ndata: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n',
    );
    response.end();
  });
  await widget.ask("Take your time");
  await widget.button("Stop the reply").waitFor();
  await widget.launcher.click();
  release();
  await widget.button("Open chat. New messages: 1").waitFor();
  world.respondWith(null);
  await page.reload();
  await widget.button("Open chat. New messages: 1").waitFor();
  expect(await widget.launcher.getAttribute("data-unread")).toBe("1");
  await widget.open();
  await widget.launcher.click();
  await widget.button("Open chat").waitFor();
});

test("a draft is there after a reload, and each conversation has its own", async () => {
  const { page, widget } = await openChat();
  await widget.ask("Hello");
  await widget.replied();
  await widget.input.fill("half a thought");
  await page.reload();
  await widget.element.locator(".row.assistant[data-state=done]").waitFor();
  expect(await widget.input.inputValue()).toBe("half a thought");
  await widget.button("New conversation").click();
  expect(await widget.input.inputValue()).toBe("");
  await widget.input.fill("another");
  await widget.button("Back to the previous conversation").click();
  expect(await widget.input.inputValue()).toBe("half a thought");
  await widget.input.press("Enter");
  await widget.replied(2);
  await page.reload();
  await widget.replied(2);
  expect(await widget.input.inputValue()).toBe("");
});

test("who comes back after a while is shown home: the conversation to continue, earlier ones, and a new one", async () => {
  const { page, url, widget } = await openChat();
  await widget.ask("Where is my order?");
  await widget.replied();
  await widget.button("New conversation").click();
  await widget.ask("Do you ship to Malta?");
  await widget.replied();
  await widget.launcher.click();
  // Two hours pass.
  await page.evaluate(`for (const name of ["messages", "previous"]) {
    const key = "companion:${token}:" + name;
    localStorage.setItem(key, localStorage.getItem(key).replace(/"at":(\\d+)/g, (_, at) => '"at":' + (at - 7_300_000)));
  }`);
  await page.goto(url);
  await widget.open();
  const home = widget.element.locator(".home");
  await home.waitFor();
  expect(await home.locator("button").allInnerTexts()).toEqual([
    expect.stringMatching(/^Continue\s+Do you ship to Malta\?\s+2\s?h/),
    "New conversation",
    expect.stringMatching(/^Where is my order\?\s+2\s?h/),
  ]);
  expect(await widget.input.isVisible()).toBe(false);
  await holds(page, `document.querySelector("companion-chat").shadowRoot.activeElement.className === "continue"`);
  await keepScreenshot(page, "home");
  expect(await findViolations(page)).toEqual([]);
  await home.getByRole("button", { name: "Where is my order?" }).click();
  await hasCount(home, 0);
  expect(await widget.questions.allInnerTexts()).toEqual(["Where is my order?"]);
  // What was left stays within reach; signing out forgets all of it.
  await widget.button("Back to the previous conversation").click();
  expect(await widget.questions.allInnerTexts()).toEqual(["Do you ship to Malta?"]);
  await page.evaluate(`document.querySelector("companion-chat").identify(null)`);
  expect(
    await page.evaluate(
      `[...Object.keys(localStorage), ...Object.keys(sessionStorage)].filter((key) => /messages|previous|drafts/.test(key))`,
    ),
  ).toEqual([]);
});

test("the owner's appearance is drawn, and what the page says comes before it", async () => {
  const appearance = { theme: "dark", position: "left", header: "tinted", icon: "avatar", radius: 4 };
  const fields = { theme_color: "#0f766e", avatar_url: `${world.server.url}/favicon.ico` };
  const more = { teaser: { text: "Questions about sizes?", after_seconds: 0 }, greetings: { de: "Moin!" } };
  const own = (await world.createCompanion({ ...fields, appearance: { ...appearance, ...more } })).embed_token;
  const { page, complaints } = await world.open();
  await page.goto(world.host(tag(world.server, own), { lang: "de-AT" }));
  const widget = widgetOn(page);
  const teaser = widget.element.locator(".teaser");
  await teaser.getByText("Questions about sizes?").waitFor();
  expect((await widget.launcher.boundingBox())?.x).toBe(20);
  await widget.launcher.locator("img").waitFor();
  await keepScreenshot(page, "teaser");
  await teaser.getByRole("button", { name: "Ausblenden" }).click();
  await page.reload();
  await widget.open();
  expect(await widget.replies.first().innerText()).toBe("Moin!");
  expect(await styleOf(page, "header", "backgroundColor")).toBe("rgb(15, 118, 110)");
  expect(await styleOf(page, ".panel", "borderRadius")).toBe("4px");
  expect(await styleOf(page, ".root", "colorScheme")).toBe("dark");
  await hasCount(teaser, 0);
  await keepScreenshot(page, "tinted");
  expect(await findViolations(page)).toEqual([]);

  const head = "<style>companion-chat { --companion-radius: 20px }</style>";
  await page.goto(world.host(tag(world.server, own, 'data-theme="light" data-position="right"'), { head }));
  // As it was left on the page before.
  await widget.panel.waitFor();
  expect((await widget.launcher.boundingBox())?.x).toBeGreaterThan(900);
  expect(await styleOf(page, ".panel", "borderRadius")).toBe("20px");
  expect(await styleOf(page, ".root", "colorScheme")).toBe("light");
  expect(complaints).toEqual([]);
});
