/** Text in pieces of equal length, for what is too long for one string: to join 20 MB takes tens of milliseconds in one go. */

const shift = 15;
const pieceUnits = 1 << shift;

/** Offsets and lengths are in UTF-16 code units, as of a string. */
export class PiecedText {
  readonly #pieces: string[] = [];
  /** What is not yet a whole piece. */
  #rest = "";

  add(text: string): void {
    // As the pieces come: none is copied.
    let from = 0;
    while (this.#rest.length + text.length - from >= pieceUnits) {
      const end = from + pieceUnits - this.#rest.length;
      this.#pieces.push(this.#rest + text.slice(from, end));
      this.#rest = "";
      from = end;
    }
    if (from < text.length) this.#rest += text.slice(from);
  }

  get length(): number {
    return this.#pieces.length * pieceUnits + this.#rest.length;
  }

  /** NaN behind the end. */
  charCodeAt(at: number): number {
    return this.#pieceAt(at >> shift).charCodeAt(at & (pieceUnits - 1));
  }

  slice(start: number, end: number): string {
    const last = Math.min(end, this.length);
    let text = "";
    for (let at = start; at < last; ) {
      const from = at & (pieceUnits - 1);
      const to = Math.min(pieceUnits, from + last - at);
      text += this.#pieceAt(at >> shift).slice(from, to);
      at += to - from;
    }
    return text;
  }

  /** -1 if the character does not stand behind `from`. */
  indexOf(character: string, from: number): number {
    for (let at = from; at < this.length; at = ((at >> shift) + 1) << shift) {
      const found = this.#pieceAt(at >> shift).indexOf(character, at & (pieceUnits - 1));
      if (found !== -1) return (at & ~(pieceUnits - 1)) + found;
    }
    return -1;
  }

  #pieceAt(index: number): string {
    return this.#pieces[index] ?? (index === this.#pieces.length ? this.#rest : "");
  }
}
