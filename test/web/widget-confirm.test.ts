/** What tools do while a reply comes, and the card by which a visitor decides, in the widget of a companion's own page. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { findViolationsInState } from "../support/axe.ts";
import { keepScreenshot, launchBrowser, openPage, type PageOptions } from "../support/browser.ts";
import { eventually } from "../support/eventually.ts";
import { wholeStream } from "../support/mock-llm-replies.ts";
import { openToolWorld, type ToolWorld } from "../support/tool-world.ts";
import { createWebsiteKey, signToken } from "../support/visitor-keys.ts";
import { tag, widgetOn } from "../support/widget-world.ts";

const cancelling = '[[call:cancel_order {"order_id":"A-1042","notifyCustomer":true,"refund":{"amount":12.5}}]]';

let world: ToolWorld;
let browser: Browser;

beforeAll(async () => {
  [world, browser] = await Promise.all([openToolWorld({}, { greeting: "How can I help?" }), launchBrowser()]);
  await world.addTool();
  const parameters = { type: "object" };
  await world.addTool({ name: "cancel_order", title: "Cancel an order", confirm: true, target: { parameters } });
});
afterAll(() => world[Symbol.asyncDispose]());

function widgetWithCard(page: Page) {
  const widget = widgetOn(page);
  const card = widget.element.locator(".card");
  return {
    ...widget,
    card,
    outcome: card.locator(".outcome"),
    confirm: card.getByRole("button", { name: "Confirm", exact: true }),
    decline: card.getByRole("button", { name: "Decline", exact: true }),
  };
}

async function openWidget(options: PageOptions = {}) {
  const opened = await openPage(browser, options);
  const files: string[] = [];
  opened.page.on("request", (request) => files.push(new URL(request.url()).pathname));
  await opened.page.goto(`${world.server.url}/c/${world.companion.embedToken}`);
  const widget = widgetWithCard(opened.page);
  await widget.input.waitFor();
  world.calls.length = 0;
  world.answer(() => Response.json({ ok: true }));
  return { ...opened, widget, loads: () => files.filter((path) => path.startsWith("/assets/confirm.")).length };
}

/** How the card's arguments read. */
const linesOf = async (widget: ReturnType<typeof widgetWithCard>) =>
  (await widget.card.locator(".details").innerText()).split(/\n+/).filter((line) => line.trim() !== "");

test("a card shows what would be done, and once confirmed the reply follows in a bubble of its own", async () => {
  const { page, complaints, widget, loads } = await openWidget();
  await widget.ask("Hello");
  await widget.replied();
  expect([await widget.card.count(), loads()]).toEqual([0, 0]);
  await widget.ask(cancelling);
  await widget.card.waitFor();
  expect(loads()).toBe(1);
  expect(await widget.questions.allInnerTexts()).toEqual(["Hello", cancelling]);
  expect(await widget.card.locator(".what").innerText()).toBe("Cancel an order");
  expect(await linesOf(widget)).toEqual(["Order id", "A-1042", "Notify customer", "yes", "Refund", "Amount", "12.5"]);
  const group = widget.element.getByRole("group", { name: "Shall I do this? Cancel an order" });
  expect(await group.count()).toBe(1);
  // An empty bubble would say nothing.
  expect(await widget.replies.locator("visible=true").count()).toBe(2);
  expect(await findViolationsInState(page)).toEqual([]);
  await keepScreenshot(page, "confirm-light");
  expect(world.calls).toEqual([]);

  await widget.confirm.press("Enter");
  await widget.replies.getByText('The tools said: {"ok":true}').waitFor();
  await widget.outcome.getByText("Confirmed", { exact: true }).waitFor();
  await widget.confirm.waitFor({ state: "hidden" });
  expect(world.calls.map(({ data }) => data.arguments.order_id)).toEqual(["A-1042"]);
  // The pressed button is gone: one goes on where one writes.
  expect(await widget.input.evaluate((input) => input.matches(":focus"))).toBe(true);
  await keepScreenshot(page, "confirm-confirmed");

  await page.reload();
  await widget.outcome.getByText("Confirmed", { exact: true }).waitFor();
  expect(await widget.decline.isVisible()).toBe(false);
  expect(await widget.replies.getByText("The tools said").count()).toBe(1);
  await widget.ask("Thanks");
  await widget.replies.getByText("You said: Thanks").waitFor();
  expect(complaints).toEqual([]);
});

test("a card is there again after a reload, and what is declined is not done", async () => {
  const { page, widget } = await openWidget();
  await widget.ask(`[[before:I can do that.]]${cancelling}`);
  await widget.card.waitFor();
  await page.reload();
  await widget.decline.click();
  await widget.replies.getByText("does not want").waitFor();
  await widget.outcome.getByText("Declined", { exact: true }).waitFor();
  expect(await widget.replies.getByText("I can do that.", { exact: true }).isVisible()).toBe(true);
  expect(world.calls).toEqual([]);
});

test("a reload before the question has arrived loses nothing of it", async () => {
  const { page, widget } = await openWidget();
  const held = Promise.withResolvers<Response>();
  world.answer(({ data }) => (data.tool === "look_up" ? held.promise : Response.json({ ok: true })));
  // Both in one answer: the question comes when the look-up has ended.
  await widget.ask(`[[call:look_up {}]]${cancelling}`);
  await widget.replies.getByText("Looking that up…").waitFor();
  await page.reload();
  await widget.replies.getByText("Looking that up…").waitFor();
  held.resolve(Response.json({ found: 1 }));
  await widget.confirm.click();
  await widget.replies.getByText("The tools said").waitFor();
  expect(world.calls.map(({ data }) => data.tool)).toEqual(["look_up", "cancel_order"]);
});

test("a bubble says that something is looked up or done, without the tool's name, and so do screen readers", async () => {
  const { page, widget } = await openWidget();
  const held = new Map<string, (response: Response) => void>();
  world.answer(({ data }) => new Promise((resolve) => held.set(data.tool, resolve)));
  await widget.ask('[[call:look_up {"city":"Oslo"}]][[call:look_up {"city":"Rome"}]]');
  await widget.replies.getByText("Looking that up…").waitFor();
  expect(await widget.said.getByText("Looking that up…").count()).toBe(1);
  expect((await widget.replies.allInnerTexts()).join()).not.toContain("look_up");
  await keepScreenshot(page, "tool-running");
  await eventually(() => world.calls.length === 2);
  held.get("look_up")?.(Response.json({ sun: true }));
  await widget.button("Stop the reply").click();

  await widget.ask(cancelling);
  await widget.confirm.click();
  await widget.replies.getByText("Doing that…").waitFor();
  // Pressed once; the focus stays until the reply is there.
  expect(await widget.confirm.getAttribute("aria-disabled")).toBe("true");
  await widget.confirm.click({ force: true });
  held.get("cancel_order")?.(Response.json({ gone: true }));
  await widget.replies.getByText("The tools said").last().waitFor();
  expect(await widget.replies.getByText("Doing that…").count()).toBe(0);
  expect(world.calls.filter(({ data }) => data.tool === "cancel_order")).toHaveLength(1);
});

test("what is being written keeps the focus when a card comes, and is sent while that waits", async () => {
  const { page, widget } = await openWidget();
  await widget.ask(cancelling);
  await page.keyboard.type("Wait, what");
  await widget.card.waitFor();
  await widget.said.getByText("Shall I do this? Cancel an order").waitFor();
  await page.keyboard.type(" does it cost?");
  expect(await widget.input.inputValue()).toBe("Wait, what does it cost?");
  await page.keyboard.press("Enter");
  await widget.replies.getByText("You said: Wait, what does it cost?").waitFor();
  // By keyboard: to the card, its buttons, and back to the field.
  await page.keyboard.press("Shift+Tab");
  await eventually(async () => {
    await page.keyboard.press("Shift+Tab");
    return await widget.decline.evaluate((button) => button.matches(":focus"));
  });
  await page.keyboard.press("Shift+Tab");
  expect(await widget.confirm.evaluate((button) => button.matches(":focus"))).toBe(true);
  await page.keyboard.press("Space");
  await widget.outcome.getByText("Confirmed", { exact: true }).waitFor();
  // Behind the card that it belongs to.
  const texts = await widget.replies.allInnerTexts();
  expect(texts.findIndex((text) => text.startsWith("The tools said"))).toBeLessThan(
    texts.findIndex((text) => text.startsWith("You said: Wait")),
  );
});

test("a page from before an upgrade gets the card of the server's version", async () => {
  const { page, widget } = await openWidget();
  const names: string[] = [];
  page.on("response", (response) => names.push(new URL(response.url()).pathname));
  await page.route("**/assets/confirm.*", (route) => route.fulfill({ status: 404 }));
  await widget.ask(cancelling);
  await widget.confirm.click();
  await widget.outcome.getByText("Confirmed", { exact: true }).waitFor();
  expect(names).toContain("/confirm.js");
});

test("what another tab decided is to be seen, and what was decided elsewhere is said", async () => {
  const { page, widget } = await openWidget();
  await widget.ask(cancelling);
  await widget.card.waitFor();
  const other = await page.context().newPage();
  await other.goto(page.url());
  const there = widgetWithCard(other);
  await there.confirm.click();
  await there.outcome.getByText("Confirmed", { exact: true }).waitFor();
  await widget.outcome.getByText("Confirmed", { exact: true }).waitFor();
  await widget.replies.getByText("The tools said").waitFor();
  expect(await widget.confirm.isVisible()).toBe(false);

  await widget.ask(cancelling);
  await widget.card.nth(1).waitFor();
  const [callId, sessionId, visitorId] = await page.evaluate<string[]>(`(() => {
    const kept = (name) => localStorage.getItem("companion:${world.companion.embedToken}:" + name);
    return [JSON.parse(kept("messages")).at(-1).asks.call_id, kept("session"), kept("visitor")];
  })()`);
  const ids = { session_id: sessionId ?? "", visitor_id: visitorId ?? "" };
  expect((await world.decide(callId ?? "", false, ids)).status).toBe(200);
  await widget.confirm.last().click();
  await widget.card.last().getByText("Already decided elsewhere.").waitFor();
  expect(world.calls).toHaveLength(1);
  expect(await widget.notice.isVisible()).toBe(false);
});

test("after ten minutes a card has expired, and so has one that the server no longer knows", async () => {
  const { page, widget } = await openWidget();
  await page.clock.install();
  await page.reload();
  await widget.ask(cancelling);
  await widget.confirm.focus();
  await page.clock.fastForward(10 * 60_000);
  await widget.outcome.getByText("Expired.").waitFor();
  expect(await widget.confirm.isVisible()).toBe(false);
  expect(await widget.input.evaluate((input) => input.matches(":focus"))).toBe(true);
  await page.route("**/confirmations/**", (route) => route.fulfill({ status: 404, json: { code: "not_found" } }));
  await widget.ask(cancelling);
  await widget.decline.last().click();
  await widget.outcome.nth(1).getByText("Expired.").waitFor();
  // The chat is still there.
  await widget.ask("Hello?");
  await widget.replies.getByText("You said: Hello?").waitFor();
});

test("a decision that did not arrive can be made again; a reply that broke off is not asked for by itself", async () => {
  const { page, widget } = await openWidget();
  await widget.ask(cancelling);
  await widget.card.waitFor();
  await page.route("**/confirmations/**", (route) => route.abort("connectionreset"));
  await widget.confirm.click();
  await widget.outcome.getByText("The connection failed. Please try again.").waitFor();
  await keepScreenshot(page, "confirm-network");
  expect(await widget.confirm.evaluate((button) => button.matches(":focus"))).toBe(true);
  await page.unroute("**/confirmations/**");
  world.server.mockLlm.respond((_request, response) => response.send(500, {}, "{}"));
  await widget.confirm.click();
  await widget.outcome.getByText("Confirmed", { exact: true }).waitFor();
  await widget.notice.waitFor();
  expect(world.calls).toHaveLength(1);
  expect(await widget.button("Try again").isVisible()).toBe(false);
  world.server.mockLlm.respond(null);
  await widget.ask("Hello");
  await widget.replies.getByText("You said: Hello").waitFor();
});

test("a reload in the middle of the reply to a decision leaves the part of it, and nothing to decide or ask again", async () => {
  const { page, widget } = await openWidget();
  await widget.ask(cancelling);
  await widget.card.waitFor();
  world.server.mockLlm.respond(async (_request, response) => {
    await response.write(wholeStream(["It is ", "done."]).slice(0, 2).join(""));
    await response.closed;
  });
  await widget.confirm.click();
  await widget.replies.getByText("It is").waitFor();
  await page.reload();
  world.server.mockLlm.respond(null);
  await widget.notice.getByText("The reply was cut off.").waitFor();
  expect(await widget.replies.getByText("It is").isVisible()).toBe(true);
  expect(await widget.outcome.innerText()).toBe("Confirmed");
  expect([await widget.confirm.isVisible(), await widget.button("Try again").isVisible()]).toEqual([false, false]);
});

test("arguments are text: markup, directions and long values do nothing, and all of it can be seen", async () => {
  const { page, complaints, widget } = await openWidget({ viewport: { width: 360, height: 740 } });
  const given = {
    note: "<img src=x onerror=alert(1)>",
    "<b>key</b>": "\u202egnp.exe",
    long: "word ".repeat(100),
    list: "ab".split("").map((name) => ({ name, isGift: false })),
    empty: null,
    deep: { a: { b: { c: { d: { e: 1 } } } } },
    last: "end",
  };
  // No bracket may be in the mock's directive.
  const chunk = (delta: object, finish_reason: string | null = null) =>
    `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
  world.server.mockLlm.respond(async (_request, response) => {
    const call = { name: "cancel_order", arguments: JSON.stringify(given) };
    await response.write(chunk({ tool_calls: [{ index: 0, id: "c", type: "function", function: call }] }));
    await response.write(`${chunk({}, "tool_calls")}data: [DONE]\n\n`);
    response.end();
  });
  await widget.ask("Do it");
  await widget.card.waitFor();
  world.server.mockLlm.respond(null);
  const short = await linesOf(widget);
  expect(short.slice(0, 4)).toEqual(["Note", "<img src=x onerror=alert(1)>", "<b>key</b>", "gnp.exe"]);
  expect(short).not.toContain("Last");
  expect(short.some((line) => line.length > 190 && line.endsWith("…"))).toBe(true);
  expect(await widget.card.locator("img, b").count()).toBe(0);
  await keepScreenshot(page, "confirm-long");
  const more = widget.card.getByRole("button", { name: "Show all" });
  expect(await more.getAttribute("aria-expanded")).toBe("false");
  await more.press("Enter");
  const all = await linesOf(widget);
  expect(all.slice(-2)).toEqual(["Last", "end"]);
  expect(all).toContain('{"d":{"e":1}}');
  expect(all.filter((line) => line === "Is gift")).toHaveLength(2);
  expect(all).toContain("–");
  const less = widget.card.getByRole("button", { name: "Show less" });
  expect([await less.getAttribute("aria-expanded"), await less.evaluate((it) => it.matches(":focus"))]).toEqual([
    "true",
    true,
  ]);
  expect(await widget.log.evaluate((log) => log.scrollWidth <= log.clientWidth)).toBe(true);
  expect(complaints).toEqual([]);
});

test("a known visitor decides with the page's token, which the card sends along", async () => {
  await using known = await openToolWorld({}, { visitorAuth: "required" });
  await known.addTool({ name: "cancel_order", title: "Cancel an order", confirm: true, requiresVisitor: true });
  const { services, url, createKey } = known.server;
  const account = await services.store.accounts.findById(known.companion.accountId);
  if (account === null) throw new Error("There is no account.");
  const key = await createWebsiteKey(url, (await createKey(account)).key);
  const token = await signToken(key, known.companion.id, { sub: "ada" });
  using website = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () =>
      new Response(
        `<!doctype html><html lang="en"><title>A shop</title>${tag(known.server, known.companion.embedToken, `data-visitor-token="${token}"`)}`,
        { headers: { "content-type": "text/html" } },
      ),
  });
  const { page } = await openPage(browser);
  await page.goto(String(website.url));
  const widget = widgetWithCard(page);
  await widget.open();
  await widget.askWhenKnown(cancelling);
  await widget.confirm.click();
  await widget.replies.getByText("The tools said").waitFor();
  expect(known.calls.map(({ data }) => data.visitor.sub)).toEqual(["ada"]);
});

const narrow = { viewport: { width: 360, height: 740 } };

test.each([
  ["the dark on a narrow screen", "dark", { colorScheme: "dark", ...narrow }],
  ["forced colours", "forced", { forcedColors: "active", ...narrow }],
  ["a language from right to left", "rtl", { locale: "ar", ...narrow }],
] as const)("a card is readable in %s", async (_, name, options) => {
  const { page, widget } = await openWidget(options);
  await widget.ask(cancelling);
  await widget.card.waitFor();
  expect(await findViolationsInState(page)).toEqual([]);
  expect(await widget.log.evaluate((log) => log.scrollWidth <= log.clientWidth)).toBe(true);
  await keepScreenshot(page, `confirm-${name}`);
});
