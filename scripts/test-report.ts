/** What a JUnit report of Bun's says of each test file, and its output of errors between tests. */

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

/** By file: a line names it before what its tests say, also where files run side by side. */
function countErrorsBetweenTests(output: string): Map<string, number> {
  const counts = new Map<string, number>();
  let file = "";
  for (const [, named] of output.matchAll(/^(?:(\S+\.test\.tsx?):|# Unhandled error between tests)$/gm)) {
    if (named !== undefined) file = named;
    else counts.set(file, (counts.get(file) ?? 0) + 1);
  }
  return counts;
}
