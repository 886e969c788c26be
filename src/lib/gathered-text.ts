/** A text that arrives in many small pieces. */

/** So many pieces are held one by one at most. */
const maxLoose = 16;

/**
 * Instead of `text += piece`, which keeps every piece alive, and with it whatever larger string it was cut from, until
 * somebody reads the whole: for streams that is their hundredfold.
 */
export class GatheredText {
  readonly #loose: string[] = [];
  readonly #joined: string[] = [];
  /** UTF-16 code units so far. */
  units = 0;

  add(piece: string): void {
    this.units += piece.length;
    this.#loose.push(piece);
    if (this.#loose.length >= maxLoose) this.#join();
  }

  toString(): string {
    this.#join();
    return this.#joined.join("");
  }

  #join(): void {
    if (this.#loose.length === 0) return;
    this.#joined.push(this.#loose.join(""));
    this.#loose.length = 0;
  }
}
