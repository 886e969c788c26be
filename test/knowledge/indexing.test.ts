/** Sources from the request that adds them to the passages that answer: real files, a real website, the real queue. */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Source, SourcePassages } from "../../src/api/knowledge/responses.ts";
import { type ApiClient, apiClient } from "../support/api-client.ts";
import { startTestServer, type TestServer } from "../support/app.ts";
import { dropEngineDatabase } from "../support/engine.ts";
import { eventually } from "../support/eventually.ts";
import { articleOf, sitemapOf, startWebsite } from "../support/website.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ environment: { COMPANIOND_PRIVATE_SOURCES: "127.0.0.0/8" } });
});
afterAll(() => server.close());

let api: ApiClient;
let sources: string;
beforeEach(async () => {
  const account = await server.createAccount();
  const companion = await server.createCompanion({}, account);
  api = apiClient(server.url, (await server.createKey(account)).key);
  sources = `/api/companions/${companion.id}/sources`;
});

async function add(body: unknown): Promise<Source> {
  const response = await api.call("POST", sources, body);
  expect(response.status).toBe(202);
  const made = response.json as unknown as Source;
  expect(made).toMatchObject({ status: "queued", chunks: 0, error: null, indexed_at: null });
  return made;
}

const get = async ({ id }: Pick<Source, "id">) => (await api.call("GET", `${sources}/${id}`)).json as unknown as Source;

/** Once it is neither queued nor being read. */
async function settled(source: Pick<Source, "id">): Promise<Source> {
  let now = await get(source);
  await eventually(async () => {
    now = await get(source);
    return now.status === "ready" || now.status === "failed";
  });
  return now;
}

async function passages({ id }: Pick<Source, "id">) {
  const { data } = (await api.call("GET", `${sources}/${id}/passages`)).json as unknown as SourcePassages;
  return data.map(({ title, url, text }) => ({ title, url, text }));
}

test("a text answers with its headings, and says the same after the same again", async () => {
  const body = { type: "text", title: "Returns", text: "# Deadlines\n\nYou may return it within 30 days." };
  const made = await add(body);
  const ready = await settled(made);
  expect(ready).toMatchObject({ status: "ready", chunks: 1, error: null });
  expect(ready.content_hash).toMatch(/^[0-9a-f]{64}$/);
  expect(await passages(ready)).toEqual([{ title: "Returns", url: null, text: expect.stringContaining("30 days") }]);
  await api.call("PUT", `${sources}/${made.id}`, body);
  expect(await settled(made)).toMatchObject({ status: "ready", chunks: 1, content_hash: ready.content_hash });
});

test("of several contents the last one counts, and until it is read the one before answers", async () => {
  const made = await add({ type: "text", title: "Hours", text: "Open from one." });
  await settled(made);
  for (const hour of ["two", "three", "four"]) {
    await api.call("PUT", `${sources}/${made.id}`, { type: "text", title: "Hours", text: `Open from ${hour}.` });
    expect(await passages(made)).toHaveLength(1);
  }
  await settled(made);
  await eventually(async () => (await passages(made))[0]?.text === "Open from four.");
});

test("a page is read under its own title, and costs nothing while it stays the same", async () => {
  await using site = startWebsite({
    "/help": { body: articleOf("Help", "Write to us at any time. ".repeat(20)), etag: '"1"' },
  });
  const made = await add({ type: "url", url: `${site.url}/help` });
  const ready = await settled(made);
  expect(ready).toMatchObject({ status: "ready", title: "Help", url: `${site.url}/help`, chunks: 1 });
  await api.call("POST", `${sources}/${made.id}/refresh`);
  const again = await settled(made);
  expect(again).toMatchObject({ status: "ready", content_hash: ready.content_hash, chunks: 1 });
  // The same text under another tag: the tag is what counts from then on.
  site.pages.set("/help", { body: articleOf("Help", "Write to us at any time. ".repeat(20)), etag: '"2"' });
  for (let times = 0; times < 2; times++) {
    await api.call("POST", `${sources}/${made.id}/refresh`);
    expect(await settled(made)).toMatchObject({ status: "ready", content_hash: ready.content_hash });
  }
  expect(site.requests.map(({ status }) => status)).toEqual([200, 304, 200, 304]);
});

test("a page that is gone leaves what was read of it, and says so", async () => {
  await using site = startWebsite({ "/a": { body: articleOf("A", "Something to know. ".repeat(20)) } });
  const made = await add({ type: "url", url: `${site.url}/a` });
  await settled(made);
  site.pages.delete("/a");
  await api.call("POST", `${sources}/${made.id}/refresh`);
  expect(await settled(made)).toMatchObject({ status: "ready", chunks: 1, error: expect.stringContaining("404") });
  expect(await passages(made)).toHaveLength(1);
});

test("what cannot be read has failed with a sentence", async () => {
  await using site = startWebsite({ "/image": { body: "\x89PNG\r\n\x1a\n", type: "image/png" } });
  const image = await settled(await add({ type: "url", url: `${site.url}/image` }));
  expect(image).toMatchObject({ status: "failed", chunks: 0 });
  expect(image.error).toMatch(/^[A-Z].*\.$/);
  const missing = await settled(await add({ type: "url", url: `${site.url}/nothing` }));
  expect(missing).toMatchObject({ status: "failed", error: expect.stringContaining("404") });
});

test("a sitemap is read page by page, each under its own address; only pages that changed are read anew", async () => {
  await using site = startWebsite();
  const page = (name: string, version: number) => ({
    body: articleOf(`Page ${name}`, `About ${name}, in version ${version}. `.repeat(12)),
    etag: `"${name}${version}"`,
  });
  const urls = ["/a", "/b", "/gone"].map((path) => site.url + path);
  site.pages.set("/sitemap.xml", sitemapOf(urls));
  for (const name of ["a", "b"]) site.pages.set(`/${name}`, page(name, 1));
  const made = await add({ type: "sitemap", url: `${site.url}/sitemap.xml` });
  const ready = await settled(made);
  expect(ready).toMatchObject({
    status: "ready",
    chunks: 2,
    error: "1 of 3 pages could not be read. It is /gone: The page does not exist (404).",
  });
  expect((await passages(made)).map(({ title, url }) => `${title} ${url}`)).toEqual([
    `Page a ${site.url}/a`,
    `Page b ${site.url}/b`,
  ]);
  site.pages.set("/b", page("b", 2));
  site.requests.length = 0;
  await api.call("POST", `${sources}/${made.id}/refresh`);
  const again = await settled(made);
  expect(again.content_hash).not.toBe(ready.content_hash);
  expect(site.requests.filter(({ path }) => path === "/a")).toEqual([{ path: "/a", status: 304 }]);
  expect((await passages(made)).map(({ text }) => /version (\d)/.exec(text)?.[1])).toEqual(["1", "2"]);
});

test("what is queued when the server stops is read after the next start", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "companiond-test-"));
  await using site = startWebsite({ "/a": { body: articleOf("A", "Something to know. ".repeat(20)) } });
  const options = { dataDir, environment: { COMPANIOND_PRIVATE_SOURCES: "127.0.0.0/8" } };
  const first = await startTestServer(options);
  const account = await first.createAccount();
  const { key } = await first.createKey(account);
  sources = `/api/companions/${(await first.createCompanion({}, account)).id}/sources`;
  api = apiClient(first.url, key);
  const made = await add({ type: "url", url: `${site.url}/a` });
  await first.close();
  const second = await startTestServer(options);
  api = apiClient(second.url, key);
  expect(await settled(made)).toMatchObject({ status: "ready", chunks: 1 });
  await second.close();
  rmSync(dataDir, { recursive: true, force: true });
  await dropEngineDatabase(dataDir);
});
