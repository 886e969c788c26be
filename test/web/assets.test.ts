/** The files of the web build as the server sends them: encodings, tags, caching, published hashes, and their weight. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliDecompressSync, gunzipSync, gzipSync } from "node:zlib";
import { chooseEncoding } from "../../src/api/assets/service.ts";
import { matchesTag } from "../../src/lib/entity-tag.ts";
import { voiceEnglish } from "../../src/web/voice/strings.ts";
import { confirmEnglish } from "../../src/web/widget/confirm-strings.ts";
import { homeEnglish } from "../../src/web/widget/home-strings.ts";
import { launcherEnglish } from "../../src/web/widget/launcher-strings.ts";
import { feedbackEnglish, peopleEnglish } from "../../src/web/widget/people-strings.ts";
import { sourcesEnglish } from "../../src/web/widget/sources-strings.ts";
import { english } from "../../src/web/widget/strings.ts";
import { startTestServer, type TestServer } from "../support/app.ts";

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

/** As a browser's network layer sees it: nothing is unpacked. */
async function get(path: string, headers: Record<string, string> = {}) {
  const response = await fetch(server.url + path, { headers, decompress: false });
  return { response, bytes: new Uint8Array(await response.arrayBuffer()) };
}

async function integrity(): Promise<Record<string, { path: string; integrity: string }>> {
  return (await (await fetch(`${server.url}/assets/integrity.json`)).json()) as Record<
    string,
    { path: string; integrity: string }
  >;
}

const tokensFile = readFileSync(join(import.meta.dir, "../../src/web/tokens.css"), "utf8");

test("the widget's first load weighs at most 8.5 kB, all of its chat 30 kB, and what it loads at times is small", async () => {
  const kept = await integrity();
  // By any gzip, not by ours alone.
  const weigh = async (path: string) => {
    const { response, bytes } = await get(path, { "Accept-Encoding": "gzip" });
    expect(response.status).toBe(200);
    return Math.max(bytes.length, gzipSync(gunzipSync(bytes), { level: 9 }).length);
  };
  const widget = await weigh("/widget.js");
  expect(widget).toBeLessThanOrEqual(8_500);
  expect(widget + (await weigh("/panel.js"))).toBeLessThanOrEqual(30_000);
  // Kept near what they weigh, so that what grows is seen. The SDK listens for the widget, too.
  const limits = { "panel.js": 21_700, "sdk.js": 6_800, "live.js": 6_000, "feedback.js": 3_000, "confirm.js": 2_700 };
  for (const [name, limit] of Object.entries(limits)) {
    expect({ name, isLight: (await weigh(kept[name]?.path ?? "")) <= limit }).toEqual({ name, isLight: true });
  }
});

test("every token that the widget's files name is on its root", async () => {
  const kept = await integrity();
  const read = async (path: string) => new TextDecoder().decode((await get(path)).bytes);
  const widget = (await read("/widget.js")) + (await read(kept["panel.js"]?.path ?? ""));
  for (const name of ["panel.js", "live.js", "feedback.js", "confirm.js"]) {
    const named = [...(await read(kept[name]?.path ?? "")).matchAll(/var\((--(?!companion)[\w-]+)\)/g)];
    const tokens = new Set(named.map(([, token]) => token));
    expect(tokens.size).toBeGreaterThan(0);
    const unknown = [...tokens].filter((token) => tokensFile.includes(`${token}:`) && !widget.includes(`${token}:`));
    expect({ name, unknown }).toEqual({ name, unknown: [] });
  }
});

test("each encoding holds the same bytes, under a tag of its own", async () => {
  const plain = await get("/widget.js", { "Accept-Encoding": "identity" });
  const gzip = await get("/widget.js", { "Accept-Encoding": "gzip, deflate" });
  const brotli = await get("/widget.js", { "Accept-Encoding": "gzip, br;q=1.0" });
  expect(gunzipSync(gzip.bytes)).toEqual(Buffer.from(plain.bytes));
  expect(brotliDecompressSync(brotli.bytes)).toEqual(Buffer.from(plain.bytes));
  expect(brotli.bytes.length).toBeLessThan(gzip.bytes.length);
  const tags = [plain, gzip, brotli].map(({ response }) => response.headers.get("etag"));
  expect(new Set(tags).size).toBe(3);
  for (const { response } of [plain, gzip, brotli]) {
    expect(response.headers.get("vary")).toContain("Accept-Encoding");
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
    expect(response.headers.get("cross-origin-resource-policy")).toBe("cross-origin");
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    expect(response.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
  }
});

test("a known tag is answered 304, without a body", async () => {
  const first = await get("/widget.js", { "Accept-Encoding": "br" });
  const etag = first.response.headers.get("etag") ?? "";
  for (const known of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
    const again = await get("/widget.js", { "Accept-Encoding": "br", "If-None-Match": known });
    expect([again.response.status, again.bytes.length]).toEqual([304, 0]);
    expect(again.response.headers.get("etag")).toBe(etag);
  }
  const other = await get("/widget.js", { "Accept-Encoding": "gzip", "If-None-Match": etag });
  expect(other.response.status).toBe(200);
});

test("stable names are kept for minutes, hashed ones for ever, with the published integrity", async () => {
  const published = await integrity();
  expect(Object.keys(published)).toEqual(
    expect.arrayContaining(["widget.js", "panel.js", "sdk.js", "voice.js", "locale-de.json"]),
  );
  for (const [name, { path, integrity }] of Object.entries(published)) {
    const { response, bytes } = await get(path);
    expect([name, response.status]).toEqual([name, 200]);
    expect(response.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    expect(`sha384-${createHash("sha384").update(bytes).digest("base64")}`).toBe(integrity);
    expect(path).toMatch(/^\/assets\/[\w.-]+\.[\da-z]{8,10}\.\w+$/);
  }
  const stable = await get("/widget.js");
  expect(stable.response.headers.get("cache-control")).toBe("public, max-age=300, stale-while-revalidate=3600");
  const twin = await get(published["widget.js"]?.path ?? "");
  expect(twin.bytes).toEqual(stable.bytes);
});

test("what is not there is 404, a stable name under /assets/ too", async () => {
  for (const path of [
    "/assets/widget.js",
    "/assets/none.0123456789.js",
    "/assets/..%2f..%2fetc%2fpasswd",
    "/assets/",
  ]) {
    expect((await get(path)).response.status).toBe(404);
  }
});

test("HEAD is answered as GET is, without the body", async () => {
  const response = await fetch(`${server.url}/widget.js`, { method: "HEAD" });
  expect(response.status).toBe(200);
  expect(response.headers.get("etag")).not.toBeNull();
});

test("nothing that visitors load names a third party", async () => {
  for (const [name, { path }] of Object.entries(await integrity())) {
    if (!/^(widget|panel|sdk|sources|confirm|voice|welcome|locale)/.test(name)) continue;
    const text = new TextDecoder().decode((await get(path)).bytes);
    const hosts = [...text.matchAll(/(?:https?|wss?):\/\/([\w-]+\.[\w.-]+)/g)].map(([, host]) => host);
    // The name space of icons; and where the provider's client would go without a signed address, which it never is.
    const expected =
      name === "voice.js" ? /^(www\.w3\.org|api\.elevenlabs\.io|livekit\.rtc\.elevenlabs\.io)$/ : /^www\.w3\.org$/;
    expect([name, hosts.filter((host) => !expected.test(host ?? "") && !name.startsWith("voice-"))]).toEqual([
      name,
      [],
    ]);
  }
});

test("every language has every word, with the same places to fill in", async () => {
  const words = {
    ...launcherEnglish,
    ...english,
    ...sourcesEnglish,
    ...homeEnglish,
    ...confirmEnglish,
    ...peopleEnglish,
    ...feedbackEnglish,
    ...voiceEnglish,
  };
  const places = (text: string) => [...text.matchAll(/\{\w+\}/g)].map(String);
  const files = readdirSync(join(import.meta.dir, "../../src/web/widget/locales"));
  expect(files.length).toBeGreaterThanOrEqual(10);
  for (const file of files) {
    const locale = (await import(`../../src/web/widget/locales/${file}`)).default as Record<string, string>;
    expect([file, Object.keys({ dir: "", ...locale }).sort()]).toEqual([file, Object.keys(words).sort()]);
    for (const [key, text] of Object.entries(words)) {
      if (key !== "dir") expect([file, key, places(locale[key] ?? "")]).toEqual([file, key, places(text)]);
    }
  }
});

test.each([
  [null, "identity"],
  ["gzip", "gzip"],
  ["gzip, deflate, br", "br"],
  ["br;q=0, gzip", "gzip"],
  ["br;q=0.0, gzip;q=0", "identity"],
  ["*", "br"],
  ["*;q=0", "identity"],
  ["BR", "br"],
  ["zstd", "identity"],
])("Accept-Encoding %p is answered with %s", (header, encoding) => {
  expect(chooseEncoding(header)).toBe(encoding as "br" | "gzip" | "identity");
});

test("tags are compared whole", () => {
  expect(matchesTag('"abc"', '"abc"')).toBe(true);
  expect(matchesTag('"abcd"', '"abc"')).toBe(false);
  expect(matchesTag(null, '"abc"')).toBe(false);
});
