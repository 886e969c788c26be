/** The documentation names only files that exist, and its links lead somewhere. */
import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

const root = join(import.meta.dir, "..", "..");
const pages = ["*.md", "{docs,bench,faults,deploy,examples}/**/*.md"].flatMap((pattern) => [
  ...new Bun.Glob(pattern).scanSync({ cwd: root }),
]);

/** What a page may leave out before a path: `http/route.ts` is a file of the server. */
const startingPoints = ["", "src", "src/web", "src/web/dashboard"];
/** Packages and media types look like paths; builds and runs make these folders. */
const elsewhere = /^(@|application\/|dist\/|backups\/|certificates\/($|[\w-]+\.)|\/|~|[\w-]+\.[a-z]+\/)/;

function exists(page: string, path: string): boolean {
  return [dirname(page), ...startingPoints].some((from) => existsSync(join(root, from, path)));
}

/** Files and folders in code spans and shell lines: with a slash, and a folder's slash or an ending at the end. */
function pathsIn(text: string): string[] {
  const words = [...text.matchAll(/`([^`\n]+)`/g), ...text.matchAll(/^(?:bun|bash|sh|node) .*$/gm)].flatMap(
    ([line, code]) => (code ?? line).split(/[\s,()"']+/),
  );
  return words.filter((word) => /^[\w.@-]+(\/[\w.@-]+)*\/([\w-]+\.[\w.]+)?$/.test(word) && !elsewhere.test(word));
}

/** Anchors of a page's headings, as forges make them. */
function anchorsOf(text: string): string[] {
  const headings = [...text.replace(/^```.*?^```/gms, "").matchAll(/^#+ (.+)$/gm)];
  return headings.map(([, title = ""]) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

test("every file and folder that the documentation names is there", () => {
  const named = pages.flatMap((page) =>
    pathsIn(readFileSync(join(root, page), "utf8")).map((path) => ({ page, path })),
  );
  expect(named.length).toBeGreaterThan(100);
  expect(named.filter(({ page, path }) => !exists(page, path))).toEqual([]);
});

test("every link between pages leads to a file, and to a heading of it", () => {
  const links = pages.flatMap((page) => {
    const text = readFileSync(join(root, page), "utf8");
    return [...text.matchAll(/\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]+))?\)/g)].map(([, path = "", anchor]) => ({
      page,
      path,
      anchor,
    }));
  });
  expect(links.length).toBeGreaterThan(50);
  const broken = links.filter(({ page, path, anchor }) => {
    const file = path === "" ? join(root, page) : join(root, dirname(page), path);
    if (!existsSync(file)) return true;
    return anchor !== undefined && !anchorsOf(readFileSync(file, "utf8")).includes(anchor);
  });
  expect(broken).toEqual([]);
});
