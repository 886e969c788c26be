/** Webhooks in the dashboard: added, tried, told, disabled and enabled again, with deliveries that are sent again by hand. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { choose, examine, hasCount } from "../support/browser.ts";
import { type DashboardWorld, openDashboardWorld } from "../support/dashboard-world.ts";
import { eventually } from "../support/eventually.ts";
import { startWebhookReceiver } from "../support/webhook-receiver.ts";

const receiver = startWebhookReceiver();
let world: DashboardWorld;
beforeAll(async () => {
  world = await openDashboardWorld({ COMPANIOND_PRIVATE_TARGETS: "127.0.0.1" });
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await receiver.close();
});

const dialogOf = (page: Page) => page.getByRole("dialog");
const press = (page: Page, name: string | RegExp) =>
  page.getByRole("button", typeof name === "string" ? { name, exact: true } : { name }).click();
const inDialog = (page: Page, name: string) => dialogOf(page).getByRole("button", { name, exact: true }).click();

test("a webhook is added, its secret is shown once, it is tried, and its deliveries are sent again", async () => {
  const { page, api, complaints } = await world.openAs("owner", "/app/webhooks");
  await page.getByText("No webhooks yet").waitFor();
  await page.getByRole("button", { name: "Add webhook" }).first().click();
  await inDialog(page, "Add");
  await dialogOf(page).getByText("Enter your server's URL.").waitFor();
  await dialogOf(page).getByText("Choose at least one.").waitFor();
  await page.getByLabel("URL").fill("https://127.0.0.2/in");
  await page.getByLabel("A companion was created").check();
  await page.getByLabel("A reply is complete").check();
  await examine(page, "dashboard-webhook-new");
  await inDialog(page, "Add");
  // The server has the last word on addresses.
  await dialogOf(page).locator("[aria-invalid=true]").waitFor();
  await page.getByLabel("URL").fill(receiver.url);
  await page.getByRole("combobox", { name: "Companions" }).selectOption("Companions with certain metadata");
  await page.getByLabel("Field 1").fill("tenant");
  await page.getByLabel("Value 1").fill("acme");
  await inDialog(page, "Add");
  await page.getByText("Copy this secret now").waitFor();
  const secret = await dialogOf(page).locator("code").first().innerText();
  await page.keyboard.press("Escape");
  await inDialog(page, "I have saved it");
  await page.getByText("2 events of companions with tenant = acme").waitFor();
  expect(await page.content()).not.toContain(secret);
  expect((await api.call("GET", "/api/webhooks")).json.data).toMatchObject([
    {
      ...{ url: receiver.url, events: ["message.completed", "companion.created"], enabled: true },
      ...{ include_content: false, metadata: { tenant: "acme" } },
    },
  ]);

  await press(page, /^Deliveries/);
  await dialogOf(page).getByText("Nothing sent in the last 30 days").waitFor();
  await page.keyboard.press("Escape");
  await choose(page, receiver.url, "Try…");
  await inDialog(page, "Send");
  await dialogOf(page).getByText("Confirmed").waitFor();
  receiver.verify(receiver.events.at(-1), secret);
  expect(receiver.types).toEqual(["webhook.test"]);
  receiver.respond(() => new Response("our stack trace", { status: 403 }));
  await inDialog(page, "Send");
  await dialogOf(page).getByRole("alert").getByText("Check whether the server has the current secret.").waitFor();
  expect(await page.content()).not.toContain("our stack trace");
  await examine(page, "dashboard-webhook-tried");
  await page.keyboard.press("Escape");

  await api.call("POST", "/api/companions", { name: "Ada", metadata: { tenant: "acme" } });
  await api.call("POST", "/api/companions", { name: "Bob", metadata: { tenant: "other" } });
  await press(page, /^Deliveries/);
  const deliveries = page.getByRole("list", { name: "Deliveries" }).getByRole("listitem");
  await deliveries.getByText("Waiting").waitFor();
  await deliveries.getByText("The response had the status 403.").waitFor();
  await hasCount(deliveries, 1);
  await examine(page, "dashboard-webhook-deliveries");
  await press(page, "Send again A companion was created");
  await page.getByText("Delivery failed.").waitFor();
  receiver.respond(null);
  await press(page, "Send again A companion was created");
  await deliveries.getByText("Delivered", { exact: true }).waitFor();
  receiver.verify(receiver.events.at(-1), secret);
  await page.keyboard.press("Escape");

  await choose(page, receiver.url, "New secret…");
  await inDialog(page, "Create new secret");
  await page.getByText("Copy this secret now").waitFor();
  expect(await dialogOf(page).locator("code").first().innerText()).not.toBe(secret);
  await inDialog(page, "I have saved it");
  await choose(page, receiver.url, "Delete…");
  await inDialog(page, "Delete");
  await page.getByText("No webhooks yet").waitFor();
  expect((await api.call("GET", "/api/webhooks")).json.data).toEqual([]);
  expect(complaints).toEqual([]);
});

test("one that the server has disabled says why, and is enabled again; changes made elsewhere are shown", async () => {
  const { page, api, complaints } = await world.openAs("owner", "/healthz");
  const made = (await api.call("POST", "/api/webhooks", { url: receiver.url, events: ["*"], include_content: true }))
    .json;
  receiver.respond(() => new Response(null, { status: 410 }));
  await api.call("POST", "/api/companions", { name: "Ada" });
  await page.goto(`${world.server.url}/app/webhooks`);
  const read = async () => (await api.call("GET", `/api/webhooks/${made.id}`)).json;
  await eventually(async () => !(await read()).enabled, { what: "the webhook to be disabled" });
  await page.reload();
  await page.getByText("Disabled", { exact: true }).waitFor();
  await page.getByText("410").waitFor();
  await page.getByText("All events of all companions").waitFor();
  await examine(page, "dashboard-webhooks");
  receiver.respond(null);
  await press(page, /^Enable/);
  await page.getByText("Disabled", { exact: true }).waitFor({ state: "detached" });
  expect(await read()).toMatchObject({ enabled: true, disabled_reason: null });

  await choose(page, receiver.url, "Edit…");
  await page.getByRole("combobox", { name: "Events" }).selectOption("Selected events");
  await page.getByLabel("A reply is complete").check();
  await api.call("PATCH", `/api/webhooks/${made.id}`, { include_content: false });
  await inDialog(page, "Save");
  const conflict = page.getByRole("dialog", { name: "The webhook was changed while you were editing" });
  await conflict.getByText("message contents").waitFor();
  await conflict.getByRole("button", { name: "Keep mine" }).click();
  await hasCount(dialogOf(page), 0);
  expect(await read()).toMatchObject({ events: ["message.completed"], include_content: false });

  await page.route("**/api/webhooks?*", (route) => route.abort());
  await page.reload();
  await page.getByRole("alert").getByText("The server cannot be reached.").waitFor();
  await page.unroute("**/api/webhooks?*");
  await press(page, "Try again");
  await page.getByText("1 event of all companions").waitFor();
  expect(complaints).toEqual([]);
});
