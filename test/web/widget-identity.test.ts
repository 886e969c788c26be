/** Visitors whom the page's own sign-in knows: the widget's `identify`, and what it leaves behind. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { keepScreenshot } from "../support/browser.ts";
import { createWebsiteKey, signToken, type WebsiteKey } from "../support/visitor-keys.ts";
import { openWidgetWorld, tag, type WidgetWorld, widgetOn } from "../support/widget-world.ts";

let world: WidgetWorld;
let key: WebsiteKey;

beforeAll(async () => {
  world = await openWidgetWorld();
  key = await createWebsiteKey(world.server.url, world.apiKey);
});
afterAll(() => world[Symbol.asyncDispose]());

const kept = (page: Page) =>
  page.evaluate<string[]>("[localStorage, sessionStorage].flatMap((storage) => Object.entries(storage).flat())");
const identify = (page: Page, expression: string) =>
  page.evaluate(`document.querySelector("companion-chat").identify(${expression})`);

test("a companion that asks for a token says to sign in, and answers once the page says who the visitor is", async () => {
  const { id, embed_token } = await world.createCompanion({ visitor_auth: "required" });
  const { page } = await world.open({ reducedMotion: "reduce" });
  await page.goto(world.host(tag(world.server, embed_token)));
  const widget = widgetOn(page);
  await widget.open();
  await widget.ask("Hello");
  await widget.notice.getByText("Please sign in on this website to use the chat.").waitFor();
  await keepScreenshot(page, "visitor-unverified");
  await identify(page, JSON.stringify(await signToken(key, id)));
  await widget.button("Try again").click();
  await widget.replied();
  expect(await widget.questions.allInnerTexts()).toEqual(["Hello"]);
});

test("said before the widget has loaded: the conversation comes back on another device, and null leaves nothing", async () => {
  const { id, embed_token } = await world.createCompanion({ visitor_auth: "required" });
  const token = await signToken(key, id, { sub: "ada" });
  const queue = `<script>(window.companiond ??= []).push((chat) => chat.identify(async () => "${token}"))</script>`;
  const address = world.host(queue + tag(world.server, embed_token));
  const { page } = await world.open();
  await page.goto(address);
  const widget = widgetOn(page);
  await widget.open();
  await widget.askWhenKnown("Remember me");
  await widget.replied();

  const { page: phone } = await world.open();
  await phone.goto(address);
  const onPhone = widgetOn(phone);
  await onPhone.open();
  await onPhone.replied();
  expect(await onPhone.questions.allInnerTexts()).toEqual(["Remember me"]);
  await onPhone.askWhenKnown("And now?");
  await onPhone.replied(2);
  expect(JSON.stringify(world.mockLlm.requests.at(-1)?.body.messages)).toContain("Remember me");

  const before = await kept(phone);
  expect(before.join()).toContain("Remember me");
  expect(before.join()).not.toContain(token);
  await identify(phone, "null");
  await onPhone.element.locator(".row.user").first().waitFor({ state: "detached" });
  expect(await kept(phone)).toEqual([]);
});

test("what a known visitor left is not shown to somebody whom the page does not know", async () => {
  const { id, embed_token } = await world.createCompanion({ visitor_auth: "optional" });
  const token = await signToken(key, id, { sub: "ada" });
  const { page } = await world.open();
  await page.goto(world.host(tag(world.server, embed_token, `data-visitor-token="${token}"`)));
  const widget = widgetOn(page);
  await widget.open();
  await widget.askWhenKnown("Between us");
  await widget.replied();
  await page.goto(world.host(tag(world.server, embed_token)));
  await widget.input.waitFor();
  expect(await widget.questions.count()).toBe(0);
  await widget.askWhenKnown("Who was here?");
  await widget.replied();
  expect(await widget.questions.allInnerTexts()).toEqual(["Who was here?"]);
  expect(JSON.stringify(world.mockLlm.requests.at(-1)?.body.messages)).not.toContain("Between us");
  expect((await kept(page)).join()).not.toContain("Between us");
});

test("one snippet stands on every page: nobody chats without a name, signs in, is taken along, and leaves nothing on signing out", async () => {
  const { id, embed_token } = await world.createCompanion({ visitor_auth: "optional" });
  const token = await signToken(key, id, { sub: "ada" });
  const { page, complaints } = await world.open();
  // As a website's own server would answer by its session.
  const queue = `<script>(window.companiond ??= []).push((chat) => chat.identify(async () => localStorage.getItem("user")))</script>`;
  await page.goto(world.host(queue + tag(world.server, embed_token)));
  const widget = widgetOn(page);
  await widget.open();
  await widget.ask("I am nobody");
  await widget.replied();
  await page.reload();
  await widget.askWhenKnown("Still nobody");
  await widget.replied(2);
  expect(await widget.questions.allInnerTexts()).toEqual(["I am nobody", "Still nobody"]);
  expect(JSON.stringify(world.mockLlm.requests.at(-1)?.body.messages)).toContain("I am nobody");
  const stored = async (query: string) =>
    ((await (await world.call("GET", `/api/conversations?companion_id=${id}&${query}`)).json()) as { data: unknown[] })
      .data;
  expect(await stored("visitor_sub=ada")).toEqual([]);

  await page.evaluate(`localStorage.setItem("user", "${token}")`);
  await page.reload();
  await widget.askWhenKnown("I am Ada");
  await widget.replied(3);
  expect(await stored("visitor_sub=ada")).toHaveLength(1);
  expect(await stored("")).toHaveLength(1);

  await page.evaluate(`localStorage.removeItem("user")`);
  await page.reload();
  await widget.launcher.waitFor();
  if (!(await widget.panel.isVisible())) await widget.launcher.click();
  await widget.askWhenKnown("Who was here?");
  await widget.replied();
  expect(await widget.questions.allInnerTexts()).toEqual(["Who was here?"]);
  expect(JSON.stringify(world.mockLlm.requests.at(-1)?.body.messages)).not.toContain("nobody");
  expect(complaints).toEqual([]);
});

test("a visitor who is another one by the time of a message, or nobody, does not write below what was said before", async () => {
  const { id, embed_token } = await world.createCompanion({ visitor_auth: "optional" });
  // Less than a minute is left of it: the page is called again before each request.
  const exp = Math.floor(Date.now() / 1000) + 55;
  const token = await signToken(key, id, { sub: "ada", exp });
  const { page } = await world.open();
  await page.goto(world.host(tag(world.server, embed_token)));
  const widget = widgetOn(page);
  await widget.open();
  await page.evaluate(`user = "${token}"`);
  await identify(page, "async () => user");
  await widget.askWhenKnown("Between us");
  await widget.replied();
  await page.evaluate("user = null");
  await widget.askWhenKnown("Who was here?");
  await widget.questions.getByText("Between us").waitFor({ state: "detached" });
  await widget.replied();
  expect(await widget.questions.allInnerTexts()).toEqual(["Who was here?"]);
  expect((await kept(page)).join()).not.toContain("Between us");
  expect((await kept(page)).join()).toContain("Who was here?");

  await page.evaluate(`user = "${token}"`);
  await widget.askWhenKnown("Here again");
  await widget.replied(2);
  // A message is not lost to sight while the page takes its time.
  await page.evaluate("void (user = new Promise((resolve) => { answer = resolve; }))");
  await widget.askWhenKnown("Slowly");
  await widget.questions.getByText("Slowly").waitFor();
  await page.evaluate(`answer("${token}")`);
  await widget.replied(3);
  expect(await widget.questions.allInnerTexts()).toEqual(["Who was here?", "Here again", "Slowly"]);
});
