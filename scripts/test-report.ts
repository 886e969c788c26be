/** What a JUnit report of Bun's says of each test file. */

export interface FileReport {
  /** Relative to the project. */
  file: string;
  seconds: number;
  failures: number;
  /** Its process ended before it did. */
  hasDied: boolean;
}

export function readReport(xml: string): FileReport[] {
  // Suites inside of files are indented further.
  return [...xml.matchAll(/^ {2}<testsuite ([^>]*)>(.*?)^ {2}<\/testsuite>/gms)].map(
    ([, attributes = "", cases = ""]) => {
      const read = (name: string) => new RegExp(` ${name}="([^"]*)"`).exec(` ${attributes}`)?.[1] ?? "";
      return {
        file: read("file"),
        seconds: Number(read("time")),
        failures: Number(read("failures")),
        hasDied: cases.includes('<testcase name="(worker crashed)"'),
      };
    },
  );
}
