/** A person who takes the conversation over, as the visitor sees it: asked for, heard, answered, and gone again. */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { findViolationsInState } from "../support/axe.ts";
import { keepScreenshot, launchBrowser, openPage, type PageOptions } from "../support/browser.ts";
import { eventually } from "../support/eventually.ts";
import { openPeopleWire, type PeopleWire } from "../support/people-wire.ts";
import { tag, widgetOn } from "../support/widget-world.ts";

const handoff = { available: true, reopens_at: null, ask: true, listen: false };
let world: PeopleWire;
let browser: Browser;
let website: ReturnType<typeof Bun.serve>;

beforeAll(async () => {
  [world, browser] = await Promise.all([openPeopleWire(), launchBrowser()]);
  website = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () =>
      new Response(
        `<!doctype html><html lang="en"><title>A shop</title><main><h1>A shop</h1></main>${tag(world, world.companion.embedToken)}`,
        {
          headers: { "content-type": "text/html" },
        },
      ),
  });
});
beforeEach(() => world.reset({ handoff }));
afterAll(async () => {
  await website.stop(true);
  await world[Symbol.asyncDispose]();
});

function peopleOn(page: Page) {
  const widget = widgetOn(page);
  return {
    ...widget,
    ask: widget.ask,
    askPerson: widget.button("Talk to a person"),
    back: widget.button("Back to the assistant"),
    team: widget.element.locator(".team"),
    typing: widget.element.locator(".row.assistant .body.dots"),
    subtitle: widget.element.locator(".subtitle"),
    disclosure: widget.element.locator(".disclosure"),
    names: widget.element.locator(".row .by"),
    /** Of all messages, in order, without the greeting. */
    transcript: () => widget.element.locator(".row:not(.intro *) .body:not(.dots):visible").allInnerTexts(),
  };
}

async function openChat(options: PageOptions = {}, address = world.page) {
  const opened = await openPage(browser, options);
  const files: string[] = [];
  opened.page.on("request", (request) => files.push(new URL(request.url()).pathname));
  await opened.page.goto(address);
  const widget = peopleOn(opened.page);
  if (address === world.page) await widget.input.waitFor();
  return { ...opened, widget, loads: (name: string) => files.filter((path) => path.includes(name)).length };
}

test("a companion without people costs no file and no request more", async () => {
  world.reset({});
  const { widget, loads, complaints } = await openChat();
  await widget.ask("Hello");
  await widget.replied();
  expect(await widget.askPerson.isVisible()).toBe(false);
  expect(["live.", "feedback.", "sdk.", "/live"].map(loads)).toEqual([0, 0, 0, 0]);
  expect(complaints).toEqual([]);
});

test("a person is asked for, writes under a name, and what is written to them has no reply and no empty bubble", async () => {
  const { page, widget, loads, complaints } = await openChat();
  await widget.ask("Hello");
  await widget.replied();
  expect(loads("/live.")).toBe(0);
  await widget.askPerson.click();
  await widget.team.getByText("The team has been asked.").waitFor();
  await widget.team.getByText("If no one joins by").waitFor();
  await widget.said.getByText("The team has been asked. You can go on writing. If no one joins by").waitFor();
  expect(await widget.subtitle.innerText()).toBe("Waiting for a person…");
  expect(await widget.askPerson.isVisible()).toBe(false);
  await keepScreenshot(page, "people-waiting");
  expect(await findViolationsInState(page)).toEqual([]);
  await eventually(() => world.listeners === 1);
  await widget.ask("Are you there?");
  await eventually(() => world.messages.length === 3);

  world.change("person", "taken");
  await widget.team.getByText("You are chatting with Mia from the team.").waitFor();
  expect(await widget.subtitle.innerText()).toBe("Mia");
  expect(await widget.disclosure.innerText()).toContain("You are chatting with Mia");
  world.type(true);
  await widget.typing.waitFor();
  await widget.said.getByText("Mia is typing").waitFor();
  world.say("Hi, *I* am Mia.\nSee https://example.com/a_b_c");
  await widget.replies.getByText("Hi, *I* am Mia.").waitFor();
  expect(await widget.typing.isVisible()).toBe(false);
  expect(await widget.names.allInnerTexts()).toEqual(["Mia"]);
  expect(await widget.replies.locator("a").getAttribute("href")).toBe("https://example.com/a_b_c");
  await widget.said.getByText("Mia: Hi").waitFor();
  await widget.ask("Thank you");
  await eventually(() => world.messages.length === 5);
  world.say("You are welcome.");
  await widget.replies.getByText("You are welcome.").waitFor();
  await eventually(async () => (await widget.element.locator("[data-state=streaming]").count()) === 0);
  const whole = await widget.transcript();
  expect(whole.map((text) => text.split("\n")[0])).toEqual([
    "Hello",
    "You said: Hello",
    "Are you there?",
    "Hi, *I* am Mia.",
    "Thank you",
    "You are welcome.",
  ]);
  await keepScreenshot(page, "people-person");
  expect(await findViolationsInState(page)).toEqual([]);
  // What was read is said.
  await eventually(() => world.sent.some(({ body }) => body["seen"] === 6));

  await widget.back.click();
  await widget.team.getByText("The assistant answers again.").waitFor();
  expect(await widget.panel.evaluate((panel) => panel.matches(":focus-within, :focus"))).toBe(true);
  expect(await widget.subtitle.innerText()).toBe("AI assistant");
  expect(await widget.disclosure.innerText()).toContain("You are chatting with an AI assistant.");
  await widget.ask("And you?");
  await widget.replies.getByText("You said: And you?").waitFor();
  expect(await widget.team.innerText()).not.toContain("answers again");
  expect(world.listeners).toBe(0);
  expect(complaints).toEqual([]);
});

test("after a reload, and over cuts, it goes on where it was: nothing twice, nothing missed", async () => {
  const { page, widget } = await openChat();
  await widget.askPerson.click();
  await eventually(() => world.listeners === 1);
  world.change("person", "taken");
  world.say("One");
  await widget.replies.getByText("One").waitFor();
  world.cut();
  world.say("Two");
  await widget.replies.getByText("Two").waitFor();
  world.cut(": again\n\n");
  await page.reload();
  world.say("Three");
  await widget.replies.getByText("Three").waitFor();
  expect(await widget.transcript()).toEqual(["One", "Two", "Three"]);
  expect(world.listened.slice(1)).toEqual([1, 2]);
  await widget.team.getByText("You are chatting with Mia from the team.").waitFor();
});

test("all tabs of a browser hold one stream, and each shows everything; when its tab goes another goes on", async () => {
  const { page, widget } = await openChat();
  await widget.askPerson.click();
  const pages: Page[] = [page];
  for (let count = 0; count < 2; count++) {
    const other = await page.context().newPage();
    await other.goto(world.page);
    pages.push(other);
  }
  await eventually(() => world.listeners === 1);
  world.change("person", "taken");
  world.say("For all");
  for (const each of pages) await peopleOn(each).replies.getByText("For all").waitFor();
  expect([world.listeners, world.listened.length]).toEqual([1, 1]);
  world.type(true);
  for (const each of pages) await peopleOn(each).typing.waitFor();
  const last = pages.at(-1) as Page;
  await peopleOn(last).ask("From the last");
  await peopleOn(page).questions.getByText("From the last").waitFor();
  await page.close();
  await eventually(() => world.listened.length === 2);
  world.say("Still here");
  await peopleOn(last).replies.getByText("Still here").waitFor();
  expect(await peopleOn(last).transcript()).toEqual(["For all", "From the last", "Still here"]);
});

test("without locks, as on plain-HTTP pages, one tab has the stream all the same", async () => {
  const { page, widget } = await openChat();
  await page.context().addInitScript("Object.defineProperty(navigator, 'locks', { value: undefined })");
  await page.reload();
  await widget.askPerson.click();
  await eventually(() => world.listeners === 1);
  const other = await page.context().newPage();
  await other.goto(world.page);
  world.change("person", "taken");
  world.say("Once");
  await peopleOn(other).replies.getByText("Once").waitFor();
  expect(world.listened).toHaveLength(1);
  await page.close();
  await eventually(() => world.listened.length === 2);
});

test("while the panel is closed a mark counts what came, and the name of the launcher says so", async () => {
  const { page, widget } = await openChat({}, String(website.url));
  await widget.open();
  await widget.askPerson.click();
  await eventually(() => world.listeners === 1);
  await widget.launcher.click();
  await widget.panel.waitFor({ state: "hidden" });
  // The next page of the shop listens as well, before anything is pressed.
  await page.reload();
  await eventually(() => world.listened.length === 2);
  world.change("person", "taken");
  world.say("First");
  world.say("Second");
  await eventually(async () => (await widget.launcher.getAttribute("data-unread")) === "2");
  expect(await widget.launcher.getAttribute("aria-label")).toBe("Open chat. New messages: 2");
  await keepScreenshot(page, "people-unread");
  expect(await findViolationsInState(page)).toEqual([]);
  expect(world.sent.some(({ body }) => "seen" in body)).toBe(false);
  await widget.open();
  await widget.replies.getByText("Second").waitFor();
  expect(await widget.launcher.getAttribute("data-unread")).toBe("");
  await eventually(() => world.sent.some(({ body }) => body["seen"] === 2));
});

test("a visitor who types is heard of at most every three seconds, and never what is typed", async () => {
  const { page, widget } = await openChat();
  await widget.input.pressSequentially("Before");
  await widget.askPerson.click();
  await eventually(() => world.listeners === 1);
  world.change("person", "taken");
  await widget.team.getByText("You are chatting with Mia").waitFor();
  await widget.input.pressSequentially(" and after");
  await eventually(() => world.sent.some(({ body }) => body["typing"] === true));
  await page.keyboard.type(" more");
  const marks = world.sent.filter(({ body }) => "typing" in body);
  expect(marks).toHaveLength(1);
  expect(JSON.stringify(world.sent)).not.toContain("after");
});

test("typing dots end by themselves where their end was lost", async () => {
  const { page, widget } = await openChat();
  await page.clock.install();
  await page.reload();
  await widget.askPerson.click();
  await eventually(() => world.listeners === 1);
  world.change("person", "taken");
  world.type(true);
  await widget.typing.waitFor();
  await page.clock.runFor(8_000);
  await widget.typing.waitFor({ state: "hidden" });
  expect(world.listeners).toBe(1);
});

test("where nobody is there the visitor reads when, and may leave an address with consent", async () => {
  world.reset({ handoff, leads: { when: "unavailable", consent_text: "You may write to me about this." } });
  world.isAway = true;
  const { page, widget } = await openChat();
  await widget.askPerson.click();
  await widget.team.getByText("No one is available at the moment. The team is back: Monday").waitFor();
  // What else can be pressed stays in sight.
  const boxes = await Promise.all([widget.askPerson, widget.panel].map((each) => each.boundingBox()));
  const [pill, panel] = boxes.map((each) => (each ? each.x + each.width : Number.NaN));
  expect(pill).toBeLessThan(panel ?? 0);
  const email = widget.element.getByLabel("Email address", { exact: true });
  await email.waitFor();
  expect(await email.evaluate((field) => field.matches(":focus"))).toBe(true);
  await keepScreenshot(page, "people-contact");
  expect(await findViolationsInState(page)).toEqual([]);
  await email.fill("ada@example.com");
  await widget.element.getByLabel("Name (optional)").fill("Ada");
  const send = widget.button("Send to the team");
  await send.click();
  expect(world.sent.some(({ path }) => path.endsWith("contact"))).toBe(false);
  // Nothing of it holds up a message.
  await widget.ask("Hello");
  await widget.replied();
  await widget.element.getByLabel("You may write to me about this.").check();
  await send.click();
  await widget.log.getByText("Thank you. The team will write to you.").waitFor();
  const { body } = world.sent.find(({ path }) => path === "POST /contact") ?? {};
  expect(body).toMatchObject({ email: "ada@example.com", name: "Ada", consent: true });
  // From then on somebody may take the conversation: it is asked for when the panel is opened.
  world.change("person", "taken");
  world.say("I am back.");
  await page.reload();
  await widget.replies.getByText("I am back.").waitFor();
});

test("a reply that found nothing offers a person, where visitors may not ask otherwise", async () => {
  world.reset({ handoff: { ...handoff, ask: false } });
  const { page, widget } = await openChat();
  expect(await widget.askPerson.isVisible()).toBe(false);
  await page.route("**/chat", (route) =>
    route.fulfill({
      body: 'data: {"text":"I found nothing."}\n\nevent: offer\ndata: {}\n\ndata: [DONE]\n\n',
      contentType: "text/event-stream",
    }),
  );
  await widget.ask("What?");
  await widget.askPerson.waitFor();
  await page.reload();
  await widget.askPerson.click();
  await widget.team.getByText("The team has been asked.").waitFor();
});

test("a reply that a person took ends where it was, without a word of failure", async () => {
  const { page, widget } = await openChat();
  await page.route("**/chat", (route) => {
    world.change("person", "taken");
    return route.fulfill({ body: 'data: {"text":"The part"}\n\n: error taken\n\n', contentType: "text/event-stream" });
  });
  await widget.ask("Go on");
  await widget.team.getByText("You are chatting with Mia").waitFor();
  expect(await widget.replies.getByText("The part").isVisible()).toBe(true);
  expect([await widget.notice.isVisible(), await widget.button("Try again").isVisible()]).toEqual([false, false]);
  await eventually(() => world.listeners === 1);
});

test("a stream that gave way to others is opened again only when the visitor is here", async () => {
  const { page, widget } = await openChat();
  await widget.askPerson.click();
  await eventually(() => world.listeners === 1);
  world.cut(": error replaced\n\n");
  world.change("person", "taken");
  world.say("Later");
  await Bun.sleep(0);
  expect(world.listened).toHaveLength(1);
  await page.keyboard.press("Shift");
  await widget.input.click();
  await widget.replies.getByText("Later").waitFor();
});

test("a stream that is mute for 25 seconds twice is polled from then on", async () => {
  const { page, widget } = await openChat();
  await page.clock.install();
  await page.reload();
  world.isHeldBack = true;
  await widget.askPerson.click();
  await eventually(() => world.listened.length === 1);
  await page.clock.runFor(25_100);
  await eventually(async () => {
    await page.clock.runFor(500);
    return world.listened.length === 2;
  });
  world.change("person", "taken");
  world.say("By a poll");
  await page.clock.runFor(25_100);
  await eventually(async () => {
    await page.clock.runFor(1_000);
    return await widget.replies.getByText("By a poll").isVisible();
  });
  expect(await widget.transcript()).toEqual(["By a poll"]);
});

test("people may write at any time where they may: heard while the panel is open and something was said", async () => {
  world.reset({ handoff: { ...handoff, ask: false, listen: true } });
  const { widget, loads } = await openChat();
  expect(loads("/live.")).toBe(0);
  await widget.ask("Hello");
  await widget.replied();
  await eventually(() => world.listeners === 1);
  world.change("person", "taken");
  world.say("May I help?");
  await widget.replies.getByText("May I help?").waitFor();
  world.change("companion", "released");
  await widget.team.getByText("The person has left.").waitFor();
  await widget.ask("Thanks");
  await widget.replies.getByText("You said: Thanks").waitFor();
  expect(await widget.transcript()).toEqual(["Hello", "You said: Hello", "May I help?", "Thanks", "You said: Thanks"]);
});

const narrow = { viewport: { width: 360, height: 740 } };

test.each([
  ["dark", { colorScheme: "dark", ...narrow }],
  ["forced", { forcedColors: "active", ...narrow }],
  ["rtl", { locale: "ar", ...narrow }],
] as const)("a conversation with a person is readable: %s", async (name, options) => {
  world.change("waiting", "asked");
  const { page, widget } = await openChat(options);
  await widget.ask("Hello");
  await eventually(() => world.listeners === 1);
  world.change("person", "taken", "Mia Müller-Lüdenscheidt");
  world.say("Here I am, and this is a line that is longer than the panel is wide on a small screen.", "Mia");
  await widget.replies.getByText("Here I am").waitFor();
  world.type(true);
  await widget.typing.waitFor();
  expect(await findViolationsInState(page)).toEqual([]);
  expect(await widget.log.evaluate((log) => log.scrollWidth <= log.clientWidth)).toBe(true);
  await keepScreenshot(page, `people-${name}`);
});
