/** The first run: from a model that answers to a companion that was seen on a website. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { findViolationsInState } from "../support/axe.ts";
import { holds, keepScreenshot } from "../support/browser.ts";
import { atPage, type DashboardWorld, openDashboardWorld } from "../support/dashboard-world.ts";

let world: DashboardWorld;
beforeAll(async () => {
  world = await openDashboardWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

test("leads a new account from its model to its first visit, and steps aside once it is live", async () => {
  const { page, api, complaints } = await world.openAs("operator", "/app/companions");
  await page.getByText("No companions yet").waitFor();
  expect(await page.getByRole("searchbox").count()).toBe(0);
  await page.getByRole("link", { name: "Get started" }).click();
  await atPage(page, "Get started");
  const testModel = "**/api/server/test-model";
  const failed = {
    ok: false,
    text: null,
    first_text_ms: null,
    cost_micros: null,
    kind: "auth",
    detail: "The key is wrong.",
  };
  await page.route(testModel, (route) => route.fulfill({ json: failed }));
  await page.getByRole("button", { name: "Test it", exact: true }).click();
  await page.getByRole("alert").getByText("The key is wrong.").waitFor();
  await page.unroute(testModel);
  await page.getByRole("button", { name: "Test again" }).click();
  await page
    .getByRole("status")
    .getByText(/^“.+”$/)
    .waitFor();
  await page
    .getByRole("status")
    .getByText(/^[\d.]+ m?s/)
    .waitFor();
  await page.getByRole("button", { name: "Continue" }).click();

  await page.getByLabel("Name", { exact: true }).fill("Grace");
  await page.getByRole("radio", { name: "Teal" }).check();
  await page.getByLabel("Preview").getByText("Hi, I'm Grace. How can I help you?").waitFor();
  expect(await findViolationsInState(page)).toEqual([]);
  await keepScreenshot(page, "dashboard-first-run");
  await page.getByRole("button", { name: "Create companion" }).click();
  // By keyboard it goes on with the step that has opened.
  await holds(page, "document.activeElement?.textContent?.includes('Knowledge') ?? false");
  await page.getByLabel("Page or sitemap URL").fill("127.0.0.1/prices");
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await page.getByText("https://127.0.0.1/prices", { exact: true }).waitFor();
  await page.getByText("Failed", { exact: true }).waitFor();
  // What could not be read is no knowledge.
  await page.getByText("2 of 4 done").waitFor();
  await page.getByRole("button", { name: "Skip for now" }).click();
  await page.getByText("Listening for the first visit…").waitFor();

  const [made] = (await api.call("GET", "/api/companions")).json.data;
  expect(made).toMatchObject({ name: "Grace", theme_color: "#0f766e", seen_on: [] });
  await page.getByText(`data-token="${made?.embed_token}"`).waitFor();
  await page.goto(`${world.server.url}/app/companions`);
  await page.getByText("2 of 4 steps done.").waitFor();
  expect(await page.getByRole("searchbox").count()).toBe(1);
  await page.getByRole("link", { name: "Continue" }).click();
  await page.getByRole("button", { name: /Put it on your site/ }).click();
  const origin = "https://shop.example";
  expect((await fetch(`${world.server.url}/api/embed/${made?.embed_token}`, { headers: { origin } })).status).toBe(200);
  await page
    .getByRole("status")
    .getByText(/^Live on shop\.example, \d+ s ago$/)
    .waitFor();
  await atPage(page, "You're live");
  expect(await findViolationsInState(page)).toEqual([]);
  await page.goto(`${world.server.url}/app/companions`);
  await page.getByRole("link", { name: "Grace" }).waitFor();
  expect(await page.getByRole("region", { name: "Get started" }).count()).toBe(0);
  expect(complaints).toEqual([]);
});
