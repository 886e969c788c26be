/** What a reply shows of the texts that its events bring: well-formed Unicode without NUL, thoughts or stop texts. */
import { ShownText } from "./shown-text.ts";

export class ReplyText {
  /** Whether anything is shown so far. */
  hasContent = false;
  /** Bytes in UTF-8 of thoughts in the text. */
  hiddenBytes = 0;
  /** Of all that came, in UTF-16 units. */
  units = 0;
  /** Null once all that follows is shown as it is. */
  #shown: ShownText | null;
  /** The first half of a surrogate pair: vendors that escape may split between the halves. */
  #highSurrogate = "";

  constructor(stops: readonly string[]) {
    this.#shown = new ShownText(stops);
  }

  get endsInHalf(): boolean {
    return this.#highSurrogate !== "";
  }

  /** Whether there was a stop text; nothing is shown after it. */
  get isStopped(): boolean {
    return this.#shown?.isStopped ?? false;
  }

  /** Adds what is shown to `deltas`. */
  push(text: string, deltas: string[]): void {
    let whole = text;
    if (this.#highSurrogate !== "" || !text.isWellFormed()) {
      whole = this.#highSurrogate + text;
      this.#highSurrogate = /[\ud800-\udbff]$/.exec(whole)?.[0] ?? "";
      whole = whole.slice(0, whole.length - this.#highSurrogate.length).toWellFormed();
    }
    // Not every store can keep a NUL.
    if (whole.includes("\0")) whole = whole.replaceAll("\0", "");
    if (whole === "") return;
    this.units += whole.length;
    if (this.#shown === null) {
      this.hasContent = true;
      deltas.push(whole);
    } else this.#filter(this.#shown, whole, deltas);
  }

  /** Nothing follows: adds what was held back. */
  release(deltas: string[]): void {
    const before = deltas.length;
    this.#shown?.release(deltas);
    if (deltas.length > before) this.hasContent = true;
  }

  #filter(shown: ShownText, text: string, deltas: string[]): void {
    const before = deltas.length;
    this.hiddenBytes += shown.take(text, deltas);
    if (deltas.length > before) this.hasContent = true;
    if (shown.isTransparent) this.#shown = null;
  }
}
