/** The events that a turn sends to its readers, in order; `http/sse.ts` turns them into bytes. */
import type { ReplyEvent } from "../../contracts/llm/provider.ts";
import type { VisitorState } from "../../domain/handoff.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { CitedSource } from "../../domain/knowledge.ts";
import type { StreamErrorCode } from "../../domain/stream-end.ts";

/** How a turn ended, sent once it is stored: complete, broken off for a reason, or stopped without one. */
export type TurnEnd =
  | { readonly type: "end"; readonly outcome: "complete" | "stopped" }
  | { readonly type: "end"; readonly outcome: "broken"; readonly code: StreamErrorCode };

/**
 * - A provider's event, passed on as it came.
 * - `waiting`: no text for a long time; the response begins all the same.
 * - A named event, for readers who asked for them.
 * - `end`: nothing follows.
 */
export type TurnEvent = ReplyEvent | { readonly type: "waiting" } | NamedEvent | TurnEnd;

/**
 * - `sources`: where a complete reply has it from; once, after its last text. Only of companions with knowledge.
 * - `tool`: a call of a tool begins or ends; it may come before any text.
 * - `confirm`: the visitor is to decide on a call; nothing but the end follows.
 * - `offer`: nothing was found, and the visitor may ask for a person; behind the text.
 * - `state`: who answers the conversation, where that is not the companion any more; before the end.
 */
export type NamedEvent = SourcesEvent | ToolEvent | ConfirmEvent | OfferEvent | StateEvent;

export interface OfferEvent {
  readonly type: "offer";
}

export interface StateEvent {
  readonly type: "state";
  readonly state: VisitorState;
}

export interface SourcesEvent {
  readonly type: "sources";
  /** By number. */
  readonly sources: readonly CitedSource[];
}

export interface ToolEvent {
  readonly type: "tool";
  /** Ours. */
  readonly callId: string;
  /** As the model called it. */
  readonly name: string;
  readonly state: "running" | "done" | "failed";
}

export interface ConfirmEvent {
  readonly type: "confirm";
  readonly callId: string;
  readonly tool: string;
  /** For people. */
  readonly title: string;
  readonly arguments: JsonObject;
}

/** A reader of a turn's events. A turn may have none, one or several. */
export interface TurnReader {
  /**
   * Returns undefined while the reader keeps up; otherwise a promise, and the provider is not read until it resolves.
   * Must not throw.
   */
  take(event: TurnEvent): Promise<void> | undefined;
  /** What it has received and not yet passed on, in UTF-16 code units. */
  readonly heldUnits: number;
  /** Called when the reader is given up: drops what it has not passed on. */
  dropHeld(): void;
}

/** A turn as its readers see it. */
export interface FollowedTurn {
  /** The reader receives every event from now on. */
  attach(reader: TurnReader): void;
  /** The reader has left and receives nothing more. Does nothing for a reader that is not attached. */
  leave(reader: TurnReader): void;
}
