/** Stores turns in a visitor's conversation with a companion. */
import type { ArrivalMark } from "../coordination/coordination.ts";
import type { Services } from "../dependencies.ts";
import type { Companion } from "../domain/companion.ts";
import {
  type ConversationKey,
  type HistoryMessage,
  type Message,
  textParts,
  uncounted,
} from "../domain/conversation.ts";
import type { TurnKeeper, TurnResult } from "./turn-start.ts";

/** Turns of one conversation run one at a time, whatever else they are. */
export function queueKeyOf({ companionId, sessionId, visitorId }: ConversationKey): string {
  return `${companionId} ${sessionId} ${visitorId}`;
}

type KeeperServices = Pick<Services, "store" | "coordination" | "clock" | "ids">;

/** Create it when the message arrives: an erasure from then on includes the message. */
export class ConversationKeeper implements TurnKeeper {
  readonly queueKey: string;
  readonly #key: ConversationKey;
  readonly #arrivalMark: ArrivalMark;
  #sentAt = 0;
  #conversationId = "";

  constructor(
    private readonly services: KeeperServices,
    private readonly companion: Companion,
    { sessionId, visitorId }: Pick<ConversationKey, "sessionId" | "visitorId">,
    private readonly message: string,
  ) {
    this.#key = { companionId: companion.id, sessionId, visitorId };
    this.#arrivalMark = services.coordination.arrivals.mark();
    this.queueKey = queueKeyOf(this.#key);
  }

  begin(maxBytes: number): Promise<HistoryMessage[]> {
    const { store, clock, ids } = this.services;
    // Only now, after the previous turn: lists assume that ids are in the order in which conversations began.
    this.#sentAt = clock.nowMs();
    this.#conversationId = ids.uuid();
    return store.turns.listHistory(this.#key, maxBytes);
  }

  settle(result: TurnResult): Promise<void> {
    const { store } = this.services;
    return store.turns.settle({
      accountId: this.companion.accountId,
      key: this.#key,
      conversationId: this.#conversationId,
      messages: this.#toMessages(result),
      messageId: null,
      endCode: null,
      isCounted: true,
      visitor: null,
      arrivalMark: this.#arrivalMark,
      usage: result.usage,
      failure: result.failure,
      keyId: this.companion.createdByKeyId,
      day: result.day,
      ticketId: result.ticketId,
    });
  }

  #toMessages({ reply, complete, usage: { inputTokens, outputTokens, estimated } }: TurnResult): Message[] {
    const { clock, ids } = this.services;
    const asked = { id: ids.uuid(), role: "user", channel: "text", parts: textParts(this.message) } as const;
    const question: Message = { ...asked, ...uncounted, complete: true, createdAt: this.#sentAt };
    if (reply.length === 0) return [question];
    const said = { id: ids.uuid(), role: "assistant", channel: "text", parts: reply, complete } as const;
    const counted = { inputTokens, outputTokens, tokensEstimated: estimated };
    return [question, { ...said, ...counted, createdAt: Math.max(this.#sentAt, clock.nowMs()) }];
  }
}
