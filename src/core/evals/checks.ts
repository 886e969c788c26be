/** Decides whether a reply is as a check expects it; all but what a judge decides. */
import { isJsonObject, type JsonValue } from "../../domain/json.ts";
import { compilePattern } from "../../lib/linear-pattern.ts";
import { guessLanguages } from "../knowledge/words/language.ts";
import type { MadeCall, ReplyFacts } from "./asked.ts";
import type { Check, JudgeCheck } from "./suite.ts";

export interface Verdict {
  /** `error`: it cannot be decided. */
  readonly status: "passed" | "failed" | "error";
  /** What is wrong, as a sentence; null for nothing. */
  readonly detail: string | null;
}

export const passed: Verdict = { status: "passed", detail: null };

export function failed(detail: string): Verdict {
  return { status: "failed", detail };
}

export function erred(detail: string): Verdict {
  return { status: "error", detail };
}

export async function decide(check: Exclude<Check, JudgeCheck>, reply: ReplyFacts): Promise<Verdict> {
  switch (check.type) {
    case "contains":
      return fold(reply.text).includes(fold(check.text)) ? passed : failed("The reply does not contain it.");
    case "not_contains":
      return fold(reply.text).includes(fold(check.text)) ? failed("The reply contains it.") : passed;
    case "equals":
      // The last line of a block in YAML ends with a line feed.
      return reply.text.trim() === check.text.trim() ? passed : failed("The reply is another text.");
    case "regex":
      return (await compilePattern(check.text)).test(reply.text) ? passed : failed("Nothing of the reply matches.");
    case "language":
      return decideLanguage(check.language, reply.text);
    case "cites":
      return decideCitation(check.text, reply);
    case "cites_nothing":
      return reply.cited.length === 0 ? passed : failed(`The reply cites ${listCited(reply)}.`);
    case "no_answer":
      return reply.isNoAnswer ? passed : failed("The reply is an answer.");
    case "calls":
      return decideCall(check, reply.calls);
    case "not_calls":
      return reply.calls.some(({ tool }) => tool === check.text) ? failed("The model called it.") : passed;
    case "max_chars":
      return within([...reply.text].length, check.limit, "characters");
    case "max_first_text_ms":
      if (reply.firstTextMs === null) return erred("There was no first text.");
      return within(Math.round(reply.firstTextMs), check.limit, "ms");
    case "max_total_ms":
      return within(Math.round(reply.totalMs), check.limit, "ms");
    case "max_cost_micros":
      if (reply.costMicros === null) return erred("What it costs is not known: the model has no price.");
      return within(reply.costMicros, check.limit, "micro-dollars");
  }
}

function within(value: number, limit: number, unit: string): Verdict {
  return value <= limit ? passed : failed(`It is ${value} ${unit}.`);
}

/** Case folding: a capital letter may have several small ones, and `ß` is `ss`. */
function fold(text: string): string {
  return text.normalize("NFC").toUpperCase().toLowerCase().replaceAll("ς", "σ");
}

function decideCitation(wanted: string, reply: ReplyFacts): Verdict {
  const isCited = reply.cited.some(({ title, url }) => title === wanted || (url !== null && isSameUrl(url, wanted)));
  if (isCited) return passed;
  return failed(reply.cited.length === 0 ? "The reply cites nothing." : `The reply cites ${listCited(reply)}.`);
}

function isSameUrl(one: string, other: string): boolean {
  return one === other || URL.parse(one)?.href === (URL.parse(other)?.href ?? null);
}

function listCited({ cited }: ReplyFacts): string {
  const names = new Set(cited.map(({ title, url }) => JSON.stringify(title) + (url === null ? "" : ` (${url})`)));
  return [...names].join(", ");
}

function decideCall(
  { tool, arguments: wanted }: Extract<Check, { type: "calls" }>,
  calls: readonly MadeCall[],
): Verdict {
  // What was refused has called nothing.
  const made = calls.filter((call) => call.tool === tool && call.outcome !== "refused");
  if (made.some((call) => hasMembers(call.arguments, wanted))) return passed;
  const [last] = made.slice(-1);
  if (last !== undefined) return failed(`The model called it with ${JSON.stringify(last.arguments)}.`);
  const names = [...new Set(calls.map((call) => call.tool))].join(", ");
  return failed(names === "" ? "The model called no tool." : `The model did not call it, but: ${names}.`);
}

function hasMembers(given: JsonValue, wanted: Readonly<Record<string, JsonValue>>): boolean {
  if (!isJsonObject(given)) return false;
  return Object.entries(wanted).every(
    ([name, value]) => Object.hasOwn(given, name) && Bun.deepEquals(given[name], value, true),
  );
}

function decideLanguage(wanted: string, text: string): Verdict {
  const guessed = guessLanguages(withoutCode(text));
  const [language] = guessed;
  if (language === undefined) return erred("No language can be recognized.");
  if (guessed.length > 1) return erred(`The language is undecided: ${guessed.join(" or ")}.`);
  return language === wanted ? passed : failed(`The reply is in ${language}.`);
}

/** What is in no language, or in another one than the sentences around it. */
function withoutCode(text: string): string {
  return text.replace(/```[\s\S]*?(```|$)|`[^`\n]*`|https?:\/\/\S+/g, " ");
}
