/** The widget for everyone: axe in every state, keyboard alone, screen readers, languages, and the visitor's own settings. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { findViolations } from "../support/axe.ts";
import { keepScreenshot } from "../support/browser.ts";
import { someOf } from "../support/full.ts";
import { focusedName, openWidgetWorld, styleOf, tag, type WidgetWorld, widgetOn } from "../support/widget-world.ts";

const long =
  "# Heading\n\nSome **bold** and *italic* text with `code` and a [link](https://example.com).\n\n1. one\n2. two\n   - nested\n\n> quoted\n\n```js\nconst veryLongLine = 'that does not fit into the panel and has to be scrolled sideways by keyboard as well';\n```\n\n| Plan | Price |\n|---|---|\n| Free | 0 |";

let world: WidgetWorld;
let token: string;

beforeAll(async () => {
  world = await openWidgetWorld();
  token = (await world.createCompanion({ theme_color: "#facc15", starters: ["What can you do?"] })).embed_token;
});
afterAll(() => world[Symbol.asyncDispose]());

async function openChat(options = {}, attributes = "", lang = "en") {
  const opened = await world.open(options);
  await opened.page.goto(world.host(tag(world.server, token, attributes), { lang }));
  return { ...opened, widget: widgetOn(opened.page) };
}

for (const colorScheme of someOf(["light", "dark"] as const)) {
  test(`axe finds nothing in any state, in ${colorScheme}`, async () => {
    const { page, widget } = await openChat({ colorScheme, reducedMotion: "reduce" });
    await widget.launcher.waitFor();
    expect(await findViolations(page)).toEqual([]);
    await widget.open();
    await widget.element.locator(".starter").waitFor();
    expect(await findViolations(page)).toEqual([]);
    await keepScreenshot(page, `opened-${colorScheme}`);

    world.respondWith(["Still ", "writing"], 400);
    await widget.ask("A first question");
    await widget.button("Stop the reply").waitFor();
    expect(await findViolations(page)).toEqual([]);
    await widget.replied(1);
    world.respondWith([long]);
    await widget.ask("Show me everything");
    await widget.replied(2);
    expect(await findViolations(page)).toEqual([]);
    await keepScreenshot(page, `markdown-${colorScheme}`);

    world.respondWith(null);
    await widget.ask("[[fail:401]]");
    await widget.notice.waitFor();
    await widget.input.fill("x".repeat(1990));
    expect(await findViolations(page)).toEqual([]);
    await page.context().setOffline(true);
    await widget.panel.getByText("You are offline.").waitFor();
    expect(await findViolations(page)).toEqual([]);
    await keepScreenshot(page, `failed-${colorScheme}`);
  });
}

test("every theme colour gives text that can be read", async () => {
  // `contrast.test.ts` computes it for many; here the style sheet takes what was computed.
  for (const color of someOf([
    "#facc15",
    "#000000",
    "#ffffff",
    "#777777",
    "#22c55e",
    "#1d4ed8",
    "#ff00ff",
    "#8b8b00",
  ])) {
    const { embed_token } = await world.createCompanion({ theme_color: color, starters: ["One?"] });
    for (const colorScheme of ["light", "dark"] as const) {
      const { page, close } = await world.open({ colorScheme });
      await page.goto(world.host(tag(world.server, embed_token)));
      const widget = widgetOn(page);
      await widget.open();
      expect(await findViolations(page, ["color-contrast"])).toEqual([]);
      await close();
    }
  }
});

test("the keyboard alone opens, asks, reaches everything and closes", async () => {
  const { page, widget } = await openChat();
  await widget.launcher.waitFor();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await widget.panel.waitFor();
  const focused = () =>
    page.evaluate(`(() => {
      const element = document.querySelector("companion-chat").shadowRoot.activeElement;
      return element && (element.getAttribute("aria-label") || element.textContent);
    })()`);
  await widget.input.waitFor();
  expect(await focused()).toBe("Write a message…");
  await page.keyboard.type("By keyboard");
  await page.keyboard.press("Enter");
  await widget.replied();
  expect(await focused()).toBe("Write a message…");
  const reached = new Set<unknown>();
  for (let step = 0; step < 8; step++) {
    await page.keyboard.press("Shift+Tab");
    reached.add(await focused());
  }
  for (const name of ["Copy", "Conversation", "New conversation", "Close chat"]) expect(reached).toContain(name);
  await page.keyboard.press("Escape");
  await widget.panel.waitFor({ state: "hidden" });
  expect(await focused()).toBe("Open chat");
});

test("the focus stays in the panel when what was pressed goes away", async () => {
  const { embed_token } = await world.createCompanion({ starters: ["What can you do?"] });
  const { page } = await world.open();
  await page.goto(world.host(tag(world.server, embed_token)));
  const widget = widgetOn(page);
  await widget.open();
  world.mockLlm.respond((_request, response) => response.end());
  await widget.button("What can you do?").press("Enter");
  await widget.button("Try again").waitFor();
  expect(await focusedName(page)).toBe("Write a message…");
  world.respondWith(["Much."]);
  await widget.button("Try again").press("Enter");
  await widget.replied();
  expect(await focusedName(page)).toBe("Write a message…");
  await page.keyboard.press("Escape");
  expect(await focusedName(page)).toBe("Open chat");
});

test("replies are announced by the sentence, once, and the log itself is silent", async () => {
  const { page, widget } = await openChat();
  await widget.open();
  // The frame of the panel is there before what is in it.
  await page.locator("companion-chat .unseen[role=status]").waitFor({ state: "attached" });
  await page.evaluate(`(() => {
    window.heard = [];
    // Not a notice of the frame, which has the role for as long as it is there.
    const status = document.querySelector("companion-chat").shadowRoot.querySelector(".unseen[role=status]");
    new MutationObserver((changes) => {
      for (const change of changes) for (const node of change.addedNodes) window.heard.push(node.textContent);
    }).observe(status, { childList: true });
  })()`);
  world.respondWith(["The fi", "rst **sen", "tence**. And ", "the sec", "ond one! A", "nd a re", "st"], 20);
  await widget.ask("Speak");
  await widget.replied();
  world.respondWith(null);
  expect(await page.evaluate("window.heard")).toEqual([
    "Ada is typing",
    "The first sentence.",
    "And the second one!",
    "And a rest",
  ]);
  expect(await widget.log.getAttribute("aria-live")).toBe("off");
  expect(await widget.log.getAttribute("role")).toBe("log");
  expect(await widget.panel.getAttribute("role")).toBe("dialog");
  expect(await widget.panel.getAttribute("aria-label")).toBe("Ada");
});

test("everything that can be pressed is at least 24 pixels each way", async () => {
  const { widget } = await openChat();
  await widget.open();
  await widget.ask("Hello");
  await widget.replied();
  for (const button of await widget.element.locator("button:visible").all()) {
    const box = await button.boundingBox();
    expect(Math.min(box?.width ?? 0, box?.height ?? 0)).toBeGreaterThanOrEqual(24);
  }
});

test("on a phone the panel covers the page and keeps the focus", async () => {
  const { page, widget } = await openChat({ viewport: { width: 375, height: 700 }, reducedMotion: "reduce" });
  await widget.open();
  const box = await widget.panel.boundingBox();
  expect([box?.x, box?.y, box?.width, box?.height]).toEqual([0, 0, 375, 700]);
  await keepScreenshot(page, "phone");
  await page.evaluate(
    `document.body.prepend(Object.assign(document.createElement("button"), { textContent: "beneath" }))`,
  );
  for (let step = 0; step < 12; step++) {
    await page.keyboard.press("Tab");
    expect(await page.evaluate(`document.activeElement.tagName`)).not.toBe("BUTTON");
  }
  await widget.button("Close chat").last().click();
  await widget.launcher.waitFor();
});

test("right-to-left languages mirror the whole widget", async () => {
  const { page, widget } = await openChat({}, "", "ar");
  await widget.open();
  const [greeting, starter] = await Promise.all(
    [widget.log.getByText("كيف يمكنني مساعدتك؟"), widget.button("What can you do?")].map((part) => part.boundingBox()),
  );
  // Greeting and suggestions begin at the right, whatever language the question is in.
  const ends = [greeting, starter].map((part) => (part?.x ?? 0) + (part?.width ?? 0));
  expect(Math.min(...ends)).toBeGreaterThan(360);
  await widget.log.getByText("أنت تتحدث مع مساعد ذكاء اصطناعي").waitFor();
  await widget.ask("مرحبا");
  await widget.replied();
  const [panel, question] = [await widget.panel.boundingBox(), await widget.questions.first().boundingBox()];
  expect(panel?.x).toBe(20);
  expect((question?.x ?? 0) - (panel?.x ?? 0)).toBeLessThan(40);
  expect(await findViolations(page)).toEqual([]);
  await keepScreenshot(page, "right-to-left");
});

test("the page's language is spoken, an attribute wins, and every word can be replaced", async () => {
  const german = await openChat({}, "", "de-AT");
  await german.widget.open();
  expect(await german.widget.input.getAttribute("placeholder")).toBe("Nachricht schreiben …");
  const french = await openChat({}, 'data-lang="fr"', "de");
  await french.widget.open();
  expect(await french.widget.input.getAttribute("placeholder")).toBe("Écrivez un message…");
  const own = await openChat({}, `data-strings='{"disclosure":"A machine answers.","placeholder":"Your turn"}'`, "xx");
  await own.widget.open();
  await own.widget.log.getByText("A machine answers.").waitFor();
  expect(await own.widget.input.getAttribute("placeholder")).toBe("Your turn");
  expect(await own.widget.send.getAttribute("aria-label")).toBe("Send");
});

test("the theme can be fixed, and follows the visitor otherwise", async () => {
  const background = (of: Page) => styleOf(of, ".panel", "backgroundColor");
  const { page, widget } = await openChat({ colorScheme: "light" });
  await widget.open();
  expect(await background(page)).toBe("rgb(255, 255, 255)");
  await page.emulateMedia({ colorScheme: "dark" });
  await page.waitForFunction(
    `getComputedStyle(document.querySelector("companion-chat").shadowRoot.querySelector(".panel")).backgroundColor === "rgb(22, 24, 30)"`,
  );
  const fixed = await openChat({ colorScheme: "dark" }, 'data-theme="light"');
  await fixed.widget.open();
  expect(await background(fixed.page)).toBe("rgb(255, 255, 255)");
});

test("forced colours and reduced motion are respected", async () => {
  const { page, widget } = await openChat({ forcedColors: "active", reducedMotion: "reduce" });
  await widget.open();
  await widget.ask("Hello");
  await widget.replied();
  await keepScreenshot(page, "forced-colours");
  expect(await styleOf(page, ".user .body", "borderTopStyle")).toBe("solid");
  expect(await styleOf(page, ".user .body", "borderTopColor")).toBe(await styleOf(page, ".body", "color"));
  expect(await styleOf(page, ".panel", "transitionProperty")).toBe("none");
  const moving = await openChat({ reducedMotion: "no-preference" });
  await moving.widget.open();
  expect(await styleOf(moving.page, ".panel", "transitionProperty")).toContain("scale");
});
