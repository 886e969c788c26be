/** The text of a named reply: well-formed, within bounds, and readable from any position while it grows. */
import { GatheredText } from "../../lib/gathered-text.ts";
import type { BudgetShare, SharedBudget } from "../../lib/shared-budget.ts";
import type { TurnText } from "./turn-start.ts";

/** The longest named reply, in bytes of UTF-8. */
export const maxKeptBytes = 1024 * 1024;

/** What a reply costs besides its text. */
export const keptReplyBytes = 1024;

/** Full blocks are never copied again, however often a growing text is read. */
const blockUnits = 4096;

/** A follower that catches up gets at most this much in one read. */
const maxReadUnits = 16 * 1024;

/** Where the texts' memory comes from. */
export interface KeptMemory {
  /** What all named replies share. */
  readonly kept: SharedBudget;
  /** What all long replies share, named or not. */
  readonly long: SharedBudget;
  /** As `BudgetShare.growTo`, for one of the text's shares. */
  grow(text: KeptText, share: keyof KeptShares, bytes: number): boolean;
}

export interface KeptShares {
  readonly kept: BudgetShare;
  readonly long: BudgetShare;
}

interface Block {
  readonly start: number;
  readonly text: string;
}

export class KeptText implements TurnText {
  /** UTF-16 code units so far. */
  units = 0;
  readonly shares: KeptShares;
  readonly #memory: KeptMemory;
  #utf8Bytes = 0;
  readonly #blocks: Block[] = [];
  #tail: GatheredText = new GatheredText();
  #tailStart = 0;
  /** What was added last, as it came, for all followers who keep up. */
  #latest: readonly string[] = [];
  #latestStart = 0;

  constructor(memory: KeptMemory) {
    this.#memory = memory;
    this.shares = { kept: memory.kept.open(), long: memory.long.open() };
  }

  add(deltas: readonly string[]): string | null {
    const whole = deltas.length === 1 ? (deltas[0] ?? "") : deltas.join("");
    const wholeBytes = Buffer.byteLength(whole);
    const roomBytes = maxKeptBytes - this.#utf8Bytes;
    if (wholeBytes <= roomBytes) {
      this.#append(deltas, whole, wholeBytes);
      return null;
    }
    // Never splits a character.
    const { read, written } = new TextEncoder().encodeInto(whole, new Uint8Array(roomBytes));
    const fitting = whole.slice(0, read);
    this.#append([fitting], fitting, written);
    return fitting;
  }

  #append(deltas: readonly string[], text: string, bytes: number): void {
    if (text === "") return;
    this.#latest = deltas;
    this.#latestStart = this.units;
    this.#tail.add(text);
    this.units += text.length;
    this.#utf8Bytes += bytes;
    if (this.#tail.units < blockUnits) return;
    this.#blocks.push({ start: this.#tailStart, text: this.#tail.toString() });
    this.#tail = new GatheredText();
    this.#tailStart = this.units;
  }

  /** Takes memory for the text. The readers' own part is small: see `ReplyFollower`. */
  hold(): boolean {
    const bytes = keptReplyBytes + (this.#utf8Bytes === this.units ? this.units : 2 * this.units);
    return this.#memory.grow(this, "long", 2 * this.units) && this.#memory.grow(this, "kept", bytes);
  }

  /** What follows after so many units: nothing at the end, else as much as is at hand, never half a pair. */
  read(offset: number): readonly string[] {
    if (offset >= this.units) return [];
    if (offset === this.#latestStart && this.units - offset <= maxReadUnits) return this.#latest;
    const isInTail = offset >= this.#tailStart;
    const { start, text } =
      (isInTail ? null : this.#blocks.findLast((block) => block.start <= offset)) ?? this.#tailBlock();
    const end = offset - start + maxReadUnits;
    return [text.slice(offset - start, isLowHalf(text.charCodeAt(end)) ? end - 1 : end)];
  }

  /** Whether text can be read from here: not past the end, and not between the halves of a pair. */
  isPosition(offset: number): boolean {
    if (offset >= this.units) return offset === this.units;
    return !isLowHalf(this.read(offset)[0]?.charCodeAt(0) ?? 0);
  }

  toString(): string {
    return this.#blocks.map(({ text }) => text).join("") + this.#tail.toString();
  }

  /** Releases the memory; the text is gone. */
  release(): void {
    this.shares.kept.release();
    this.shares.long.release();
    this.#blocks.length = 0;
    this.#tail = new GatheredText();
    this.#latest = [];
    this.units = 0;
  }

  /** The turn is done with it, its followers may not be: see `release`. */
  [Symbol.dispose](): void {}

  #tailBlock(): Block {
    return { start: this.#tailStart, text: this.#tail.toString() };
  }
}

function isLowHalf(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000;
}
