/** Keeps turns in the conversation of a visitor with a companion. */
import type { Services } from "../dependencies.ts";
import type { Companion } from "../domain/companion.ts";
import type { ConversationKey, HistoryMessage } from "../domain/conversation.ts";
import type { TurnKeeper, TurnResult } from "./turn-start.ts";

export class ConversationKeeper implements TurnKeeper {
  readonly queueKey: string;
  readonly #services: Pick<Services, "store" | "clock" | "ids">;
  readonly #companion: Companion;
  readonly #key: ConversationKey;
  readonly #message: string;
  readonly #arrivalMark: number;
  #sentAt = 0;
  #conversationId = "";

  /** Made when the message has come: what is erased from then on covers it. */
  constructor(
    services: Pick<Services, "store" | "clock" | "ids">,
    companion: Companion,
    visitor: Omit<ConversationKey, "companionId">,
    message: string,
  ) {
    this.#services = services;
    this.#companion = companion;
    this.#key = { companionId: companion.id, sessionId: visitor.sessionId, visitorId: visitor.visitorId };
    this.#message = message;
    this.#arrivalMark = services.store.turns.markArrival();
    this.queueKey = `${companion.id} ${visitor.sessionId} ${visitor.visitorId}`;
  }

  begin(maxBytes: number): Promise<HistoryMessage[]> {
    const { store, clock, ids } = this.#services;
    // Both now: behind the turn before, and lists look ids up as if they were in order of the conversations' beginnings.
    this.#sentAt = clock.nowMs();
    this.#conversationId = ids.uuid();
    return store.turns.listHistory(this.#key, maxBytes);
  }

  settle({ text, complete, usage, failure, day }: TurnResult): Promise<void> {
    const { store, clock, ids } = this.#services;
    const repliedAt = Math.max(this.#sentAt, clock.nowMs());
    return store.turns.settle({
      accountId: this.#companion.accountId,
      key: this.#key,
      conversationId: this.#conversationId,
      userMessage: { id: ids.uuid(), text: this.#message, createdAt: this.#sentAt },
      arrivalMark: this.#arrivalMark,
      reply: text === "" ? null : { id: ids.uuid(), text, complete, createdAt: repliedAt },
      usage,
      failure,
      keyId: this.#companion.createdByKeyId,
      day,
    });
  }
}
