/** Holds in how many places a companion's field is named, so that a new one stays cheap. */
import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dir, "..");
/** Without the migrations, which are generated. */
const places = [
  "src/domain/companion.ts",
  "src/api/companions/fields.ts",
  "src/engines/store-shared/tables/companions.ts",
  "src/web/dashboard/companion/draft.ts",
  "src/web/dashboard/companion/sections.tsx",
];

function findFiles(name: RegExp): string[] {
  const paths = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" }).map((path) => `src/${path}`);
  const sources = paths.filter((path) => /\.tsx?$/.test(path) && !path.includes("/generated/"));
  return sources.filter((path) => name.test(readFileSync(join(root, path), "utf8"))).sort();
}

test("a companion's field is named in the places that the README lists, and where something is done with it", () => {
  const engines = ["src/engines/postgres/retention.ts", "src/engines/sqlite/retention.ts"];
  const used = ["src/contracts/store/conversations.ts", ...engines];
  expect(findFiles(/\bretention_?days\b/i)).toEqual([...places, ...used].sort());
  const readme = readFileSync(join(root, "README.md"), "utf8");
  const row = readme.split("\n").find((line) => line.startsWith("| a companion's field |")) ?? "";
  for (const place of places)
    expect(row).toContain(place.startsWith("src/engines/") ? place : (place.split("/").at(-1) ?? place));
});
