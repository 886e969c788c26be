/** One client's way through a named reply, from where it is, at its own pace. */
import type { FollowedTurn, SourcesEvent, TurnEnd, TurnReader } from "./events.ts";

/** A reader that has so much and has not passed it on gets nothing more for now. */
const maxAheadUnits = 32 * 1024;

/** What a follower reads. */
export interface FollowedReply {
  /** What follows after so many UTF-16 code units: nothing if that is all so far. */
  read(offset: number): readonly string[];
  /** How it ended; null while it runs. */
  readonly end: TurnEnd | null;
  /** Where a complete reply has it from, known when it has ended; null for nothing to tell. */
  readonly sources: SourcesEvent | null;
  /** Whether it has been without text for so long that responses begin all the same. */
  readonly isLate: boolean;
  /** The follower wants nothing more: it has everything, or its client has left. */
  remove(follower: ReplyFollower): void;
}

export class ReplyFollower implements FollowedTurn {
  readonly #reply: FollowedReply;
  #offset: number;
  #reader: TurnReader | null = null;
  #isStalled = false;

  constructor(reply: FollowedReply, offset: number) {
    this.#reply = reply;
    this.#offset = offset;
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
      const deltas = this.#reply.read(this.#offset);
      if (deltas.length === 0) {
        this.#finish(this.#reader);
        return;
      }
      for (const delta of deltas) this.#offset += delta.length;
      const accepted = this.#reader.take({ type: "text", deltas });
      if (accepted !== undefined) void this.#pause(accepted);
    }
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
    const { end, sources } = this.#reply;
    if (end === null) return;
    this.leave();
    if (sources !== null) reader.take(sources);
    reader.take(end);
  }
}
