/** Websites that are away, change between refreshes, or take too long: what answers, what is said, and what comes next. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { createFetcher } from "../../src/core/knowledge/fetching/fetcher.ts";
import { createIndexer } from "../../src/core/knowledge/indexing/indexer.ts";
import type { IndexerParts } from "../../src/core/knowledge/indexing/parts.ts";
import { loadParser } from "../../src/core/knowledge/reading/parse.ts";
import { AppError } from "../../src/domain/errors.ts";
import type { Source } from "../../src/domain/knowledge.ts";
import { parseAllowedHost } from "../../src/lib/allowed-hosts.ts";
import { createCapturedLog } from "../support/captured-log.ts";
import { makeSource } from "../support/indexed-source.ts";
import { openTemporaryStore } from "../support/sqlite-store.ts";
import { openWorld, type StoreWorld } from "../support/store-world.ts";
import { articleOf, sitemapOf, startWebsite, type Website } from "../support/website.ts";

const secondMs = 1000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;

let world: StoreWorld;
let site: Website;
let companion: Awaited<ReturnType<StoreWorld["createCompanion"]>>;
beforeEach(async () => {
  world = await openWorld(openTemporaryStore);
  companion = await world.createCompanion(await world.createAccount());
  site = startWebsite();
});
afterEach(async () => {
  await site[Symbol.asyncDispose]();
  await world.close();
});

/** Reads in this process: how documents are read is not in question here. */
const reader: IndexerParts["reader"] = {
  async read({ bytes, kind, charset = null }) {
    const pieces = bytes instanceof Uint8Array ? [bytes] : bytes;
    return await (await loadParser(kind))(Buffer.concat(pieces), charset);
  },
  async close() {},
};

function openIndexer(parts: Partial<IndexerParts> = {}) {
  const indexer = createIndexer({
    ...{ store: world.store, reader, clock: world.clock, log: createCapturedLog() },
    ...{ isShared: false, embedding: null },
    fetcher: createFetcher({ ownHosts: [], allowed: [parseAllowedHost("127.0.0.0/8") ?? expect.unreachable()] }),
    ...parts,
  });
  const get = async ({ id }: Source) =>
    (await world.store.knowledge.find(companion.accountId, companion.id, id)) ?? expect.unreachable();
  return {
    /** As the timer does once so much time has passed; what it then comes to, and how often the site was asked. */
    async after(timeMs: number, source: Source) {
      world.clock.advance(timeMs);
      site.requests.length = 0;
      indexer.wake();
      await indexer.whenIdle();
      const { status, error, chunks, refreshAt } = await get(source);
      return { status, error, chunks, asked: site.requests.length, refreshAt };
    },
    close: () => indexer.close(),
  };
}

/** Embeds nothing; sources are read for this model. */
const embeddingBy = (model: string) => ({
  ...{ model, retryAtMs: null, restsUntilMs: Number.POSITIVE_INFINITY },
  run: async () => {},
});

const show = (path: string, version: number) =>
  site.pages.set(path, {
    body: articleOf(`Page ${path}`, `About ${path}, in version ${version}. `.repeat(12)),
    etag: `"${path}${version}"`,
  });
const fail = (path: string) => site.pages.set(path, { body: "sorry", status: 503 });
const refresh = ({ id }: Source) =>
  world.store.knowledge.refresh(companion.accountId, companion.id, id, world.context());
const addPage = (refreshHours: number | null = null) =>
  makeSource(world, companion, { type: "url", url: `${site.url}/a`, upload: null, refreshHours });

async function listPassages({ id }: Source): Promise<string[]> {
  const range = { firstOrdinal: 0, limit: 100 };
  const passages = await world.store.knowledge.listPassages(companion.accountId, companion.id, id, range);
  return (passages ?? []).map(({ url, text }) => `${new URL(url ?? "").pathname} ${/version (\d)/.exec(text)?.[1]}`);
}

const down = "The host answered with status 503.";

test("a website that is away is asked again after 30 s, 5 min and 30 min, and then not any more", async () => {
  fail("/a");
  const source = await addPage();
  const { after, close } = openIndexer();
  const waiting = { status: "queued", error: down, asked: 1 } as const;
  expect(await after(0, source)).toMatchObject(waiting);
  for (const delayMs of [30 * secondMs, 5 * minuteMs, 30 * minuteMs]) {
    expect(await after(delayMs - 1, source)).toMatchObject({ ...waiting, asked: 0 });
    const last = delayMs === 30 * minuteMs ? "failed" : "queued";
    expect(await after(1, source)).toMatchObject({ ...waiting, status: last });
  }
  expect(await after(1000 * hourMs, source)).toMatchObject({ status: "failed", asked: 0, refreshAt: null });
  await refresh(source);
  expect(await after(0, source)).toMatchObject(waiting);
  show("/a", 1);
  expect(await after(30 * secondMs, source)).toMatchObject({ status: "ready", error: null, chunks: 1 });
  await close();
});

test("a page is read again on time, answers as it was while its website is away, and is given up after ten failures", async () => {
  show("/a", 1);
  const source = await addPage(2);
  const { after, close } = openIndexer();
  const ready = { status: "ready", error: null, chunks: 1 } as const;
  expect(await after(0, source)).toMatchObject({ ...ready, asked: 1 });
  expect(await after(2 * hourMs - 1, source)).toMatchObject({ asked: 0 });
  expect(await after(1, source)).toMatchObject({ ...ready, asked: 1 });
  fail("/a");
  expect(await after(2 * hourMs, source)).toMatchObject({ status: "queued", error: down, chunks: 1, asked: 1 });
  for (const delayMs of [30 * secondMs, 5 * minuteMs]) {
    expect(await after(delayMs, source)).toMatchObject({ status: "queued", chunks: 1, asked: 1 });
  }
  // From the fourth on, as often as it is refreshed.
  expect(await after(30 * minuteMs, source)).toMatchObject({ ...ready, error: down, asked: 1 });
  for (let failures = 5; failures < 10; failures++) {
    expect(await after(2 * hourMs - 1, source)).toMatchObject({ asked: 0 });
    expect(await after(1, source)).toMatchObject({ ...ready, error: down, asked: 1 });
  }
  const givenUp = { ...ready, error: `${down} After ten failures in a row it is no longer read automatically.` };
  expect(await after(2 * hourMs, source)).toMatchObject({ ...givenUp, asked: 1, refreshAt: null });
  expect(await after(1000 * hourMs, source)).toMatchObject({ ...givenUp, asked: 0 });
  show("/a", 2);
  await refresh(source);
  expect(await after(0, source)).toMatchObject({ ...ready, asked: 1 });
  expect(await after(2 * hourMs, source)).toMatchObject({ ...ready, asked: 1 });
  await close();
});

test("after a refresh a sitemap answers with exactly the pages that it has then", async () => {
  const list = (paths: string[]) => site.pages.set("/sitemap.xml", sitemapOf(paths.map((path) => site.url + path)));
  const source = await makeSource(world, companion, {
    ...{ type: "sitemap", url: `${site.url}/sitemap.xml`, upload: null },
  });
  const { after, close } = openIndexer();
  const read = async () => {
    await refresh(source);
    const now = await after(0, source);
    const pages = site.requests.filter(({ path }) => !/xml|txt/.test(path));
    return {
      ...now,
      passages: await listPassages(source),
      pages: pages.map(({ path, status }) => `${path} ${status}`),
    };
  };
  site.pages.set("/robots.txt", { body: "User-agent: *\nDisallow: /private", type: "text/plain" });
  list(["/a", "/b", "/private/x", "/c"]);
  for (const path of ["/a", "/b", "/c", "/d", "/private/x"]) show(path, 1);
  const left = "1 page was left out, because robots.txt does not allow it.";
  expect(await read()).toMatchObject({
    ...{ status: "ready", error: left, passages: ["/a 1", "/b 1", "/c 1"] },
    pages: ["/a 200", "/b 200", "/c 200"],
  });
  // One is away for a while, one has changed, one is new, one is listed no more, and the order is another.
  show("/c", 2);
  fail("/b");
  list(["/d", "/c", "/b"]);
  expect(await read()).toMatchObject({
    ...{
      status: "ready",
      error: `1 of 3 pages could not be read. It is /b: ${down}`,
      passages: ["/d 1", "/c 2", "/b 1"],
    },
    pages: ["/d 200", "/c 200", "/b 503"],
  });
  show("/b", 1);
  list(["/b", "/d"]);
  const same = { status: "ready", error: null, passages: ["/b 1", "/d 1"] } as const;
  expect(await read()).toMatchObject({ ...same, pages: ["/b 304", "/d 304"] });
  expect(await read()).toMatchObject({ ...same, pages: ["/b 304", "/d 304"] });
  // A sitemap that is away for a while is not taken for an empty one.
  fail("/sitemap.xml");
  expect(await read()).toMatchObject({ status: "queued", error: down, passages: same.passages, pages: [] });
  await close();
});

test("pages that are gone spoil no others, however many; ten in a row that are away are the website's trouble", async () => {
  const gone = Array.from({ length: 12 }, (_, index) => `/gone-${index}`);
  site.pages.set("/sitemap.xml", sitemapOf([...gone, "/a"].map((path) => site.url + path)));
  show("/a", 1);
  const source = await makeSource(world, companion, { type: "sitemap", url: `${site.url}/sitemap.xml`, upload: null });
  const { after, close } = openIndexer();
  const error = "12 of 13 pages could not be read. The first of them is /gone-0: The page does not exist (404).";
  expect(await after(0, source)).toMatchObject({ status: "ready", chunks: 1, error });
  for (const path of gone) fail(path);
  await refresh(source);
  const away = { status: "queued", chunks: 1, error: `10 pages in a row could not be read: ${down}` } as const;
  expect(await after(0, source)).toMatchObject(away);
  // Nor is it a reading where none of a few pages could be read, whatever is known of them.
  site.pages.set("/sitemap.xml", sitemapOf([`${site.url}/a`]));
  fail("/a");
  expect(await after(30 * secondMs, source)).toMatchObject({ status: "queued", chunks: 1, error: down });
  await close();
});

test("pages that stay keep their vectors, but none of a model that is not used any more", async () => {
  const { knowledge } = world.store;
  const list = (paths: string[]) => site.pages.set("/sitemap.xml", sitemapOf(paths.map((path) => site.url + path)));
  const vectorsAfter = async (model: string, source: Source) => {
    const { after, close } = openIndexer({ embedding: embeddingBy(model) });
    await refresh(source);
    expect(await after(0, source)).toMatchObject({ status: "ready" });
    await close();
    const [live] = await knowledge.listEditions(companion.id);
    const edition = live?.edition ?? expect.unreachable();
    return { edition, model: live?.model, vectors: await knowledge.readVectors(edition, 0) };
  };
  for (const path of ["/a", "/b", "/c"]) show(path, 1);
  list(["/a", "/b"]);
  const source = await makeSource(world, companion, { type: "sitemap", url: `${site.url}/sitemap.xml`, upload: null });
  const { edition } = await vectorsAfter("embed-1", source);
  const block = (firstOrdinal: number, value: number) => ({ firstOrdinal, vectors: new Uint8Array([value]) });
  await knowledge.replaceVectors(edition, "embed-1", [block(0, 1), block(1, 2)], true);
  list(["/c", "/b"]);
  expect(await vectorsAfter("embed-1", source)).toMatchObject({ model: "embed-1", vectors: [block(1, 2)] });
  list(["/b", "/a"]);
  expect(await vectorsAfter("embed-2", source)).toMatchObject({ model: "embed-2", vectors: [] });
});

test("of a sitemap of more than 500 pages the first are read, and it says so", async () => {
  const urls = Array.from({ length: 501 }, (_, index) => `${site.url}/${index}`);
  site.pages.set("/sitemap.xml", sitemapOf(urls));
  const { listPages } = createFetcher({
    ownHosts: [],
    allowed: [parseAllowedHost("127.0.0.0/8") ?? expect.unreachable()],
  });
  const fetched: string[] = [];
  const { after, close } = openIndexer({
    fetcher: {
      listPages,
      async fetch(url) {
        fetched.push(url);
        const bytes = new TextEncoder().encode("Some words.");
        const validators = { etag: null, lastModified: null };
        return { status: "fetched", bytes, contentType: "text/plain", charset: null, finalUrl: url, ...validators };
      },
    },
  });
  const source = await makeSource(world, companion, { type: "sitemap", url: `${site.url}/sitemap.xml`, upload: null });
  const error = "The sitemap names more than 500 pages: the first 500 were read.";
  expect(await after(0, source)).toMatchObject({ status: "ready", chunks: 500, error });
  expect(fetched).toEqual(urls.slice(0, 500));
  await close();
});

test("a reading that takes too long says so, and is not tried again", async () => {
  const source = await makeSource(world, companion, { type: "sitemap", url: `${site.url}/sitemap.xml`, upload: null });
  const waitForever = (signal: AbortSignal) =>
    new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  const { after, close } = openIndexer({
    fetcher: { listPages: (_, signal) => waitForever(signal), fetch: (_, { signal }) => waitForever(signal) },
    maxMs: 1,
  });
  const error = "Reading this source took more than an hour. Split the sitemap into smaller ones.";
  expect(await after(0, source)).toMatchObject({ status: "failed", error, refreshAt: null });
  await close();
});

test.each([
  [
    "a full disk",
    new AppError("unavailable", "Away."),
    "What was read could not be stored: storage is full or unavailable.",
  ],
  ["a defect", new Error("never expected"), "Reading this source failed unexpectedly."],
])("%s is told as what it is, and promises another try only as long as there is one", async (_, failure, sentence) => {
  show("/a", 1);
  const source = await addPage();
  const { knowledge, serverSecrets } = world.store;
  const store = { knowledge: { ...knowledge, append: () => Promise.reject(failure) }, serverSecrets };
  const { after, close } = openIndexer({ store });
  const error = `${sentence} It is tried again.`;
  for (const delayMs of [0, 30 * secondMs, 5 * minuteMs]) {
    expect(await after(delayMs, source)).toMatchObject({ status: "queued", error });
  }
  expect(await after(30 * minuteMs, source)).toMatchObject({ status: "failed", error: sentence });
  await close();
});
