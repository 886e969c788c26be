/** Money in the dashboard: costs on the usage page, budgets with their alarms, and the operator's stop. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page, Route } from "playwright-core";
import { apiClient } from "../support/api-client.ts";
import { findViolationsInState } from "../support/axe.ts";
import { choose, hasCount, holds, keepScreenshot } from "../support/browser.ts";
import { atPage, type DashboardWorld, openDashboardWorld } from "../support/dashboard-world.ts";
import { eventually } from "../support/eventually.ts";

/** The mock counts 11 tokens in and 7 out, so that a reply of `test-model` costs 8100 micro-dollars. */
const prices = { "test-model": { input: 100, cached_input: 10, output: 1000 } };

let world: DashboardWorld;
beforeAll(async () => {
  world = await openDashboardWorld({ COMPANIOND_PRICES: JSON.stringify(prices) });
});
afterAll(() => world[Symbol.asyncDispose]());

test("the usage page tells what was spent, by companion, model and metadata, and says where a price is missing", async () => {
  const { page, api, complaints } = await world.openAs("owner", "/healthz", { reducedMotion: "reduce" });
  const acme = (await api.call("POST", "/api/companions", { name: "Ada", metadata: { tenant: "acme" } })).json;
  await world.say(acme.embed_token, "One");
  await world.say(acme.embed_token, "Two");
  const open = async (query = "") => {
    await page.goto(`${world.server.url}/app/usage${query}`);
    await page.getByRole("table", { name: /^Usage by/ }).waitFor();
  };
  const fact = (name: string) => page.locator("dl > div").filter({ hasText: name });
  await open();
  await fact("Today").getByText("$0.0162", { exact: true }).waitFor();
  await fact("This month").getByText("Same period last month: $0.00").waitFor();
  const rows = page.getByRole("table", { name: "Usage by companion" }).locator("tbody tr");
  expect(await rows.first().innerText()).toContain("$0.0162");
  await hasCount(page.getByText("No price:"), 0);

  const other = (await api.call("POST", "/api/companions", { name: "Bob", model: "bigger-model" })).json;
  await world.say(other.embed_token, "Three");
  await open("?by=model&measure=cost");
  await fact("Today").getByText("at least $0.0162").waitFor();
  const models = page.getByRole("table", { name: "Usage by model" });
  expect(await models.getByRole("row", { name: /^test-model/ }).innerText()).toContain("$0.0162");
  await models.getByRole("row", { name: /^bigger-model.*no price/ }).waitFor();
  await page.getByText("The operator of this server sets prices, with COMPANIOND_PRICES.").waitFor();
  await page.locator("canvas").waitFor();
  expect(await findViolationsInState(page)).toEqual([]);
  await keepScreenshot(page, "dashboard-money-usage");

  // Chosen by keyboard.
  await page.getByLabel("Group by", { exact: true }).selectOption("metadata");
  await page.getByLabel("Metadata field").focus();
  await page.keyboard.type("tenant");
  await page.keyboard.press("Enter");
  const tenants = page.getByRole("table", { name: "Usage by metadata tenant" });
  await tenants.getByRole("row", { name: /^acme \$0\.0162/ }).waitFor();
  await tenants.getByRole("row", { name: /^Without tenant no price/ }).waitFor();
  expect(new URL(page.url()).searchParams.get("field")).toBe("tenant");
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "CSV" }).click();
  expect((await download).suggestedFilename()).toMatch(/^usage-.*\.csv$/);
  expect(await findViolationsInState(page)).toEqual([]);
  expect(complaints).toEqual([]);
});

test("a budget is made by keyboard, to the micro-dollar, with what is wrong said at its field; changed, and deleted", async () => {
  const { page, api, complaints } = await world.openAs("owner", "/app/budgets", { reducedMotion: "reduce" });
  const read = async () => (await api.call("GET", "/api/budgets")).json.data;
  const ada = (await api.call("POST", "/api/companions", { name: "Ada" })).json;
  await page.getByText("No budgets yet").waitFor();
  expect(await findViolationsInState(page)).toEqual([]);
  await page.getByRole("button", { name: "New budget" }).first().focus();
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: "New budget" });
  await page.getByLabel("Applies to").selectOption("companion_id");
  await page.getByLabel("US dollars").fill("1,50");
  await page.keyboard.press("Enter");
  await dialog.getByText("Choose a companion.").waitFor();
  await dialog.getByText("Enter dollars like 50 or 12.50").waitFor();
  await holds(page, "document.activeElement?.getAttribute('aria-invalid') === 'true'");
  expect(await findViolationsInState(page)).toEqual([]);
  await keepScreenshot(page, "dashboard-money-dialog");
  await page.getByRole("combobox", { name: "Companion" }).fill("Ad");
  await page.getByRole("option", { name: "Ada", exact: true }).waitFor();
  await page.keyboard.press("Enter");
  await page.getByLabel("US dollars").fill("4.350001");
  await page.getByLabel("Period").selectOption("day");
  await page.keyboard.press("Enter");
  await dialog.waitFor({ state: "detached" });
  const card = page.getByRole("list", { name: "Budgets" }).getByRole("listitem");
  await card.getByRole("heading", { name: "Companion Ada" }).waitFor();
  await card.getByText("of $4.350001 a day").waitFor();
  expect(await read()).toMatchObject([
    { companion_id: ada.id, limit_micros: 4_350_001, period: "day", action: "stop" },
  ]);

  // What only the server knows: a model without a price cannot be under a budget that stops.
  await api.call("POST", "/api/companions", { name: "Bob", model: "bigger-model", metadata: { tenant: "acme" } });
  await page.getByRole("button", { name: "New budget" }).click();
  await page.getByLabel("Applies to").selectOption("metadata");
  await page.getByLabel("Field 1").fill("tenant");
  await page.getByLabel("Value 1").fill("acme");
  await page.getByLabel("US dollars").fill("10");
  await page.getByRole("button", { name: "Create budget" }).click();
  await dialog.getByText("bigger-model").first().waitFor();
  await page.getByLabel("When it is reached").selectOption("notify");
  await page.getByRole("button", { name: "Create budget" }).click();
  await page.getByRole("heading", { name: "Companions with tenant = acme" }).waitFor();
  expect((await read())[0]).toMatchObject({ metadata: { tenant: "acme" }, limit_micros: 10_000_000, action: "notify" });

  await choose(page, "Companion Ada", "Edit…");
  await page.getByLabel("US dollars").fill("5");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("of $5.00 a day").waitFor();
  await choose(page, "Companion Ada", "Delete…");
  await page.getByRole("heading", { name: "Delete the budget of companion Ada?" }).waitFor();
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await hasCount(card, 1);
  expect(await read()).toHaveLength(1);
  expect(complaints).toEqual([]);
});

test("Enter takes the companion that is marked and named by the text, though the search for the text takes long", async () => {
  const { page, api } = await world.openAs("owner", "/healthz", { reducedMotion: "reduce" });
  const ada = (await api.call("POST", "/api/companions", { name: "Ada" })).json;
  const searches: Route[] = [];
  await page.route("**/api/companions?q=*", (route) => void searches.push(route));
  await page.goto(`${world.server.url}/app/budgets`);
  await page.getByRole("button", { name: "New budget" }).first().click();
  await page.getByLabel("Applies to").selectOption("companion_id");
  const companion = page.getByRole("combobox", { name: "Companion" });
  await companion.focus();
  await page.getByRole("option", { name: "Ada", exact: true }).waitFor();
  await companion.pressSequentially("ad");
  await page.keyboard.press("Enter");
  await page.getByLabel("US dollars").fill("5");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Companion Ada" }).waitFor();
  expect((await api.call("GET", "/api/budgets")).json.data).toMatchObject([{ companion_id: ada.id }]);
});

const looks = {
  light: async () => {},
  dark: (page: Page) => page.emulateMedia({ colorScheme: "dark" }),
  narrow: (page: Page) => page.setViewportSize({ width: 390, height: 844 }),
};

/** In light and dark, wide and narrow. */
async function expectReadable(page: Page, name: string): Promise<void> {
  for (const [look, apply] of Object.entries(looks)) {
    await apply(page);
    // Its colours are those of the next frame.
    await page.evaluate("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))");
    expect(await findViolationsInState(page)).toEqual([]);
    expect(await page.evaluate("document.documentElement.scrollWidth > innerWidth")).toBe(false);
    await keepScreenshot(page, `dashboard-money-${name}-${look}`);
  }
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize({ width: 1280, height: 860 });
}

test("a budget that runs out is marked in the navigation and on the first page, until there is room again", async () => {
  const { page, api, complaints } = await world.openAs("owner", "/healthz", { reducedMotion: "reduce" });
  const { embed_token } = (await api.call("POST", "/api/companions", { name: "Ada" })).json;
  await world.say(embed_token, "One");
  const budget = { account: true, limit_micros: 10_000, period: "month", action: "notify" };
  const { id } = (await api.call("POST", "/api/budgets", budget)).json;
  // Of all budgets: this one is neither among the first hundred nor on the page's first screen.
  const calm = (tenant: number) => ({ ...budget, account: undefined, metadata: { tenant }, limit_micros: 1e9 });
  await Promise.all(Array.from({ length: 101 }, (_, tenant) => api.call("POST", "/api/budgets", calm(tenant))));
  await page.goto(`${world.server.url}/app/companions`);
  const status = page.getByRole("status").filter({ hasText: "budget" });
  await status.getByText("1 budget nearly used up.").waitFor();
  await status.getByText("The whole account: $0.0081 of $0.01 this month").waitFor();
  await world.say(embed_token, "Two");
  await page.reload();
  await status.getByText("1 budget reached.").waitFor();
  const mark = page.getByRole("link", { name: "1 budget reached" }).filter({ visible: true });
  await mark.waitFor();
  await expectReadable(page, "home");

  await mark.click();
  await atPage(page, "Budgets");
  await page
    .getByRole("heading", { name: /^Companions with tenant/ })
    .first()
    .waitFor();
  const first = page.getByRole("list", { name: "Budgets" }).getByRole("listitem").first();
  const meter = first.getByRole("meter", { name: "Spent: The whole account" });
  expect(await meter.getAttribute("aria-valuetext")).toBe("$0.0162 of $0.01 this month, 162 %");
  await page.getByText("Only notifies: replies continue.").waitFor();
  await expectReadable(page, "budgets");
  await choose(page, "The whole account", "Edit…");
  await page.getByLabel("When it is reached").selectOption("stop");
  await page.getByText("$0.0162 was spent this month already, and the limit is $0.01:").waitFor();
  await page.getByLabel("Period").selectOption("day");
  await page.getByText("$0.0162 was spent today already, and the limit is $0.01:").waitFor();
  await page.getByRole("button", { name: "Save and stop replies" }).waitFor();
  // Not used up, and one reply could cost more than is left: no visitor would get one.
  await page.getByLabel("US dollars").fill("0.5");
  await page
    .getByText(/here at least \$\d.*, and this limit leaves \$0\.48 today: once this is saved, visitors/)
    .waitFor();
  await page.getByRole("button", { name: "Save and stop replies" }).waitFor();
  expect(await findViolationsInState(page)).toEqual([]);
  await keepScreenshot(page, "dashboard-money-at-once");
  await page.getByLabel("Period").selectOption("month");
  await page.getByLabel("US dollars").fill("100");
  await page.getByRole("button", { name: "Save" }).click();
  await hasCount(mark, 0);
  await hasCount(meter, 0);
  expect((await api.call("GET", `/api/budgets/${id}`)).json.limit_micros).toBe(100_000_000);
  expect(complaints).toEqual([]);
});

test("an operator stops all spending, or one account's; owners see it on every page, until it is started again", async () => {
  const owner = await world.openAs("owner", "/healthz", { reducedMotion: "reduce" });
  const { embed_token } = (await owner.api.call("POST", "/api/companions", { name: "Ada" })).json;
  const { page, complaints } = await world.openAs("operator", "/app/accounts", { reducedMotion: "reduce" });
  const chat = async () => {
    const response = await apiClient(world.server.url, null).call("POST", `/api/embed/${embed_token}/chat`, {
      message: "Hello",
    });
    return response.status;
  };
  const banner = (of: Page) => of.getByText("Replies are turned off by the operator.");
  const visit = async (path: string) => {
    await owner.page.goto(`${world.server.url}/app/${path}`);
    await owner.page.getByRole("heading", { level: 1 }).waitFor();
  };

  await page.getByRole("button", { name: "Stop all spending…" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("replies under way are finished").waitFor();
  expect(await findViolationsInState(page)).toEqual([]);
  await keepScreenshot(page, "dashboard-money-stop");
  expect(await chat()).toBe(200);
  await page.getByRole("button", { name: "Stop all spending", exact: true }).click();
  await page.getByRole("heading", { name: "Spending is stopped for everyone" }).waitFor();
  await banner(page).waitFor();
  expect(await chat()).toBe(503);
  for (const path of ["companions", "usage"]) {
    await visit(path);
    await banner(owner.page).waitFor();
  }
  expect(await findViolationsInState(owner.page)).toEqual([]);
  expect(await findViolationsInState(page)).toEqual([]);
  await page.getByRole("button", { name: "Turn back on" }).click();
  await page.getByRole("button", { name: "Stop all spending…" }).waitFor();
  await hasCount(banner(page), 0);
  expect(await chat()).toBe(200);

  await page.getByRole("searchbox").fill(owner.email);
  const row = page.getByRole("row", { name: new RegExp(owner.email) });
  await hasCount(page.getByRole("row"), 2);
  await row.getByRole("button", { name: "Manage…" }).click();
  await dialog.getByRole("button", { name: "Stop spending…" }).click();
  await page.getByRole("button", { name: "Stop spending", exact: true }).click();
  await dialog.getByText("Spending is stopped: replies").waitFor();
  await row.getByText("Spending stopped").waitFor();
  await hasCount(banner(page), 0);
  expect(await chat()).toBe(503);
  expect(await findViolationsInState(page)).toEqual([]);
  await visit("audit");
  await banner(owner.page).waitFor();
  // It goes while the page stays open.
  await owner.page.clock.install();
  await owner.page.reload();
  await banner(owner.page).waitFor();
  await dialog.getByRole("button", { name: "Turn back on" }).click();
  await hasCount(row.getByText("Spending stopped"), 0);
  await eventually(async () => {
    await owner.page.clock.runFor(60_000);
    return (await banner(owner.page).count()) === 0;
  });
  expect(await chat()).toBe(200);
  expect([...complaints, ...owner.complaints]).toEqual([]);
});

test("a companion's limits and proof of work are set beside what it has used", async () => {
  const { page, api, complaints } = await world.openAs("owner", "/healthz", { reducedMotion: "reduce" });
  const { id, embed_token } = (await api.call("POST", "/api/companions", { name: "Ada" })).json;
  await world.say(embed_token, "Hello");
  await page.goto(`${world.server.url}/app/companions/${id}/settings?section=limits`);
  await page.getByText("1 today").waitFor();
  await page.getByLabel("Messages per day", { exact: true }).fill("1001");
  await page.getByText("Must be a whole number from 1 to 1,000.").waitFor();
  await page.getByLabel("Messages per day", { exact: true }).fill("200");
  await page.getByLabel("Tokens per month").fill("5000000");
  // By keyboard: from the chosen one to the next.
  await page.getByRole("link", { name: "Bot protection" }).click();
  await page.getByRole("radio", { name: "Off" }).focus();
  await page.keyboard.press("ArrowDown");
  expect(await page.getByRole("radio", { name: "When busy" }).isChecked()).toBe(true);
  expect(await findViolationsInState(page)).toEqual([]);
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved.").waitFor();
  const read = async () => (await api.call("GET", `/api/companions/${id}`)).json;
  expect(await read()).toMatchObject({ daily_messages: 200, monthly_tokens: 5_000_000, challenge: "auto" });
  await page.getByText("18 this month").waitFor();
  await page.getByLabel("Tokens per month").fill("");
  await page.getByRole("radio", { name: "Always" }).check();
  await page.getByRole("button", { name: "Save" }).click();
  await eventually(async () => (await read())["challenge"] === "always");
  expect(await read()).toMatchObject({ daily_messages: 200, monthly_tokens: null });
  expect(complaints).toEqual([]);
});
