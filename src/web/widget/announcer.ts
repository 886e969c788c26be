/** Tells screen readers what happens: a reply by whole sentences, since token by token nobody can follow. */
import { h } from "./dom.ts";

/** The end of a sentence or a line, in the scripts that have another full stop, too. */
const sentenceEnd = /[.!?…؟]\S?\s|[。！？\n]/g;

export interface Announcer {
  element: HTMLElement;
  say(text: string): void;
  /** `source` tells one reply from the next. */
  follow(source: unknown, text: string, isEnded: boolean): void;
}

export function createAnnouncer(): Announcer {
  const element = h("div", { class: "unseen", role: "status" });
  let told = 0;
  let current: unknown;

  function say(text: string): void {
    if (text) element.append(h("div", {}, text));
    // Long enough for every reader to have taken it; the rest would only be found by browsing.
    if (element.childElementCount > 8) element.firstChild?.remove();
  }

  return {
    element,
    say,
    follow(source, text, isEnded) {
      if (source !== current) told = 0;
      current = source;
      const fresh = text.slice(told);
      let length = isEnded ? fresh.length : 0;
      if (!isEnded) for (const { index, 0: end } of fresh.matchAll(sentenceEnd)) length = index + end.length;
      told += length;
      // The marks of markdown are for the eye.
      const words = fresh.slice(0, length).replace(/\]\([^)]*\)|[*_`#>|~[]+/g, "");
      say(words.trim());
    },
  };
}
