/** Collects text that arrives in many small pieces. */

/** How many pieces are held separately before they are joined. */
const maxLoose = 16;

/**
 * Replaces `text += piece`, which keeps every piece alive, and with it any larger string it was cut from, until the
 * whole is read. For streams that is a hundred times the text.
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
