/** The pages that watch over all companions, and the server: insights, leads, unanswered questions, health. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type DashboardWorld, openDashboardWorld } from "../support/dashboard-world.ts";

let world: DashboardWorld;
beforeAll(async () => {
  world = await openDashboardWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

test("operators read how conversations went, answer a question, and see the server and a model at work", async () => {
  await using cleanup = new AsyncDisposableStack();
  const signedIn = await world.openAs("operator", "/app/insights");
  cleanup.defer(() => signedIn.close());
  const { page, api } = signedIn;
  await page.getByText("No conversations in this time").waitFor();
  const settings = { name: "Ada", answer_mode: "grounded", ratings: true };
  const { id, embed_token: token } = (await api.call("POST", "/api/companions", settings)).json;
  const ask = async () => await world.say(String(token), "Do you ship to Norway?");
  await ask();

  await page.goto(`${world.server.url}/app/insights`);
  await page.getByText("Too few conversations to show a pattern yet").waitFor();
  await Promise.all(Array.from({ length: 19 }, ask));
  await page.reload();
  const busy = page.getByRole("table", { name: "Conversations by weekday and hour" });
  await busy.waitFor();
  expect(await busy.getByRole("row").count()).toBe(8);
  expect((await busy.getByRole("cell").allTextContents()).filter((text) => text !== "0")).toEqual(["20"]);
  await page.getByText("No ratings.").waitFor();

  await page.getByRole("link", { name: "Knowledge gaps", exact: true }).click();
  await page.getByRole("button", { name: "Answer… Do you ship to Norway?" }).click();
  await page.getByLabel("Answer", { exact: true }).fill("Yes, within a week.");
  await page.getByRole("dialog").getByRole("button", { name: "Answer" }).click();
  await page.getByText("All caught up").waitFor();
  const made = (await api.call("GET", `/api/companions/${id}/sources`)).json.data;
  expect(made).toMatchObject([{ title: "Do you ship to Norway?" }]);

  await page.getByRole("link", { name: "Leads", exact: true }).click();
  await page.getByText("No leads yet").waitFor();

  await page.getByRole("link", { name: "Server", exact: true }).click();
  await page.getByRole("heading", { name: "Health" }).waitFor({ timeout: 60_000 });
  await page.getByText("/v1", { exact: false }).first().waitFor();
  await page.getByRole("button", { name: "Test", exact: true }).click();
  await page.getByText("You said: Reply with the single word: hello", { exact: false }).waitFor();

  await page.getByRole("link", { name: "Audit", exact: true }).click();
  const trail = page.getByRole("table", { name: "Audit trail" });
  await trail.getByText("added the source Do you ship to Norway?").waitFor();
  await page.getByLabel("Kind").selectOption("companion");
  await trail.getByText("added the source").waitFor({ state: "detached" });
  await trail.getByText("created Ada").getByRole("link", { name: "Ada" }).waitFor();
  await page.getByLabel("By").selectOption("cli");
  await page.getByText("No entry matches").waitFor();
  expect(signedIn.complaints).toEqual([]);
});
