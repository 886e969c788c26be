/** What the team is shown of a visitor who reads and types: marks, never the text. */
import type { Companion } from "../sdk/index.ts";
import type { PeopleParts } from "./people-parts.ts";

/** A typing mark lapses at the server after so long. */
const lapseMs = 6_000;
const typingEveryMs = 3_000;

export function createMarks({ chat }: PeopleParts) {
  let typedAt = 0;

  /** One that is lost costs nothing. */
  function send(...mark: Parameters<Companion["mark"]>): void {
    void chat.client
      .getSdk()
      .then((companion) => companion.mark(...mark))
      .catch(() => {});
  }

  return {
    noteTyping({ target }: Event): void {
      const { value } = target as HTMLTextAreaElement;
      if (!chat.isHeld || !(target as Element).closest(".composer") || Date.now() - typedAt < typingEveryMs || !value)
        return;
      typedAt = Date.now();
      send({ typing: true }, { retries: 0 });
    },
    endTyping(): void {
      if (Date.now() - typedAt < lapseMs) send({ typing: false }, { retries: 0 });
      typedAt = 0;
    },
    noteSeen: (seen: number) => send({ seen }),
  };
}
