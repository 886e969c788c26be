/** Listing a site's pages over real HTTP on loopback: which sitemaps are read, and which of their pages are taken. */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { createFetcher, type Fetcher } from "../../../src/core/knowledge/fetching/fetcher.ts";
import { parseAllowedHost } from "../../../src/lib/allowed-hosts.ts";

let server: Bun.Server<unknown>;
let origin: string;
let site: Record<string, string | Uint8Array<ArrayBuffer> | (() => Response)>;
let asked: string[];
let fetcher: Fetcher;

beforeAll(() => {
  server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      const path = new URL(request.url).pathname;
      asked.push(path);
      const found = site[path];
      if (typeof found === "function") return found();
      return found === undefined ? new Response(null, { status: 404 }) : new Response(found);
    },
  });
  origin = `http://site.test:${server.port}`;
});
afterAll(() => server.stop(true));
beforeEach(() => {
  site = {};
  asked = [];
  const allowed = ["site.test", "www.site.test"].flatMap((text) => parseAllowedHost(text) ?? []);
  fetcher = createFetcher({ allowed, ownHosts: [], resolve: async () => ["127.0.0.1"] });
});

const list = (path: string) => fetcher.listPages(origin + path, new AbortController().signal);
const locations = (urls: string[]) => urls.map((url) => `<loc>${url}</loc>`).join("");
const urlset = (...urls: string[]) => `<urlset>${locations(urls)}</urlset>`;
const index = (...urls: string[]) => `<sitemapindex>${locations(urls)}</sitemapindex>`;
const paths = (count: number, prefix = "/p") => Array.from({ length: count }, (_, i) => `${origin}${prefix}${i}`);

test("takes pages of its own origin, each once and without fragments, that robots.txt allows", async () => {
  const port = server.port;
  site["/robots.txt"] = "User-agent: *\nDisallow: /private";
  site["/sitemap.xml"] = urlset(
    `${origin}/a#one`,
    `${origin}/a#two`,
    "https://elsewhere.test/",
    `http://site.test/`,
    `http://user@site.test:${port}/b`,
    "/relative",
    "javascript:alert(1)",
    `${origin}/private/x`,
    `${origin}/${"x".repeat(3000)}`,
    `${origin}/c?x=1&amp;y=2`,
  );
  expect(await list("/sitemap.xml")).toEqual({
    origin,
    urls: [`${origin}/a`, `${origin}/c?x=1&y=2`],
    isCut: false,
    disallowed: 1,
  });
});

test("takes 500 pages and says that there are more", async () => {
  site["/exact.xml"] = urlset(...paths(500), `${origin}/p0`);
  site["/more.xml"] = urlset(...paths(501));
  expect(await list("/exact.xml")).toMatchObject({ isCut: false });
  const more = await list("/more.xml");
  expect(more.urls).toEqual(paths(500));
  expect(more.isCut).toBe(true);
});

test("follows an index, compressed files and lists of lines, without going in circles", async () => {
  site["/index.xml"] = index(
    `${origin}/one.xml.gz`,
    `${origin}/index.xml`,
    `${origin}/two.txt`,
    `${origin}/absent.xml`,
    "https://elsewhere.test/sitemap.xml",
    `${origin}/deep.xml`,
  );
  site["/one.xml.gz"] = gzipSync(urlset(`${origin}/1`));
  site["/two.txt"] = `\uFEFF${origin}/2\n${origin}/1\n`;
  site["/deep.xml"] = index(`${origin}/deeper.xml`);
  site["/deeper.xml"] = index(`${origin}/deepest.xml`);
  site["/deepest.xml"] = urlset(`${origin}/3`);
  const pages = await list("/index.xml");
  expect(pages).toMatchObject({ urls: [`${origin}/1`, `${origin}/2`], isCut: true });
  expect(asked).toEqual([
    ...["/index.xml", "/robots.txt", "/one.xml.gz", "/two.txt", "/absent.xml", "/deep.xml", "/deeper.xml"],
  ]);
});

test("asks for 50 sitemaps at most, and reads what there is of one that is too large", async () => {
  site["/index.xml"] = index(...paths(60, "/s"));
  for (let i = 0; i < 60; i++) site[`/s${i}`] = urlset(`${origin}/p${i}`);
  const pages = await list("/index.xml");
  expect(pages).toMatchObject({ isCut: true });
  expect(asked).toHaveLength(1 + 50);
  site["/large.xml.gz"] = gzipSync(urlset(`${origin}/first`) + " ".repeat(6 * 1024 * 1024));
  expect(await list("/large.xml.gz")).toMatchObject({ urls: [`${origin}/first`], isCut: true });
});

test("fails as a whole while a part cannot be read: its pages would be taken for deleted ones", async () => {
  site["/index.xml"] = index(`${origin}/one.xml`, `${origin}/two.xml`);
  site["/one.xml"] = urlset(`${origin}/1`);
  site["/two.xml"] = () => new Response(null, { status: 503 });
  await expect(list("/index.xml")).rejects.toMatchObject({ isTransient: true });
});

test("finds the sitemaps of a site by its address, as robots.txt names them or where they usually are", async () => {
  site["/"] = "<!doctype html><title>Welcome</title>";
  site["/sitemap.xml"] = urlset(`${origin}/usual`);
  expect((await list("/")).urls).toEqual([`${origin}/usual`]);
  site["/robots.txt"] = `Sitemap: ${origin}/named.xml\nSitemap: https://elsewhere.test/s.xml`;
  site["/named.xml"] = urlset(`${origin}/named`);
  fetcher = createFetcher({
    ownHosts: [],
    allowed: [parseAllowedHost("site.test") ?? expect.unreachable()],
    resolve: async () => ["127.0.0.1"],
  });
  expect((await list("/")).urls).toEqual([`${origin}/named`]);
  site["/named.xml"] = "no sitemap";
  await expect(list("/")).rejects.toThrow("is no sitemap");
});

test("counts what the address redirects to as the site, and says where nothing is left", async () => {
  const www = origin.replace("//", "//www.");
  site["/sitemap.xml"] = () => Response.redirect(`${www}/moved.xml`, 301);
  site["/moved.xml"] = urlset(`${origin}/a`, `${www}/b`);
  expect(await list("/sitemap.xml")).toMatchObject({ origin: www, urls: [`${www}/b`] });
  site["/empty.xml"] = urlset("https://elsewhere.test/");
  await expect(list("/empty.xml")).rejects.toThrow("lists no pages of its own site");
  site["/robots.txt"] = "User-agent: *\nDisallow: /";
  site["/all.xml"] = urlset(`${origin}/a`);
  const later = createFetcher({
    ownHosts: [],
    allowed: [parseAllowedHost("site.test") ?? expect.unreachable()],
    resolve: async () => ["127.0.0.1"],
  });
  await expect(later.listPages(`${origin}/all.xml`, new AbortController().signal)).rejects.toThrow("robots.txt");
});

test("a listing has an end, whatever a site writes into robots.txt and its sitemaps", async () => {
  const stars = Array.from({ length: 9_900 }, (_, at) => `Disallow: /*a${at}*b`).join("\n");
  site["/robots.txt"] = `User-agent: *\n${stars}`;
  site["/sitemap.xml"] = urlset(`${origin}/a`);
  await expect(list("/sitemap.xml")).rejects.toThrow("more rules than can be followed");
  // Addresses that are not taken take time, too.
  const others = createFetcher({
    ownHosts: [],
    allowed: [parseAllowedHost("site.test") ?? expect.unreachable()],
    resolve: async () => ["127.0.0.1"],
  });
  site["/robots.txt"] = "User-agent: *\nDisallow: /no";
  const foreign = locations(["x:1"]).repeat(50_000);
  site["/long.xml"] = `<urlset>${locations([`${origin}/first`])}${foreign}${locations([`${origin}/last`])}</urlset>`;
  const { signal } = new AbortController();
  expect(await others.listPages(`${origin}/long.xml`, signal)).toMatchObject({
    urls: [`${origin}/first`],
    isCut: true,
  });
  const large = `<urlset>${locations([`${origin}/in-each`])}${" ".repeat(4.9 * 1024 * 1024)}</urlset>`;
  site["/index.xml"] = index(...paths(5, "/large"));
  for (let at = 0; at < 5; at++) site[`/large${at}`] = large;
  asked = [];
  expect(await others.listPages(`${origin}/index.xml`, signal)).toMatchObject({ isCut: true });
  expect(asked).toEqual(["/index.xml", "/large0", "/large1", "/large2", "/large3"]);
});
