/** The report of evals as JSON: the same to the byte for the same outcome. */
import { isJsonObject, type JsonObject, type JsonValue } from "../../domain/json.ts";
import type { ReplyFacts } from "./asked.ts";
import { describeCheck, toPlain } from "./findings.ts";
import {
  type Attempt,
  type CaseResult,
  countCases,
  type EvalReport,
  type SuiteResult,
  type TurnResult,
} from "./result.ts";

export function toJsonReport(report: EvalReport): JsonValue {
  const { suites, stopped, isRecordingMissing, costMicros, faults, problems, stale } = report;
  return plain({
    ...countCases(report),
    cost_micros: costMicros,
    stopped: stopped && { by: stopped.by, detail: stopped.detail },
    recording_missing: isRecordingMissing,
    faults: faults.map(({ file, line, sentence }) => ({ file, line, detail: sentence })),
    problems: [...problems],
    ...(stale === null ? {} : { unused_recordings: [...stale] }),
    suites: suites.map(toSuite),
  });
}

function toSuite({ suite: { file, name, companion }, cases }: SuiteResult): JsonObject {
  return { file, suite: name, companion, cases: cases.map(toCase) };
}

function toCase({ case: { name }, status, passes, attempts }: CaseResult): JsonObject {
  return { name, status, passes, runs: attempts.length, attempts: attempts.map(toAttempt) };
}

function toAttempt({ status, turns }: Attempt): JsonObject {
  return { status, turns: turns.map(toTurn) };
}

function toTurn({ user, reply, checks, outcome }: TurnResult): JsonObject {
  return {
    user,
    status: outcome.status,
    detail: outcome.detail,
    ...(reply === null ? { reply: null } : toReply(reply)),
    checks: checks.map(({ check, status, detail }) => ({ check: describeCheck(check), status, detail })),
  };
}

function toReply(reply: ReplyFacts): JsonObject {
  const { text, calls, cited, isNoAnswer, firstTextMs, totalMs, costMicros } = reply;
  return {
    reply: text,
    tool_calls: calls.map(({ tool, arguments: given, outcome }) => ({ tool, arguments: given, state: outcome })),
    cited: cited.map(({ title, url }) => ({ title, url })),
    no_answer: isNoAnswer,
    first_text_ms: firstTextMs === null ? null : Math.round(firstTextMs),
    total_ms: Math.round(totalMs),
    cost_micros: costMicros,
  };
}

/** Without control characters, wherever they are. */
function plain(value: JsonValue): JsonValue {
  if (typeof value === "string") return toPlain(value);
  if (Array.isArray(value)) return value.map(plain);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [toPlain(name), plain(member)]));
}
