/** Conversations, usage and the playground in the dashboard. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { createErasureMarks } from "../../src/engines/memory/coordination/erasure-marks.ts";
import { openSqliteStore } from "../../src/engines/sqlite/open.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { processLog } from "../../src/lib/log.ts";
import { examine, hasCount, holds, keepScreenshot } from "../support/browser.ts";
import { type DashboardWorld, openDashboardWorld } from "../support/dashboard-world.ts";
import { keepTurn } from "../support/kept-turn.ts";

let world: DashboardWorld;
beforeAll(async () => {
  world = await openDashboardWorld({ COMPANIOND_DAILY_FREE: "10" });
});
afterAll(() => world[Symbol.asyncDispose]());

const visitorId = "0b8f3f5e-59a5-4d3b-9f5e-8c3a9d8a1c11";

const press = (page: Page, name: string) => page.getByRole("button", { name, exact: true }).click();

/** What a download of the page holds. */
async function readDownload(page: Page, act: () => Promise<void>): Promise<{ name: string; text: string }> {
  const [download] = await Promise.all([page.waitForEvent("download"), act()]);
  return { name: download.suggestedFilename(), text: readFileSync(await download.path(), "utf8") };
}

test("new conversations and turns appear automatically", async () => {
  const { page, api, complaints } = await world.openAs("owner", "/app/conversations");
  await page.getByText("No conversations yet").waitFor();
  const ada = (await api.call("POST", "/api/companions", { name: "Ada" })).json;
  await world.say(ada.embed_token, "[[finish:length]]Is anybody there?", visitorId);
  await page.getByRole("link", { name: "Ada" }).click();
  const said = page.getByRole("log", { name: "Transcript" });
  await said.getByText("[[finish:length]]Is anybody there?", { exact: true }).waitFor();
  await said.getByText("You said: Is anybody there?").waitFor();
  await said.getByText("Details").click();
  await said.getByText("11 tokens in, 7 out").waitFor();
  await page.getByText("Cut off at its length limit").waitFor();
  expect(complaints).toEqual([]);
});

test("a long conversation shows its newest messages, leads back to its beginning, and is exported whole", async () => {
  const { page, api, complaints } = await world.openAs("owner", "/app/companions");
  const ada = (await api.call("POST", "/api/companions", { name: "Ada" })).json;
  const sessionId = crypto.randomUUID();
  await keepTurns(ada.id, sessionId, 80);
  const [conversation] = (await api.call("GET", `/api/conversations?companion_id=${ada.id}`)).json.data;
  await page.goto(`${world.server.url}/app/conversations/${conversation?.id}`);
  const said = page.getByRole("log", { name: "Transcript" });
  await said.getByText("answer 79", { exact: true }).waitFor();
  expect(await said.getByText(/^question \d+$/).count()).toBe(50);
  const showEarlier = page.getByRole("button", { name: "Show earlier messages" });
  await page.route(/messages_cursor=/, (route) => route.abort());
  await showEarlier.click();
  await page.getByRole("alert").getByText("The server cannot be reached.").waitFor();
  await page.unroute(/messages_cursor=/);
  await showEarlier.click();
  await said.getByText("question 0", { exact: true }).waitFor();
  expect(await page.getByRole("alert").count()).toBe(0);
  await keepTurns(ada.id, sessionId, 1, 80);
  await said.getByText("answer 80", { exact: true }).waitFor();
  expect(await said.getByText(/^question \d+$/).allInnerTexts()).toEqual(
    Array.from({ length: 81 }, (_, at) => `question ${at}`),
  );
  await page.reload();
  await said.getByText("answer 80", { exact: true }).waitFor();
  const file = await readDownload(page, () => page.getByRole("button", { name: "Export" }).click());
  expect(JSON.parse(file.text).messages).toHaveLength(162);
  expect(complaints).toEqual([]);
});

/** Puts turns beside the running server into its database, as its own chat would settle them. */
async function keepTurns(companionId: string, sessionId: string, count: number, from = 0): Promise<void> {
  const arrivals = createErasureMarks();
  const store = await openSqliteStore({ dataDir: world.server.dataDir, log: processLog(), erasures: arrivals });
  const services = { store, clock: systemClock, coordination: { arrivals } };
  const found = await store.accounts.list();
  for (const { id: accountId } of found) {
    const companion = await store.companions.find(accountId, companionId);
    if (companion === null) continue;
    for (let at = from; at < from + count; at++) {
      const turn = { message: `question ${at}`, reply: `answer ${at}`, atMs: Date.UTC(2026, 0, 1) + at * 1000 };
      await keepTurn({ services }, companion, { sessionId, ...turn });
    }
  }
  await store.close();
}

test("finds, exports, deletes, and erases visitors", async () => {
  const { page, api, complaints } = await world.openAs("owner", "/app/companions");
  const ada = (await api.call("POST", "/api/companions", { name: "Ada" })).json;
  const bob = (await api.call("POST", "/api/companions", { name: "Bob" })).json;
  await world.say(ada.embed_token, "A red bicycle", visitorId);
  await world.say(ada.embed_token, "A blue bicycle");
  await world.say(bob.embed_token, "A green tricycle", visitorId);
  await page.goto(`${world.server.url}/app/conversations`);
  const rows = page.getByRole("navigation", { name: "Conversations" }).getByRole("listitem");
  await hasCount(rows, 3);
  await rows.nth(0).getByText("You said: A green tricycle").waitFor();
  await examine(page, "dashboard-conversations");

  // The keys of inboxes: to the search, and through the rows.
  await page.keyboard.press("/");
  await page.keyboard.type("TRIcycle");
  await hasCount(rows, 1);
  expect(await rows.locator("mark").innerText()).toBe("tricycle");
  await page.getByLabel("Search in messages").fill("");
  await hasCount(rows, 3);
  await rows.nth(0).getByRole("link").focus();
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("k");
  await page.keyboard.press("Enter");
  const said = page.getByRole("log", { name: "Transcript" });
  await said.getByText("A blue bicycle", { exact: true }).waitFor();
  const file = await readDownload(page, () => page.keyboard.press("e"));
  expect(JSON.parse(file.text)).toMatchObject({ companion: "Ada", messages: [{ text: "A blue bicycle" }, {}] });
  await examine(page, "dashboard-conversation");
  await page.goBack();
  await hasCount(said, 0);

  const param = (name: string, value: string | null) =>
    page.waitForURL(({ searchParams }) => searchParams.get(name) === value);
  await page.locator("summary", { hasText: "Companion" }).click();
  await page.getByLabel("Companion", { exact: true }).click();
  // Faster than the list: what is typed counts, not what is shown.
  await page.keyboard.type("bob\n");
  await param("companion_id", bob.id);
  await hasCount(rows, 1);
  await page.getByLabel("Companion", { exact: true }).click();
  await page.keyboard.type("ad");
  await page.getByRole("option", { name: "Ada" }).waitFor();
  await page.getByRole("option", { name: "Bob" }).waitFor({ state: "detached" });
  await page.keyboard.press("Enter");
  await param("companion_id", ada.id);
  await hasCount(rows, 2);
  await page.locator("summary", { hasText: "Date" }).click();
  await page.getByLabel("To", { exact: true }).fill("2020-01-01");
  await page.getByText("No conversation matches").waitFor();
  await page.getByLabel("To", { exact: true }).fill("");
  await hasCount(rows, 2);
  await press(page, "Verified");
  await page.getByText("No conversation matches").waitFor();
  await param("verified", "true");
  await press(page, "Verified");
  await rows.nth(1).getByRole("link").click();
  await said.getByText("A red bicycle", { exact: true }).waitFor();
  expect(new URL(page.url()).searchParams.get("companion_id")).toBe(ada.id);
  await page.reload();
  await said.getByText("A red bicycle", { exact: true }).waitFor();
  await hasCount(rows, 2);

  await press(page, "Details, notes and tags");
  await page.getByRole("link", { name: "All of this visitor's conversations" }).click();
  await page.getByText(`Visitor: ${visitorId}`).waitFor();
  await hasCount(rows, 2);
  await press(page, "Show all");
  await hasCount(rows, 3);
  await rows.nth(2).getByRole("link").click();
  await press(page, "More actions");
  await page.getByRole("menuitem", { name: "Erase visitor…" }).click();
  await press(page, "Erase");
  await page.getByText("Erased.").waitFor();
  await hasCount(rows, 2);
  const left = () => api.call("GET", `/api/conversations?companion_id=${ada.id}`);
  expect((await left()).json.data).toHaveLength(1);
  await rows.nth(1).getByRole("link").click();
  await press(page, "More actions");
  await page.keyboard.press("Enter");
  await press(page, "Delete");
  await page.getByText("Deleted.").waitFor();
  await hasCount(rows, 1);
  expect((await left()).json.data).toHaveLength(0);

  // On phones one at a time.
  await page.setViewportSize({ width: 360, height: 740 });
  // The filters are one line, which does not cut what one of them opens.
  expect((await page.getByRole("group", { name: "Filters" }).boundingBox())?.height).toBeLessThan(60);
  await page.locator("summary", { hasText: "Date" }).click();
  await page.getByLabel("From", { exact: true }).click();
  await page.keyboard.press("Escape");
  await rows.getByRole("link").click();
  await said.getByText("A green tricycle", { exact: true }).waitFor();
  await hasCount(rows, 0);
  await page.getByRole("link", { name: "Back to the conversations" }).click();
  await rows.getByText("A green tricycle", { exact: true }).waitFor();
  expect(complaints).toEqual([]);
});

test("Enter searches for what is typed while the list of companions is on its way, though all of them are named like it", async () => {
  const { page, api } = await world.openAs("owner", "/healthz");
  const [ada, pan] = await Promise.all(
    ["Ada", "Pan"].map(async (name) => (await api.call("POST", "/api/companions", { name })).json),
  );
  await page.goto(`${world.server.url}/app/conversations?companion_id=${ada?.id}`);
  await page.locator("summary", { hasText: "Ada" }).click();
  await page.getByLabel("Companion", { exact: true }).click();
  await page.getByRole("option", { name: "Pan", exact: true }).waitFor();
  await page.route(/\/api\/companions\?q=pan&limit=8$/, () => {});
  await page.keyboard.type("pan");
  await page.getByRole("option", { name: "Pan", exact: true }).waitFor({ state: "detached" });
  await page.getByRole("option", { name: "All companions" }).waitFor();
  await page.keyboard.press("Enter");
  await page.waitForURL(({ searchParams }) => searchParams.get("companion_id") !== ada?.id);
  expect(new URL(page.url()).searchParams.get("companion_id")).toBe(String(pan?.id));
});

test("tries a companion in its own widget, and shows what was sent, how long it took and what it used", async () => {
  const { page, api, complaints } = await world.openAs("owner", "/app/companions");
  const fields = { name: "Ada", system_prompt: "Be kind.", greeting: "I am **Ada**.", starters: ["Hi?"] };
  const ada = (await api.call("POST", "/api/companions", fields)).json;
  await page.goto(`${world.server.url}/app/companions/${ada.id}/playground`);
  // The widget takes a greeting as it is written.
  await page.getByText("I am **Ada**.").waitFor();
  await page.getByRole("button", { name: "Hi?" }).click();
  await page.locator(".row.assistant[data-state=done]", { hasText: "You said: Hi?" }).waitFor();
  const inspector = page.getByRole("complementary", { name: "Inspector" });
  await inspector.getByText("11 in, 7 out").waitFor();
  const message = page.locator("companion-chat textarea");
  await message.fill("[[say:**Bold** words]]");
  await message.press("Enter");
  await page.locator("strong", { hasText: "Bold" }).waitFor();
  await hasCount(inspector.getByText("First text"), 2);
  await inspector.getByText("Prompt sent").first().click();
  const prompt = inspector.getByRole("list", { name: "Prompt sent" });
  expect(await prompt.getByRole("listitem").allInnerTexts()).toEqual([
    "system\n\nBe kind.",
    "user\n\nHi?",
    "assistant\n\nYou said: Hi?",
    "user\n\n[[say:**Bold** words]]",
  ]);
  await examine(page, "dashboard-playground");

  await message.fill("[[fail:401]]");
  await message.press("Enter");
  await page.getByRole("alert").getByText("The provider refused the server's key.").waitFor();
  await page.locator(".row", { hasText: "Not delivered" }).waitFor();
  await message.fill("[[words:500]][[delay:20]]");
  await message.press("Enter");
  await page.getByText(/^word/).last().waitFor();
  await page.getByRole("button", { name: "Stop the reply" }).click();
  await page.getByText("You stopped the reply.").first().waitFor();
  await world.mockLlm.until(() => world.mockLlm.openRequests === 0);
  expect((await api.call("GET", "/api/conversations")).json.data).toEqual([]);
  // What was tried stays nowhere in the browser.
  await page.getByRole("link", { name: "Install" }).click();
  const kept = `[localStorage, sessionStorage].flatMap(Object.keys).filter((key) => key.startsWith("companion:"))`;
  await holds(page, `${kept}.length === 0`);
  expect(complaints).toEqual([]);
});

test("plots usage, shows what is left today, and exports it as CSV", async () => {
  const { page, api, complaints } = await world.openAs("owner", "/app/companions");
  const ada = (await api.call("POST", "/api/companions", { name: "Ada" })).json;
  const bob = (await api.call("POST", "/api/companions", { name: "Bob" })).json;
  for (let index = 0; index < 4; index++) await world.say(ada.embed_token, `Message ${index}`);
  await world.say(bob.embed_token, "One");
  await world.say(bob.embed_token, "[[cut:2]]");
  await page.goto(`${world.server.url}/app/usage`);
  const row = page.getByRole("row", { name: /^Ada/ });
  await row.getByText("6 of 10").last().waitFor();
  expect(await row.getByRole("cell").allInnerTexts()).toEqual(["Ada", "4", "44", "28", "", "", "6 of 10"]);
  await page
    .getByRole("img", { name: /Messages a day .*: 6 in all/ })
    .locator("canvas")
    .waitFor();
  await page.getByRole("button", { name: /Failed replies/ }).click();
  await page.getByRole("img", { name: /Failed replies a day .*: 1 in all/ }).waitFor();
  await page.getByRole("button", { name: /Messages/ }).click();
  await page.getByLabel("Chart").selectOption({ label: "The companions used most" });
  await page.getByRole("list", { name: "Legend" }).getByText("Bob").waitFor();
  await keepScreenshot(page, "dashboard-usage");
  const file = await readDownload(page, () => page.getByRole("button", { name: "CSV" }).click());
  expect(file.name).toMatch(/^usage-.*\.csv$/);
  expect(file.text.split("\r\n")).toContain(`${new Date().toISOString().slice(0, 10)},${ada.id},4,0,44,28,0,0,0,,0,0`);
  await page.getByLabel("Group by", { exact: true }).selectOption("key");
  await page.getByRole("row", { name: /^Dashboard 6/ }).waitFor();
  expect(complaints).toEqual([]);
});
