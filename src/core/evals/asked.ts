/** What is known of a reply in an eval, and who is asked for it. */
import type { JsonValue } from "../../domain/json.ts";
import type { CitedSource } from "../../domain/knowledge.ts";
import type { EvalCase, EvalTurn, SaidBefore } from "./suite.ts";

/** A tool that the model asked for. */
export interface MadeCall {
  /** As the model called it. */
  readonly tool: string;
  /** Parsed where it is a JSON object, else the text. */
  readonly arguments: JsonValue;
  /**
   * `refused`: of an unknown tool, or with arguments that its schema does not allow. `unanswered`: the case has no answer
   * for it.
   */
  readonly outcome: "done" | "failed" | "refused" | "unanswered";
}

export interface ReplyFacts {
  /** As a visitor gets it. */
  readonly text: string;
  readonly calls: readonly MadeCall[];
  /** What the reply cites, also where visitors do not see that. */
  readonly cited: readonly Pick<CitedSource, "title" | "url">[];
  /** Whether the reply is no one's answer, but that nothing was found. */
  readonly isNoAnswer: boolean;
  /** Milliseconds from the call to the first text; null without one. */
  readonly firstTextMs: number | null;
  readonly totalMs: number;
  /** Null where a model that answered has no price. */
  readonly costMicros: number | null;
}

/** One turn of a case, as it is asked. */
export interface AskedTurn {
  readonly companion: string;
  readonly visitor: EvalCase["visitor"];
  /** Oldest first. */
  readonly history: readonly SaidBefore[];
  readonly turn: Pick<EvalTurn, "user" | "tools">;
}

/** A question to a model about a reply, which is answered by an object of a JSON Schema. */
export interface JudgeQuestion {
  /** Whose reply it is. */
  readonly companion: string;
  readonly instructions: string;
  readonly message: string;
  /** Null: the default model. */
  readonly model: string | null;
}

export interface JudgeAnswer {
  readonly text: string;
  readonly costMicros: number | null;
}

/** Whom evals ask: companions in this process, or at a server. */
export interface EvalTarget {
  /** Rejects with `TurnFailed`, `RecordingMissing`, `BudgetReached`, or what is no matter of the turn. */
  ask(turn: AskedTurn): Promise<ReplyFacts>;
  /** Rejects in the same way. */
  judge(question: JudgeQuestion): Promise<JudgeAnswer>;
}

/** Why a turn, or a judge, has no reply. */
export class TurnFailed extends Error {
  override readonly name: string = "TurnFailed";

  /** `costMicros`: what it cost all the same; null if that is not known. */
  constructor(
    message: string,
    readonly costMicros: number | null = 0,
  ) {
    super(message);
  }
}

/** No recording answers a request. The message has the first difference from the nearest one. */
export class RecordingMissing extends TurnFailed {
  override readonly name = "RecordingMissing";
}

/** A budget of the account is used up: nothing more is asked. */
export class BudgetReached extends TurnFailed {
  override readonly name = "BudgetReached";
}
