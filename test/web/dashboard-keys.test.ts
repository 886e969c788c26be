/** API keys in the dashboard: made with scopes, shown once, tried, rotated, revoked; and the audit trail of it. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { scopes } from "../../src/domain/account.ts";
import { type ApiClient, apiClient, type ResponseBody } from "../support/api-client.ts";
import { findViolationsInState } from "../support/axe.ts";
import { choose, hasCount, keepScreenshot } from "../support/browser.ts";
import { atPage, type DashboardWorld, openDashboardWorld } from "../support/dashboard-world.ts";
import { eventually } from "../support/eventually.ts";

let world: DashboardWorld;
beforeAll(async () => {
  world = await openDashboardWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

const statusWith = async (key: string) =>
  (await apiClient(world.server.url, key).call("GET", "/api/companions")).status;

const makeKey = async (by: ApiClient, name: string): Promise<ResponseBody> =>
  (await by.call("POST", "/api/keys", { name, scopes: [...scopes] })).json;

const ends = ({ key }: { key: string }) => `${key.slice(0, 13)}…${key.slice(-4)}`;

test("makes a key that is shown once, works at once, and is rotated and revoked", async () => {
  const { page, api, complaints } = await world.openAs("owner", "/app/api-keys");
  await page.getByText("No API keys yet").waitFor();
  await page.getByRole("button", { name: "New key" }).first().click();
  await page.getByLabel("Name").fill("Billing server");
  // The least at first; single permissions are one click away, and their line sums them up.
  expect(await page.getByLabel("Read only").isChecked()).toBe(true);
  await page.getByLabel("Manage companions").check();
  await page.getByText("4 of 15: companions, knowledge").click();
  await page.getByLabel("Read usage").check();
  expect(await page.getByLabel("Custom").isChecked()).toBe(true);
  await page.getByText("5 of 15: companions, knowledge, usage (read)").waitFor();
  await page.getByLabel("Expires").selectOption("90");
  await page.getByRole("button", { name: "Create key" }).click();
  await page.getByText("Copy this key now").waitFor();
  const key = await page.locator("dialog code").first().innerText();
  expect(key).toMatch(/^cmp_live_[0-9A-Za-z]{32}$/);
  expect(await page.locator("dialog code").nth(1).innerText()).toContain(`${world.server.url}/api/companions`);
  await keepScreenshot(page, "dashboard-key");
  await page.keyboard.press("Escape");
  await page.getByText("Copy this key now").waitFor();
  expect(await statusWith(key)).toBe(200);
  const [made] = (await api.call("GET", "/api/keys")).json.data;
  expect(made).toMatchObject({
    scopes: ["companions:read", "companions:write", "usage:read", "knowledge:read", "knowledge:write"],
  });

  await page.getByRole("button", { name: "I have saved it" }).click();
  expect(await page.content()).not.toContain(key);
  const rows = page.getByRole("table", { name: "API keys" }).getByRole("row");
  await rows.nth(1).getByText(ends({ key })).waitFor();
  await choose(page, "Billing server", "Rotate…");
  await page.getByText("No other key ends with it.").waitFor();
  await page.getByLabel("Old key keeps working for").selectOption("Stop immediately");
  await page.getByRole("button", { name: "Create new key" }).click();
  await page.getByText("Copy this key now").waitFor();
  const next = await page.locator("dialog code").first().innerText();
  await page.getByText(`The old key ${ends({ key })} has ended.`).waitFor();
  expect([await statusWith(key), await statusWith(next)]).toEqual([401, 200]);
  await page.getByRole("button", { name: "I have saved it" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  // The button that led there has gone with the old key.
  await page.locator("#main:focus").waitFor();

  await page.reload();
  await rows.nth(1).waitFor();
  await hasCount(rows, 2);
  await choose(page, "Billing server", "Revoke…");
  await page.getByText("It has never been used.").or(page.getByText("anything still using it will break")).waitFor();
  await page.getByRole("button", { name: "Revoke", exact: true }).click();
  await page.getByText("No API keys yet").waitFor();
  expect(await statusWith(next)).toBe(401);

  await page.getByRole("link", { name: "Audit", exact: true }).click();
  await atPage(page, "Audit trail");
  await page.getByText("created the API key").first().waitFor();
  await hasCount(page.getByText("revoked the API key"), 2);
  await keepScreenshot(page, "dashboard-audit");
  expect(complaints).toEqual([]);
});

test("a rotation leaves no doubt which key is the old one, and the question which one is about to end", async () => {
  const { page, api, complaints } = await world.openAs("owner", "/app/api-keys", { reducedMotion: "reduce" });
  const old = await makeKey(api, "Billing server");
  await makeKey(apiClient(world.server.url, old.key), "Its child");
  await page.reload();
  const rows = page.getByRole("table", { name: "API keys" }).getByRole("row");
  await choose(page, `Billing server …${old.key.slice(-4)}`, "Rotate…");
  const dialog = page.getByRole("dialog");
  await dialog.getByText("1 key created with it ends too:").waitFor();
  await dialog.getByText("Its child").waitFor();
  await keepScreenshot(page, "dashboard-key-rotate");
  await page.getByLabel("Old key keeps working for").selectOption("7 days");
  await page.getByRole("button", { name: "Create new key" }).click();
  await page.getByText("Copy this key now").waitFor();
  const next = await page.locator("dialog code").first().innerText();
  await page.getByText(`The old key ${ends(old)} works until`).waitFor();
  await page.getByRole("button", { name: "I have saved it" }).click();

  // Newest first, of one name: told apart by their ends, their dates and the mark.
  await hasCount(rows, 4);
  const [first, second, third] = [rows.nth(1), rows.nth(2), rows.nth(3)];
  await first.getByText(ends({ key: next })).waitFor();
  await hasCount(first.getByText("Replaced"), 0);
  await second.getByText(`Created by …${old.key.slice(-4)}`).waitFor();
  await third.getByText(ends(old)).waitFor();
  await third.getByText("Replaced").waitFor();
  await third.getByText(`by …${next.slice(-4)} on`).waitFor();
  await third.getByText("in 7 days").waitFor();
  await third.getByRole("button", { name: "Actions" }).click();
  expect(await third.getByRole("menuitem").allInnerTexts()).toEqual(["Revoke…"]);
  await page.keyboard.press("Escape");
  for (const row of [first, second, third]) await row.locator("td time").first().waitFor();
  expect([await statusWith(old.key), await statusWith(next)]).toEqual([200, 200]);
  await keepScreenshot(page, "dashboard-keys");
  // The table fits, from the narrowest screen that has one on.
  for (const width of [840, 1024, 1280]) {
    await page.setViewportSize({ width, height: 860 });
    const isCut =
      "(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)(document.querySelector('main table').parentElement)";
    expect(await page.evaluate<boolean>(isCut)).toBe(false);
    await keepScreenshot(page, `dashboard-keys-${width}`);
  }

  await choose(first, "", "Revoke…");
  await dialog.getByText(`This is the new key: it replaced …${old.key.slice(-4)}.`).waitFor();
  await page.keyboard.press("Escape");

  // A use is noted up to a second later; the dialog asks once, when it opens. The page's list may be older still.
  const isUseNoted = async () => {
    const { data } = (await api.call("GET", "/api/keys")).json;
    return data.some((key: ResponseBody) => key.id === old.id && key.last_used_at !== null);
  };
  await eventually(isUseNoted, { what: "the old key's last use to be noted" });
  await choose(third, "", "Revoke…");
  await page.getByRole("heading", { name: `Revoke Billing server …${old.key.slice(-4)}?` }).waitFor();
  await dialog.getByText(`by …${next.slice(-4)} on`).waitFor();
  for (const fact of [ends(old), "Created", "Last used", "Requests", "1 key created with it ends too:", "Its child"]) {
    await dialog.getByText(fact).first().waitFor();
  }
  await dialog.getByText("anything still using it will break").waitFor();
  await keepScreenshot(page, "dashboard-key-revoke");
  expect(await findViolationsInState(page)).toEqual([]);
  await page.getByRole("button", { name: "Revoke 2 keys" }).click();
  await page.getByText("Revoked 2 keys.").waitFor();
  await hasCount(rows, 2);
  expect([await statusWith(old.key), await statusWith(next)]).toEqual([401, 200]);
  expect(complaints).toEqual([]);
});

test("the keys page and its questions read well in the dark and on a phone, by keyboard", async () => {
  const viewport = { width: 360, height: 740 };
  const options = { colorScheme: "dark", reducedMotion: "reduce", viewport } as const;
  const { page, api } = await world.openAs("owner", "/app/api-keys", options);
  const old = await makeKey(api, "A server with a rather long name that has to be wrapped somewhere");
  const child = await makeKey(apiClient(world.server.url, old.key), "Its child");
  await api.call("POST", "/api/keys", { name: old["name"], scopes, replaces: old.id, grace_seconds: 3600 });
  await page.reload();
  await page.getByText("Replaced").waitFor();
  const isWide = () => page.evaluate("document.documentElement.scrollWidth > innerWidth");
  expect(await isWide()).toBe(false);
  expect(await findViolationsInState(page)).toEqual([]);
  await keepScreenshot(page, "dashboard-keys-phone");

  const actions = page.getByRole("button", { name: `Actions for ${old["name"]} …${old.key.slice(-4)}` });
  await actions.focus();
  await page.keyboard.press("Enter");
  // Above the row, or below it, but never cut: the table scrolls.
  const menu = await page.getByRole("menu").boundingBox();
  expect(menu?.x).toBeGreaterThan(0);
  expect((menu?.x ?? 0) + (menu?.width ?? 0)).toBeLessThan(viewport.width);
  await page.keyboard.press("Escape");
  await hasCount(page.getByRole("menu"), 0);
  await page.keyboard.press("Enter");
  await page.getByRole("menuitem", { name: "Revoke…" }).waitFor();
  await page.keyboard.press("Enter");
  // The list behind it says so too, before the dialog's code has been loaded.
  await page.getByRole("dialog").getByText("Its child").waitFor();
  expect(await isWide()).toBe(false);
  expect(await findViolationsInState(page)).toEqual([]);
  await keepScreenshot(page, "dashboard-key-revoke-phone");
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  expect(await page.evaluate<string>("document.activeElement.title")).toBe((await actions.getAttribute("title")) ?? "");
  expect(await statusWith(child.key)).toBe(200);
});

test("ends nothing before it knows what would end", async () => {
  const { page, api } = await world.openAs("owner", "/app/api-keys");
  const key = await makeKey(api, "Kept");
  await page.reload();
  await page.getByText("Kept").first().waitFor();
  await page.route("**/api/keys?limit=1000", (route) => route.abort());
  await choose(page, "Kept", "Revoke…");
  await page.getByText("The server cannot be reached").waitFor();
  expect(await page.getByRole("button", { name: "Revoke", exact: true }).isDisabled()).toBe(true);
  await page.unroute("**/api/keys?limit=1000");
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByText("No other key ends with it.").waitFor();
  await page.getByRole("button", { name: "Revoke", exact: true }).click();
  await page.getByText("No API keys yet").waitFor();
  expect(await statusWith(key.key)).toBe(401);
});

test("a key that only relays chats may do nothing else, and what that and budgets mean stands beside the scopes", async () => {
  const { page, api, complaints } = await world.openAs("owner", "/app/api-keys");
  await page.getByRole("button", { name: "New key" }).first().click();
  await page.getByText("Single permissions").click();
  await page.getByText("Anyone who has the key can lift every spending limit.", { exact: true }).waitFor();
  await page.getByLabel("Name").fill("Relay");
  await page.getByLabel("Chat only").check();
  await page.getByText("1 of 15: chat").waitFor();
  await page.getByText("Each costs as much as a visitor's message.").first().waitFor();
  await page.getByRole("button", { name: "Create key" }).click();
  await page.getByText("Copy this key now").waitFor();
  expect((await api.call("GET", "/api/keys")).json.data).toMatchObject([{ scopes: ["chat:write"] }]);
  expect(complaints).toEqual([]);
});

test("refuses a key without a scope before it is sent", async () => {
  const { page } = await world.openAs("owner", "/app/api-keys");
  await page.getByRole("button", { name: "New key" }).first().click();
  await page.getByLabel("Name").fill("Nothing");
  await page.getByLabel("Chat only").check();
  await page.getByText("Single permissions").click();
  await page.getByLabel("Chat with companions").uncheck();
  expect(await page.getByRole("button", { name: "Create key" }).isDisabled()).toBe(true);
});
