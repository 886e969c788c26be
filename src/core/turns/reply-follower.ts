/** One client's path through a named reply, from where it is, at its own pace. */
import type { FollowedTurn, NamedEvent, TurnEnd, TurnEvent, TurnReader } from "./events.ts";

/** A reader that has so much and has not passed it on gets nothing more for now. */
const maxAheadUnits = 32 * 1024;

/** A named event, behind so many UTF-16 code units of the reply. */
export interface EventAt {
  readonly offset: number;
  readonly event: NamedEvent;
}

/** What a follower reads. */
export interface FollowedReply {
  /** What follows after so many UTF-16 code units: nothing if that is all so far. */
  read(offset: number): readonly string[];
  /** How it ended; null while it runs. */
  readonly end: TurnEnd | null;
  /** So far, in order. */
  readonly events: readonly EventAt[];
  /** Whether it has been without text for so long that responses begin all the same. */
  readonly isLate: boolean;
  /** The follower wants nothing more: it has everything, or its client has left. */
  remove(follower: ReplyFollower): void;
}

export class ReplyFollower implements FollowedTurn {
  readonly #reply: FollowedReply;
  #offset: number;
  /** Of the next event; those before where it begins are known to its client, or of no use any more. */
  #eventIndex: number;
  #reader: TurnReader | null = null;
  #isStalled = false;

  constructor(reply: FollowedReply, offset: number) {
    this.#reply = reply;
    this.#offset = offset;
    const first = reply.events.findIndex((event) => event.offset >= offset);
    this.#eventIndex = first === -1 ? reply.events.length : first;
  }

  attach(reader: TurnReader): void {
    this.#reader = reader;
    if (this.#reply.isLate) this.wait();
    this.advance();
  }

  leave(): void {
    if (this.#reader === null) return;
    this.#reader = null;
    this.#reply.remove(this);
  }

  /** There is more to read, or the reader accepts more. */
  advance(): void {
    while (this.#reader !== null && !this.#isStalled && this.#reader.heldUnits < maxAheadUnits) {
      const next = this.#reply.events[this.#eventIndex];
      if (next !== undefined && next.offset <= this.#offset) {
        this.#eventIndex++;
        this.#pass(this.#reader, next.event);
        continue;
      }
      const deltas = upTo(this.#reply.read(this.#offset), next === undefined ? null : next.offset - this.#offset);
      if (deltas.length === 0) {
        this.#finish(this.#reader);
        return;
      }
      for (const delta of deltas) this.#offset += delta.length;
      this.#pass(this.#reader, { type: "text", deltas });
    }
  }

  #pass(reader: TurnReader, event: TurnEvent): void {
    const accepted = reader.take(event);
    if (accepted !== undefined) void this.#pause(accepted);
  }

  /** There is no text yet. */
  wait(): void {
    if (this.#offset === 0 && this.#reply.read(0).length === 0) this.#reader?.take({ type: "waiting" });
  }

  /** The rest is gone from here: ends the reader without a word, so that its client comes back for it. */
  cut(): void {
    const reader = this.#reader;
    this.leave();
    reader?.take({ type: "end", outcome: "stopped" });
  }

  async #pause(accepted: Promise<void>): Promise<void> {
    this.#isStalled = true;
    await accepted;
    this.#isStalled = false;
    this.advance();
  }

  #finish(reader: TurnReader): void {
    const { end } = this.#reply;
    if (end === null) return;
    this.leave();
    reader.take(end);
  }
}

/** The first so many units of what was read; all of it for null. */
function upTo(deltas: readonly string[], units: number | null): readonly string[] {
  if (units === null) return deltas;
  const kept: string[] = [];
  let left = units;
  for (const delta of deltas) {
    if (left <= 0) break;
    kept.push(delta.slice(0, left));
    left -= delta.length;
  }
  return kept;
}
