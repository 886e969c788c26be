/** `companiond eval`: runs suites against companions, and makes cases of conversations. */
import { FileRefusal } from "../core/companion-files/named-files.ts";
import { readSuites, type SuiteFiles } from "../core/evals/read-suites.ts";
import { toJsonReport } from "../core/evals/report-json.ts";
import { toJunitReport } from "../core/evals/report-junit.ts";
import { type EvalReport, exitCodeOf, nothingRun } from "../core/evals/result.ts";
import { runSuites } from "../core/evals/run.ts";
import type { Suite } from "../core/evals/suite.ts";
import { type ApiServer, apiServerOptions, openApiServer } from "./api-server.ts";
import { type Action, type ActionInput, type Command, CommandFailure, directory, file, free } from "./command.ts";
import { type EvalOptions, readEvalOptions } from "./eval/options.ts";
import { openOutputFile } from "./eval/output-file.ts";
import { recordAction } from "./eval/record.ts";
import { formatReport } from "./eval/report-text.ts";
import { openTarget } from "./eval/targets.ts";
import { createProgress } from "./progress.ts";

const runAction: Action = {
  name: "",
  about: "Test companions: ask them what suites of cases say, and check the replies.",
  data: "writes",
  sparesData: ({ has }) => !has("account"),
  opensAsCaller: true,
  operands: [{ value: { ...file, shown: "<suites>" }, isRepeatable: true }],
  options: {
    file: {
      ...{ value: file, short: "f", isRepeatable: true },
      about: "Files of companions, or a folder of them, to test in this process: no server, and no data, is needed.",
    },
    replay: { value: directory, about: "Answer from the recordings in a directory: no provider is asked." },
    record: { value: directory, about: "Ask the provider, and record what it answers." },
    live: { about: "Ask the provider, and record nothing." },
    account: { value: free("email"), about: "With --live: test this account's companions, in the data directory." },
    ...apiServerOptions,
    draft: { about: "Test drafts of the account's companions." },
    version: { value: free("number"), about: "Test a version of the account's companion." },
    slug: { value: free("slug"), about: "Only the suites of this companion." },
    model: { value: free("model"), about: "Test another model than the companions'." },
    repeat: { value: free("number"), about: "Run each case so often; it passes where more than half did." },
    "max-cost": { value: free("usd"), about: "Stop once this much is spent, in US dollars." },
    junit: { value: file, about: "Write the report as JUnit XML, too." },
    demo: { about: "Ask the built-in demo instead of a provider." },
  },
  async run(input) {
    const options = readEvalOptions(input);
    const { args, io } = input;
    // From there on it is known as whom files are opened.
    if (options.isLocal) input.loadConfig();
    const server = openApiServer(input);
    const junitFile = args.find("junit");
    const junit = junitFile === undefined ? null : openOutputFile(junitFile, io.user);
    const report = await makeReport(input, options, server);
    junit?.replace(toJunitReport(report));
    return { json: toJsonReport(report), text: formatReport(report), exitCode: exitCodeOf(report) };
  },
};

export const evalCommand: Command = {
  name: "eval",
  about: "Test companions by suites of cases, and make cases of conversations.",
  actions: [runAction, recordAction],
  makeNotes: () =>
    "Exit codes of a run: 0 all cases passed, 1 a case has not passed or a file is at fault, 2 wrong use, 3 a recording is missing,\n" +
    "4 stopped by --max-cost or a budget.",
};

async function makeReport(input: ActionInput, options: EvalOptions, server: ApiServer | null): Promise<EvalReport> {
  const { suites, faults } = await readAll(input, options.slug);
  const none = { ...nothingRun, problems: [], stale: null };
  if (faults.length > 0) return { ...none, faults };
  const opened = await openTarget(input, options, { suites, server });
  if ("faults" in opened) return { ...none, faults: opened.faults };
  try {
    const strangers = await findStrangers(suites, opened.has);
    if (strangers.length > 0) return { ...none, faults: strangers };
    const progress = createProgress(
      input.io,
      suites.reduce((sum, { cases }) => sum + cases.length, 0),
    );
    const outcome = await runSuites(suites, opened.target, { ...options, noteCase: () => progress.advance(1) });
    await progress.clear();
    const isRecordingMissing = outcome.isRecordingMissing || opened.isRecordingMissing;
    return { ...outcome, isRecordingMissing, faults: [], problems: opened.problems, stale: await opened.listStale() };
  } finally {
    await opened.close();
  }
}

async function readAll({ args, io }: ActionInput, slug: string | null): Promise<SuiteFiles> {
  const asCaller = <Result>(path: string, work: () => Result) => io.user.forFile(path, work);
  try {
    const { suites, faults } = await readSuites(args.operands, asCaller);
    const wanted = suites.filter(({ companion }) => slug === null || companion === slug);
    if (wanted.length > 0 || faults.length > 0) return { suites: wanted, faults };
  } catch (error) {
    if (error instanceof FileRefusal) throw new CommandFailure(`${error.message}.`);
    throw error;
  }
  throw new CommandFailure(slug === null ? "there is no suite in these files." : `there is no suite of ${slug}.`);
}

/** Suites of companions that there are not. */
async function findStrangers(suites: readonly Suite[], has: (slug: string) => Promise<boolean>) {
  const faults = [];
  for (const { file: at, companion, companionLine: line } of suites) {
    if (await has(companion)) continue;
    faults.push({ file: at, line, sentence: `There is no companion with the slug ${companion}.` });
  }
  return faults;
}
