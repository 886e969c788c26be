/**
 * Limits the memory of the replies under way. Each is held whole until it is stored, and a stalled reader shows only
 * when the sockets in between are full. Each reply has a little of its own; long ones share the rest.
 */
import { GatheredText } from "../lib/gathered-text.ts";

/** For each reply, whatever the others do: its text so far, and what of it the readers' sockets have not taken. */
export const ownBytes = 64 * 1024;

/** For all replies together, beyond that. A reply that finds nothing left is ended. */
export const sharedBytes = 32 * 1024 * 1024;

/** The longest text of a reply, in UTF-16 code units: many times what models write. An endless one is cut off here. */
export const maxReplyUnits = 1024 * 1024;

/** Taken by so much at a time. */
const stepBytes = 64 * 1024;

export class ReplyMemory {
  takenBytes = 0;

  /** What to add to the `shareBytes` that a reply has taken already, so that it may hold `heldBytes`; null: no room. */
  take(shareBytes: number, heldBytes: number): number | null {
    const missing = heldBytes - ownBytes - shareBytes;
    if (missing <= 0) return 0;
    const bytes = Math.ceil(missing / stepBytes) * stepBytes;
    if (this.takenBytes + bytes > sharedBytes) return null;
    this.takenBytes += bytes;
    return bytes;
  }

  giveBack(shareBytes: number): void {
    this.takenBytes -= shareBytes;
  }
}

/** The process's own. */
export const replyMemory = new ReplyMemory();

/** The text of one reply so far. */
export class ReplyText implements Disposable {
  readonly #text = new GatheredText();
  /** Of the memory that long replies share. */
  #shareBytes = 0;

  /** Null where all of it fits in; otherwise the part that did, and nothing more does. */
  add(deltas: readonly string[]): string | null {
    const whole = deltas.length === 1 ? (deltas[0] ?? "") : deltas.join("");
    const roomUnits = maxReplyUnits - this.#text.units;
    const fitting = whole.length <= roomUnits ? whole : whole.slice(0, roomUnits).toWellFormed();
    this.#text.add(fitting);
    return whole.length <= roomUnits ? null : fitting;
  }

  /** Takes memory for the text and for what its readers hold of it, in UTF-16 code units; false where there is none. */
  hold(readersUnits: number): boolean {
    // Two bytes a character at most.
    const bytes = replyMemory.take(this.#shareBytes, 2 * (this.#text.units + readersUnits));
    if (bytes === null) return false;
    this.#shareBytes += bytes;
    return true;
  }

  /** A pair of surrogates may have been cut by a break: what is kept must be well-formed. */
  toString(): string {
    return this.#text.toString().toWellFormed();
  }

  /** Gives the memory back. */
  [Symbol.dispose](): void {
    replyMemory.giveBack(this.#shareBytes);
  }
}
