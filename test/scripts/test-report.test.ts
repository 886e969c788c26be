/** Whose error it is that comes between tests. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { readReport } from "../../scripts/test-report.ts";

const root = join(import.meta.dir, "../..");

function suite(file: string): string {
  return `  <testsuite name="${file}" file="${file}" time="0.1" failures="0">\n  </testsuite>\n`;
}

/** As Bun prints it, with a test file's place at the end of the stack if there is one. */
function errorAt(place: string): string {
  return ["# Unhandled error between tests", "-------", "error: late", `      at ${place}`, "-------", ""].join("\n");
}

test("an error between tests is the file's whose place it names, wherever it is printed, and else the last one's", () => {
  const output = [
    "test/one.test.ts:\n(pass) one [0.08ms]\n",
    errorAt(`${root}/test/other.test.ts:1:62`),
    errorAt(`later (${root}/test/other.test.ts:9:1)`),
    "test/other.test.ts:\n",
    errorAt(`later (${root}/src/app.ts:7:1)\n      at <anonymous> (${root}/test/one.test.ts:1:121)`),
    errorAt("native:1:1"),
  ].join("\n");
  const reports = readReport(["test/one.test.ts", "test/other.test.ts"].map(suite).join(""), output);
  expect(reports.map(({ file, failures }) => [file, failures])).toEqual([
    ["test/one.test.ts", 1],
    ["test/other.test.ts", 3],
  ]);
});
