/**
 * `bun run faults`: makes trouble for the compiled executable, prints a table of the results and writes it to
 * `docs/faults.md`.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { runExecutable } from "../test/support/executable.ts";
import { clusterRows } from "./cluster.ts";
import { peopleBrowsersRow } from "./people-browsers.ts";
import { type Facts, mergeReport, renderTable } from "./report.ts";
import { createContext, listFailures, type Outcome } from "./row.ts";
import { rows as ownRows } from "./rows.ts";

const reportFile = join(import.meta.dir, "../docs/faults.md");
/** Real browsers are run by hand alone. */
const rows = [...ownRows, peopleBrowsersRow, ...clusterRows];
const usage = `bun run faults [--cluster] [--short] [--only NAME]… [--seed N] [--minutes N]

  --cluster    the rows of three instances on PostgreSQL and Redis, instead of those of one on its own
  --short      a minute of mixed load instead of an hour; fewer rounds for a cluster
  --only NAME  this row only, more than once for several: ${rows.map((row) => row.name).join(", ")}
  --seed N     what is random is the same for the same seed
  --minutes N  how long the mixed load lasts`;

const { values } = parseArgs({
  options: {
    cluster: { type: "boolean", default: false },
    short: { type: "boolean", default: false },
    only: { type: "string", multiple: true },
    seed: { type: "string", default: String(Math.floor(Math.random() * 1e9)) },
    minutes: { type: "string" },
    help: { type: "boolean", default: false },
  },
});

const only = values.only ?? (values.cluster ? clusterRows : ownRows).map((row) => row.name);
const seed = Number(values.seed);
const minutes = Number(values.minutes ?? (values.short ? 1 : 60));
const unknown = only.filter((name) => !rows.some((row) => row.name === name));
if (values.help || unknown.length > 0 || !Number.isSafeInteger(seed) || !(minutes > 0)) {
  console.log(usage);
  process.exit(values.help ? 0 : 2);
}

const { stdout } = await runExecutable(["version", "--json"]);
const facts: Facts = {
  seed,
  form: values.short ? "short" : "long",
  day: new Date().toISOString().slice(0, 10),
  build: JSON.parse(stdout),
};

let failed = 0;
for (const row of rows.filter(({ name }) => only.includes(name))) {
  const say = (sentence: string) => console.error(`${row.name}: ${sentence}`);
  say(row.title);
  const outcome = await row.run(createContext(facts.form, seed, { minutes, say })).catch(toOutcome);
  const failures = listFailures(outcome);
  for (const failure of failures) say(`FAILED: ${failure}`);
  if (failures.length > 0) failed++;
  // Written after each row, so that a late failure does not lose hours of work.
  const before = existsSync(reportFile) ? readFileSync(reportFile, "utf8") : "";
  writeFileSync(reportFile, mergeReport(before, rows, row, outcome, facts));
}
console.log(renderTable(readFileSync(reportFile, "utf8")));
process.exit(failed === 0 ? 0 : 1);

/** A row that could not run to its end has failed. */
function toOutcome(error: unknown): Outcome {
  const example = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return {
    done: [],
    checks: [{ what: "ends before the end of the row", counted: 1, expected: "0", isOk: false }],
    examples: [example],
    skipped: null,
  };
}
