/** Knowledge in the dashboard: added and watched, tried, answered, deleted, and seen in transcripts. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { findViolationsInState } from "../support/axe.ts";
import { hasCount, holds, keepScreenshot } from "../support/browser.ts";
import { type DashboardWorld, openDashboardWorld, type SignedInPage } from "../support/dashboard-world.ts";
import { eventually } from "../support/eventually.ts";
import { wholeStream } from "../support/mock-llm-replies.ts";
import { articleOf, sitemapOf, startWebsite } from "../support/website.ts";

const website = startWebsite({
  "/returns": {
    body: articleOf("Returns and refunds", "You may return what you bought within thirty days. ".repeat(5)),
  },
  "/shipping": { body: articleOf("Shipping", "Parcels leave our house on every working day. ".repeat(5)) },
});
website.pages.set("/sitemap.xml", sitemapOf([`${website.url}/returns`, `${website.url}/shipping`]));
website.pages.set("/robots.txt", { body: "", type: "text/plain" });

let world: DashboardWorld;
beforeAll(async () => {
  world = await openDashboardWorld({ COMPANIOND_PRIVATE_SOURCES: "127.0.0.0/8" });
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await website[Symbol.asyncDispose]();
});

interface Opened extends SignedInPage {
  companion: { id: string; embed_token: string };
  /** What the API has, the newest first. */
  readSources(): Promise<{ id: string; title: string; status: string }[]>;
}

async function openKnowledge(sources: readonly object[] = [], query = ""): Promise<Opened> {
  const signedIn = await world.openAs("owner", "/healthz", { reducedMotion: "reduce" });
  const { page, api } = signedIn;
  const companion = (await api.call("POST", "/api/companions", { name: "Ada" })).json;
  const path = `/api/companions/${companion.id}/sources`;
  const readSources: Opened["readSources"] = async () => {
    const listed = await api.call("GET", path);
    return JSON.parse(listed.text).data;
  };
  for (const source of sources) await api.call("POST", path, source);
  await eventually(async () => (await readSources()).every(({ status }) => status === "ready"));
  await page.goto(`${world.server.url}/app/companions/${companion.id}/knowledge${query}`);
  // Not spread: its complaints are counted when they are read.
  return Object.assign(Object.create(signedIn) as SignedInPage, { companion, readSources });
}

const rowOf = (page: Page, title: string) =>
  page
    .getByRole("list", { name: "Sources" })
    .getByRole("listitem")
    .filter({ has: page.getByRole("heading", { name: title }) });

const prices = {
  type: "text",
  title: "Prices",
  text: "# Bicycles\n\nA cargo bicycle costs 2400 euros.\n\n\n# Repairs\n\nAn hour in the workshop costs 40 euros.\n",
  url: "https://shop.example/prices",
};

test("files, addresses and texts are added, watched until they are ready, and say what is wrong with them", async () => {
  const { page, complaints, readSources } = await openKnowledge();
  await page.getByText("No sources yet").waitFor();
  await page.locator("input[type=file]").setInputFiles([
    { name: "photo.png", mimeType: "image/png", buffer: Buffer.from("pixels") },
    { name: "nothing.txt", mimeType: "text/plain", buffer: Buffer.from("") },
    { name: "prices.md", mimeType: "text/markdown", buffer: Buffer.from(prices.text) },
    { name: "broken.pdf", mimeType: "application/pdf", buffer: Buffer.from("no such thing") },
  ]);
  const refused = page.getByRole("list", { name: "Uploads" }).getByRole("listitem");
  await refused.filter({ hasText: "photo.png" }).getByText("We can't read this kind of file.").waitFor();
  await refused.filter({ hasText: "nothing.txt" }).getByText("This file is empty.").waitFor();
  await rowOf(page, "prices.md").getByText("Ready", { exact: true }).waitFor();
  await rowOf(page, "broken.pdf").getByText("This file is not what its name says.").waitFor();
  await page.getByRole("button", { name: "Dismiss photo.png" }).click();
  await hasCount(refused, 1);

  const address = page.getByLabel("URL of a page or sitemap");
  await address.fill(`${website.url}/missing`);
  expect(await page.getByLabel("This is a sitemap").isChecked()).toBe(false);
  await page.keyboard.press("Enter");
  await rowOf(page, "/missing").getByText("The page does not exist (404).").waitFor();
  expect(await address.evaluate((input) => input.matches(":focus"))).toBe(true);
  await address.fill(`${website.url}/sitemap.xml`);
  expect(await page.getByLabel("This is a sitemap").isChecked()).toBe(true);
  await page.getByLabel("Refresh", { exact: true }).selectOption("168");
  await page.keyboard.press("Enter");
  const sitemap = page.getByRole("listitem").filter({ hasText: "/sitemap.xml" });
  await page.getByRole("status").filter({ hasText: "is ready: 2 passages." }).waitFor();
  await sitemap.getByText("next refresh in 7 days").waitFor();

  // A place to come back from.
  await page.getByRole("link", { name: "Sources", exact: true }).click();
  await page.getByRole("button", { name: "Add text…" }).click();
  await page.getByLabel("Title").fill("Opening hours");
  await page.getByLabel("Text", { exact: true }).fill("We open at nine.");
  expect(await findViolationsInState(page)).toEqual([]);
  await page.keyboard.press("Escape");
  const question = page.getByRole("dialog", { name: "Discard your changes?" });
  await question.getByRole("button", { name: "Keep editing" }).click();
  await page.goBack();
  const leaving = page.getByRole("dialog", { name: "Leave without saving?" });
  await leaving.getByRole("button", { name: "Stay" }).click();
  expect(await page.getByLabel("Text", { exact: true }).inputValue()).toBe("We open at nine.");
  await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
  await keepScreenshot(page, "dashboard-discard");
  await question.getByRole("button", { name: "Keep editing" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Add" }).click();
  await rowOf(page, "Opening hours").getByText("Ready", { exact: true }).waitFor();
  expect((await readSources()).map(({ status }) => status).sort()).toEqual([
    "failed",
    "failed",
    "ready",
    "ready",
    "ready",
  ]);
  expect(await findViolationsInState(page)).toEqual([]);
  await keepScreenshot(page, "dashboard-knowledge-sources");
  expect(complaints).toEqual([]);
});

test("dropped files are taken, and one that did not arrive is sent again", async () => {
  const { page, readSources } = await openKnowledge();
  await page.getByText("No sources yet").waitFor();
  await page.route("**/sources", (route) => route.abort());
  const held = await page.evaluateHandle(`(() => {
    const held = new DataTransfer();
    held.items.add(new File(["We open at nine."], "hours.txt", { type: "text/plain" }));
    return held;
  })()`);
  await page.dispatchEvent("main", "dragover", { dataTransfer: held });
  await page.getByText("Drop them here").waitFor();
  await page.dispatchEvent("main", "drop", { dataTransfer: held });
  await page.getByText("The server cannot be reached.").waitFor();
  await page.unroute("**/sources");
  await page.getByRole("button", { name: "Try again hours.txt" }).click();
  await rowOf(page, "hours.txt").waitFor();
  expect(await readSources()).toMatchObject([{ title: "hours.txt" }]);
});

test("passages are looked at, a text is changed and read anew, a page is read again, and what is deleted is gone", async () => {
  const { page, readSources, complaints } = await openKnowledge([
    prices,
    { type: "url", url: `${website.url}/returns` },
  ]);
  await page.getByRole("button", { name: "Passages Prices" }).click();
  const passages = page.getByRole("list", { name: "Passages" }).getByRole("listitem");
  await passages.first().getByText("An hour in the workshop costs 40 euros.").waitFor();
  expect(await findViolationsInState(page)).toEqual([]);
  await page.keyboard.press("Escape");

  await page.route("**/text", (route) => route.fulfill({ status: 500, json: {} }));
  const act = async (title: string, action: string) => {
    await page.getByRole("button", { name: `Actions for ${title}` }).click();
    await page.getByRole("menuitem", { name: action }).click();
  };
  await act("Prices", "Edit…");
  await page.getByRole("dialog").getByText("The server responded with status 500.").waitFor();
  await page.unroute("**/text");
  await page.getByRole("dialog").getByRole("button", { name: "Try again" }).click();
  expect(await findViolationsInState(page)).toEqual([]);
  await keepScreenshot(page, "dashboard-knowledge-edit");
  expect(await page.getByLabel("Text", { exact: true }).inputValue()).toBe(prices.text);
  expect(await page.getByLabel("Link for visitors (optional)").inputValue()).toBe(prices.url);
  await page.getByLabel("Title").fill("Prices of this year");
  await page.getByLabel("Text", { exact: true }).fill("A cargo bicycle costs 2600 euros.");
  await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
  await page.getByRole("status").filter({ hasText: "Prices of this year is ready: 1 passage." }).waitFor();

  await act("Returns and refunds", "Refresh");
  await page.getByRole("status").filter({ hasText: "Returns and refunds is ready" }).waitFor();
  await act("Prices of this year", "Delete…");
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await hasCount(rowOf(page, "Prices of this year"), 0);
  await holds(page, "document.activeElement?.textContent === 'Sources'");
  expect((await readSources()).map(({ title }) => title)).toEqual(["Returns and refunds"]);
  expect(complaints).toEqual([]);
});

test("a question shows what it finds, with scores; an unanswered one becomes a source, and replies show what the model saw", async () => {
  const { page, api, companion, complaints, readSources } = await openKnowledge([prices], "?show=try");
  const ask = async (question: string) => {
    await page.getByLabel("Question").fill(question);
    await page.keyboard.press("Enter");
  };
  await ask("Do you ship to Norway?");
  await page.getByText("No passage matches this question.").waitFor();
  await ask("What does a cargo bicycle cost?");
  const found = page.getByRole("list", { name: "Passages found" }).getByRole("listitem").first();
  await found.getByText(/^Score \d+\.\d\d$/).waitFor();
  await found.getByText("Prices", { exact: true }).waitFor();
  await page.getByText("every chat includes all of it").waitFor();
  expect(await findViolationsInState(page)).toEqual([]);
  await keepScreenshot(page, "dashboard-knowledge-found");

  world.mockLlm.respond(async (_, response) => {
    for (const part of wholeStream(["It costs 2400 euros [1]."])) await response.write(part);
    response.end();
  });
  await world.say(companion.embed_token, "What does a cargo bicycle cost?");
  world.mockLlm.respond(null);
  await world.say(companion.embed_token, "Do you ship to Norway?");
  await world.say(companion.embed_token, "do you ship to Norway");
  await page.reload();
  await page.getByRole("link", { name: "Gaps 1" }).click();
  await page.getByText("Asked 2 times").waitFor();
  expect(await findViolationsInState(page)).toEqual([]);
  await keepScreenshot(page, "dashboard-knowledge-unanswered");
  await page.getByRole("button", { name: /^Answer…/ }).click();
  await page.getByLabel("Answer", { exact: true }).fill("Yes, for 12 euros.");
  await page.getByRole("dialog").getByRole("button", { name: "Answer" }).click();
  await page.getByText("All caught up").waitFor();
  await page.getByRole("status").getByRole("link", { name: "do you ship to Norway" }).click();
  await rowOf(page, "do you ship to Norway").getByText("Ready", { exact: true }).waitFor();

  const conversation = (await api.call("GET", "/api/conversations")).json.data.at(-1)?.id;
  const open = async () => {
    await page.goto(`${world.server.url}/app/conversations/${conversation}`);
    await page.getByText("1 of 1 sources cited").click();
  };
  await open();
  const seen = page.getByRole("log").getByRole("list", { name: "Sources" }).getByRole("listitem");
  await seen.getByText("cited").click();
  expect(await seen.getByRole("link").getAttribute("href")).toBe(prices.url);
  await seen.getByText("An hour in the workshop costs 40 euros.").waitFor();
  expect(await findViolationsInState(page)).toEqual([]);
  await keepScreenshot(page, "dashboard-knowledge-transcript");
  const id = (await readSources()).at(-1)?.id;
  await api.call("DELETE", `/api/companions/${companion.id}/sources/${id}`);
  await open();
  await seen.getByText("No longer there").waitFor();
  expect(complaints).toEqual([]);
});

test("hundreds of sources come a page at a time, and are narrowed by title and state; settings say how they are used", async () => {
  const { page, companion, api, complaints } = await openKnowledge();
  const listed = (index: number) => ({
    ...{ id: crypto.randomUUID(), type: "text", title: `Text ${index}`, url: null, status: "ready", error: null },
    ...{ chunks: 3, bytes: 10, content_hash: "x", refresh_hours: null, progress: null, refresh_at: null },
    ...{ indexed_at: "2026-01-31T12:00:00.000Z", created_at: "2026-01-31T12:00:00.000Z" },
  });
  const data = Array.from({ length: 500 }, (_, index) => listed(index));
  Object.assign(data[499] ?? {}, { status: "failed", error: "This document needs a password." });
  await page.route("**/sources?*", (route) => route.fulfill({ json: { data, next_cursor: null } }));
  await page.reload();
  await page.getByText("500 of 500 sources · 1,500 passages · 1 failed").waitFor();
  const rows = page.getByRole("list", { name: "Sources" }).getByRole("listitem");
  await hasCount(rows, 25);
  await page.getByRole("button", { name: "Show more (475 left)" }).click();
  await hasCount(rows, 50);
  await page.getByLabel("Status").selectOption("problem");
  await hasCount(rows, 1);
  await rows.getByText("This document needs a password. The last version stays live.").waitFor();
  const search = page.getByLabel("Search sources");
  // However high the field is, its icon stands in the middle.
  const icon = page.locator("svg:has(+ input[type=search])");
  const [within, around] = [await icon.boundingBox(), await search.boundingBox()];
  expect((within?.y ?? 0) + (within?.height ?? 0) / 2).toBeCloseTo((around?.y ?? 0) + (around?.height ?? 0) / 2, 0);
  await search.fill("Text 1");
  await page.getByText("No matching sources").waitFor();
  await page.getByRole("button", { name: "Show all" }).click();
  await hasCount(rows, 25);
  await page.setViewportSize({ width: 360, height: 740 });
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(360);
  expect(await findViolationsInState(page)).toEqual([]);
  await page.setViewportSize({ width: 1280, height: 860 });

  await page.getByRole("link", { name: "Change", exact: true }).click();
  await page.getByLabel("If the answer isn't in your sources").selectOption("grounded");
  await page.getByLabel("Fallback message").fill("Write to help@shop.example.");
  await page.getByLabel("Citations").selectOption("markers");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved.").waitFor();
  const saved = (await api.call("GET", `/api/companions/${companion.id}`)).json;
  expect(saved).toMatchObject({ answer_mode: "grounded", citations: "markers" });
  expect(saved.no_answer_text).toBe("Write to help@shop.example.");
  expect(complaints).toEqual([]);
});
