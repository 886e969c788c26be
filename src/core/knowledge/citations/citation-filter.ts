/** Lets a reply through piece by piece, without the markers that the model made up, and notes which passages it cites. */
import type { CitationMode } from "../../../domain/knowledge.ts";
import { CodeTracker } from "./code-tracker.ts";

const maxDigits = 3;

/** What is held back: the start of a marker, or a whole one before the character that decides whether it is a link. */
const beginning = /^\[\d{0,3}$/;

/**
 * A marker is `[n]`, of one to three digits, outside code and not followed by `(`. At most a marker is held back, so the
 * same text comes out however it was split.
 */
export class CitationFilter {
  /** In the order of their first markers. */
  readonly cited = new Set<number>();
  readonly #keepsTrue: boolean;
  readonly #passages: number;
  readonly #code = new CodeTracker();
  #held = "";
  /** The end of what has left, as far as it could be the start of a marker: what was removed may have stood within one. */
  #left = "";

  /** Passages are numbered from 1. */
  constructor(mode: CitationMode, passages: number) {
    this.#keepsTrue = mode !== "none";
    this.#passages = passages;
  }

  /** What may leave now; empty if it is held back. */
  pass(text: string): string {
    let out = "";
    for (const character of text) out += this.#take(character);
    return out;
  }

  /** The rest, after the last text. */
  end(): string {
    return this.#release(null);
  }

  /** What ends a fence that the reply left open. */
  get closing(): string {
    return this.#code.closing;
  }

  #take(character: string): string {
    if (this.#held === "") {
      if (character === "[" && !this.#code.isCode) {
        this.#held = character;
        return "";
      }
      return this.#leave(character);
    }
    const isWhole = this.#held.endsWith("]");
    if (!isWhole) {
      const longer = this.#held + character;
      if (beginning.test(longer) || (character === "]" && this.#held.length > 1)) {
        this.#held = longer;
        return "";
      }
    }
    return this.#release(character) + this.#take(character);
  }

  /** Decides about what is held, now that the next character is known; null: none follows. */
  #release(next: string | null): string {
    const held = this.#held;
    this.#held = "";
    if (!held.endsWith("]") || next === "(") return this.#leaveAll(held);
    const digits = held.slice(1, -1);
    const number = Number(digits);
    // Written in one form only: the reader compares it with the list of sources.
    const isTrue = digits === String(number) && number >= 1 && number <= this.#passages;
    if (isTrue) this.cited.add(number);
    if (isTrue && this.#keepsTrue) return this.#leaveAll(held);
    // What is code is decided by the model's text, not by what is left of it.
    for (const character of held) this.#code.pass(character);
    return "";
  }

  #leaveAll(held: string): string {
    for (const character of held) this.#code.pass(character);
    // As a whole it was decided about.
    this.#left = held.endsWith("]") ? "" : held;
    return held;
  }

  #leave(character: string): string {
    this.#code.pass(character);
    // Without what was removed from its middle this would read as a marker.
    if (character === "]" && this.#left.length > 1) {
      this.#left = "";
      return "";
    }
    const goesOn = this.#left !== "" && this.#left.length <= maxDigits && /^[0-9]$/.test(character);
    this.#left = goesOn ? this.#left + character : "";
    return character;
  }
}
