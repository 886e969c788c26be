/** What an attempt of a case has not passed, in words that reports share; nothing in them moves a terminal's cursor. */
import type { Attempt, CaseResult } from "./result.ts";
import type { Check } from "./suite.ts";

export interface Finding {
  readonly status: "failed" | "error";
  /** From 1. */
  readonly turn: number;
  /** The check as its file has it; null for what is wrong besides. */
  readonly check: string | null;
  readonly detail: string;
}

/** Of the first attempt that did not pass; of a case that did, nothing. */
export function findingsOf({ status, attempts }: CaseResult): Finding[] {
  const attempt = attempts.find((one) => one.status !== "passed");
  return status === "passed" || attempt === undefined ? [] : listFindings(attempt);
}

function listFindings({ turns }: Attempt): Finding[] {
  return turns.flatMap(({ outcome, checks }, index) => {
    const all = [{ ...outcome, check: null }, ...checks.map((one) => ({ ...one, check: describeCheck(one.check) }))];
    return all.flatMap(({ status, detail, check }) =>
      status === "passed" ? [] : [{ status, turn: index + 1, check, detail: toLine(detail ?? "") }],
    );
  });
}

const maxShownCharacters = 200;

export function describeCheck(check: Check): string {
  switch (check.type) {
    case "cites_nothing":
    case "no_answer":
      return check.type;
    case "max_chars":
    case "max_first_text_ms":
    case "max_total_ms":
    case "max_cost_micros":
      return `${check.type}: ${check.limit}`;
    case "language":
      return `language: ${check.language}`;
    case "calls":
      return shorten(`calls: ${check.tool} ${JSON.stringify(check.arguments)}`);
    case "judge":
      return shorten(`judge: ${check.sentence}`);
    default:
      return shorten(`${check.type}: ${check.text}`);
  }
}

function shorten(text: string): string {
  const characters = [...toLine(text)];
  return characters.length <= maxShownCharacters
    ? characters.join("")
    : `${characters.slice(0, maxShownCharacters).join("")}…`;
}

/** `2/3` for a case that ran more than once; null for others. */
export function countPasses({ attempts, passes }: CaseResult): string | null {
  return attempts.length > 1 ? `${passes}/${attempts.length}` : null;
}

/** Text without control characters but line feeds and tabs, and without what turns the direction of what follows. */
export function toPlain(text: string): string {
  return text
    .replace(/\r\n?/g, "\n")
    .replace(/[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069]/gu, "")
    .toWellFormed();
}

/** The same in one line. */
export function toLine(text: string): string {
  return toPlain(text).replace(/\s+/g, " ").trim();
}
