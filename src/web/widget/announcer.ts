/** Announces to screen readers what happens: a reply by whole sentences, since no one can follow it token by token. */
import type { Message } from "./conversation.ts";
import { h } from "./dom.ts";
import type { Words } from "./markdown-leaves.ts";
import { createReader } from "./markdown-speech.ts";

const lingerMs = 5_000;

export interface Announcer {
  element: HTMLElement;
  say(text: string): void;
  /** A reply that grows. */
  follow(reply: Message): void;
}

export function createAnnouncer(words: Words): Announcer {
  const element = h("div", { class: "unseen", role: "status" });
  let reader = createReader(words);
  let current: Message;

  function say(text: string): void {
    if (!text) return;
    const line = h("div", {}, text);
    element.append(line);
    // Every screen reader has picked it up by then; text left here would be found again when browsing the page.
    setTimeout(() => line.remove(), lingerMs);
  }

  return {
    element,
    say,
    follow(reply) {
      if (reply !== current) reader = createReader(words);
      current = reply;
      say(reader.read(reply.text, reply.state !== "streaming"));
    },
  };
}
