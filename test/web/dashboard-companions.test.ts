/** Companions in the dashboard: made, edited, installed, paused, duplicated, deleted. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { apiClient } from "../support/api-client.ts";
import { findViolationsInState } from "../support/axe.ts";
import { choose, hasCount, keepScreenshot } from "../support/browser.ts";
import { atPage, type DashboardWorld, openDashboardWorld } from "../support/dashboard-world.ts";

let world: DashboardWorld;
beforeAll(async () => {
  world = await openDashboardWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

test("makes a companion with everything", async () => {
  const { page, api, complaints } = await world.openAs("owner", "/app/companions");
  await page.getByRole("link", { name: "New companion" }).first().click();
  await atPage(page, "New companion");
  await page.getByRole("button", { name: "Create companion" }).click();
  await page.getByText("Enter a name.").waitFor();
  await page.getByLabel("Name", { exact: true }).fill("Grace");
  await page.getByLabel("Greeting").fill("Ahoy!");
  await page.getByText("More settings", { exact: true }).click();
  // What is closed within it is drawn as closed.
  await page.getByText("1,000 messages per day").or(page.getByText("Text only")).first().waitFor();
  await page.getByRole("button", { name: "Add a question" }).click();
  await page.getByLabel("Question 1", { exact: true }).fill("When are you open?");
  await page.getByLabel("System prompt").fill("x".repeat(4000));
  await page.getByText("≈ 1,000 tokens").waitFor();
  await page.getByLabel("Model").selectOption("bigger-model");
  await page.getByText("Model settings").click();
  await page.getByLabel("Temperature").fill("3");
  await page.getByText("Must be a number from 0 to 2.").waitFor();
  await page.getByLabel("Temperature").fill("0.5");
  await page.getByLabel("Thinking before each reply").selectOption("Short (low)");
  const websites = page.getByLabel("Allowed websites");
  await page.getByText("Websites and retention").click();
  await websites.fill("shop.example/path");
  await page.getByText("has a path: write https://shop.example alone.").waitFor();
  await websites.fill("velo-berta");
  await page.getByText("“velo-berta” isn't a web address").waitFor();
  // What is wrong is shown, also where it is folded.
  await page.getByText("Websites and retention").click();
  await page.getByRole("button", { name: "Create companion" }).click();
  await websites.fill("shop.example\n*.shop.example");
  await page.getByText("Metadata", { exact: true }).click();
  await page.getByRole("button", { name: "Add a field" }).click();
  await page.getByLabel("Key 1", { exact: true }).fill("customer");
  await page.getByLabel("Kind of value 1").selectOption("json");
  await page.getByLabel("Value 1", { exact: true }).fill("{oops");
  await page.getByText(/The value of “customer” is not JSON/).waitFor();
  await page.getByLabel("Value 1", { exact: true }).fill('{"id":42}');
  await page.getByRole("button", { name: "JSON" }).click();
  expect(JSON.parse(await page.getByLabel("Metadata as JSON").inputValue())).toEqual({ customer: { id: 42 } });
  await keepScreenshot(page, "dashboard-companion-new");
  await page.getByRole("button", { name: "Create companion" }).click();

  await atPage(page, "Grace");
  await page.getByRole("heading", { name: "On your website" }).waitFor();
  await page.getByText("This snippet works only on this computer").waitFor();
  await keepScreenshot(page, "dashboard-install-loopback");
  const [made] = (await api.call("GET", "/api/companions")).json.data;
  expect(made).toMatchObject({
    name: "Grace",
    greeting: "Ahoy!",
    starters: ["When are you open?"],
    theme_color: null,
    model: "bigger-model",
    temperature: 0.5,
    reasoning_effort: "low",
    allowed_origins: ["https://shop.example", "https://*.shop.example"],
    metadata: { customer: { id: 42 } },
    avatar_url: null,
  });
  expect(complaints).toEqual([]);
});

test("sends only what was changed, and asks before unsaved work is left", async () => {
  const { page, api, complaints } = await world.openAs("owner", "/app/companions");
  const { id } = (await api.call("POST", "/api/companions", { name: "Ada", system_prompt: "Be kind." })).json;
  await page.goto(`${world.server.url}/app/companions`);
  await page.getByRole("link", { name: "Ada" }).click();
  await page.getByRole("link", { name: "Settings" }).click();
  await page.getByLabel("Name", { exact: true }).fill("Ada Lovelace");
  await page.getByRole("link", { name: "API keys" }).click();
  const question = page.getByRole("dialog", { name: "Leave without saving?" });
  await question.getByRole("button", { name: "Stay" }).click();
  expect(await page.getByLabel("Name", { exact: true }).inputValue()).toBe("Ada Lovelace");

  await page.goBack();
  await question.waitFor();
  expect(page.url()).toEndWith(`/app/companions/${id}/settings`);
  await question.getByRole("button", { name: "Stay" }).click();
  expect(await page.getByLabel("Name", { exact: true }).inputValue()).toBe("Ada Lovelace");

  await api.call("PATCH", `/api/companions/${id}`, { system_prompt: "Changed elsewhere." });
  await page.getByRole("button", { name: "Duplicate" }).click();
  const copying = page.getByRole("dialog", { name: "Duplicate the saved version?" });
  await copying.getByRole("button", { name: "Keep editing" }).click();
  await page.getByRole("switch", { name: "Live" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Pause" }).click();
  await page.getByText("Paused – hidden from visitors").waitFor();
  await page.getByRole("button", { name: "Save" }).click();
  const conflict = page.getByRole("dialog", { name: "Ada was changed while you were editing" });
  await conflict.getByText(/owner-\d+@example.com changed the system prompt just now/).waitFor();
  expect(await conflict.getByRole("link", { name: "View" }).getAttribute("href")).toEndWith("/history?version=2");
  expect(await findViolationsInState(page)).toEqual([]);
  await keepScreenshot(page, "dashboard-conflict");
  await conflict.getByRole("button", { name: "Keep mine" }).click();
  await atPage(page, "Ada Lovelace");
  expect((await api.call("GET", `/api/companions/${id}`)).json).toMatchObject({
    name: "Ada Lovelace",
    system_prompt: "Changed elsewhere.",
  });
  expect((await api.call("GET", "/api/companions?q=copy")).json.data).toEqual([]);

  await page.getByLabel("Greeting").fill("Mine");
  await api.call("PATCH", `/api/companions/${id}`, { greeting: "Theirs" });
  await page.getByRole("button", { name: "Save" }).click();
  const second = page.getByRole("dialog", { name: "Ada Lovelace was changed while you were editing" });
  await second.getByRole("button", { name: "Use theirs" }).click();
  expect(await page.getByLabel("Greeting").inputValue()).toBe("Theirs");
  await page.getByLabel("Greeting").fill("Not to be kept");
  await page.getByText("1 change", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Discard" }).click();
  expect(await page.getByLabel("Greeting").inputValue()).toBe("Theirs");
  await page.getByRole("button", { name: "Undo" }).click();
  expect(await page.getByLabel("Greeting").inputValue()).toBe("Not to be kept");

  await page.getByLabel("Greeting").fill("Never to be seen");
  await page.goBack();
  await question.getByRole("button", { name: "Leave" }).click();
  await page.getByText("Latest conversations").waitFor();
  await page.goForward();
  await atPage(page, "Ada Lovelace");
  expect(await page.getByLabel("Greeting").inputValue()).toBe("Theirs");
  expect(complaints).toEqual([]);
});

test("shows what the server finds wrong beside the field", async () => {
  const { page, api } = await world.openAs("owner", "/app/companions");
  const { id } = (await api.call("POST", "/api/companions", { name: "Ada" })).json;
  await page.goto(`${world.server.url}/app/companions/${id}/settings`);
  await page.getByText("Model settings").click();
  await page.getByLabel("Maximum reply length (tokens)").fill("9999");
  await page.getByRole("button", { name: "Save" }).click();
  await page.locator("form").getByRole("alert").waitFor();
  expect(await page.getByLabel("Maximum reply length (tokens)").getAttribute("aria-invalid")).toBe("true");
});

test("pauses, resumes, duplicates and deletes", async () => {
  const { page, api, complaints } = await world.openAs("owner", "/app/companions");
  const made = (
    await api.call("POST", "/api/companions", {
      name: "Ada",
      metadata: { plan: "pro" },
      appearance: { header: "tinted" },
    })
  ).json;
  const readConfig = async () =>
    (await apiClient(world.server.url, null).call("GET", `/api/embed/${made.embed_token}`)).status;
  await page.goto(`${world.server.url}/app/companions/${made.id}/settings`);
  await page.getByRole("switch", { name: "Live" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Pause" }).click();
  await page.getByText("Paused – hidden from visitors").waitFor();
  expect(await readConfig()).toBe(404);
  await page.getByRole("switch", { name: "Live" }).click();
  await page.getByText("Back online.").waitFor();
  expect(await readConfig()).toBe(200);

  await page.getByRole("button", { name: "Duplicate" }).click();
  await atPage(page, "Ada (copy)");
  const copy = (await api.call("GET", "/api/companions?q=copy")).json.data[0];
  expect(copy).toMatchObject({ metadata: { plan: "pro" }, appearance: { header: "tinted" }, theme_color: null });

  await page.getByRole("button", { name: "Delete…" }).click();
  const confirm = page.getByRole("button", { name: "Delete permanently" });
  await page.getByLabel(/Type its name/).fill("Ada");
  expect(await confirm.isDisabled()).toBe(true);
  await page.getByLabel(/Type its name/).fill("Ada (copy)");
  await confirm.click();
  await atPage(page, "Companions");
  await page.getByRole("link", { name: "Ada", exact: true }).waitFor();
  expect(await page.getByText("Ada (copy)").count()).toBe(0);
  expect(complaints).toEqual([]);
});

test("finds companions by name and metadata, page by page, under addresses that can be kept", async () => {
  const { page, api, complaints } = await world.openAs("owner", "/app/companions");
  for (let index = 1; index <= 45; index++) {
    const metadata = { plan: index % 15 === 0 ? "pro" : "basic", user: { id: index } };
    await api.call("POST", "/api/companions", { name: `Shop ${index}`, metadata });
  }
  await page.reload();
  const rows = page.getByRole("table", { name: "Companions" }).getByRole("row");
  await page.getByRole("link", { name: "Shop 45" }).waitFor();
  await hasCount(rows, 21);
  await page.getByRole("button", { name: "Show more" }).click();
  await page.getByRole("link", { name: "Shop 6", exact: true }).waitFor();
  await hasCount(rows, 41);

  const filters = page.getByRole("group", { name: "Filters" });
  await filters.getByText("Metadata").click();
  await filters.getByLabel("Field").fill("plan");
  await filters.getByLabel("Value").fill("pro");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Remove the filter metadata.plan = pro" }).waitFor();
  await page.getByRole("link", { name: "Shop 44" }).waitFor({ state: "detached" });
  await hasCount(rows, 4);
  expect(await rows.nth(1).innerText()).toMatch(/Shop 45\s+Live\s+plan: pro\s+user\.id: 45\s+Not on a site yet\s+0\s/);
  await page.getByLabel("Search by name or ID").fill("shop 3");
  await page.getByRole("link", { name: "Shop 45" }).waitFor({ state: "detached" });
  await hasCount(rows, 2);
  await keepScreenshot(page, "dashboard-companions");

  await page.reload();
  await page.getByRole("link", { name: "Shop 30" }).waitFor();
  await hasCount(rows, 2);
  // All of a row leads to its companion.
  await rows.nth(1).getByText("Live").click({ force: true });
  await atPage(page, "Shop 30");
  await page.goBack();
  await page.getByLabel("Search by name or ID").fill("nobody");
  await page.getByText("No companion matches").waitFor();
  expect(complaints).toEqual([]);
});

test("shows snippets, and adds and revokes embed tokens", async () => {
  const { page, api, complaints } = await world.openAs("owner", "/app/companions");
  const made = (await api.call("POST", "/api/companions", { name: "Ada" })).json;
  await page.goto(`${world.server.url}/app/companions/${made.id}/install`);
  const snippet = `<script src="${world.server.url}/widget.js" data-token="${made.embed_token}" async></script>`;
  await page.getByText(snippet).waitFor();
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.getByRole("button", { name: "Copy", exact: true }).click();
  await page.getByRole("button", { name: "Copied" }).waitFor();
  expect(await page.evaluate("navigator.clipboard.readText()")).toBe(snippet);
  await page.getByLabel("Platform").selectOption("WordPress");
  await page.getByText("header and footer code").waitFor();
  await keepScreenshot(page, "dashboard-install");

  await page.getByRole("button", { name: "Add a token" }).click();
  await page.getByLabel("Name", { exact: true }).fill("Landing page");
  await page.getByRole("button", { name: "Add", exact: true }).click();
  const row = page.getByRole("row", { name: /Landing page/ });
  await row.getByText("never", { exact: true }).waitFor();
  const tokens = (await api.call("GET", `/api/companions/${made.id}/embed-tokens`)).json.data;
  const added = tokens.find(({ name }) => name === "Landing page")?.token ?? "";
  await page.getByLabel("Embed token", { exact: true }).selectOption({ label: "Landing page" });
  await page.getByText(`data-token="${added}"`).waitFor();

  await choose(row, "", "Revoke…");
  await page.getByText("It's never been used.").waitFor();
  await page.getByRole("button", { name: "Revoke", exact: true }).click();
  await row.waitFor({ state: "detached" });
  expect((await apiClient(world.server.url, null).call("GET", `/api/embed/${added}`)).status).toBe(404);
  expect(complaints).toEqual([]);
});
