/** The widget on a website of another origin, from the script's tag to a conversation kept over pages. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Locator } from "playwright-core";
import { keepScreenshot } from "../support/browser.ts";
import { openWidgetWorld, tag, type WidgetWorld, widgetOn } from "../support/widget-world.ts";

let world: WidgetWorld;
let token: string;

beforeAll(async () => {
  world = await openWidgetWorld();
  const starters = ["What can you do?", "What are your opening hours?"];
  token = (await world.createCompanion({ starters })).embed_token;
});
afterAll(() => world[Symbol.asyncDispose]());

async function openChat(attributes = "", options = {}) {
  const opened = await world.open(options);
  await opened.page.goto(world.host(tag(world.server, token, attributes)));
  const widget = widgetOn(opened.page);
  await widget.open();
  return { ...opened, widget };
}

test("one tag gives a launcher; it opens a panel with disclosure, greeting and suggestions", async () => {
  const { page, complaints } = await world.open();
  const requests: string[] = [];
  page.on("request", (request) => requests.push(request.url()));
  await page.goto(world.host(tag(world.server, token, 'data-privacy-url="https://example.com/privacy"')));
  const widget = widgetOn(page);
  await widget.launcher.waitFor();
  await keepScreenshot(page, "launcher");
  // What is behind the launcher may be on its way already.
  const own = requests.filter((url) => url.startsWith(world.server.url) && !url.includes("/assets/panel."));
  expect(own).toEqual([`${world.server.url}/widget.js`, `${world.server.url}/api/embed/${token}`]);

  await widget.open();
  expect(await widget.log.innerText()).toContain("You are chatting with an AI assistant. It can make mistakes.");
  expect(await widget.element.getByRole("link", { name: "Privacy" }).getAttribute("href")).toBe(
    "https://example.com/privacy",
  );
  expect(await widget.replies.first().innerText()).toBe("Hi, I'm Ada. How can I help you?");
  expect(await widget.element.locator(".starter").allInnerTexts()).toEqual([
    "What can you do?",
    "What are your opening hours?",
  ]);
  await keepScreenshot(page, "opened");
  // Nobody but this server was asked for anything, and nothing was kept as a cookie.
  const others = requests.filter((url) => !url.startsWith(world.server.url) && new URL(url).hostname !== "127.0.0.1");
  expect(others).toEqual([]);
  expect(await page.context().cookies()).toEqual([]);
  expect(complaints).toEqual([]);
});

test("a reply streams in, with a stop button meanwhile, and is followed by time and copy", async () => {
  const { page, widget } = await openChat();
  world.respondWith(["Some **bo", "ld** words", " and a [li", "nk](https://exa", "mple.com/)", " to read."], 60);
  await widget.ask("Tell me something");
  await widget.button("Stop the reply").waitFor();
  await keepScreenshot(page, "streaming");
  await widget.replied();
  expect(await widget.replies.last().locator("strong").innerText()).toBe("bold");
  expect(await widget.replies.last().locator("a").getAttribute("rel")).toBe("noopener noreferrer nofollow");
  await widget.button("Copy").waitFor();
  expect(await widget.element.locator("time").count()).toBe(2);
  world.respondWith(null);
  expect(await widget.element.locator(".starters").isVisible()).toBe(false);
  await keepScreenshot(page, "replied");
});

test("a suggestion is sent by a click", async () => {
  const { widget } = await openChat();
  await widget.element.locator(".starter").first().click();
  await widget.replied();
  expect(await widget.questions.allInnerTexts()).toEqual(["What can you do?"]);
});

test("Enter sends, Shift and Enter break the line, and an input method's Enter is its own", async () => {
  const { widget } = await openChat();
  await widget.input.fill("first");
  await widget.input.press("Shift+Enter");
  await widget.input.pressSequentially("second");
  await widget.input.dispatchEvent("keydown", { key: "Enter", isComposing: true });
  expect(await widget.input.inputValue()).toBe("first\nsecond");
  await widget.input.press("Enter");
  await widget.replied();
  expect(await widget.questions.allInnerTexts()).toEqual(["first\nsecond"]);
  expect(await widget.input.inputValue()).toBe("");
});

test("stopping keeps what has arrived, ends the provider's request, and offers another try", async () => {
  const { page, widget } = await openChat();
  const before = world.mockLlm.abortedRequests;
  await widget.ask("[[delay:20]] [[words:400]]");
  await widget.replies
    .nth(1)
    .getByText(/\w+ \w+/)
    .waitFor();
  await widget.button("Stop the reply").click();
  await widget.notice.getByText("You stopped the reply.").waitFor();
  await world.mockLlm.until(() => world.mockLlm.abortedRequests > before);
  expect((await widget.replies.last().innerText()).length).toBeGreaterThan(3);
  await keepScreenshot(page, "stopped");
  await widget.button("Try again").click();
  await widget.button("Stop the reply").waitFor();
  expect(await widget.questions.count()).toBe(1);
});

test("the conversation is kept over reloads and pages, with the panel open; a new one forgets it", async () => {
  const { page, widget } = await openChat();
  await widget.ask("remember me");
  await widget.replied();
  await page.reload();
  await widget.panel.waitFor();
  expect(await widget.questions.allInnerTexts()).toEqual(["remember me"]);
  expect(await widget.replies.last().innerText()).toBe("You said: remember me");

  await page.goto(world.host(tag(world.server, token)));
  await widget.panel.waitFor();
  await widget.ask("and me");
  await widget.replied(2);
  const sent = JSON.stringify(world.mockLlm.requests.at(-1)?.body.messages);
  expect(sent).toContain("remember me");

  await widget.button("New conversation").click();
  await widget.element.locator(".starter").first().waitFor();
  expect(await widget.questions.count()).toBe(0);
  await widget.ask("who am I?");
  await widget.replied();
  expect(JSON.stringify(world.mockLlm.requests.at(-1)?.body.messages)).not.toContain("remember me");
});

test("the configuration is asked for once in a minute", async () => {
  const { page, widget } = await openChat();
  let asked = 0;
  page.on("request", (request) => {
    if (request.url().endsWith(`/api/embed/${token}`)) asked++;
  });
  await page.reload();
  await widget.panel.waitFor();
  expect(asked).toBe(0);
});

test("counts down near the limit, and does not send what is over it", async () => {
  const { page, widget } = await openChat();
  await widget.input.fill("🙂".repeat(1700));
  expect(await widget.element.locator(".count").isVisible()).toBe(false);
  await widget.input.fill("🙂".repeat(1950));
  expect(await widget.element.locator(".count").innerText()).toBe("Characters left: 50");
  await widget.input.fill("🙂".repeat(2003));
  expect(await widget.element.locator(".count").innerText()).toBe("3 characters too long");
  await keepScreenshot(page, "over-the-limit");
  await widget.input.press("Enter");
  await widget.send.click({ force: true });
  expect(await widget.questions.count()).toBe(0);
  await widget.input.fill("🙂".repeat(2000));
  await widget.input.press("Enter");
  await widget.replied();
});

test("a question comes to the top and its answer grows below; readers are never moved, and a button leads to the end", async () => {
  const { page, widget } = await openChat();
  await widget.ask("A short one");
  await widget.replied();
  // In pixels, from the top of the log.
  const topOf = async (row: Locator) => {
    const [box, log] = [await row.boundingBox(), await widget.log.boundingBox()];
    return { top: (box?.y ?? 0) - (log?.y ?? 0), fromEnd: (log?.height ?? 0) - ((box?.y ?? 0) - (log?.y ?? 0)) };
  };
  expect((await topOf(widget.questions.last())).top).toBeCloseTo(12, 0);
  world.respondWith(
    Array.from({ length: 60 }, (_, index) => `Line ${index}\n\n`),
    5,
  );
  await widget.ask("A long one");
  const down = widget.button("Go to the latest message");
  await down.waitFor();
  expect((await topOf(widget.questions.last())).top).toBeCloseTo(12, 0);
  await widget.replied(2);
  expect((await topOf(widget.questions.last())).top).toBeCloseTo(12, 0);
  expect(await down.getAttribute("class")).toContain("new");
  await keepScreenshot(page, "answer-below-its-question");
  await widget.input.fill("a\nb\nc\nd\ne");
  expect((await topOf(widget.questions.last())).top).toBeCloseTo(12, 0);

  await down.click();
  await down.waitFor({ state: "hidden" });
  const last = widget.replies.last().getByText("Line 59");
  expect((await topOf(last)).fromEnd).toBeGreaterThan(20);
  await widget.input.fill("");
  await widget.input.fill("a\nb\nc\nd\ne\nf");
  expect((await topOf(last)).fromEnd).toBeGreaterThan(20);
  await keepScreenshot(page, "scrolled-to-the-end");

  await widget.input.fill("");
  await widget.log.hover();
  await page.mouse.wheel(0, -700);
  await down.waitFor();
  const before = await topOf(last);
  // It has seen all that came.
  expect(await down.getAttribute("class")).not.toContain("new");
  await page.evaluate(`document.querySelector("companion-chat").shadowRoot.querySelector(".log").focus()`);
  expect(await topOf(last)).toEqual(before);
  // What the visitor sends is seen in any case.
  world.respondWith(null);
  await widget.ask("Back to the end");
  await widget.replied(3);
  expect((await topOf(widget.questions.last())).top).toBeCloseTo(12, 0);
});

test("a table is shown as large as the window has room for, and Escape closes that alone", async () => {
  const { page, widget } = await openChat();
  world.respondWith(["| Option | Price |\n|---|---:|\n| Express | 12.50 |\n"]);
  await widget.ask("Which options are there?");
  await widget.replied();
  world.respondWith(null);
  await widget.button("Expand").click();
  const sheet = widget.element.locator("dialog");
  expect(await sheet.locator("td").allInnerTexts()).toEqual(["Express", "12.50"]);
  await page.keyboard.press("Escape");
  await sheet.waitFor({ state: "detached" });
  expect(await widget.panel.isVisible()).toBe(true);
});

test("the page can drive it: open, send, on, close", async () => {
  const { page, widget } = await openChat();
  await widget.launcher.click();
  const events = await page.evaluate(`(async () => {
    const chat = document.querySelector("companion-chat");
    const heard = [];
    for (const name of ["open", "close", "message", "reply"]) chat.on(name, (detail) => heard.push([name, detail]));
    chat.on("message", () => heard.push("never"))();
    await chat.send("from the page");
    chat.close();
    while (chat.isOpen) await new Promise(requestAnimationFrame);
    return heard;
  })()`);
  expect(events).toEqual([
    ["open", null],
    ["message", { text: "from the page" }],
    ["reply", { text: "You said: from the page" }],
    ["close", null],
  ]);
});

test("stands inline where a website places the element itself", async () => {
  const { page } = await world.open();
  const body = `<script src="${world.server.url}/widget.js" async></script>
    <div style="width:560px"><companion-chat mode="inline" token="${token}"></companion-chat></div>`;
  await page.goto(world.host(body));
  const widget = widgetOn(page);
  await widget.panel.waitFor();
  expect(await widget.launcher.count()).toBe(0);
  const box = await widget.panel.boundingBox();
  expect([box?.width, box?.height]).toEqual([560, 600]);
  await widget.ask("inline");
  await widget.replied();
  await keepScreenshot(page, "inline");
});

test("a pinned version with its published integrity works as the current one does", async () => {
  const published = (await (await fetch(`${world.server.url}/assets/integrity.json`)).json()) as Record<
    string,
    { path: string; integrity: string }
  >;
  const { path, integrity } = published["widget.js"] ?? { path: "", integrity: "" };
  const { page, complaints } = await world.open();
  const pinned = `<script src="${world.server.url}${path}" integrity="${integrity}" crossorigin="anonymous" data-token="${token}" data-lang="nl" async></script>`;
  await page.goto(world.host(pinned));
  const widget = widgetOn(page);
  await widget.open();
  await widget.ask("pinned");
  await widget.replied();
  expect(await widget.input.getAttribute("placeholder")).toBe("Schrijf een bericht…");
  expect(complaints).toEqual([]);
});

test("the SDK is loaded from the server by a page of another origin", async () => {
  const { page, complaints } = await world.open();
  const script = `<output></output><script type="module">
    import { createCompanion } from "${world.server.url}/sdk.js";
    const companion = createCompanion({ baseUrl: "${world.server.url}", token: "${token}" });
    const { name } = await companion.config();
    let reply = "";
    for await (const text of companion.chat("from the SDK")) reply += text;
    document.querySelector("output").textContent = name + " | " + reply;
  </script>`;
  await page.goto(world.host(script));
  await page.locator("output").getByText("Ada | You said: from the SDK").waitFor();
  expect(complaints).toEqual([]);
});
