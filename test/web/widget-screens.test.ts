/** The widget on small screens, under keyboards and notches, on paper, and in browsers that can do less. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { keepScreenshot } from "../support/browser.ts";
import { openWidgetWorld, tag, type WidgetWorld, widgetOn } from "../support/widget-world.ts";

let world: WidgetWorld;
let token: string;

beforeAll(async () => {
  world = await openWidgetWorld();
  token = (await world.createCompanion({ starters: ["What can you do?"] })).embed_token;
});
afterAll(() => world[Symbol.asyncDispose]());

const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, reducedMotion: "reduce" } as const;

/** `prepare` runs before any script of the page. */
async function openChat(options = {}, prepare = "", lang = "en", body = tag(world.server, token)) {
  const opened = await world.open(options);
  if (prepare) await opened.page.addInitScript(prepare);
  await opened.page.goto(world.host(body, { lang }));
  return { ...opened, widget: widgetOn(opened.page) };
}

/** A visual viewport that the test moves, as an on-screen keyboard would. */
const fakeViewport = `
  window.view = Object.assign(new EventTarget(), { scale: 1, offsetTop: 0, height: innerHeight, width: innerWidth });
  Object.defineProperty(window, "visualViewport", { value: window.view });`;

function moveViewport(page: Page, to: Record<string, number>): Promise<void> {
  return page.evaluate(
    `Object.assign(window.view, ${JSON.stringify(to)}); window.view.dispatchEvent(new Event("resize"))`,
  );
}

test("the field grows with its text where the browser does not size it by itself, and shrinks again", async () => {
  const { page, widget } = await openChat(
    {},
    `CSS.supports = () => false;
     const replace = CSSStyleSheet.prototype.replaceSync;
     CSSStyleSheet.prototype.replaceSync = function (style) { replace.call(this, style.replace("field-sizing:content", "")); }`,
  );
  await widget.open();
  const heightWith = async (text: string) => {
    await widget.input.fill(text);
    return (await widget.input.boundingBox())?.height ?? 0;
  };
  const one = await heightWith("one");
  expect(await heightWith("one\ntwo\nthree\nfour")).toBeGreaterThan(one + 60);
  await keepScreenshot(page, "field-grown-by-script");
  // Up to a bound, then it scrolls.
  expect(await heightWith("x\n".repeat(40))).toBe(140);
  expect(await heightWith("one")).toBe(one);
  await widget.input.fill("one\ntwo\nthree");
  await widget.input.press("Enter");
  await widget.replied();
  expect((await widget.input.boundingBox())?.height).toBe(one);
});

test("a name of another script stands where the lines of a right-to-left interface begin", async () => {
  const { page, widget } = await openChat({}, "", "he");
  await widget.open();
  await page.locator("companion-chat .subtitle").waitFor();
  const [name, subtitle] = (await page.evaluate(`(() => {
    const root = document.querySelector("companion-chat").shadowRoot;
    return [".name", ".subtitle"].map((selector) => {
      const range = document.createRange();
      range.selectNodeContents(root.querySelector(selector));
      return range.getBoundingClientRect().right;
    });
  })()`)) as [number, number];
  expect(Math.abs(name - subtitle)).toBeLessThan(2);
  await keepScreenshot(page, "right-to-left-name");
});

test("on a phone the composer stays above the keyboard, wherever the page has been scrolled to", async () => {
  const { page, widget } = await openChat(phone, fakeViewport);
  await widget.open();
  await widget.input.focus();
  await moveViewport(page, { height: 500, offsetTop: 0 });
  const composer = widget.element.locator(".composer");
  const box = await composer.boundingBox();
  expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual(500);
  expect(await widget.log.isVisible()).toBe(true);
  await keepScreenshot(page, "phone-keyboard");
  await moveViewport(page, { height: 500, offsetTop: 120 });
  expect(await widget.panel.boundingBox()).toEqual({ x: 0, y: 120, width: 390, height: 500 });
  // Zooming in is no keyboard.
  await moveViewport(page, { height: 422, offsetTop: 300, scale: 2 });
  expect(await widget.panel.boundingBox()).toEqual({ x: 0, y: 120, width: 390, height: 500 });
  await moveViewport(page, { height: 844, offsetTop: 0, scale: 1 });
  expect(await widget.panel.boundingBox()).toEqual({ x: 0, y: 0, width: 390, height: 844 });
});

test("a chat that fills the window does so as well, and a panel beside the page rises above the keyboard", async () => {
  const filling = `<companion-chat mode="page" token="${token}"></companion-chat><script src="${world.server.url}/widget.js" async></script>`;
  const whole = await openChat(phone, fakeViewport, "en", filling);
  await whole.widget.input.waitFor();
  await moveViewport(whole.page, { height: 500 });
  const box = await whole.widget.element.locator(".composer").boundingBox();
  expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual(500);

  const tablet = await openChat({ viewport: { width: 1024, height: 768 }, reducedMotion: "reduce" }, fakeViewport);
  await tablet.widget.open();
  await moveViewport(tablet.page, { height: 420 });
  const panel = await tablet.widget.panel.boundingBox();
  expect((panel?.y ?? 0) + (panel?.height ?? 0)).toBeLessThanOrEqual(420);
  expect(panel?.y).toBeGreaterThanOrEqual(0);
});

test("a phone on its side has the panel as its page, and a greeting higher than that is read from its beginning", async () => {
  const { embed_token } = await world.createCompanion({ greeting: "Ask me about bicycles.\n".repeat(40) });
  const sideways = { ...phone, isMobile: true, viewport: { width: 844, height: 390 } };
  const { page, widget } = await openChat(sideways, "", "en", tag(world.server, embed_token));
  await widget.open();
  expect(await widget.panel.boundingBox()).toEqual({ x: 0, y: 0, width: 844, height: 390 });
  await widget.button("Go to the latest message").waitFor();
  expect(await widget.log.evaluate((log) => log.scrollTop)).toBe(0);
  await keepScreenshot(page, "phone-landscape");
});

test("nothing is under a notch or a home indicator, where the page goes to the edges", async () => {
  const { page, widget } = await openChat(phone);
  await widget.launcher.waitFor();
  const low = async () => {
    const box = await widget.launcher.boundingBox();
    return (box?.y ?? 0) + (box?.height ?? 0);
  };
  expect(await low()).toBe(824);
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Emulation.setSafeAreaInsetsOverride", { insets: { top: 47, bottom: 34 } });
  await page.waitForFunction(
    `document.querySelector("companion-chat").shadowRoot.querySelector(".launcher").getBoundingClientRect().bottom === 790`,
  );
  await widget.open();
  await widget.input.waitFor();
  const [header, composer] = [
    await widget.element.locator("header").boundingBox(),
    await widget.element.locator(".composer").boundingBox(),
  ];
  expect(header?.y).toBe(47);
  expect((composer?.y ?? 0) + (composer?.height ?? 0)).toBe(810);
  await keepScreenshot(page, "phone-notch");
});

test("a printed page has neither launcher nor panel on it", async () => {
  const { page, widget } = await openChat();
  await widget.open();
  await page.emulateMedia({ media: "print" });
  expect(await widget.launcher.isVisible()).toBe(false);
  expect(await widget.panel.isVisible()).toBe(false);
  await keepScreenshot(page, "print");
});
