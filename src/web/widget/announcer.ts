/** Tells screen readers what happens: a reply by whole sentences, since token by token nobody can follow. */
import { h } from "./dom.ts";

/** The end of a sentence or a line, in the scripts that have another full stop, too. */
const sentenceEnd = /[.!?…。！？؟।]["'”’»)\]]*\s|[。！？]|\n/g;

export class Announcer {
  readonly element = h("div", { class: "unseen", role: "status" });
  #told = 0;
  #source: unknown = null;

  say(text: string): void {
    if (!text) return;
    this.element.append(h("div", {}, text));
    // Long enough for every reader to have taken it; the rest would only be found by browsing.
    while (this.element.childElementCount > 8) this.element.firstChild?.remove();
  }

  /** `source` tells one reply from the next. */
  follow(source: unknown, text: string, isEnded: boolean): void {
    if (source !== this.#source) this.#told = 0;
    this.#source = source;
    const fresh = text.slice(this.#told);
    let length = isEnded ? fresh.length : 0;
    if (!isEnded) for (const match of fresh.matchAll(sentenceEnd)) length = match.index + match[0].length;
    this.#told += length;
    // The marks of markdown are for the eye.
    this.say(
      fresh
        .slice(0, length)
        .replace(/\]\([^)]*\)|[*_`#>|~[]+/g, "")
        .trim(),
    );
  }
}
