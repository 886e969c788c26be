/** API keys in the dashboard: made with scopes, shown once, tried, rotated, revoked; and the audit trail of it. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { apiClient } from "../support/api-client.ts";
import { hasCount, keepScreenshot } from "../support/browser.ts";
import { atPage, type DashboardWorld, openDashboardWorld } from "../support/dashboard-world.ts";

setDefaultTimeout(30_000);

let world: DashboardWorld;
beforeAll(async () => {
  world = await openDashboardWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

const statusWith = async (key: string) =>
  (await apiClient(world.server.url, key).call("GET", "/api/companions")).status;

test("makes a key that is shown once, works at once, and is rotated and revoked", async () => {
  const { page, api, complaints } = await world.openAs("owner", "/app/api-keys");
  await page.getByText("No API keys yet").waitFor();
  await page.getByRole("button", { name: "New key" }).first().click();
  await page.getByLabel("Name").fill("Billing server");
  await page.getByLabel("It may do").selectOption("companions");
  await page.getByLabel("Read usage").check();
  await page.getByLabel("Expires").selectOption("90");
  await page.getByRole("button", { name: "Create key" }).click();
  await page.getByText("Copy it now").waitFor();
  const key = await page.locator("dialog code").first().innerText();
  expect(key).toMatch(/^cmp_live_[0-9A-Za-z]{32}$/);
  expect(await page.locator("dialog code").nth(1).innerText()).toContain(`${world.server.url}/api/companions`);
  await keepScreenshot(page, "dashboard-key");
  await page.keyboard.press("Escape");
  await page.getByText("Copy it now").waitFor();
  expect(await statusWith(key)).toBe(200);
  const [made] = (await api.call("GET", "/api/keys")).json.data;
  expect(made).toMatchObject({ scopes: ["companions:read", "companions:write", "usage:read"] });

  await page.getByRole("button", { name: "I have kept it" }).click();
  expect(await page.content()).not.toContain(key);
  const rows = page.getByRole("table", { name: "API keys" }).getByRole("row");
  await page.getByRole("button", { name: "Rotate…" }).click();
  await page.getByRole("button", { name: "Make the new key" }).click();
  await page.getByText("Copy it now").waitFor();
  const next = await page.locator("dialog code").first().innerText();
  expect([await statusWith(key), await statusWith(next)]).toEqual([200, 200]);
  await page.getByRole("button", { name: "Revoke the old key" }).click();
  await page.getByText("The old key is revoked.").waitFor();
  expect([await statusWith(key), await statusWith(next)]).toEqual([401, 200]);
  await page.getByRole("dialog").waitFor({ state: "detached" });

  await page.reload();
  await rows.nth(1).waitFor();
  await hasCount(rows, 2);
  await keepScreenshot(page, "dashboard-keys");
  await page.getByRole("button", { name: "Revoke…" }).click();
  await page.getByRole("button", { name: "Revoke", exact: true }).click();
  await page.getByText("No API keys yet").waitFor();
  expect(await statusWith(next)).toBe(401);

  await page.getByRole("link", { name: "Audit trail" }).click();
  await atPage(page, "Audit trail");
  await page.getByText("Created an API key").first().waitFor();
  await hasCount(page.getByText("Revoked an API key"), 2);
  await keepScreenshot(page, "dashboard-audit");
  expect(complaints).toEqual([]);
});

test("refuses a key without a scope before it is sent", async () => {
  const { page } = await world.openAs("owner", "/app/api-keys");
  await page.getByRole("button", { name: "New key" }).first().click();
  await page.getByLabel("Name").fill("Nothing");
  await page.getByLabel("It may do").selectOption("companions");
  await page.getByLabel("See companions and their embed tokens").uncheck();
  await page.getByLabel("Create, change and delete companions").uncheck();
  expect(await page.getByRole("button", { name: "Create key" }).isDisabled()).toBe(true);
});
