/**
 * A real browser for tests: Debian's headless Chromium with an empty profile, and screenshots for the eye.
 * Opening a context takes the full Chromium half a second of CPU and three processes; the headless shell takes a tenth of
 * a second and one process. The full one does where there is no other.
 */
import { onTestFinished } from "bun:test";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { type Browser, type BrowserContextOptions, chromium, type Locator, type Page } from "playwright-core";
import { atEnd } from "./at-end.ts";
import { findViolationsInState } from "./axe.ts";
import { eventually, patienceMs } from "./eventually.ts";
import { someOf } from "./full.ts";
import { borrowContext, openContext } from "./kept-context.ts";
import { watchForLateness } from "./late-page.ts";

/** By flags: they end with the process. */
const launched = new Map<string, Promise<Browser>>();

/** One for all files of a process. `flags` are additional command line arguments, such as for a fake microphone. */
export function launchBrowser(flags: string[] = []): Promise<Browser> {
  const key = flags.join(" ");
  const known = launched.get(key);
  if (known !== undefined) return known;
  const browser = launch(flags);
  launched.set(key, browser);
  atEnd(async () => {
    launched.delete(key);
    await (await browser).close();
  });
  return browser;
}

function launch(flags: readonly string[]): Promise<Browser> {
  const executablePath = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"].find(existsSync);
  if (executablePath === undefined) throw new Error("There is no Chromium: install chromium-headless-shell.");
  return chromium.launch({
    executablePath,
    // Nothing here draws in three dimensions, and a process that could costs each test a tenth of its time.
    ignoreDefaultArgs: ["--enable-unsafe-swiftshader"],
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-software-rasterizer",
      "--in-process-gpu",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      "--no-first-run",
      // No test is about how the browser keeps sites apart, and a process for each takes a twentieth of the time.
      "--disable-site-isolation-trials",
      // For each context one process, which is there already when its next page comes.
      "--renderer-process-limit=1",
      // Requests pass one process less: a tenth of the time less. The second is Playwright's own, which this replaces.
      "--enable-features=NetworkServiceInProcess2,CDPScreenshotNewSurface",
      ...flags,
    ],
  });
}

export interface OpenedPage {
  page: Page;
  /** Uncaught errors, console errors and policy violations of the page, as they happen. */
  complaints: string[];
  /** Before its test ends, so that the next page of the test can replace it. */
  close(): Promise<void>;
}

export interface PageOptions extends BrowserContextOptions {
  /** True: a context that no other test has, for what it loads on its first visit. */
  isAlone?: boolean;
}

/**
 * A page in a browser context without anything of other tests, until the test ends. It moves only if asked to: to draw
 * each frame takes a quarter of the time of a test.
 */
export async function openPage(browser: Browser, options: PageOptions = {}): Promise<OpenedPage> {
  const { isAlone = false, ...more } = options;
  let showIfLate = async () => {};
  // Before the context is given back, and with it the page.
  onTestFinished(() => showIfLate());
  const all: BrowserContextOptions = { viewport: { width: 1100, height: 820 }, reducedMotion: "reduce", ...more };
  const { context, giveBack } = await (isAlone ? openContext : borrowContext)(browser, all);
  // Also for pages that a test opens beside this one.
  context.setDefaultTimeout(patienceMs);
  const page = await context.newPage();
  showIfLate = watchForLateness(page);
  goOnWhereNetworksChange(page);
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error") complaints.push(message.text());
  });
  return { page, complaints, close: giveBack };
}

/** Tests of services that run beside this one make networks of their own, and Chromium drops what it is loading then. */
function goOnWhereNetworksChange(page: Page): void {
  const goto = page.goto.bind(page);
  page.goto = async (url, options) => {
    try {
      return await goto(url, options);
    } catch (error) {
      if (!String(error).includes("ERR_NETWORK_CHANGED")) throw error;
      return await goto(url, options);
    }
  };
}

const artefacts = join(import.meta.dir, "..", "artefacts");

/** With `COMPANIOND_TEST_SCREENSHOTS=1` stores a screenshot under `test/artefacts`. No test reads one. */
export async function keepScreenshot(page: Page, name: string): Promise<void> {
  if (process.env["COMPANIOND_TEST_SCREENSHOTS"] !== "1") return;
  mkdirSync(artefacts, { recursive: true });
  // Without animations, so that two runs can be compared.
  await page.screenshot({ path: join(artefacts, `${name}.png`), animations: "disabled", caret: "hide" });
}

const narrow = { width: 360, height: 740 };

/** Of a state of a page: what axe finds (in `full`), that it fits 360 pixels, and screenshots of it, wide and narrow. */
export async function examine(page: Page, name: string): Promise<void> {
  const wide = page.viewportSize() ?? narrow;
  for (const colorScheme of someOf(["light", "dark"] as const)) {
    await page.emulateMedia({ colorScheme });
    const found = await findViolationsInState(page);
    if (found.length > 0) throw new Error(`${name}, ${colorScheme}: ${found.join("\n")}`);
    await keepScreenshot(page, `${name}-${colorScheme}`);
    await page.setViewportSize(narrow);
    const fits = async () => (await page.evaluate("document.documentElement.scrollWidth")) === narrow.width;
    await eventually(fits, { what: `${name} to fit`, everyMs: 50 });
    await keepScreenshot(page, `${name}-${colorScheme}-phone`);
    await page.setViewportSize(wide);
  }
  await page.emulateMedia({ colorScheme: "light" });
}

/** Opens the menu of a row and chooses from it. `row` is a part of what the row is called for screen readers. */
export async function choose(scope: Page | Locator, row: string, item: string): Promise<void> {
  await scope.getByRole("button", { name: `Actions for ${row}` }).click();
  await scope.getByRole("menuitem", { name: item }).click();
}

/** Waits until the locator finds this many; lists are reloaded in the background. */
export function hasCount(locator: Locator, count: number): Promise<void> {
  return eventually(async () => (await locator.count()) === count, { everyMs: 50 });
}

/**
 * Waits until the expression is true in the page. Playwright's own wait evaluates a text there again and again, which our
 * pages' policy forbids: it fails wherever the first time comes too early.
 */
export function holds(page: Page, expression: string): Promise<void> {
  return eventually(async () => Boolean(await page.evaluate(expression)), { what: expression, everyMs: 50 });
}
