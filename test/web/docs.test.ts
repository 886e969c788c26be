/** The reference in a browser: pages by group, a search without a script, old links, keyboard, light, dark and narrow. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Browser, BrowserContextOptions } from "playwright-core";
import { guideFiles } from "../../scripts/guide-files.ts";
import { findViolations, findViolationsInState } from "../support/axe.ts";
import { keepScreenshot, launchBrowser, openPage } from "../support/browser.ts";
import { type RunningExecutable, startExecutable } from "../support/executable.ts";
import { someOf } from "../support/full.ts";

let server: RunningExecutable;
let browser: Browser;
beforeAll(async () => {
  [server, browser] = await Promise.all([startExecutable(), launchBrowser()]);
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

const desk = { width: 1280, height: 800 };
const phone = { width: 360, height: 740 };

async function open(path: string, options: BrowserContextOptions = {}) {
  // Scripts off: nothing here may need one. axe brings its own, past the policy.
  const opened = await openPage(browser, { viewport: desk, ...options });
  const foreign: string[] = [];
  opened.page.on("request", (request) => {
    if (!request.url().startsWith(server.url)) foreign.push(request.url());
  });
  await opened.page.goto(server.url + path);
  return { ...opened, foreign };
}

/** Looking at all of them closely would take a minute. Of the small ones those that have all that the large ones have. */
const oneOfEachKind = /^\/docs(\/guides(\/settings)?|\/visitor-keys|\/objects-budgets|\/errors|\/search.*)?$/;

/** Prose is as long as it is. */
const guides = someOf(["settings", "deploy", ...guideFiles.map(({ name }) => name)], 2).map(
  (name) => `/docs/guides/${name}`,
);

const looks: readonly [string, BrowserContextOptions][] = [
  ["light", {}],
  ["narrow", { viewport: phone }],
  ["dark", { colorScheme: "dark" }],
];

test.each(someOf(looks))("every page reads well: %s", async (look, options) => {
  const { page, complaints, foreign } = await open("/docs", options);
  const hrefs: string[] = await page.evaluate(
    "[...document.querySelectorAll('.places > li > a')].map((link) => link.getAttribute('href'))",
  );
  expect(hrefs.length).toBeGreaterThan(10);
  const pages = [...hrefs.filter((href) => href.startsWith("/docs")), "/docs/search?q=embed+token", ...guides];
  const measure = (): Promise<{ high: number; wide: number }> =>
    page.evaluate(
      "({ high: document.documentElement.scrollHeight, wide: document.documentElement.scrollWidth - innerWidth })",
    );
  const examine = async (href: string) => {
    const violations = await (look === "light" ? findViolations(page) : findViolationsInState(page));
    expect({ href, violations }).toEqual({ href, violations: [] });
    await keepScreenshot(page, `docs-${href.replace(/\W+/g, "-").slice(1)}-${look}`);
  };
  const sizes = look === "light" ? [desk, phone] : [options.viewport ?? desk];
  // Colours move nothing.
  for (const href of look === "dark" ? pages.filter((href) => oneOfEachKind.test(href)) : pages) {
    await page.goto(server.url + href);
    for (const size of sizes) {
      if (sizes.length > 1) await page.setViewportSize(size);
      const { high, wide } = await measure();
      expect({ href, size, wide }).toEqual({ href, size, wide: 0 });
      if (oneOfEachKind.test(href) && (size === desk || sizes.length === 1)) await examine(href);
      if (size === desk && !href.includes("/guides/"))
        expect({ href, isShort: high < 24_000 }).toEqual({ href, isShort: true });
    }
    // The next page begins as this one ends: to lay a page out anew takes as long as to load it.
    sizes.reverse();
  }
  expect(complaints).toEqual([]);
  expect(foreign).toEqual([]);
});

test("the search works by keyboard alone, without scripts", async () => {
  const { page, complaints } = await open("/docs/companions", { javaScriptEnabled: false });
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  await page.keyboard.type("rotate embed");
  await page.keyboard.press("Control+A");
  await page.keyboard.type("theme_color");
  await page.keyboard.press("Enter");
  await page.getByText("for theme_color").waitFor();
  expect(await page.getByRole("searchbox").inputValue()).toBe("theme_color");
  await page.getByRole("main").getByRole("link", { name: "Create a companion" }).press("Enter");
  await page.waitForURL(/\/docs\/companions#createCompanion$/);
  await page.getByRole("heading", { name: "Create a companion" }).waitFor();
  expect(complaints).toEqual([]);
});

test("an old link shows where the call is now, and errors stay where problems point to", async () => {
  const { page } = await open("/docs#createCompanion");
  const target = page.locator(":target");
  expect(await target.isVisible()).toBe(true);
  await target.getByRole("link").click();
  await page.waitForURL(/\/docs\/companions#createCompanion$/);
  await page.goto(`${server.url}/docs/errors#rate_limited`);
  expect(await page.locator(":target").innerText()).toContain("rate_limited");
});
