/** What those who follow a turn are told, in its order; `http/sse.ts` makes bytes of it. */
import type { StreamErrorCode } from "../domain/stream-end.ts";
import type { ReplyEvent } from "../llm/provider.ts";

/** How a turn ended, told once it is kept: whole, broken off for a reason, or stopped without one. */
export type TurnEnd =
  | { readonly type: "end"; readonly outcome: "complete" | "stopped" }
  | { readonly type: "end"; readonly outcome: "broken"; readonly code: StreamErrorCode };

/**
 * - A provider's event, passed on as it came.
 * - `waiting`: nothing was said for long; the turn is taken to have begun all the same.
 * - `end`: nothing follows.
 */
export type TurnEvent = ReplyEvent | { readonly type: "waiting" } | TurnEnd;

/** One who follows a turn. A turn may have none, one or several. */
export interface TurnReader {
  /**
   * Returns undefined while it keeps up; otherwise a promise, and the provider is not read until that resolves.
   * Must not throw.
   */
  take(event: TurnEvent): Promise<void> | undefined;
  /** What it was told and has not passed on yet, in UTF-16 code units. */
  readonly heldUnits: number;
  /** Gives the reader up: drops what it has not passed on. */
  dropHeld(): void;
}

/** A turn, as its readers see it. */
export interface FollowedTurn {
  /** From now on the reader is told of every event. */
  attach(reader: TurnReader): void;
  /** The reader has gone, and is told nothing more; calls for one who is not there do nothing. */
  leave(reader: TurnReader): void;
}
