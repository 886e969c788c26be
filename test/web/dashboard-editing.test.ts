/** Work in progress in the dashboard: where the typing goes, what a session's end does to it, and a chat that stays in view. */
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
  type SignedInPage,
} from "../support/dashboard-world.ts";

let world: DashboardWorld;
beforeAll(async () => {
  world = await openDashboardWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

/** The label of what has the focus, after the browser has moved it. */
function focusedLabel(page: Page): Promise<string | null> {
  return page.evaluate("document.activeElement.getAttribute('aria-label')");
}

/** All sessions of the account end but the one that asks. */
async function endSession({ api }: SignedInPage): Promise<void> {
  for (const { id, is_current } of (await api.call("GET", "/api/sessions")).json.data) {
    if (!is_current) expect((await api.call("DELETE", `/api/sessions/${id}`)).status).toBe(204);
  }
}

test("adding a question leads to its field, and to the empty one where there is one", async () => {
  const { page, complaints } = await world.openAs("owner", "/app/companions/new");
  await page.locator("#profile input:focus").waitFor();
  await page.getByText("More settings", { exact: true }).click();
  const add = page.getByRole("button", { name: "Add a question" });
  await add.focus();
  await page.keyboard.press("Enter");
  expect(await focusedLabel(page)).toBe("Question 1");
  await page.keyboard.type("When are you open?");
  expect(await page.getByLabel("Question 1", { exact: true }).inputValue()).toBe("When are you open?");
  await add.click();
  expect(await focusedLabel(page)).toBe("Question 2");
  await add.click();
  await add.click();
  expect(await focusedLabel(page)).toBe("Question 2");
  expect(await page.getByLabel(/^Question \d$/).count()).toBe(2);

  await page.getByText("Metadata", { exact: true }).click();
  const addField = page.getByRole("button", { name: "Add a field" });
  await addField.click();
  await page.keyboard.type("plan");
  expect(await page.getByLabel("Key 1", { exact: true }).inputValue()).toBe("plan");
  await addField.click();
  await addField.click();
  expect(await focusedLabel(page)).toBe("Key 2");
  expect(await page.getByLabel(/^Key \d$/).count()).toBe(2);
  expect(complaints).toEqual([]);
});

test("a session that ends while editing asks for the password over the page, and the draft can then be saved", async () => {
  const signedIn = await world.openAs("owner", "/app/companions");
  const { page, api, email, complaints } = signedIn;
  const { id } = (await api.call("POST", "/api/companions", { name: "Ada" })).json;
  await page.goto(`${world.server.url}/app/companions/${id}/settings`);
  await page.getByLabel("System prompt").fill("An hour's work.");
  await endSession(signedIn);
  await page.getByRole("button", { name: "Save" }).click();

  const dialog = page.getByRole("dialog", { name: "Sign in to continue" });
  await dialog.waitFor();
  expect(await dialog.getByLabel("Email").inputValue()).toBe(email);
  // What cannot be dismissed is not dismissed by insisting.
  for (let press = 0; press < 3; press++) await page.keyboard.press("Escape");
  await dialog.waitFor();
  await page.keyboard.type("not the password");
  await page.keyboard.press("Enter");
  await dialog.getByText("Email or password is wrong.").waitFor();
  expect(await findViolationsInState(page)).toEqual([]);
  await keepScreenshot(page, "dashboard-session-ended");
  await dialog.getByLabel("Password", { exact: true }).fill(password);
  await page.keyboard.press("Enter");
  await dialog.waitFor({ state: "detached" });
  // The button was busy when the dialog came, and had lost the focus by that.
  await page.locator("#main:focus").waitFor();

  expect((await api.call("GET", `/api/companions/${id}`)).json.system_prompt).toBeNull();
  expect(await page.getByLabel("System prompt").inputValue()).toBe("An hour's work.");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved.", { exact: true }).waitFor();
  expect((await api.call("GET", `/api/companions/${id}`)).json.system_prompt).toBe("An hour's work.");
  expect(complaints).toEqual([]);
});

test("what could not be loaded comes by itself after signing in again", async () => {
  const signedIn = await world.openAs("owner", "/app/companions");
  const { page, api } = signedIn;
  await api.call("POST", "/api/keys", { name: "Billing server", scopes: ["usage:read"] });
  await page.getByRole("link", { name: "New companion" }).first().waitFor();
  await endSession(signedIn);
  // A look in the background may have brought the dialog already, which no click goes through.
  await page.getByRole("link", { name: "API keys" }).dispatchEvent("click");
  const dialog = page.getByRole("dialog", { name: "Sign in to continue" });
  await dialog.getByLabel("Password", { exact: true }).fill(password);
  await dialog.getByRole("button", { name: "Sign in" }).click();
  const keys = page.getByRole("table").getByRole("row").filter({ hasText: "Billing server" });
  await keys.waitFor();
  expect(await keys.count()).toBe(1);
});

test("a draft is never sent for another account that signs in over it", async () => {
  await world.createAccount("somebody-else@example.com");
  const signedIn = await world.openAs("owner", "/app/companions/new");
  const { page, api, email } = signedIn;
  await page.getByLabel("Name", { exact: true }).fill("Grace");
  await endSession(signedIn);
  await page.getByRole("button", { name: "Create companion" }).click();
  const dialog = page.getByRole("dialog", { name: "Sign in to continue" });
  await dialog.getByLabel("Email").fill("somebody-else@example.com");
  await dialog.getByLabel("Password", { exact: true }).fill(password);
  await dialog.getByRole("button", { name: "Sign in" }).click();

  const other = page.getByRole("dialog", { name: "Another account is signed in" });
  await other.getByText(email).waitFor();
  expect(await findViolationsInState(page)).toEqual([]);
  await keepScreenshot(page, "dashboard-session-replaced");
  await other.getByRole("button", { name: "Continue as somebody-else@example.com" }).click();
  await page.getByText("No companions yet").waitFor();
  await page.getByText("somebody-else@example.com").first().waitFor();
  expect((await api.call("GET", "/api/companions")).json.data).toEqual([]);
});

test("tabs know of each other: one that is signed out elsewhere keeps a draft, and one for another account sends nothing", async () => {
  const { page, email } = await world.openAs("owner", "/app/companions/new");
  const second = await page.context().newPage();
  await second.goto(`${world.server.url}/app/companions`);
  await page.getByLabel("Name", { exact: true }).fill("Grace");
  await chooseFromAccountMenu(second, "Sign out");
  const ended = page.getByRole("dialog", { name: "Sign in to continue" });
  await ended.waitFor();
  await atPage(second, "Sign in");
  await world.createAccount("the-other-one@example.com");
  await second.getByLabel("Email").fill("the-other-one@example.com");
  await second.getByLabel("Password", { exact: true }).fill(password);
  await second.getByRole("button", { name: "Sign in" }).click();
  await atPage(second, "Companions");
  await page.getByRole("dialog", { name: "Another account is signed in" }).getByText(email).waitFor();
  expect(await page.getByLabel("Name", { exact: true }).inputValue()).toBe("Grace");
});

test("where the form cannot be loaded any more, signing in in another tab saves the draft", async () => {
  const signedIn = await world.openAs("owner", "/app/companions");
  const { page, api, email } = signedIn;
  await page.goto(`${world.server.url}/app/companions/new`);
  await page.getByLabel("Name", { exact: true }).fill("Grace");
  await endSession(signedIn);
  await page.route("**/assets/chunk.*", (route) => route.abort());
  const told = page.waitForEvent("dialog");
  page.on("dialog", (dialog) => dialog.accept());
  await page.getByRole("button", { name: "Create companion" }).click();
  expect((await told).message()).toBe("Your session has ended. Sign in in another tab, then continue here.");
  await page.unroute("**/assets/chunk.*");

  const second = await page.context().newPage();
  await second.goto(`${world.server.url}/app`);
  await second.getByLabel("Email").fill(email);
  await second.getByLabel("Password", { exact: true }).fill(password);
  await second.getByRole("button", { name: "Sign in" }).click();
  await atPage(second, "Companions");
  await page.getByRole("button", { name: "Create companion" }).click();
  await atPage(page, "Grace");
  expect((await api.call("GET", "/api/companions")).json.data).toHaveLength(1);
});

test("leaving from there gives the page up", async () => {
  const signedIn = await world.openAs("owner", "/app/companions/new");
  await signedIn.page.getByLabel("Name", { exact: true }).fill("Grace");
  await endSession(signedIn);
  await signedIn.page.getByRole("button", { name: "Create companion" }).click();
  await signedIn.page.getByRole("button", { name: "Leave this page without saving" }).click();
  await atPage(signedIn.page, "Sign in");
});

test.each([
  [1280, 720],
  [390, 844],
])(
  "the playground's chat fills the window at %i by %i, with the inspector beside it or as a sheet",
  async (width, height) => {
    const { page, api, complaints } = await world.openAs("owner", "/app/companions", { viewport: { width, height } });
    const { id } = (await api.call("POST", "/api/companions", { name: "Ada" })).json;
    await page.goto(`${world.server.url}/app/companions/${id}/playground`);
    const message = page.locator("companion-chat textarea");
    for (let turn = 1; turn <= 2; turn++) {
      await message.fill(`[[words:150]] ${turn}`);
      await message.press("Enter");
      await hasCount(page.locator(".row.assistant[data-state=done]"), turn);
    }
    const send = await page.getByRole("button", { name: "Send" }).boundingBox();
    expect((send?.y ?? 0) + (send?.height ?? 0)).toBeLessThanOrEqual(height);
    const log = await page.getByRole("log").boundingBox();
    expect(log?.height).toBeGreaterThan(height === 720 ? 200 : 400);
    expect(log?.y).toBeGreaterThan(0);
    const isWide = width > 1024;
    expect(await page.getByRole("complementary", { name: "Inspector" }).isVisible()).toBe(isWide);
    if (!isWide) {
      await page.getByRole("button", { name: "Inspect" }).click();
      await page.getByRole("dialog", { name: "Inspector" }).getByText("First text").first().waitFor();
    }
    expect(await findViolationsInState(page)).toEqual([]);
    await keepScreenshot(page, `dashboard-playground-${width}`);
    expect(complaints).toEqual([]);
  },
);
