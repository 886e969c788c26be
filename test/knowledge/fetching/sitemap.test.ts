/** Sitemaps as they are found, and as an attacker would write them. */
import { expect, test } from "bun:test";
import { readSitemap } from "../../../src/core/knowledge/fetching/sitemap.ts";

function read(text: string): { kind: string; entries: string[] } | null {
  const sitemap = readSitemap(text);
  return sitemap && { kind: sitemap.kind, entries: [...sitemap.entries].filter((entry) => entry !== null) };
}

const urlset = (content: string) => `<?xml version="1.0"?>\n<urlset xmlns="x">${content}</urlset>`;

test("finds the addresses of pages, and not those of their pictures", () => {
  const text = urlset(`
    <url><loc> https://site.example/a?x=1&amp;y=2 </loc><lastmod>2026-01-01</lastmod></url>
    <!-- <url><loc>https://site.example/comment</loc></url> -->
    <url><loc><![CDATA[https://site.example/b?x=1&y=2]]></loc><image:image><image:loc>https://site.example/p.png</image:loc></image:image></url>
    <url><loc>https://site.example/&#x63;&#100;&y=2</loc></url>`);
  expect(read(text)).toEqual({
    kind: "pages",
    entries: ["https://site.example/a?x=1&y=2", "https://site.example/b?x=1&y=2", "https://site.example/cd&y=2"],
  });
});

test("knows an index, prefixes and lists of lines", () => {
  const index =
    '<!DOCTYPE x><s:sitemapindex xmlns:s="x"><s:sitemap><s:loc>https://a/1</s:loc></s:sitemap></s:sitemapindex>';
  expect(read(index)).toEqual({ kind: "index", entries: ["https://a/1"] });
  expect(read("https://a/1\r\n\r\n  https://a/2\n")).toEqual({
    kind: "pages",
    entries: ["https://a/1", "https://a/2"],
  });
});

test.each(["", "<!doctype html><html><loc>https://a/1</loc></html>", "Hello", "<rss></rss>", "<!--", "{}"])(
  "%j is no sitemap",
  (text) => {
    expect(read(text)).toBeNull();
  },
);

test("expands no entity of the document's own", () => {
  const doctype = '<!DOCTYPE urlset [<!ENTITY x SYSTEM "file:///etc/passwd"><!ENTITY loc "<loc>https://a/2</loc>">]>';
  const text = `${doctype}<urlset>&loc;<url><loc>https://a/&x;</loc></url><url><loc>https://a/1</loc></url></urlset>`;
  expect(read(text)?.entries).toEqual(["https://a/1"]);
});

test.each(["<", "<a", "<loc>", "<loc", "<!--", "<![CDATA[", "<!DOCTYPE [", "<a>", "&amp;", "<loc><![CDATA["])(
  "looks at %j a million times without going back",
  (piece) => {
    // A scanner that goes back would take hours, and this test its time limit.
    expect(read(urlset(piece.repeat(1_000_000)))?.kind ?? "pages").toBe("pages");
  },
);
