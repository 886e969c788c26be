/** The second factor in the dashboard, in a real browser against the executable. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { Secret, TOTP, URI } from "otpauth";
import type { Page } from "playwright-core";
import { findViolationsInState } from "../support/axe.ts";
import { holds, keepScreenshot } from "../support/browser.ts";
import { atPage, type DashboardWorld, openDashboardWorld, password } from "../support/dashboard-world.ts";
import { someOf } from "../support/full.ts";

let world: DashboardWorld;
beforeAll(async () => {
  world = await openDashboardWorld({ COMPANIOND_REQUIRE_TOTP: "operators" });
});
afterAll(() => world[Symbol.asyncDispose]());

const pagePath = "/app/account/second-factor";

/** Leads through the set-up; the app's end of it, and the recovery codes. */
async function setUp(page: Page): Promise<{ app: TOTP; codes: string[] }> {
  await page.getByRole("button", { name: "Set up" }).click();
  const shown = await page.locator("pre code").innerText();
  const url = await page.getByRole("link", { name: "Open in an app on this device" }).getAttribute("href");
  const app = URI.parse(url ?? "");
  if (!(app instanceof TOTP)) throw new Error(`not a one-time password by time: ${url}`);
  expect(Secret.fromBase32(shown.replaceAll(" ", "")).hex).toBe(app.secret.hex);
  // Black on white whatever the colours of the page: many scanners know nothing else.
  const qrCode = page.getByRole("img", { name: /QR code/ });
  const fills = await qrCode
    .locator("rect, path")
    .evaluateAll((shapes) => shapes.map((one) => one.getAttribute("fill")));
  expect(fills).toEqual(["#fff", "#000"]);
  await page.getByLabel("Code", { exact: true }).fill(app.generate());
  await page.getByRole("button", { name: "Turn on" }).click();
  const list = page.getByRole("list", { name: "Recovery codes" });
  await list.waitFor();
  const codes = await list.getByRole("listitem").allInnerTexts();
  expect(codes).toHaveLength(10);
  return { app, codes };
}

async function finish(page: Page): Promise<void> {
  expect(await page.getByRole("button", { name: "Done" }).isDisabled()).toBe(true);
  await page.getByLabel("I've saved my recovery codes.").check();
  await page.getByRole("button", { name: "Done" }).click();
}

async function fillSignIn(page: Page, email: string): Promise<void> {
  await page.goto(`${world.server.url}/app`);
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await atPage(page, "Two-factor authentication");
}

/** A code that was not used to set it up. */
const nextCode = (app: TOTP) => app.generate({ timestamp: Date.now() + 30_000 });

test.each(someOf(["light", "dark"] as const))(
  "an owner sets it up, signs in with it, and turns it off (%s)",
  async (scheme) => {
    const { page, email, complaints } = await world.openAs("owner", "/app/account", { colorScheme: scheme });
    const setUpLink = page.getByRole("link", { name: "Set up", exact: true });
    await setUpLink.waitFor();
    await keepScreenshot(page, `dashboard-account-${scheme}`);
    expect(await findViolationsInState(page)).toEqual([]);
    await setUpLink.click();
    await atPage(page, "Two-factor authentication");
    await page.getByRole("button", { name: "Set up" }).waitFor();
    await keepScreenshot(page, `dashboard-second-factor-begin-${scheme}`);
    await page.getByRole("button", { name: "Set up" }).click();
    await page.getByLabel("Code", { exact: true }).fill("000000");
    await page.getByRole("button", { name: "Turn on" }).click();
    await page.getByText("This is not the current code.").waitFor();
    await keepScreenshot(page, `dashboard-second-factor-scan-${scheme}`);
    expect(await findViolationsInState(page)).toEqual([]);

    await page.reload();
    const { app, codes } = await setUp(page);
    await keepScreenshot(page, `dashboard-second-factor-codes-${scheme}`);
    expect(await findViolationsInState(page)).toEqual([]);
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Download" }).click(),
    ]);
    const file = readFileSync(await download.path(), "utf8");
    for (const code of codes) expect(file).toContain(code);
    // Leaving without them is asked about first.
    await page.getByRole("link", { name: "Usage" }).click();
    await page.getByRole("button", { name: "Stay" }).click();
    await finish(page);
    await page.getByText("10 recovery codes are left").waitFor();
    await page.locator("#main:focus").waitFor();

    const other = await world.open({ colorScheme: scheme });
    await fillSignIn(other.page, email);
    // The step's parts are loaded when they are asked for.
    await holds(other.page, "document.activeElement?.name === 'code'");
    await other.page.getByLabel("Code", { exact: true }).fill("000000");
    await other.page.getByRole("button", { name: "Sign in" }).click();
    await other.page.getByText("This code is wrong or has already been used.").waitFor();
    await keepScreenshot(other.page, `dashboard-second-step-${scheme}`);
    expect(await findViolationsInState(other.page)).toEqual([]);
    await other.page.getByLabel("Code", { exact: true }).fill(nextCode(app));
    await other.page.getByRole("button", { name: "Sign in" }).click();
    await atPage(other.page, "Companions");

    const third = await world.open();
    await fillSignIn(third.page, email);
    await third.page.getByRole("button", { name: "Can't use your app? Use a recovery code" }).click();
    await third.page.getByLabel("Recovery code").fill(codes[0] ?? "");
    await third.page.getByRole("button", { name: "Sign in" }).click();
    await atPage(third.page, "Companions");

    // Over a page whose session has ended it takes both steps as well.
    await third.page.context().clearCookies();
    // A request of the page may have found out before, and the dialog is over the link by then.
    await third.page.getByRole("link", { name: "API keys" }).dispatchEvent("click");
    const dialog = third.page.getByRole("dialog", { name: "Sign in to continue" });
    await dialog.getByLabel("Password", { exact: true }).fill(password);
    await third.page.keyboard.press("Enter");
    await dialog.getByRole("button", { name: "Can't use your app? Use a recovery code" }).click();
    await dialog.getByLabel("Recovery code").fill(codes[1] ?? "");
    await third.page.keyboard.press("Enter");
    await dialog.waitFor({ state: "detached" });
    await third.page.getByText("No API keys yet").waitFor();

    await page.reload();
    await page.getByText("8 recovery codes are left").waitFor();
    await keepScreenshot(page, `dashboard-second-factor-on-${scheme}`);
    await page.getByRole("button", { name: "Turn off…" }).click();
    await page.getByLabel("Password", { exact: true }).fill("not this one");
    await page.getByRole("button", { name: "Turn off", exact: true }).click();
    await page.getByText("This is not the account's password.").waitFor();
    await keepScreenshot(page, `dashboard-second-factor-off-${scheme}`);
    await page.getByLabel("Password", { exact: true }).fill(password);
    await page.getByRole("button", { name: "Turn off", exact: true }).click();
    await page.getByRole("button", { name: "Set up" }).waitFor();
    for (const one of [{ complaints }, other, third]) expect(one.complaints).toEqual([]);
  },
);

test("an operator who must set one up sees nothing else before that", async () => {
  const { page, complaints } = await world.openAs("operator", "/app/accounts");
  await atPage(page, "Two-factor authentication");
  expect(page.url()).toBe(world.server.url + pagePath);
  await page.getByText("This server requires two-factor authentication.").waitFor();
  expect(await page.getByRole("navigation").count()).toBe(0);
  await page.emulateMedia({ colorScheme: "dark" });
  await keepScreenshot(page, "dashboard-second-factor-required-dark");
  await page.emulateMedia({ colorScheme: "light" });
  await keepScreenshot(page, "dashboard-second-factor-required-light");
  expect(await findViolationsInState(page)).toEqual([]);
  await page.goto(`${world.server.url}/app/usage`);
  await atPage(page, "Two-factor authentication");
  await setUp(page);
  await finish(page);
  await atPage(page, "Companions");
  await page.getByRole("link", { name: "Accounts", exact: true }).click();
  await atPage(page, "Accounts");
  expect(complaints).toEqual([]);
});

test("an operator who must set one up can sign out instead", async () => {
  const { page } = await world.openAs("operator", "/app");
  await atPage(page, "Two-factor authentication");
  await page.getByRole("button", { name: "Sign out" }).click();
  await atPage(page, "Sign in");
  expect(new URL(page.url()).pathname).toBe("/app/sign-in");
});

test("a reset link asks for the code as well", async () => {
  const { page, email } = await world.openAs("owner", pagePath);
  await atPage(page, "Two-factor authentication");
  const { app } = await setUp(page);
  await finish(page);
  const { url = "" } = await world.run("account", "reset-link", email);
  const other = await world.open();
  await other.page.goto(world.server.url + new URL(url).pathname + new URL(url).hash);
  await other.page.getByLabel("New password", { exact: true }).fill("remembered from now on");
  await other.page.getByRole("button", { name: "Save and sign in" }).click();
  await other.page.getByLabel("Code", { exact: true }).fill(nextCode(app));
  await other.page.getByRole("button", { name: "Save and sign in" }).click();
  await atPage(other.page, "Companions");
});
