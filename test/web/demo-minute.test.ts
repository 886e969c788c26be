/** The demo's first minute in a browser, with the executable and nothing else: text, a source, a tool at work, a confirmation. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Browser } from "playwright-core";
import { keepScreenshot, launchBrowser, openPage } from "../support/browser.ts";
import { type RunningExecutable, startExecutable } from "../support/executable.ts";
import { widgetOn } from "../support/widget-world.ts";

let server: RunningExecutable;
let browser: Browser;
beforeAll(async () => {
  // Without a model, and without an address to ask for anything.
  [server, browser] = await Promise.all([startExecutable({ args: ["--demo"], env: {} }), launchBrowser()]);
});
afterAll(() => server[Symbol.asyncDispose]());

test("a newcomer sees text, a cited source, a tool at work and a confirmation, by the starters of the start page", async () => {
  const { page, complaints } = await openPage(browser, { viewport: { width: 1280, height: 900 } });
  await page.goto(`${server.url}/`);
  const widget = widgetOn(page);
  await widget.input.waitFor();
  const starters = await widget.element.locator(".starter").allInnerTexts();
  expect(starters).toHaveLength(4);
  await keepScreenshot(page, "demo-starters");
  const [help = "", guarantee = "", hours = "", booking = ""] = starters;

  await widget.button(help).click();
  await widget.replied(1);
  expect(await widget.replies.last().innerText()).toContain("companiond's built-in demo");

  await widget.ask(guarantee);
  await widget.replied(2);
  expect(await widget.replies.last().innerText()).toContain("Used bicycles have a guarantee of one year");
  expect(await widget.log.getByText("The demo's bicycle shop").count()).toBeGreaterThan(0);
  await keepScreenshot(page, "demo-source");

  await widget.ask(hours);
  await widget.replies.getByText("Looking that up…").waitFor();
  await keepScreenshot(page, "demo-tool");
  await widget.replied(3);
  expect(await widget.replies.last().innerText()).toContain("answered inside companiond");

  await widget.ask(booking);
  const card = widget.element.locator(".card");
  await card.waitFor();
  expect(await card.locator(".what").innerText()).toBe("Book a test ride (demo)");
  expect(await card.locator(".details").innerText()).toMatch(/Bicycle\s+City bicycle\s+Day\s+Saturday/);
  await keepScreenshot(page, "demo-card");
  await card.getByRole("button", { name: "Confirm", exact: true }).click();
  await widget.replies.getByText("Booked: City bicycle, Saturday at 10:30").waitFor();
  await card.locator(".outcome").getByText("Confirmed", { exact: true }).waitFor();
  await keepScreenshot(page, "demo-confirmed");
  expect(complaints).toEqual([]);
});
