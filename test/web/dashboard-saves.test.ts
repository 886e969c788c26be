/** Texts and budgets that two people edit at once in the dashboard, and texts that come back as they were written. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { findViolationsInState } from "../support/axe.ts";
import { choose, keepScreenshot } from "../support/browser.ts";
import { type DashboardWorld, openDashboardWorld } from "../support/dashboard-world.ts";
import { eventually } from "../support/eventually.ts";

let world: DashboardWorld;
beforeAll(async () => {
  world = await openDashboardWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

const written = { type: "text", title: "Prices", text: "A bicycle costs 400 euros.", url: null };

async function openText(text: string) {
  const signedIn = await world.openAs("owner", "/healthz", { reducedMotion: "reduce" });
  const { page, api } = signedIn;
  const companion = (await api.call("POST", "/api/companions", { name: "Ada" })).json;
  const path = `/api/companions/${companion.id}/sources`;
  const source = (await api.call("POST", path, { ...written, text })).json;
  const at = `${path}/${source.id}`;
  await page.goto(`${world.server.url}/app/companions/${companion.id}/knowledge`);
  const edit = async () => {
    await page.getByRole("button", { name: /^Actions for / }).click();
    await page.getByRole("menuitem", { name: "Edit…" }).click();
    await page.getByRole("dialog", { name: "Edit text" }).waitFor();
  };
  const save = async () => {
    await page.getByRole("button", { name: "Save", exact: true }).click();
  };
  /** With a byte order mark, if there is one. */
  const readBytes = async () => {
    const bytes = `fetch("${at}/text").then((sent) => sent.arrayBuffer()).then((bytes) => [...new Uint8Array(bytes)])`;
    return Buffer.from((await page.evaluate(bytes)) as number[]).toString();
  };
  const isSaved = () => page.getByRole("dialog", { name: "Edit text" }).waitFor({ state: "detached" });
  return { ...{ page, api, at, edit, save, isSaved, readBytes }, countComplaints: () => signedIn.complaints.length };
}

test("a text that somebody else has changed meanwhile is not written over unasked", async () => {
  const { page, api, at, edit, save, isSaved, readBytes, countComplaints } = await openText(written.text);
  const text = page.getByLabel("Text", { exact: true });
  const conflict = page.getByRole("dialog", { name: "Prices was changed while you were editing" });
  await edit();
  await text.fill("A bicycle costs 450 euros.");
  const theirs = { ...written, title: "Prices of ours", url: "https://shop.example/prices" };
  await api.call("PUT", at, theirs);
  await save();
  await conflict.getByText("title, link").waitFor();
  expect(await findViolationsInState(page)).toEqual([]);
  await keepScreenshot(page, "dashboard-text-conflict");
  expect(await readBytes()).toBe(written.text);
  await conflict.getByRole("button", { name: "Keep editing" }).click();
  expect(await text.inputValue()).toBe("A bicycle costs 450 euros.");

  // Once more while it is asked.
  await save();
  await conflict.waitFor();
  await api.call("PUT", at, { ...theirs, text: "Sold out." });
  await conflict.getByRole("button", { name: "Keep mine" }).click();
  await conflict.getByText("title, text, link").waitFor();
  expect(await readBytes()).toBe("Sold out.");
  await conflict.getByRole("button", { name: "Keep mine" }).click();
  await isSaved();
  expect(await readBytes()).toBe("A bicycle costs 450 euros.");
  expect((await api.call("GET", at)).json).toMatchObject({ title: theirs.title, url: theirs.url });

  await edit();
  await text.fill("Mine");
  await api.call("PUT", at, { ...theirs, text: "Theirs" });
  await save();
  await page.getByRole("button", { name: "Use theirs" }).click();
  await eventually(async () => (await text.inputValue()) === "Theirs");
  // Nothing is lost by closing it.
  await page.keyboard.press("Escape");
  await isSaved();
  expect(countComplaints()).toBe(0);
});

test("a text keeps its bytes where it was not touched, and its line ends where it was", async () => {
  const text = "\uFEFF# Prices\r\n\r\nA bicycle costs 400 euros.\r\n";
  const { page, edit, save, isSaved, readBytes } = await openText(text);
  await edit();
  await page.getByLabel("Title").fill("Prices of this year");
  await save();
  await isSaved();
  expect(await readBytes()).toBe(text);
  await edit();
  await page.getByLabel("Text", { exact: true }).press("Control+End");
  await page.keyboard.type("A lock\ncosts 40.");
  await save();
  await isSaved();
  expect(await readBytes()).toBe(`${text}A lock\r\ncosts 40.`);
});

test("a budget that somebody else has changed meanwhile is not written over unasked", async () => {
  const signedIn = await world.openAs("owner", "/healthz", { reducedMotion: "reduce" });
  const { page, api } = signedIn;
  const budget = { account: true, limit_micros: 5_000_000, period: "month", action: "notify" };
  const { id } = (await api.call("POST", "/api/budgets", budget)).json;
  const at = `/api/budgets/${id}`;
  const read = async () => (await api.call("GET", at)).json;
  const conflict = page.getByRole("dialog", { name: "The budget was changed while you were editing" });
  const limit = page.getByLabel("US dollars");
  await page.goto(`${world.server.url}/app/budgets`);
  await choose(page, "The whole account", "Edit…");
  await limit.fill("7");
  await api.call("PATCH", at, { limit_micros: 6_000_000, period: "day" });
  await page.getByRole("button", { name: "Save" }).click();
  await conflict.getByText("limit, period").waitFor();
  expect(await findViolationsInState(page)).toEqual([]);
  expect(await read()).toMatchObject({ limit_micros: 6_000_000 });
  await conflict.getByRole("button", { name: "Keep mine" }).click();
  await page.getByText("of $7.00 a day").waitFor();
  expect(await read()).toMatchObject({ limit_micros: 7_000_000, period: "day" });

  await choose(page, "The whole account", "Edit…");
  await limit.fill("8");
  await api.call("PATCH", at, { limit_micros: 9_000_000 });
  await page.getByRole("button", { name: "Save" }).click();
  await conflict.getByRole("button", { name: "Use theirs" }).click();
  await eventually(async () => (await limit.inputValue()) === "9.00");
  expect(await read()).toMatchObject({ limit_micros: 9_000_000 });
  expect(signedIn.complaints).toEqual([]);
});
