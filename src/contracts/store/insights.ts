/** Figures about conversations, counted when they are asked for: nothing is written for them while visitors wait. */
import type { HandoffEventType } from "../../domain/handoff.ts";

export interface InsightsQuery {
  readonly fromMs: number;
  /** Exclusive. */
  readonly toMs: number;
  /** Null: all of the account's. */
  readonly companionIds: ReadonlySet<string> | null;
}

/** Of what happened within the time, by its own time. What was erased counts nowhere. */
export interface InsightCounts {
  /** Conversations that began, by the quarter of an hour since 1970. */
  conversations: Map<number, number>;
  /** Complete replies of companions; null: there are too many conversations to read them all. */
  replies: number | null;
  ratings: { up: number; down: number };
  /** By the visitor's own word, where nothing was written after it. */
  resolved: number;
  unresolved: number;
  /** Questions that found no answer in knowledge. */
  unanswered: number;
  events: Map<HandoffEventType, number>;
  contacts: number;
  /** How long visitors waited for a person's answer, in whole seconds. */
  answers: Map<number, number>;
  /** How long people had conversations; those that they still have count up to `nowMs`. */
  personMs: number;
}

export interface InsightsStore {
  /** Reads in parts, between which others get their turn: not of one moment. */
  count(accountId: string, query: InsightsQuery, nowMs: number): Promise<InsightCounts>;
}
