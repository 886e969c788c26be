/** Reads suites from files: every fault with its line, or the suites. */
import { isJsonObject, type JsonObject } from "../../domain/json.ts";
import { areAttributes, isSub, type VisitorClaims } from "../../domain/visitor.ts";
import { compilePattern, PatternFault } from "../../lib/linear-pattern.ts";
import { maxFileBytes, readDocuments } from "../companion-files/documents.ts";
import type { FileFault } from "../companion-files/marked-value.ts";
import { type AsCaller, FileRefusal, listFiles, readFileOf } from "../companion-files/named-files.ts";
import { findGuessable } from "../knowledge/words/language.ts";
import { DocumentPart, type NamedDocument } from "./document-part.ts";
import {
  type Check,
  type EvalCase,
  type EvalTurn,
  maxRepeats,
  type SaidBefore,
  type Suite,
  votesOfJudge,
} from "./suite.ts";

/** As long as a visitor's message may be. */
const maxMessageCharacters = 2000;
const maxNameCharacters = 200;
/** Of what a reply is compared with, or is said in a history. */
const maxTextCharacters = 100_000;
const maxJudgedCharacters = 2000;

export interface SuiteFiles {
  /** Those without a fault. */
  readonly suites: readonly Suite[];
  readonly faults: readonly FileFault[];
}

/** Throws `FileRefusal` for a path that cannot be read. */
export async function readSuites(paths: readonly string[], asCaller: AsCaller): Promise<SuiteFiles> {
  const suites: Suite[] = [];
  const faults: FileFault[] = [];
  const refuse = (file: string, refusal: FileRefusal) => {
    faults.push({ file, line: 1, sentence: `${refusal.message}.` });
  };
  for (const { path: file } of listFiles(paths, asCaller, refuse)) {
    try {
      const read = await readSuiteText(file, readFileOf(file, maxFileBytes, asCaller));
      faults.push(...read.faults);
      if (read.suite !== null) suites.push(read.suite);
    } catch (error) {
      if (!(error instanceof FileRefusal)) throw error;
      refuse(file, error);
    }
  }
  return { suites, faults };
}

/** The one suite of a file; null with at least one fault. */
export async function readSuiteText(
  file: string,
  bytes: Uint8Array,
): Promise<{ readonly suite: Suite | null; readonly faults: readonly FileFault[] }> {
  const { documents, faults: found } = await readDocuments(file, bytes);
  const faults = [...found];
  const [document, second] = documents;
  if (second !== undefined) {
    faults.push({ file, line: second.lineOf([]), sentence: "A file has one suite: this is a second document." });
  }
  const isOne = document !== undefined && faults.length === 0;
  return { suite: isOne ? await readSuite({ ...document, file }, faults) : null, faults };
}

/** Null with at least one fault noted. */
async function readSuite(document: NamedDocument, faults: FileFault[]): Promise<Suite | null> {
  const own: FileFault[] = [];
  const whole = DocumentPart.whole(document, own);
  const { suite, companion, cases } = whole.members(["suite", "companion", "cases"], ["suite", "companion", "cases"]);
  const parts = cases.list({ min: 1, max: 1000 });
  const read: Suite = {
    file: document.file,
    companionLine: document.lineOf(["companion"]),
    name: suite.text({ max: maxNameCharacters }),
    companion: companion.text({
      max: 63,
      pattern: /^[a-z0-9][a-z0-9_-]{0,62}$/,
      form: "the slug of a companion: up to 63 of a-z, 0-9, _ and -, the first a letter or digit",
    }),
    cases: await inTurn(parts, readCase),
  };
  noteRepeatedNames(parts, read.cases);
  faults.push(...own.sort((one, other) => one.line - other.line));
  return own.length === 0 ? read : null;
}

function noteRepeatedNames(parts: readonly DocumentPart[], read: readonly EvalCase[]): void {
  const seen = new Set<string>();
  for (const [index, part] of parts.entries()) {
    const name = read[index]?.name ?? "";
    if (name !== "" && seen.has(name)) part.refuse(`another case of this file is called ${JSON.stringify(name)}, too.`);
    seen.add(name);
  }
}

async function readCase(part: DocumentPart): Promise<EvalCase> {
  const { name, visitor, history, turns, repeat } = part.members(
    ["name", "visitor", "history", "turns", "repeat"],
    ["name", "turns"],
  );
  return {
    name: name.text({ max: maxNameCharacters }),
    visitor: visitor.isGiven ? readVisitor(visitor) : null,
    history: history.list({ max: 200 }).map(readSaid),
    turns: await inTurn(turns.list({ min: 1, max: 100 }), readTurn),
    repeat: repeat.isGiven ? repeat.integer({ min: 1, max: maxRepeats }) : null,
  };
}

function readVisitor(part: DocumentPart): VisitorClaims {
  const { sub, name, email, attributes } = part.members(["sub", "name", "email", "attributes"]);
  const claims = {
    sub: sub.isGiven ? sub.text({ max: 255 }) : "visitor",
    name: name.isGiven ? name.text({ max: 200 }) : null,
    email: email.isGiven ? email.text({ max: 320 }) : null,
    attributes: attributes.object(),
  };
  if (claims.sub !== "" && !isSub(claims.sub)) sub.refuse("no visitor can be called so.");
  if (!areAttributes(claims.attributes)) attributes.refuse("must be at most 2 KiB as JSON, and 30 levels deep.");
  return claims;
}

function readSaid(part: DocumentPart): SaidBefore {
  const { role, text } = part.members(["role", "text"], ["role", "text"]);
  return { role: role.oneOf(["user", "assistant"]), text: text.text({ max: maxTextCharacters }) };
}

async function readTurn(part: DocumentPart): Promise<EvalTurn> {
  const { user, expect, tools, reference } = part.members(["user", "expect", "tools", "reference"], ["user"]);
  if (reference.isGiven && reference.value !== "") reference.text({ max: maxTextCharacters });
  return {
    user: user.text({ max: maxMessageCharacters }),
    expect: (await inTurn(expect.list({ max: 100 }), readCheck)).filter((check) => check !== null),
    tools: tools.object(),
  };
}

const judging = ["judge", "judge_model", "votes"] as const;
const texts = ["contains", "not_contains", "equals", "regex", "cites", "not_calls"] as const;
const limits = ["max_chars", "max_first_text_ms", "max_total_ms", "max_cost_micros"] as const;
const facts = ["cites_nothing", "no_answer"] as const;
const allNames = [...texts, ...facts, "calls", "language", ...limits, ...judging] as const;

/** Null with a fault noted. */
async function readCheck(part: DocumentPart): Promise<Check | null> {
  const given = Object.keys(part.object());
  if (!isJsonObject(part.value)) return null;
  const all = part.members(allNames);
  const names = given.filter((name) => allNames.some((one) => one === name));
  const checks = names.filter((name) => name !== "judge_model" && name !== "votes");
  const [name] = checks;
  if (name === undefined || checks.length > 1 || (name !== "judge" && names.length > 1)) {
    // Unknown names have faults of their own.
    if (names.length === given.length) {
      part.refuse("must be one check; only judge may have judge_model and votes beside it.");
    }
    return null;
  }
  const text = texts.find((one) => one === name);
  if (text !== undefined) return await readTextCheck(text, all[text]);
  const limit = limits.find((one) => one === name);
  if (limit !== undefined) return { type: limit, limit: all[limit].integer({ min: 0, max: 1_000_000_000 }) };
  const fact = facts.find((one) => one === name);
  if (fact !== undefined) {
    all[fact].oneOf([true]);
    return { type: fact };
  }
  if (name === "calls") return readCalls(all.calls);
  if (name === "language") return readLanguage(all.language);
  const { judge, judge_model: model, votes } = all;
  return {
    type: "judge",
    sentence: judge.text({ max: maxJudgedCharacters }),
    model: model.isGiven ? model.text({ max: maxNameCharacters }) : null,
    votes: votes.isGiven ? votes.oneOf(votesOfJudge) : 1,
  };
}

async function readTextCheck(type: (typeof texts)[number], part: DocumentPart): Promise<Check> {
  const text = part.text({ max: type === "regex" ? maxJudgedCharacters : maxTextCharacters });
  if (type === "regex" && text !== "") {
    try {
      await compilePattern(text);
    } catch (error) {
      if (!(error instanceof PatternFault)) throw error;
      part.refuse(`${error.message}.`);
    }
  }
  return { type, text };
}

function readCalls(part: DocumentPart): Check {
  const { tool, arguments: given } = part.members(["tool", "arguments"], ["tool"]);
  const args: JsonObject = given.object();
  return { type: "calls", tool: tool.text({ max: 64 }), arguments: args };
}

function readLanguage(part: DocumentPart): Check {
  const text = part.text({
    max: 35,
    pattern: /^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*$/,
    form: "a language tag such as de",
  });
  const subtag = text.split("-")[0]?.toLowerCase() ?? "";
  const language = findGuessable(subtag);
  if (text !== "" && language === null) part.refuse(`${subtag} is not among the languages that can be recognized.`);
  return { type: "language", language: language ?? subtag };
}

/** One after the other, so that faults come in the order of the file. */
async function inTurn<Result>(
  parts: readonly DocumentPart[],
  read: (part: DocumentPart) => Promise<Result>,
): Promise<Result[]> {
  const all: Result[] = [];
  for (const part of parts) all.push(await read(part));
  return all;
}
