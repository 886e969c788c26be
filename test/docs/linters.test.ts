/** The API document under the linters that platforms use: neither errors nor warnings, and no rule is switched off. */
import { beforeAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { basename } from "node:path";
import { apiTools, installApiTools, runTool } from "../support/api-tools.ts";
import { apiDocument } from "../support/conformance.ts";
import { temporaryDirectory } from "../support/temporary.ts";

beforeAll(installApiTools);

/** A linter that finds nothing here looks at nothing. */
const bare = { openapi: "3.1.0", info: { title: "t", version: "1" }, paths: { "/bare": { get: { responses: {} } } } };

interface Finding {
  file: string;
  rule: string;
}

/** Lints the document and the bare one in one run; returns the rules that each breaks. */
async function lint(script: string, args: readonly string[], listFindings: (json: string) => Finding[]) {
  using directory = temporaryDirectory();
  writeFileSync(directory.file("whole.json"), JSON.stringify(apiDocument));
  writeFileSync(directory.file("bare.json"), JSON.stringify(bare));
  writeFileSync(directory.file("ruleset.json"), JSON.stringify({ extends: ["spectral:oas"] }));
  const { stdout, stderr } = await runTool(script, ["lint", "whole.json", "bare.json", ...args], {
    cwd: directory.path,
  });
  expect(stdout === "" ? stderr : "").toBe("");
  const findings = listFindings(stdout);
  const of = (name: string) => findings.filter(({ file }) => basename(file) === name).map(({ rule }) => rule);
  return { whole: of("whole.json"), bare: of("bare.json") };
}

test("Redocly finds nothing, under its strict rules", async () => {
  const args = ["--extends=recommended-strict", "--format=json"];
  const { whole, bare } = await lint(apiTools.redocly, args, (json) => {
    type Report = { problems: { ruleId: string; location: { source: { ref: string } }[] }[] };
    // One report after the other.
    const reports: Report[] = JSON.parse(`[${json.replaceAll("\n}{", "\n},{")}]`);
    return reports.flatMap(({ problems }) =>
      problems.map(({ ruleId, location }) => ({ file: location[0]?.source.ref ?? "", rule: ruleId })),
    );
  });
  expect(whole).toEqual([]);
  expect(bare).toContain("operation-operationId");
});

test("Spectral finds nothing, under its rules for OpenAPI", async () => {
  const args = ["--ruleset=ruleset.json", "--format=json", "--fail-severity=hint", "--quiet"];
  const { whole, bare } = await lint(apiTools.spectral, args, (json) => {
    const found: { code: string; source: string }[] = JSON.parse(json);
    return found.map(({ code, source }) => ({ file: source, rule: code }));
  });
  expect(whole).toEqual([]);
  expect(bare).toContain("operation-operationId");
});
