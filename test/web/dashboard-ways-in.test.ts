/** The ways into the dashboard and out of it, in a real browser against the executable on a fresh database. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { findViolationsInState } from "../support/axe.ts";
import { hasCount, keepScreenshot } from "../support/browser.ts";
import {
  atPage,
  chooseFromAccountMenu,
  type DashboardWorld,
  openDashboardWorld,
  password,
} from "../support/dashboard-world.ts";

let world: DashboardWorld;
beforeAll(async () => {
  world = await openDashboardWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

async function fillSignIn(page: Page, email: string, secret = password): Promise<void> {
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Password", { exact: true }).fill(secret);
  await page.getByRole("button", { name: "Sign in" }).click();
}

test("the set-up link of a new server makes its operator, once", async () => {
  const link = world.readSetUpLink();
  const { page, complaints } = await world.open();
  await page.goto(`${world.server.url}/app`);
  await atPage(page, "This server is new");
  await page.getByText("companiond account setup-link").waitFor();
  expect(await page.getByRole("textbox").count()).toBe(0);
  expect(await findViolationsInState(page)).toEqual([]);
  await keepScreenshot(page, "dashboard-new");
  await page.goto(link);
  await atPage(page, "Set up companiond");
  await keepScreenshot(page, "dashboard-set-up");
  await page.getByLabel("Your email").fill("operator@example.com");
  await page.getByLabel("Password", { exact: true }).fill("short");
  await page.getByRole("button", { name: "Create account" }).click();
  expect(await page.getByLabel("Password", { exact: true }).evaluate((input) => "validity" in input)).toBe(true);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByRole("button", { name: "Create account" }).click();
  await atPage(page, "Get started");
  await page.getByRole("link", { name: "Accounts", exact: true }).waitFor();
  expect(page.url()).toBe(`${world.server.url}/app/start`);

  const second = await world.open();
  await second.page.goto(link);
  await atPage(second.page, "This link no longer works");
  expect(await second.page.getByRole("textbox").count()).toBe(0);
  expect(complaints).toEqual([]);
  expect(second.complaints).toEqual([]);
});

test("a link without its secret says so", async () => {
  const { page } = await world.open();
  await page.goto(`${world.server.url}/app/setup`);
  await atPage(page, "The link is incomplete");
  expect(await page.getByRole("textbox").count()).toBe(0);
});

test("signs in, back to the page that was asked for, and out again", async () => {
  await world.createAccount("owner@example.com");
  const { page, complaints } = await world.open();
  await page.goto(`${world.server.url}/app/usage?days=7`);
  await atPage(page, "Sign in");
  await fillSignIn(page, "owner@example.com", "wrong password");
  await page.getByRole("alert").getByText("Email or password is wrong.").waitFor();
  await keepScreenshot(page, "dashboard-sign-in");
  await fillSignIn(page, "Owner@Example.com");
  await atPage(page, "Usage");
  expect(new URL(page.url()).search).toBe("?days=7");
  expect(await page.getByRole("link", { name: "Accounts", exact: true }).count()).toBe(0);

  await page.reload();
  await atPage(page, "Usage");
  await page.getByRole("link", { name: "API keys" }).click();
  await atPage(page, "API keys");
  await chooseFromAccountMenu(page, "Sign out");
  await atPage(page, "Sign in");
  // The cookie that stays opens nothing: it tells this browser apart from browsers that guess passwords.
  expect((await page.context().cookies()).map(({ name }) => name)).toEqual(["companiond_device"]);
  await page.goBack();
  await atPage(page, "Sign in");
  expect(complaints).toEqual([]);
});

test("goes to no other site after signing in, whatever the address says", async () => {
  const { page } = await world.open();
  for (const next of ["https://evil.example/", "//evil.example/app", "/app/../../evil", "javascript:alert(1)"]) {
    await page.context().clearCookies();
    await page.goto(`${world.server.url}/app/sign-in?next=${encodeURIComponent(next)}`);
    await fillSignIn(page, "owner@example.com");
    await atPage(page, "Companions");
    expect(page.url()).toBe(`${world.server.url}/app/companions`);
  }
});

test("a session that ends elsewhere asks for the password with the next call", async () => {
  const { page, api } = await world.openAs("owner", "/app/companions");
  // The last that the page itself asks for.
  await page.getByText("No companions yet").waitFor();
  const sessions = (await api.call("GET", "/api/sessions")).json.data;
  for (const session of sessions.filter(({ is_current }) => is_current === false)) {
    await api.call("DELETE", `/api/sessions/${session.id}`);
  }
  await page.getByRole("link", { name: "API keys" }).click();
  const dialog = page.getByRole("dialog", { name: "Sign in to continue" });
  await dialog.waitFor();
  expect(await dialog.getByLabel("Password", { exact: true }).inputValue()).toBe("");
});

test("the account page shows how much of each limit is used now", async () => {
  const { page, api } = await world.openAs("owner", "/app/companions");
  await atPage(page, "Companions");
  await api.call("POST", "/api/companions", { name: "Ada" });
  await chooseFromAccountMenu(page, "Your account");
  await page.getByText("1 of 10,000", { exact: true }).waitFor();
  const bytes = page.getByText("9 bytes of 1 GiB", { exact: true });
  await bytes.waitFor();
  expect(await bytes.count()).toBe(1);
});

test("changes the password, which ends all other sessions", async () => {
  const { page, api, email, complaints } = await world.openAs("owner", "/app/account");
  await page.getByText("This browser").waitFor();
  await hasCount(page.getByRole("table", { name: "Sessions" }).getByRole("row"), 3);
  await page.getByLabel("Current password", { exact: true }).fill("not this one");
  await page.getByLabel("New password", { exact: true }).fill("a new long password");
  await page.getByRole("button", { name: "Change password" }).click();
  await page.getByText("This is not the account's password.").waitFor();
  await page.getByLabel("Current password", { exact: true }).fill(password);
  await page.getByRole("button", { name: "Change password" }).click();
  await page.getByText("Password changed.").waitFor();
  expect((await api.call("GET", "/api/session")).status).toBe(401);

  const other = await world.open();
  await other.page.goto(`${world.server.url}/app`);
  await fillSignIn(other.page, email, "a new long password");
  await atPage(other.page, "Companions");

  await page.reload();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByText("Signed out of that browser.").waitFor();
  await other.page.reload();
  await atPage(other.page, "Sign in");
  expect(complaints).toEqual([]);
});

test("a reset link from the command line sets a new password", async () => {
  await world.createAccount("forgetful@example.com");
  const { url = "" } = await world.run("account", "reset-link", "forgetful@example.com");
  const { page } = await world.open();
  await page.goto(world.server.url + new URL(url).pathname + new URL(url).hash);
  await atPage(page, "Choose a password");
  await page.getByLabel("New password", { exact: true }).fill("remembered from now on");
  await page.getByRole("button", { name: "Save and sign in" }).click();
  await atPage(page, "Companions");
  await page.getByText("forgetful@example.com").waitFor();
  expect(new URL(page.url()).hash).toBe("");
});

test("an invited member joins with their link, and signs in with their own address", async () => {
  const { api, email } = await world.openAs("owner", "/app/account");
  const grace = { email: "grace@team.example", name: "Grace", role: "owner" };
  const { url } = (await api.call("POST", "/api/members", grace)).json;
  const { page, complaints } = await world.open();
  await page.goto(String(url));
  await atPage(page, "Welcome to the team");
  expect(await page.getByLabel("Email").inputValue()).toBe("grace@team.example");
  await page.getByLabel("New password", { exact: true }).fill(password);
  await page.getByRole("button", { name: "Join" }).click();
  await atPage(page, "Companions");
  await page.getByText("grace@team.example").waitFor();
  expect(new URL(page.url()).hash).toBe("");

  const later = await world.open();
  await later.page.goto(String(url));
  await atPage(later.page, "This link no longer works");
  await later.page.goto(`${world.server.url}/app`);
  await later.page.getByLabel("Email").fill("Grace@team.example");
  await later.page.getByLabel("Password", { exact: true }).fill(password);
  await later.page.getByRole("button", { name: "Sign in" }).click();
  await atPage(later.page, "Companions");
  expect((await api.call("GET", "/api/members")).json.data).toMatchObject([{ email }, { email: grace.email }]);
  expect(complaints).toEqual([]);
});

test("an operator adds an account, changes it, suspends and deletes it", async () => {
  const { page, api, complaints } = await world.openAs("operator", "/app/accounts", { reducedMotion: "reduce" });
  await page.getByRole("button", { name: "New account" }).click();
  await page.getByLabel("Email", { exact: true }).fill("client@example.com");
  await page.getByLabel("Plan").selectOption("paid");
  await page.getByRole("button", { name: "Add account" }).click();
  await page.getByText("Account created").waitFor();
  const link = await page.locator("dialog code").innerText();
  await page.getByRole("button", { name: "Done" }).click();

  const client = await world.open();
  await client.page.goto(link);
  await client.page.getByLabel("New password", { exact: true }).fill(password);
  await client.page.getByRole("button", { name: "Save and sign in" }).click();
  await atPage(client.page, "Companions");

  const row = page.getByRole("row", { name: /client@example\.com/ });
  await row.getByText("Paid").waitFor();
  await keepScreenshot(page, "dashboard-accounts");
  await row.getByRole("button", { name: "Manage…" }).click();
  // Neither an arrow key nor a choice counts before it is saved.
  await page.getByLabel("Role").press("ArrowDown");
  await page.getByText("which give access to the accounts of others.").waitFor();
  await keepScreenshot(page, "dashboard-account-role");
  expect(await findViolationsInState(page)).toEqual([]);
  await page.getByLabel("Plan").selectOption("free");
  const read = async () => (await api.call("GET", "/api/accounts?q=client@")).json.data[0];
  expect(await read()).toMatchObject({ role: "owner", plan: "paid" });
  await page.getByLabel("Role").selectOption("owner");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved.").waitFor();
  expect(await read()).toMatchObject({ role: "owner", plan: "free" });
  await page.getByRole("button", { name: "Suspend…" }).click();
  await page.getByRole("button", { name: "Suspend", exact: true }).click();
  await page.getByText("Suspended", { exact: true }).first().waitFor();
  await client.page.reload();
  await atPage(client.page, "Sign in");
  await page.getByRole("button", { name: "Resume" }).click();
  await page.getByRole("button", { name: "Suspend…" }).waitFor();

  await page.getByText("Agents of the voice provider that this account's companions can use.").waitFor();
  await page.getByLabel("Agent ID").fill(" agent_01 ");
  await page.getByRole("button", { name: "Grant", exact: true }).click();
  await page.getByText("used by no companion").waitFor();
  // The field has the focus again: the button is disabled by now.
  await page.keyboard.type("agent_01");
  await page.keyboard.press("Enter");
  await page.getByText("The account already has this agent.").waitFor();
  const create = ["companion", "create", "--account", "client@example.com", "--name", "Ada"];
  await world.run(...create, "--voice-agent-id", "agent_01");
  await page.reload();
  await row.getByRole("button", { name: "Manage…" }).click();
  await page.getByText("used by 1 companion").waitFor();
  await keepScreenshot(page, "dashboard-account-agents");
  expect(await findViolationsInState(page)).toEqual([]);
  await page.getByRole("button", { name: "Revoke access… agent_01" }).click();
  await page.getByText("The companion that uses it has no voice from the next visitor on.").waitFor();
  await page.getByRole("button", { name: "Revoke access", exact: true }).click();
  await page.getByText("Access revoked.").waitFor();
  await page.getByText("used by 1 companion").waitFor({ state: "detached" });

  await page.getByRole("button", { name: "Delete…" }).click();
  const confirm = page.getByRole("button", { name: "Delete permanently" });
  expect(await confirm.isDisabled()).toBe(true);
  await page.getByLabel(/Type its email/).fill("client@example.com");
  await confirm.click();
  await row.waitFor({ state: "detached" });
  expect(complaints).toEqual([]);
});
