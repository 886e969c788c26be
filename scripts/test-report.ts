/** What a JUnit report of Bun's says of each test file, and its output of errors between tests. */
import { join, relative } from "node:path";

const root = join(import.meta.dir, "..");

export interface FileReport {
  /** Relative to the project. */
  file: string;
  seconds: number;
  /** Errors between its tests included, which no report has. */
  failures: number;
  /** Its process ended before it did. */
  hasDied: boolean;
}

export function readReport(xml: string, output: string): FileReport[] {
  const errors = countErrorsBetweenTests(output);
  // Suites inside of files are indented further.
  return [...xml.matchAll(/^ {2}<testsuite ([^>]*)>(.*?)^ {2}<\/testsuite>/gms)].map(
    ([, attributes = "", cases = ""]) => {
      const read = (name: string) => new RegExp(` ${name}="([^"]*)"`).exec(` ${attributes}`)?.[1] ?? "";
      const file = read("file");
      return {
        file,
        seconds: Number(read("time")),
        failures: Number(read("failures")) + (errors.get(file) ?? 0),
        hasDied: cases.includes('<testcase name="(worker crashed)"'),
      };
    },
  );
}

/**
 * By file. A line names it before what its tests say, but what files say that run side by side may come in another
 * order: the places that an error names are surer.
 */
function countErrorsBetweenTests(output: string): Map<string, number> {
  const counts = new Map<string, number>();
  let lastNamed = "";
  const parts = /^(\S+\.test\.tsx?):$|^# Unhandled error between tests\n-+\n(.*?)\n-+$/gms;
  for (const [, named, error = ""] of output.matchAll(parts)) {
    if (named !== undefined) lastNamed = named;
    else {
      const [, path = ""] = /^ +at .*?([^\s(]+\.test\.tsx?):\d/m.exec(error) ?? [];
      const file = path === "" ? lastNamed : relative(root, path);
      counts.set(file, (counts.get(file) ?? 0) + 1);
    }
  }
  return counts;
}
