/** What came of evals. */
import type { FileFault } from "../companion-files/marked-value.ts";
import type { ReplyFacts } from "./asked.ts";
import type { Verdict } from "./checks.ts";
import type { Check, EvalCase, Suite } from "./suite.ts";

export interface CheckResult extends Verdict {
  readonly check: Check;
}

export interface TurnResult {
  readonly user: string;
  /** Null where there was none. */
  readonly reply: ReplyFacts | null;
  readonly checks: readonly CheckResult[];
  /** What is wrong besides what was expected; passed where nothing is. */
  readonly outcome: Verdict;
}

/** One run of a case. */
export interface Attempt {
  readonly status: Verdict["status"];
  /** As far as it came. */
  readonly turns: readonly TurnResult[];
}

export interface CaseResult {
  readonly case: EvalCase;
  /** Passed if more than half of its attempts did. `skipped`: stopped before all of them were made. */
  readonly status: Verdict["status"] | "skipped";
  readonly passes: number;
  readonly attempts: readonly Attempt[];
}

export interface SuiteResult {
  readonly suite: Suite;
  readonly cases: readonly CaseResult[];
}

export interface EvalOutcome {
  readonly suites: readonly SuiteResult[];
  /** Why not all of it ran; null if it did. */
  readonly stopped: { readonly by: "max_cost" | "budget"; readonly detail: string } | null;
  /** Whether something was asked that no recording answers. */
  readonly isRecordingMissing: boolean;
  /** Replies and judges together; null where one has no price. */
  readonly costMicros: number | null;
}

/** All that a report shows. */
export interface EvalReport extends EvalOutcome {
  /** Of the files; where there are any, nothing was asked. */
  readonly faults: readonly FileFault[];
  /** What has no case, such as a page of a source that no recording has. */
  readonly problems: readonly string[];
  /** Recordings that nothing asked for; null unless it was recorded. */
  readonly stale: readonly string[] | null;
}

export const nothingRun: EvalOutcome = { suites: [], stopped: null, isRecordingMissing: false, costMicros: 0 };

/** 4: stopped; 3: a recording is missing; 1: a case has not passed, or a file is at fault; 0. */
export function exitCodeOf({ suites, stopped, isRecordingMissing, faults, problems }: EvalReport): number {
  if (stopped !== null) return 4;
  if (isRecordingMissing) return 3;
  const isGood = suites.every(({ cases }) => cases.every(({ status }) => status === "passed"));
  return isGood && faults.length === 0 && problems.length === 0 ? 0 : 1;
}

/** Of all suites. */
export function countCases({ suites }: Pick<EvalOutcome, "suites">) {
  const all = suites.flatMap(({ cases }) => cases);
  const count = (status: CaseResult["status"]) => all.filter((one) => one.status === status).length;
  return {
    cases: all.length,
    passed: count("passed"),
    failed: count("failed"),
    errors: count("error"),
    skipped: count("skipped"),
  };
}

export function sumCost(one: number | null, other: number | null): number | null {
  return one === null || other === null ? null : one + other;
}

/** How long the replies of a case took together, in milliseconds. */
export function durationOf({ attempts }: CaseResult): number {
  const turns = attempts.flatMap((attempt) => attempt.turns);
  return turns.reduce((sum, { reply }) => sum + Math.round(reply?.totalMs ?? 0), 0);
}
