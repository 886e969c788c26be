/**
 * Limits the memory of running replies. Each is held whole until it is stored, and a stalled reader is only noticed
 * when the sockets in between are full. Each reply has a small allowance of its own; long ones share the rest.
 */
import { fullGC } from "bun:jsc";
import { GatheredText } from "../../lib/gathered-text.ts";
import { type BudgetShare, SharedBudget } from "../../lib/shared-budget.ts";
import type { TurnEvent, TurnReader } from "./events.ts";
import type { TurnText } from "./turn-start.ts";

/** For each reply, regardless of the others: its text so far, and what its readers' sockets have not accepted. */
export const ownBytes = 64 * 1024;

/** For all replies together, beyond that. A reply that needs more than is left is ended. */
export const sharedBytes = 8 * 1024 * 1024;

/** So much of long replies, once they have ended, is garbage that the collector would leave until much more has come. */
const collectEveryBytes = sharedBytes / 4;

/** The longest reply, in UTF-16 code units: many times what models write. An endless one is cut off here. */
export const maxReplyUnits = 1024 * 1024;

/** What all replies that run here share. */
export function createReplyMemory(): SharedBudget {
  let uncollectedBytes = 0;
  return new SharedBudget({
    ...{ total: sharedBytes, free: ownBytes, step: 64 * 1024 },
    noteReleased(bytes) {
      uncollectedBytes += bytes;
      if (uncollectedBytes < collectEveryBytes) return;
      uncollectedBytes = 0;
      // Once nothing refers to them.
      setImmediate(fullGC);
    },
  });
}

/** The text of one reply so far. */
export class ReplyText implements TurnText {
  readonly #text = new GatheredText();
  readonly #share: BudgetShare;

  constructor(memory: SharedBudget) {
    this.#share = memory.open();
  }

  add(deltas: readonly string[]): string | null {
    const whole = deltas.length === 1 ? (deltas[0] ?? "") : deltas.join("");
    const roomUnits = maxReplyUnits - this.#text.units;
    const fitting = whole.length <= roomUnits ? whole : whole.slice(0, roomUnits).toWellFormed();
    this.#text.add(fitting);
    return whole.length <= roomUnits ? null : fitting;
  }

  hold(readersUnits: number): boolean {
    // Two bytes a character at most.
    return this.#share.growTo(2 * (this.#text.units + readersUnits));
  }

  /** A break may have split a surrogate pair: stored text must be well-formed. */
  toString(): string {
    return this.#text.toString().toWellFormed();
  }

  /** Gives the memory back. */
  [Symbol.dispose](): void {
    this.#share.release();
  }
}

/** Who reads a turn's reply. */
export class TurnReaders {
  /** Replaced with every change, because a reader may leave while an event is sent to all. */
  #all: readonly TurnReader[] = [];

  get isEmpty(): boolean {
    return this.#all.length === 0;
  }

  get heldUnits(): number {
    return this.#all.reduce((units, { heldUnits }) => units + heldUnits, 0);
  }

  add(reader: TurnReader): void {
    this.#all = [...this.#all, reader];
  }

  /** False if it is none of them. */
  remove(reader: TurnReader): boolean {
    if (!this.#all.includes(reader)) return false;
    this.#all = this.#all.filter((other) => other !== reader);
    return true;
  }

  /** Returns a promise if a reader does not keep up. */
  take(event: TurnEvent): Promise<unknown> | undefined {
    let stalled: Promise<unknown> | undefined;
    for (const reader of this.#all) {
      const behind = reader.take(event);
      if (behind !== undefined) stalled = stalled === undefined ? behind : Promise.all([stalled, behind]);
    }
    return stalled;
  }

  dropHeld(): void {
    for (const reader of this.#all) reader.dropHeld();
  }
}
