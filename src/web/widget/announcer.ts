/** Tells screen readers what happens: a reply by whole sentences, since token by token nobody can follow. */
import { h } from "./dom.ts";
import type { Words } from "./markdown-leaves.ts";
import { createReader } from "./markdown-speech.ts";

export interface Announcer {
  element: HTMLElement;
  say(text: string): void;
  /** `source` distinguishes one reply from the next. */
  follow(source: unknown, text: string, isEnded: boolean): void;
}

export function createAnnouncer(words: Words): Announcer {
  const element = h("div", { class: "unseen", role: "status" });
  let reader = createReader(words);
  let current: unknown;

  function say(text: string): void {
    if (text) element.append(h("div", {}, text));
    // Every screen reader has picked it up by then; text left here would be found again when browsing the page.
    if (element.childElementCount > 8) element.firstChild?.remove();
  }

  return {
    element,
    say,
    follow(source, text, isEnded) {
      if (source !== current) reader = createReader(words);
      current = source;
      say(reader.read(text, isEnded));
    },
  };
}
