/**
 * Contexts that a browser keeps from one test to the next: to open one takes as long as most tests do, and in the full
 * Chromium many times as long. What a test leaves in its own goes at its end.
 */
import { onTestFinished } from "bun:test";
import type { Browser, BrowserContext, BrowserContextOptions, CDPSession, Page } from "playwright-core";

interface KeptContext {
  context: BrowserContext;
  /** The options, as text. */
  kind: string;
  isFree: boolean;
  /** Stays open, and with it the process that draws the pages of this context. */
  first: Page;
  devtools: CDPSession;
}

const keptOf = new WeakMap<Browser, Set<KeptContext>>();

/** One as empty as a new one, until the test ends. */
export async function borrowContext(browser: Browser, options: BrowserContextOptions): Promise<BrowserContext> {
  const kind = JSON.stringify(options);
  const all = keptOf.get(browser) ?? new Set();
  keptOf.set(browser, all);
  const free = [...all].find((one) => one.isFree && one.kind === kind);
  if (free !== undefined) free.isFree = false;
  const kept = free ?? (await openKept(browser, options, kind));
  all.add(kept);
  // Closed by the test, or with its browser.
  if (free === undefined) kept.context.once("close", () => all.delete(kept));
  onTestFinished(async () => {
    if (all.has(kept)) await empty(kept);
  });
  return kept.context;
}

async function openKept(browser: Browser, options: BrowserContextOptions, kind: string): Promise<KeptContext> {
  const context = await browser.newContext(options);
  const first = await context.newPage();
  return { context, kind, isFree: false, first, devtools: await context.newCDPSession(first) };
}

async function empty(kept: KeptContext): Promise<void> {
  const { context, first, devtools } = kept;
  await Promise.all(context.pages().map((page) => page === first || page.close()));
  await context.setOffline(false);
  await context.clearPermissions();
  await devtools.send("Storage.clearDataForOrigin", { origin: "*", storageTypes: "all" });
  await devtools.send("Network.clearBrowserCache");
  kept.isFree = true;
}
