/** Suites of evals, as their files describe them: what a companion is asked, and what its replies must be like. */
import type { JsonObject, JsonValue } from "../../domain/json.ts";
import type { VisitorClaims } from "../../domain/visitor.ts";

export interface Suite {
  /** As it was named on the command line, or found in a directory that was. */
  readonly file: string;
  readonly name: string;
  /** The slug of the companion that is asked. */
  readonly companion: string;
  /** Where that stands in the file. */
  readonly companionLine: number;
  readonly cases: readonly EvalCase[];
}

export interface EvalCase {
  /** Unique in its file. */
  readonly name: string;
  /** A verified visitor; null for one who is not known. */
  readonly visitor: VisitorClaims | null;
  /** What was said before, oldest first. */
  readonly history: readonly SaidBefore[];
  /** One conversation: each turn has those before it as its history. Not empty. */
  readonly turns: readonly EvalTurn[];
  /** How often it runs; null unless the file sets it. */
  readonly repeat: number | null;
}

export interface SaidBefore {
  readonly role: "user" | "assistant";
  readonly text: string;
}

export interface EvalTurn {
  readonly user: string;
  readonly expect: readonly Check[];
  /** What tools answer in this turn, by name, as the file has it; see `tool_results` of test chats. */
  readonly tools: JsonObject;
}

/** What is expected of one reply. */
export type Check =
  | { readonly type: "contains" | "not_contains" | "equals" | "regex" | "cites" | "not_calls"; readonly text: string }
  | { readonly type: "language"; readonly language: string }
  | { readonly type: "cites_nothing" | "no_answer" }
  | { readonly type: NumberCheckType; readonly limit: number }
  | { readonly type: "calls"; readonly tool: string; readonly arguments: Readonly<Record<string, JsonValue>> }
  | JudgeCheck;

export type NumberCheckType = "max_chars" | "max_first_text_ms" | "max_total_ms" | "max_cost_micros";

export interface JudgeCheck {
  readonly type: "judge";
  /** What must be true of the reply. */
  readonly sentence: string;
  /** Null: the default model. */
  readonly model: string | null;
  /** How many times it is asked; the majority decides. */
  readonly votes: number;
}

export const votesOfJudge: readonly number[] = [1, 3, 5];

/** Of a case. */
export const maxRepeats = 100;
