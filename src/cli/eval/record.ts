/** `companiond eval record`: makes cases of kept conversations, on standard output or at the end of a suite's file. */
import { appendYaml, writeYaml } from "../../core/companion-files/write-yaml.ts";
import { toKeptCase } from "../../core/evals/kept-case.ts";
import { readSuiteText } from "../../core/evals/read-suites.ts";
import type { Suite } from "../../core/evals/suite.ts";
import type { JsonObject } from "../../domain/json.ts";
import { apiServerOptions, openApiServer } from "../api-server.ts";
import { type Action, CommandFailure, file, free, Misuse } from "../command.ts";
import { type FindConversation, openKeptConversations, openRemoteConversations } from "./kept-conversations.ts";
import { type OutputFile, openOutputFile } from "./output-file.ts";

export const recordAction: Action = {
  name: "record",
  about: "Make cases of kept conversations: what the visitor said, what tools answered, and the replies for reference.",
  data: "reads",
  opensAsCaller: true,
  operands: [{ value: free("conversation"), isRepeatable: true }],
  options: {
    account: { value: free("email"), about: "The account, in the data directory." },
    ...apiServerOptions,
    output: { value: file, short: "o", about: "Add the cases to this suite's file, or begin it." },
    "with-visitor": { about: "With the names, e-mail addresses and attributes of verified visitors." },
  },
  async run(input) {
    const { args, io } = input;
    const server = openApiServer(input);
    const email = args.find("account");
    if ((email === undefined) === (server === null)) throw new Misuse("give either --account or --url.");
    if (server === null) input.loadConfig();
    const output = args.find("output");
    // Before the store is opened, with which the rights of who named the file end.
    const opened = output === undefined ? null : openOutputFile(output, io.user);
    const begun = opened === null || opened.text === "" ? null : await readBegun(opened);
    const find = server === null ? await openKeptConversations(input, email ?? "") : openRemoteConversations(server);
    const { companion, cases } = await makeCases(args.operands, find, args.has("with-visitor"));
    if (opened === null) {
      const made = { suite: suiteName, companion, cases };
      return { json: made, text: writeYaml(made).trimEnd() };
    }
    opened.replace(begun === null ? writeSuite(opened.path, companion, cases) : addTo(begun, companion, cases));
    const json = { file: opened.path, companion, added: cases.length };
    return { json, text: `Added ${cases.length} ${cases.length === 1 ? "case" : "cases"} to ${opened.path}.` };
  },
};

const suiteName = "Recorded conversations";

interface Made {
  readonly companion: string;
  readonly cases: JsonObject[];
}

async function makeCases(ids: readonly string[], find: FindConversation, withVisitor: boolean): Promise<Made> {
  const cases: JsonObject[] = [];
  const slugs = new Set<string>();
  for (const id of new Set(ids.map((one) => one.toLowerCase()))) {
    const { kept, slug } = await find(id);
    if (slug === null) {
      throw new CommandFailure(`the companion of ${id} has no slug, by which suites name it: give it one first.`);
    }
    slugs.add(slug);
    const made = toKeptCase(kept, withVisitor);
    if (made === null) throw new CommandFailure(`no visitor said anything in the conversation ${id}.`);
    cases.push(made);
  }
  const [companion = "", other] = slugs;
  if (other === undefined) return { companion, cases };
  throw new CommandFailure(`a suite is of one companion: these are conversations of ${[...slugs].join(" and ")}.`);
}

interface Begun extends OutputFile {
  readonly suite: Suite;
}

/** Throws `CommandFailure` for a file that is no suite: nothing is added to what would not be read. */
async function readBegun(output: OutputFile): Promise<Begun> {
  const { suite, faults } = await readSuiteText(output.path, new TextEncoder().encode(output.text));
  if (suite !== null) return { ...output, suite };
  throw new CommandFailure(faults.map(({ file: at, line, sentence }) => `${at}:${line}: ${sentence}`).join("\n"));
}

function addTo({ path, text, suite }: Begun, companion: string, cases: readonly JsonObject[]): string {
  if (suite.companion !== companion) {
    throw new CommandFailure(`${path} is a suite of ${suite.companion}, and these are conversations of ${companion}.`);
  }
  const known = cases.find(({ name }) => suite.cases.some((one) => one.name === name));
  if (known !== undefined) throw new CommandFailure(`${path} has a case ${JSON.stringify(known["name"])} already.`);
  if (!isJson(path)) return appendYaml(text, "cases", cases);
  const whole = JSON.parse(text);
  return `${JSON.stringify({ ...whole, cases: [...whole.cases, ...cases] }, null, 2)}\n`;
}

function writeSuite(path: string, companion: string, cases: readonly JsonObject[]): string {
  const made = { suite: suiteName, companion, cases: [...cases] };
  return isJson(path) ? `${JSON.stringify(made, null, 2)}\n` : writeYaml(made);
}

function isJson(path: string): boolean {
  return /\.json$/i.test(path);
}
