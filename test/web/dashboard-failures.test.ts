/** Failing providers in the dashboard: what an owner learns of a companion's replies, and an operator of the server's key. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { BrowserContextOptions } from "playwright-core";
import { findViolationsInState } from "../support/axe.ts";
import { keepScreenshot } from "../support/browser.ts";
import { atPage, type DashboardWorld, openDashboardWorld } from "../support/dashboard-world.ts";
import { eventually } from "../support/eventually.ts";
import { someOf } from "../support/full.ts";

let world: DashboardWorld;
beforeAll(async () => {
  world = await openDashboardWorld({ COMPANIOND_CONFIG_RATE_PER_IP: "3" });
});
afterAll(() => world[Symbol.asyncDispose]());

/** Whatever comes of it. */
async function say(embedToken: string, message: string): Promise<void> {
  await world.say(embedToken, message).catch(() => {});
}

test("an owner sees how many replies failed, why, and what helps", async () => {
  const looks: readonly [string, BrowserContextOptions][] = [
    ["light", {}],
    ["dark", { colorScheme: "dark" }],
    ["narrow", { viewport: { width: 390, height: 844 } }],
  ];
  for (const [look, options] of someOf(looks)) {
    const { page, api, complaints } = await world.openAs("owner", "/app/companions", options);
    const { id, embed_token } = (await api.call("POST", "/api/companions", { name: "Ada" })).json;
    await page.goto(`${world.server.url}/app/companions/${id}`);
    await page.getByText("Every reply went out").waitFor();
    for (const message of ["[[cut:3]] one two three", "[[cut:3]] four five six", "[[cut:3]] a b c", "[[fail:400]]"]) {
      await say(embed_token, message);
    }
    await eventually(
      async () => ((await api.call("GET", "/api/usage")).json.data[0] as { errors?: unknown })?.errors === 4,
    );

    await page.reload();
    // What lasts, though most failures were others.
    await page.getByText("The provider refused the request.").waitFor();
    expect(await page.getByText("Failed replies").locator("..").innerText()).toMatch(/^Failed replies\s+4\s/);
    expect(await findViolationsInState(page)).toEqual([]);
    await page.evaluate("window.scrollTo(0, 0)");
    await keepScreenshot(page, `dashboard-overview-${look}`);
    await page.getByRole("link", { name: "All failures" }).click();
    await atPage(page, "Usage");
    const table = page.getByRole("table", { name: "Failed replies" });
    await table.waitFor();
    expect(await table.locator("tbody tr").first().innerText()).toStartWith("The reply was cut off");
    expect(await table.locator("tbody tr").count()).toBe(2);
    expect(await table.getByText("The provider refused the request").count()).toBe(1);
    expect(await findViolationsInState(page)).toEqual([]);
    await table.scrollIntoViewIfNeeded();
    await keepScreenshot(page, `dashboard-failures-usage-${look}`);
    expect(await page.getByText("Replies are failing.").count()).toBe(0);
    expect(complaints).toEqual([]);
  }
});

test("an operator sees within a minute that a key is refused, and when it works again", async () => {
  const { page, api, complaints } = await world.openAs("operator", "/app/companions");
  const { embed_token } = (await api.call("POST", "/api/companions", { name: "Ada" })).json;
  await page.clock.install();
  await page.goto(`${world.server.url}/app/companions`);
  await page.getByRole("table").waitFor();
  await say(embed_token, "Hello");
  await page.clock.runFor(60_000);
  await eventually(async () => (await page.getByText("Replies are failing.").count()) === 0);
  await say(embed_token, "[[fail:401]]");
  await page.clock.runFor(60_000);
  await page.getByText("test-model does not reply at 127.0.0.1").waitFor();
  await page.getByText("Check OPENAI_API_KEY").waitFor();
  expect(await page.locator("main").innerText()).not.toMatch(/sk-\w{4}/);
  expect(await findViolationsInState(page)).toEqual([]);
  await keepScreenshot(page, "dashboard-failures-operator");
  await say(embed_token, "Hello");
  await page.clock.runFor(60_000);
  await page.getByText("Replies are failing.").waitFor({ state: "detached" });
  expect(complaints).toEqual([]);
});

test("an operator sees that page views are refused, and which setting mends it, and doctor says the same", async () => {
  const { page, api, complaints } = await world.openAs("operator", "/app/companions");
  const { embed_token } = (await api.call("POST", "/api/companions", { name: "Ada" })).json;
  expect((await api.call("GET", "/api/status")).json.refused_configs).toEqual([]);
  const view = async () => (await fetch(`${world.server.url}/api/embed/${embed_token}`)).status;
  expect([await view(), await view(), await view(), await view(), await view()]).toEqual([200, 200, 200, 429, 429]);
  await say(embed_token, "Hello");
  const detail = "2 page views were refused (429), since their address had too many in a minute.";
  const advice = "Set COMPANIOND_CONFIG_RATE_PER_IP to more than 3 a minute.";
  const { refused_configs } = (await api.call("GET", "/api/status")).json;
  expect(refused_configs).toMatchObject([{ window: "ip", count: 2, detail, advice }]);
  await page.reload();
  const warning = page.getByText("Page views are refused.").locator("../..");
  await warning.getByText(detail).waitFor();
  await warning.getByText(advice).waitFor();
  expect(await findViolationsInState(page)).toEqual([]);
  await keepScreenshot(page, "dashboard-failures-page-views");
  const { checks } = (await world.run("doctor")) as unknown as { checks: { name: string }[] };
  expect(checks.find(({ name }) => name === "page views")).toMatchObject({
    ...{ status: "warn", advice },
    detail: expect.stringMatching(/^2 page views were refused \(429\), .* First: 20\S+Z, last: 20\S+Z\.$/),
  });
  expect(complaints).toEqual([]);
});
