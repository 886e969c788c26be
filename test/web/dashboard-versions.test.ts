/** A companion's history in the dashboard, and its draft: changed with notes, compared, tried, published, brought back. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { examine } from "../support/browser.ts";
import { type DashboardWorld, follow, openDashboardWorld } from "../support/dashboard-world.ts";
import { fake } from "./tmp-fake.ts";

let world: DashboardWorld;
beforeAll(async () => {
  world = await openDashboardWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

const press = (page: Page, name: string) => page.getByRole("button", { name, exact: true }).click();
const dialog = (page: Page, name: string) => page.getByRole("dialog", { name });

const prompt = [
  "You help the customers of a bicycle shop.",
  "Be brief, and friendly.",
  "Say when you do not know something.",
  "Prices are in euros.",
  "Never promise a day of delivery.",
  "Ask for the order's number first.",
].join("\n");

test("changes have notes and a history; a draft is compared with what is live, published, and taken back", async () => {
  const { page, api, complaints } = await world.openAs("owner", "/healthz");
  const { id } = (await api.call("POST", "/api/companions", { name: "Ada", system_prompt: prompt })).json;
  const base = `/app/companions/${id}`;
  await fake(page, api, id as string);
  await page.goto(`${world.server.url}${base}/history`);
  await page.getByText("It has never been changed").waitFor();

  await page.getByRole("link", { name: "Settings" }).click();
  await page.getByLabel("System prompt").fill(prompt.replace("friendly", "kind"));
  await page.getByLabel("Note for the history").fill("Kinder, as Grace asked – „bitte“");
  await examine(page, "dashboard-save-bar");
  await press(page, "Save");
  await page.getByText("Saved.").waitFor();
  await page.getByLabel("Greeting").fill("Hello!");
  await press(page, "Save as draft");
  await page.getByText("You are editing the draft.").waitFor();
  await page.getByLabel("System prompt").fill(`${prompt.replace("friendly", "formal")}\nEnd with a question.`);
  await press(page, "Save the draft");
  await page.getByText("It changes greeting and system prompt.").waitFor();
  await examine(page, "dashboard-draft");
  expect((await api.call("GET", `/api/companions/${id}`)).json).toMatchObject({ greeting: null });

  await page.getByRole("link", { name: "Compare" }).click();
  await page.getByLabel("Message").fill("[[prompt]]When are you open?");
  await page.getByLabel("Message").press("Enter");
  const sides = page.getByRole("log", { name: "Comparison" });
  for (const side of ["Live", "Draft"]) await sides.getByRole("region", { name: side }).getByText("total").waitFor();
  await examine(page, "dashboard-compare");

  // Somebody changes the same field live.
  await api.call("PATCH", `/api/companions/${id}`, { greeting: "Hi!" });
  await page.getByRole("link", { name: "Settings" }).click();
  await press(page, "Publish…");
  await dialog(page, "Publish the draft?").getByLabel("Note").fill("Formal from June on");
  await examine(page, "dashboard-publish");
  await dialog(page, "Publish the draft?").getByRole("button", { name: "Publish" }).click();
  const conflict = dialog(page, "It was changed live meanwhile");
  await conflict.getByText("greeting").waitFor();
  await examine(page, "dashboard-publish-conflict");
  await conflict.getByRole("button", { name: "Overwrite and publish" }).click();
  await page.getByText("Published:").waitFor();
  await page.getByText("There is a draft.").waitFor({ state: "detached" });
  expect((await api.call("GET", `/api/companions/${id}`)).json).toMatchObject({ greeting: "Hello!" });

  await page.getByRole("link", { name: "History" }).click();
  await page.getByRole("link", { name: /Formal from June on/ }).click();
  await page.getByText("From version 2 to version 3").waitFor();
  expect(await page.locator("ins mark").allInnerTexts()).toEqual(["formal"]);
  await examine(page, "dashboard-history");
  await page.getByLabel("Compared with").selectOption({ label: "Version 1" });
  await page.getByText("From version 1 to version 3").waitFor();

  await page.getByRole("link", { name: /^Version 1/ }).click();
  await page.getByText("This is the first version").waitFor();
  await press(page, "Restore…");
  const restore = dialog(page, "Restore version 1?");
  await restore.getByLabel("Note").fill("Too formal");
  await examine(page, "dashboard-restore");
  await restore.getByRole("button", { name: "Restore" }).click();
  await page.getByText("It is as it was in version 1.").waitFor();
  await examine(page, "dashboard-restored");
  await follow(page, base);
  await press(page, "Give it a slug…");
  await dialog(page, "Slug").getByLabel("Slug").fill("support");
  await examine(page, "dashboard-slug");
  expect(complaints).toEqual([]);
}, 120_000);
