/**
 * Contexts that a browser keeps from one test to the next: to open one takes as long as most tests do, and in the full
 * Chromium many times as long. What a test leaves in one goes before the next has it.
 */
import { onTestFinished } from "bun:test";
import type { Browser, BrowserContext, BrowserContextOptions, CDPSession, Page } from "playwright-core";

export interface BorrowedContext {
  context: BrowserContext;
  /** At the latest when the test ends. */
  giveBack(): Promise<void>;
}

interface KeptContext {
  context: BrowserContext;
  /** The options, as text. */
  kind: string;
  isFree: boolean;
  /** Stays open, and with it the process that draws the pages of this context. */
  first: Page;
  devtools: CDPSession;
  /** Whether it has what cannot be removed again. */
  isSpent: boolean;
}

const keptOf = new WeakMap<Browser, Set<KeptContext>>();

/** One as empty as a new one. */
export async function borrowContext(browser: Browser, options: BrowserContextOptions): Promise<BorrowedContext> {
  const all = keptOf.get(browser) ?? new Set();
  keptOf.set(browser, all);
  const kind = JSON.stringify(options);
  const kept = [...all].find((one) => one.isFree && one.kind === kind) ?? (await openKept(browser, options, kind));
  all.add(kept);
  kept.isFree = false;
  let isGivenBack = false;
  const giveBack = async () => {
    if (isGivenBack) return;
    isGivenBack = true;
    all.delete(kept);
    if (!browser.isConnected()) return;
    if (kept.isSpent) return await kept.context.close();
    await empty(kept);
    all.add(kept);
  };
  onTestFinished(giveBack);
  return { context: kept.context, giveBack };
}

/** One for this test alone. */
export async function openContext(browser: Browser, options: BrowserContextOptions): Promise<BorrowedContext> {
  const context = await browser.newContext(options);
  const giveBack = () => context.close();
  onTestFinished(giveBack);
  return { context, giveBack };
}

async function openKept(browser: Browser, options: BrowserContextOptions, kind: string): Promise<KeptContext> {
  const context = await browser.newContext(options);
  const first = await context.newPage();
  const devtools = await context.newCDPSession(first);
  const kept: KeptContext = { context, kind, isFree: false, first, devtools, isSpent: false };
  const install = context.clock.install.bind(context.clock);
  context.clock.install = (time) => {
    kept.isSpent = true;
    return install(time);
  };
  return kept;
}

async function empty(kept: KeptContext): Promise<void> {
  const { context, first, devtools } = kept;
  await Promise.all(context.pages().map((page) => page === first || leave(page)));
  await context.setOffline(false);
  await context.clearPermissions();
  await devtools.send("Storage.clearDataForOrigin", { origin: "*", storageTypes: "all" });
  await devtools.send("Network.clearBrowserCache");
  kept.isFree = true;
}

/** Off its document first: a page that is only closed may still write for some milliseconds, into what is emptied then. */
async function leave(page: Page): Promise<void> {
  await page.goto("about:blank", { timeout: 2_000 }).catch(() => {});
  await page.close();
}
