/** What visitors say of replies, in the widget: thumbs with reasons, and whether it is resolved. */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import type { Browser } from "playwright-core";
import { findViolationsInState } from "../support/axe.ts";
import { keepScreenshot, launchBrowser, openPage, type PageOptions } from "../support/browser.ts";
import { eventually } from "../support/eventually.ts";
import { openPeopleWire, type PeopleWire } from "../support/people-wire.ts";
import { widgetOn } from "../support/widget-world.ts";

let world: PeopleWire;
let browser: Browser;

beforeAll(async () => {
  [world, browser] = await Promise.all([openPeopleWire(), launchBrowser()]);
});
beforeEach(() => world.reset({ ratings: true }));
afterAll(() => world[Symbol.asyncDispose]());

async function openChat(options: PageOptions = {}) {
  const opened = await openPage(browser, options);
  await opened.page.goto(world.page);
  const widget = widgetOn(opened.page);
  await widget.input.waitFor();
  return { ...opened, widget, down: widget.button("Bad reply"), up: widget.button("Good reply") };
}

const ratings = () => world.sent.filter(({ path }) => path.includes("/ratings/"));

test.each([
  ["light", {}],
  ["dark", { colorScheme: "dark", viewport: { width: 360, height: 740 } }],
] as const)(
  "a reply is rated by its exchange's name, with reasons and words of one's own: %s",
  async (name, options) => {
    const { page, widget, up, down, complaints } = await openChat(options);
    await widget.ask("Hello");
    await down.click();
    await eventually(() => ratings().length === 1);
    expect(ratings()[0]?.path).toBe(`PUT /ratings/${world.messages[1]?.message_id}`);
    expect(ratings()[0]?.body["rating"]).toBe("down");
    await widget.said.getByText("Thank you for your feedback.").waitFor();
    await widget.button("Hard to understand").click();
    await widget.element.getByLabel("Comment (optional)").fill("Shorter, please.");
    expect(await findViolationsInState(page)).toEqual([]);
    await keepScreenshot(page, `feedback-${name}`);
    await widget.button("Send feedback").click();
    await widget.log.getByText("Thank you for your feedback.").waitFor();
    expect(ratings()[1]?.body).toMatchObject({ rating: "down", reasons: ["unclear"], comment: "Shorter, please." });
    // It stays where it is while one goes on, and after a reload.
    await widget.ask("Again");
    await widget.replied(2);
    await page.reload();
    await eventually(async () => (await down.first().getAttribute("aria-pressed")) === "true");
    expect(await up.count()).toBe(2);
    await up.first().click();
    await eventually(async () => (await up.first().getAttribute("aria-pressed")) === "true");
    await up.first().click();
    await eventually(() => ratings().at(-1)?.body["rating"] === null);
    await eventually(async () => (await up.first().getAttribute("aria-pressed")) === "false");
    expect(complaints).toEqual([]);
  },
);

test("what people write has no thumbs, and a reply that the server does not know loses its own", async () => {
  world.reset({ ratings: true, handoff: { available: true, reopens_at: null, ask: true, listen: false } });
  const { page, widget, up } = await openChat();
  await widget.button("Talk to a person").click();
  await eventually(() => world.listeners === 1);
  world.change("person", "taken");
  world.say("Hello from Mia");
  await widget.replies.getByText("Hello from Mia").waitFor();
  world.change("companion", "released");
  await widget.element.getByText("The person has left.").first().waitFor();
  await widget.ask("Hello");
  await up.waitFor();
  expect(await up.count()).toBe(1);
  await page.route("**/ratings/**", (route) => route.fulfill({ status: 404, json: { code: "not_found" } }));
  await up.click();
  await up.waitFor({ state: "detached" });
});

test("whether it is resolved is asked after a while of silence, once for a reply, and holds nothing up", async () => {
  world.reset({ ask_resolved: true });
  const { page, widget } = await openChat();
  await page.clock.install();
  await page.reload();
  await widget.ask("Hello");
  await widget.replied();
  const question = widget.element.getByRole("group", { name: "Is this resolved?" });
  await eventually(async () => {
    await page.clock.runFor(5_000);
    return await question.isVisible();
  });
  await keepScreenshot(page, "feedback-resolved");
  expect(await widget.input.evaluate((input) => input.matches(":focus"))).toBe(true);
  await widget.ask("Another");
  await widget.replied(2);
  expect(await question.isVisible()).toBe(false);
  await eventually(async () => {
    await page.clock.runFor(5_000);
    return await question.isVisible();
  });
  await widget.button("Yes").click();
  await eventually(() => world.sent.some(({ body }) => body["resolved"] === true));
  await page.reload();
  await widget.replied(2);
  await page.clock.runFor(20_000);
  expect(await question.isVisible()).toBe(false);
});

test("a contact may be left without people who step in, at any time", async () => {
  world.reset({ leads: { when: "always", consent_text: "Yes, write to me." } });
  const { page, widget } = await openChat();
  await widget.button("Leave your email address").click();
  const email = widget.element.getByLabel("Email address", { exact: true });
  await email.fill("ada@example.com");
  await widget.element.getByLabel("Yes, write to me.").check();
  await page.route("**/contact", (route) => route.fulfill({ status: 409, json: { code: "conflict" } }));
  await widget.button("Send to the team").click();
  await widget.log.getByText("That could not be sent. Please try again.").waitFor();
  expect(await email.inputValue()).toBe("ada@example.com");
  await page.unroute("**/contact");
  await widget.button("Send to the team").click();
  await widget.log.getByText("Thank you. The team will write to you.").waitFor();
  await widget.button("Leave your email address").click();
  await widget.button("Cancel").click();
  await email.waitFor({ state: "detached" });
});
