/** What the dashboard says of sources, and of files before they are sent. */
import { expect, test } from "bun:test";
import {
  describeChanges,
  describeState,
  findFileProblem,
  findRemedy,
  looksLikeSitemap,
} from "../../src/web/dashboard/knowledge/source-words.ts";
import { toAddress } from "../../src/web/dashboard/lib/address.ts";
import type { Source } from "../../src/web/dashboard/lib/types.ts";

const ready = {
  id: "a",
  title: "Prices",
  type: "file",
  status: "ready",
  error: null,
  progress: null,
  chunks: 2,
} as const;
const sourceOf = (fields: Partial<Source>) => ({ ...ready, ...fields });

test("files that would be refused are refused before they are sent, with what to do", () => {
  for (const name of ["a.pdf", "a.DOCX", "two.dots.md", "README", ".notes"]) {
    expect([name, findFileProblem({ name, size: 20 * 1024 * 1024 })]).toEqual([name, null]);
  }
  expect(findFileProblem({ name: "a.doc", size: 1 })).toContain("Save it as one of these: PDF, Word (.docx)");
  expect(findFileProblem({ name: "a.pdf", size: 20 * 1024 * 1024 + 1 })).toContain("Larger than 20 MiB");
  expect(findFileProblem({ name: "a.pdf", size: 0 })).toBe("This file is empty.");
});

test("a source's state tells how far it is, and its error what to do", () => {
  const labels = [
    sourceOf({ status: "queued" }),
    sourceOf({ status: "indexing" }),
    sourceOf({ status: "indexing", progress: { done: 12, total: 214 } }),
    sourceOf({ status: "indexing", progress: { done: 1, total: null } }),
    sourceOf({ error: "The first 500 were read." }),
    sourceOf({ status: "failed", error: "It is empty." }),
  ].map((source) => describeState(source).label);
  expect(labels).toEqual([
    ...["Queued", "Indexing", "Indexing 12 of 214 pages", "Indexing, 1 page so far"],
    ...["Ready with warnings", "Failed"],
  ]);
  expect(findRemedy(sourceOf({ status: "failed", error: "It is empty." }))).toBe(
    "The last version stays live. Replace the file or delete it.",
  );
  const scan = "This PDF has no text: its pages are pictures. Add the text itself.";
  expect(findRemedy(sourceOf({ status: "failed", error: scan, chunks: 0 }))).toBe("");
  expect(findRemedy(sourceOf({ status: "queued", error: "No host." }))).toBe("Retrying automatically.");
  expect(findRemedy(ready)).toBe("");
});

test("readings that end are told once, one by its name and several by their number", () => {
  const other = { id: "b", title: "Hours" };
  const before = [sourceOf({ status: "queued" }), sourceOf({ ...other, status: "indexing" })];
  expect(describeChanges(before, before)).toBe("");
  expect(describeChanges(before, [ready, sourceOf({ ...other, status: "indexing" })])).toBe(
    "Prices is ready: 2 passages.",
  );
  expect(describeChanges(before, [ready, sourceOf({ ...other, status: "failed", error: "It is empty." })])).toBe(
    "1 ready, 1 failed",
  );
  expect(describeChanges([ready], [ready])).toBe("");
});

test("an address is completed, and a sitemap known by its look", () => {
  expect(toAddress(" shop.example/a ")).toBe("https://shop.example/a");
  expect(toAddress("http://shop.example")).toBe("http://shop.example");
  expect(toAddress(" ")).toBe("");
  for (const address of ["https://a.example/sitemap_index.xml", "a.example/feed.xml?x=1", "a.example/Sitemap"]) {
    expect([address, looksLikeSitemap(address)]).toEqual([address, true]);
  }
  expect(looksLikeSitemap("https://a.example/xml-tools.html")).toBe(false);
});
