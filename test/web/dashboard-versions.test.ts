/** A companion's history in the dashboard, and its draft: changed with notes, compared, tried, published, brought back. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { examine, hasCount } from "../support/browser.ts";
import { type DashboardWorld, follow, openDashboardWorld } from "../support/dashboard-world.ts";

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
  const { id, embed_token } = (await api.call("POST", "/api/companions", { name: "Ada", system_prompt: prompt })).json;
  const path = `/api/companions/${id}`;
  const base = `/app/companions/${id}`;
  const change = (fields: object) => api.call("PATCH", path, fields);
  await page.goto(`${world.server.url}${base}/history`);
  await page.getByText("No changes yet").waitFor();
  const source = await api.call("POST", `${path}/sources`, {
    type: "text",
    title: "Opening hours",
    text: "Nine to six.",
  });

  await page.getByRole("link", { name: "Settings" }).click();
  await page.getByLabel("System prompt").fill(prompt.replace("friendly", "kind"));
  await page.getByLabel("Note for the history").fill("Kinder, as Grace asked – „bitte“");
  await examine(page, "dashboard-save-bar");
  await press(page, "Save");
  await page.getByText("Saved.").waitFor();
  await page.getByLabel("Greeting").fill("Hello!");
  await press(page, "Keep as a draft");
  await page.getByText("You are editing the draft.").waitFor();
  await page.getByLabel("System prompt").fill(`${prompt.replace("friendly", "formal")}\nEnd with a question.`);
  await press(page, "Save the draft");
  await page.getByText(/It changes (system prompt and greeting|greeting and system prompt)/).waitFor();
  await examine(page, "dashboard-draft");
  expect((await api.call("GET", path)).json).toMatchObject({ greeting: null });

  await page.getByRole("link", { name: "Compare" }).click();
  const message = page.locator("companion-chat textarea").first();
  await message.fill("When are you open?");
  await message.press("Enter");
  for (const [side, answered] of [
    ["Live", "version 3"],
    ["Draft", "draft"],
  ] as const) {
    await page.getByRole("region", { name: side, exact: true }).getByText(answered, { exact: true }).waitFor();
  }
  await examine(page, "dashboard-compare");

  // Someone changes the same field live.
  await change({ greeting: "Hi!" });
  await page.getByRole("link", { name: "Settings" }).click();
  await press(page, "Publish…");
  await dialog(page, "Publish the draft?").getByLabel("Note").fill("Formal from June on");
  await examine(page, "dashboard-publish");
  await dialog(page, "Publish the draft?").getByRole("button", { name: "Publish" }).click();
  const conflict = dialog(page, "The live version has changed");
  await conflict.getByText("greeting").waitFor();
  await examine(page, "dashboard-publish-conflict");
  await conflict.getByRole("button", { name: "Overwrite and publish" }).click();
  await page.getByText("Published.").waitFor();
  await page.getByText("You have a draft.").waitFor({ state: "detached" });
  expect((await api.call("GET", path)).json).toMatchObject({ greeting: "Hello!" });

  // From a reply to the version that gave it.
  await world.say(String(embed_token), "When are you open?");
  const conversation = (await api.call("GET", "/api/conversations")).json.data[0]?.["id"];
  await follow(page, `/app/conversations/${conversation}`);
  await page.getByText("Details", { exact: true }).click();
  await page.getByRole("link", { name: "Version 5" }).click();
  await page.getByText("From version 4 to version 5").waitFor();
  expect(await page.locator("mark").allInnerTexts()).toEqual(["kind", "formal"]);
  await page.getByRole("region", { name: "Version 5" }).getByText("Formal from June on").waitFor();
  await examine(page, "dashboard-history");
  await page.getByLabel("Compare with").selectOption({ label: "Version 2" });
  await page.getByText("From version 2 to version 5").waitFor();
  await page.getByText("All settings").click();

  await page.getByRole("link", { name: /^Version 2/ }).click();
  await api.call("DELETE", `${path}/sources/${source.json["id"]}`);
  await page.getByText("Opening hours (").waitFor();
  await press(page, "Restore…");
  await dialog(page, "Restore version 2?").getByRole("button", { name: "Restore" }).click();
  await page.getByText("Version 2 is live again.").waitFor();
  await dialog(page, "Restored, with exceptions").getByText("Opening hours").waitFor();
  await examine(page, "dashboard-restored");
  await press(page, "Done");
  await page.getByRole("link", { name: /^Version 1/ }).click();
  await page.getByText("This is the first version").waitFor();
  await press(page, "Restore…");
  await dialog(page, "Restore version 1?").getByLabel("Note").fill("Too formal");
  await examine(page, "dashboard-restore");
  await change({ greeting: "Good day!" });
  await dialog(page, "Restore version 1?").getByRole("button", { name: "Restore" }).click();
  await dialog(page, "Someone changed this companion").getByRole("button", { name: "Show changes" }).click();
  await page.getByRole("link", { name: /^Version 8.*greeting/ }).waitFor();
  await press(page, "Restore…");
  await dialog(page, "Restore version 1?").getByRole("button", { name: "Restore" }).click();
  await page.getByText("Version 1 is live again.").waitFor();
  expect((await api.call("GET", path)).json).toMatchObject({ greeting: null, system_prompt: prompt });
  expect(complaints).toEqual([]);
}, 180_000);

test("a companion has a slug for files, and what they manage is marked", async () => {
  const { page, api, complaints } = await world.openAs("owner", "/healthz");
  const { id } = (await api.call("POST", "/api/companions", { name: "Ada" })).json;
  await page.goto(`${world.server.url}/app/companions/${id}/settings`);
  await press(page, "Add a slug…");
  const slug = dialog(page, "Slug");
  await slug.getByLabel("Slug").fill("No slug");
  await slug.getByRole("button", { name: "Save" }).click();
  await slug.locator("[aria-invalid=true]").waitFor();
  await slug.getByLabel("Slug").fill("support");
  await slug.getByRole("button", { name: "Save" }).click();
  await page.getByText("support", { exact: true }).waitFor();
  const companions = [{ slug: "support", system_prompt: "You help.", greeting: "Hello!" }];
  expect((await api.call("POST", "/api/apply", { set: "shop", companions })).status).toBe(200);
  await page.reload();
  await page.getByText("Managed by files, set").scrollIntoViewIfNeeded();
  await hasCount(page.getByText("managed by files"), 3);
  await examine(page, "dashboard-managed");
  await page.getByText("They set system prompt and greeting").waitFor();

  // Under another slug it is no longer the files'.
  await press(page, "Change the slug…");
  await slug.getByText("leaves the set shop").waitFor();
  await slug.getByLabel("Slug").fill("");
  await slug.getByRole("button", { name: "Save" }).click();
  await hasCount(page.getByText("managed by files"), 0);
  expect(complaints).toEqual([]);
});
