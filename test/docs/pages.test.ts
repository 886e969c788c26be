/** The documentation's pages, as a browser gets them. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { guideFiles, root, sampleFiles } from "../../scripts/guide-files.ts";
import { describeRoute } from "../../src/api/docs/described-route.ts";
import { routes } from "../../src/app/routes.ts";
import { errorCodes } from "../../src/domain/errors.ts";
import { startTestServer, type TestServer } from "../support/app.ts";
import { apiDocument } from "../support/conformance.ts";
import { connectRaw } from "../support/raw-visitor.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

test.each([
  "/docs",
  "/docs/guides",
  "/docs/guides/spending",
  "/docs/companions",
  "/docs/objects-companions",
  "/docs/errors",
  "/docs/search?q=token",
])("%s runs no script and loads nothing from elsewhere", async (path) => {
  const response = await fetch(server.url + path);
  const page = await response.text();
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
  expect(page).not.toMatch(/<script|<link|<img|\bsrc=|\bon\w+=|\bstyle=/i);

  const policy = response.headers.get("content-security-policy") ?? "";
  expect(policy).toStartWith("default-src 'none'; ");
  expect(policy).not.toContain("unsafe");
  const style = /<style>([\s\S]*)<\/style>/.exec(page)?.[1] ?? "";
  expect(policy).toContain(`'sha256-${new Bun.CryptoHasher("sha256").update(style).digest("base64")}'`);
});

async function read(path: string): Promise<string> {
  const response = await fetch(server.url + path);
  expect({ path, status: response.status }).toEqual({ path, status: 200 });
  return response.text();
}

function anchorsOf(page: string): string[] {
  return [...page.matchAll(/ id="([^"]+)"/g)].map(([, anchor = ""]) => anchor);
}

test("the pages show every call once, and every link between them leads to an anchor", async () => {
  const overview = await read("/docs");
  const paths = new Set([...overview.matchAll(/href="(\/docs[^"#]*)[^"]*"/g)].map(([, path = ""]) => path));
  expect(paths.size).toBeGreaterThan(10);
  const pages = new Map<string, string>();
  for (const path of paths) pages.set(path, await read(path));
  for (const { id, path } of routes.map(describeRoute)) {
    const shown = [...pages.values()].filter((page) => page.includes(`<section id="${id}">`));
    expect(shown).toHaveLength(1);
    expect(shown[0]).toContain(`<code>${path}</code>`);
  }
  for (const [path, page] of pages) {
    const anchors = anchorsOf(page);
    expect(new Set(anchors).size).toBe(anchors.length);
    for (const [, to = "", anchor = ""] of page.matchAll(/href="([^"#]*)#([^"]+)"/g)) {
      const target = to === "" ? page : pages.get(to);
      expect({ path, to, anchor, isThere: anchorsOf(target ?? "").includes(anchor) }).toMatchObject({ isThere: true });
    }
  }
});

describe("the guides", () => {
  const hrefsOf = (page: string) => [...page.matchAll(/ href="([^"]+)"/g)].map(([, href = ""]) => href);

  test("are all there, but for what only people who work on the program need", () => {
    const pages = [...new Bun.Glob("*.md").scanSync({ cwd: join(root, "docs") })].map((file) => `docs/${file}`);
    const served = guideFiles.map(({ path }) => path).filter((path) => path.startsWith("docs/"));
    expect([...served, "docs/architecture.md", "docs/faults.md", "docs/words.md"].toSorted()).toEqual(pages.toSorted());
    const listed = Bun.spawnSync(["git", "ls-files", "deploy", "examples"], { cwd: root }).stdout.toString();
    const partsOfReleases = /^deploy\/(debian\/|install\.sh$|.*\.dockerignore$)/;
    // Made by a command, and read by no one.
    const recordings = /^examples\/[\w-]+\/recordings\//;
    const isShown = (path: string) => path !== "" && !partsOfReleases.test(path) && !recordings.test(path);
    const samples = listed.split("\n").filter(isShown);
    expect(Object.values(sampleFiles).flat().toSorted()).toEqual(samples.toSorted());
  });

  test("lead from the reference to each of them, and every link in them leads somewhere", async () => {
    expect(hrefsOf(await read("/docs"))).toContain("/docs/guides");
    const pages = new Map<string, string>();
    const links = new Set<string>();
    const waiting = ["/docs/guides"];
    for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
      if (pages.has(path)) continue;
      const page = await read(path);
      pages.set(path, page);
      for (const href of hrefsOf(page)) {
        const { origin, pathname, hash } = new URL(href, server.url + path);
        if (origin !== new URL(server.url).origin) continue;
        links.add(`${pathname}${hash}`);
        if (!pages.has(pathname) && pathname !== "/openapi.json") waiting.push(pathname);
      }
    }
    for (const { name } of guideFiles) expect(pages.has(`/docs/guides/${name}`)).toBe(true);
    const broken = [...links].filter((link) => {
      const [path = "", anchor] = link.split("#");
      return anchor !== undefined && !anchorsOf(pages.get(path) ?? "").includes(decodeURIComponent(anchor));
    });
    expect(broken).toEqual([]);
    for (const [path, page] of pages) {
      const anchors = anchorsOf(page);
      expect({ path, twice: anchors.filter((id, at) => anchors.indexOf(id) !== at) }).toEqual({ path, twice: [] });
      // What is not among them is named, without a link that leads nowhere.
      expect(hrefsOf(page).filter((href) => /\.md\b|^\.\./.test(href))).toEqual([]);
    }
    // What they link to in the repository is shown.
    expect(pages.get("/docs/guides/deploy")).toContain("proxy_pass");
    expect(pages.get("/docs/guides/examples")).toContain('<h2 id="relay">');
  });

  test("come compressed or plain, are kept for a while, and unchanged not sent again", async () => {
    const get = (headers: Record<string, string>, name = "api") =>
      fetch(`${server.url}/docs/guides/${name}`, { headers });
    const texts = new Set<string>();
    for (const encoding of ["br", "gzip", "identity"]) {
      const response = await get({ "accept-encoding": encoding });
      expect(response.headers.get("content-encoding")).toBe(encoding === "identity" ? null : encoding);
      expect(response.headers.get("vary")).toContain("Accept-Encoding");
      expect(response.headers.get("cache-control")).toContain("max-age=300");
      texts.add(await response.text());
      const etag = response.headers.get("etag") ?? "";
      expect((await get({ "accept-encoding": encoding, "if-none-match": etag })).status).toBe(304);
    }
    expect(texts.size).toBe(1);
    for (const name of ["nothing", "architecture", "..%2fsettings"]) expect((await get({}, name)).status).toBe(404);
  });
});

test("each object is on one page, with the calls that use it", async () => {
  const names = Object.keys(apiDocument.components["schemas"] ?? {});
  const index = await read("/docs/objects");
  const hrefs = new Set([...index.matchAll(/href="(\/docs\/objects[\w-]*)/g)].map(([, href = ""]) => href));
  const pages = await Promise.all([...hrefs].map(read));
  for (const name of names) {
    expect([name, pages.filter((page) => page.includes(`<section id="schema-${name}">`)).length]).toEqual([name, 1]);
  }
  expect(await read("/docs/objects-usage")).toContain('<section id="schema-UsageRow">');
  expect(index).toContain('<section id="schema-Problem">');
});

test("an old link to a place on the one page of before ends at the link to where it is now", async () => {
  const overview = await read("/docs");
  for (const { id } of routes) expect(overview).toMatch(new RegExp(`<li id="${id}"><a href="/docs/[a-z-]+#${id}">`));
  expect(overview).toContain('<li id="schema-Companion"><a href="/docs/objects-companions#schema-Companion">');
  // The page of all objects, too, was one.
  expect(await read("/docs/objects")).toContain(
    '<li id="schema-Companion"><a href="/docs/objects-companions#schema-Companion">',
  );
  expect(overview).toContain('<h2 id="objects"><a href="/docs/objects">');
});

test("no page is as long as all of them were", async () => {
  const lengths = await Promise.all(
    ["/docs", "/docs/companions", "/docs/objects-companions"].map(async (path) => (await read(path)).length),
  );
  expect(Math.max(...lengths)).toBeLessThan(120_000);
});

describe("the search", () => {
  const search = (query: string) => read(`/docs/search?q=${encodeURIComponent(query)}`);
  const links = (page: string) =>
    [...page.slice(page.indexOf("<main")).matchAll(/<li><a href="([^"]+)"/g)].map(([, href]) => href);

  test("finds calls, fields, objects and errors by all their words, the title first", async () => {
    expect(links(await search("rate_limited"))[0]).toBe("/docs/errors#rate_limited");
    expect(links(await search("Revoke TOKEN"))[0]).toBe("/docs/companions#revokeEmbedToken");
    expect(links(await search("theme_color"))).toContain("/docs/companions#createCompanion");
    expect(links(await search("/api/usage/failures"))).toContain("/docs/usage#getFailedReplies");
    expect(links(await search("companion"))[0]).toMatch(/^\/docs\//);
  });

  test("says so where there is nothing, and where nothing was asked", async () => {
    const page = await search("hovercraft eels");
    expect(page).toContain("Nothing matches all the words of <strong>hovercraft eels</strong>.");
    expect(links(page)).toEqual([]);
    expect(await read("/docs/search")).toContain("Type what you are looking for");
    expect(await search("   ")).toContain("Type what you are looking for");
  });

  test("shows what was asked as text alone, and no more than a line of it", async () => {
    const page = await search('"><script>alert(1)</script>');
    expect(page).not.toContain("<script");
    expect(page).toContain("&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;");
    expect((await search("x".repeat(5_000))).length).toBeLessThan((await search("x")).length + 2_000);
  });
});

test("a page that is not there is 404", async () => {
  const response = await fetch(`${server.url}/docs/nothing`);
  expect(response.status).toBe(404);
  expect(await response.json()).toMatchObject({ code: "not_found" });
});

test("/docs/errors explains every code under the anchor that problems link to", async () => {
  const page = await (await fetch(`${server.url}/docs/errors`)).text();
  const sections = [...page.matchAll(/<section id="(\w+)">/g)].map(([, code = ""]) => code);
  expect(sections.toSorted()).toEqual(Object.keys(errorCodes).toSorted());
});

test("a host that no server has is refused, and not shown", async () => {
  // By a plain socket: the answer is the program's, not the page's, and so not in the page's description.
  const visitor = await connectRaw(server.url);
  visitor.write('GET /docs HTTP/1.1\r\nHost: "><script>alert(1)</script>\r\nConnection: close\r\n\r\n');
  const received = await visitor.closed;
  expect(received).toStartWith("HTTP/1.1 400");
  expect(received).not.toContain("<script");
});
