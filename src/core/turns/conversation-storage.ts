/** Stores turns in a visitor's conversation with a companion. */
import type { ArrivalMark } from "../../contracts/coordination.ts";
import type { ReachedBudget, SettledVisitor, StoredExchange } from "../../contracts/store/store.ts";
import type { Companion } from "../../domain/companion.ts";
import {
  type ConversationKey,
  freeRepeats,
  type HistoryMessage,
  type Message,
  textParts,
  toFinishReason,
  uncounted,
} from "../../domain/conversation.ts";
import type { Services } from "../dependencies.ts";
import { type ReportedTurn, toTurnEvents, toUnansweredEvent } from "../events/turn-events.ts";
import type { VerifiedVisitor } from "../visitors/visitors.ts";
import { KeptCalls } from "./kept-calls.ts";
import {
  type FoundKnowledge,
  type NamedStart,
  RunsElsewhere,
  type TurnResult,
  type TurnStorage,
} from "./turn-start.ts";

type StorageServices = Pick<Services, "store" | "clock" | "ids" | "visitors">;

const noAnswerer = { model: null, provider: null };

/** What is said in the conversation. */
export interface KeptMessage {
  /** Empty where the visitor decides on a call instead. */
  readonly text: string;
  /** Taken when it arrived: an erasure from then on includes it. */
  readonly arrivalMark: ArrivalMark;
  /** Null unless the client gave the message a name. */
  readonly named: Pick<NamedStart, "messageId" | "repeats"> | null;
  /** Null unless the visitor is verified. */
  readonly visitor: VerifiedVisitor | null;
}

/** Turns of one conversation run one at a time, of whatever kind. */
export function queueKeyOf({ companionId, sessionId, visitorId }: ConversationKey): string {
  return `${companionId} ${sessionId} ${visitorId}`;
}

/** Whether the message counts in quotas, and needs a proof of work of its own: it did when it was new. */
export function countsAgain({ repeats }: Pick<NamedStart, "repeats">): boolean {
  return repeats === null || repeats >= freeRepeats;
}

/** Whether the same message runs again: nothing of a reply was stored, no one cancelled it, and no person has it. */
export function runsAgain({ reply, endCode }: StoredExchange): boolean {
  return reply === null && endCode !== "cancelled" && endCode !== "taken";
}

/** Whether the message was kept for people: it has no reply of its own. */
export function isKeptForPeople({ reply, endCode }: StoredExchange): boolean {
  return reply === null && endCode === "taken";
}

export class ConversationStorage implements TurnStorage {
  readonly queueKey: string;
  /** Left out for a companion without tools. */
  readonly calls?: KeptCalls;
  #sentAt = 0;
  #conversationId = "";
  /** Of what was stored; null for nothing. */
  #questionId: string | null = null;
  #replyId: string | null = null;
  /** Null for an account without webhooks. */
  #reported: ReportedTurn | null = null;

  constructor(
    private readonly services: StorageServices,
    private readonly companion: Companion,
    private readonly key: ConversationKey,
    private readonly message: KeptMessage,
  ) {
    this.queueKey = queueKeyOf(key);
    const { text, named } = message;
    if (companion.toolCount > 0 || text === "") this.calls = new KeptCalls(services, key, named?.messageId ?? null);
  }

  begin(maxBytes: number): Promise<HistoryMessage[]> {
    const { store, clock, ids } = this.services;
    // Only now, after the previous turn: lists assume that ids are in the order in which conversations began.
    this.#sentAt = clock.nowMs();
    this.#conversationId = ids.uuid();
    const { named } = this.message;
    const withAuthors = this.companion.hadPeople;
    return named === null
      ? store.turns.listHistory(this.key, maxBytes, { withAuthors })
      : this.#beginNamed(named, maxBytes, withAuthors);
  }

  settle(result: TurnResult): Promise<readonly ReachedBudget[]> {
    const { visitor } = this.message;
    return visitor === null ? this.#store(result, null) : this.#storeVerified(result, visitor);
  }

  async #storeVerified(result: TurnResult, visitor: VerifiedVisitor): Promise<readonly ReachedBudget[]> {
    const sealed = await this.services.visitors.seal(visitor);
    return await this.#store(result, { sealed, isLimited: this.companion.dailyPerVisitor !== null });
  }

  async noteKnowledge({ unansweredGroupId, seen }: FoundKnowledge): Promise<void> {
    const [questionId, replyId] = [this.#questionId, this.#replyId];
    // Where a tool was called, knowledge is not what had to answer.
    const isUnanswered = unansweredGroupId !== null && questionId !== null && !this.calls?.hasAny;
    const hasSeen = seen.length > 0 && replyId !== null;
    if (!isUnanswered && !hasSeen) return;
    await this.services.store.unanswered.note({
      key: this.key,
      unanswered: isUnanswered
        ? {
            messageId: questionId,
            groupId: unansweredGroupId,
            event: this.#reported && toUnansweredEvent(this.#reported, questionId),
          }
        : null,
      seen: hasSeen ? { messageId: replyId, passages: seen } : null,
    });
  }

  #store(result: TurnResult, visitor: SettledVisitor | null): Promise<readonly ReachedBudget[]> {
    const { named, text } = this.message;
    // That it failed once more is noted with a message that is stored already.
    const messageId = named !== null && (result.isKept || named.repeats !== null) ? named.messageId : null;
    const messages = result.isKept ? this.#toMessages(result) : [];
    if (result.hasWebhooks) this.#reported = this.#toReported(result, visitor);
    return this.services.store.turns.settle({
      accountId: this.companion.accountId,
      key: this.key,
      conversationId: this.#conversationId,
      messages,
      messageId,
      endCode: messageId === null ? null : result.endCode,
      isCounted: result.isCounted && text !== "" && (named === null || countsAgain(named)),
      visitor,
      arrivalMark: this.message.arrivalMark,
      usage: result.usage,
      answeredBy: result.answeredBy,
      cost: result.cost,
      spend: result.spend,
      failure: result.failure,
      keyId: result.keyId,
      day: result.day,
      ticketId: result.ticketId,
      events: this.#reported && toTurnEvents(this.#reported),
    });
  }

  #toReported({ complete, endCode, finishReason }: TurnResult, visitor: SettledVisitor | null): ReportedTurn {
    return {
      ...{ companion: this.companion, key: this.key, sealedVisitor: visitor?.sealed ?? null },
      newId: this.#conversationId,
      clientId: this.message.named?.messageId ?? null,
      questionId: this.#questionId,
      replyId: this.#replyId,
      ...{ complete, endCode, finishReason, atMs: this.services.clock.nowMs() },
    };
  }

  /** Another instance may have settled the message since the search. Now that the turn has its ticket, none can. */
  async #beginNamed(
    { messageId, repeats }: Pick<NamedStart, "messageId" | "repeats">,
    maxBytes: number,
    withAuthors: boolean,
  ) {
    const { turns } = this.services.store;
    const [stored, earlier] = await Promise.all([
      turns.findExchange(this.key, messageId),
      turns.listHistory(this.key, maxBytes, { withAuthors, ...(repeats !== null && { exceptMessageId: messageId }) }),
    ]);
    const isAsBefore = stored === null ? repeats === null : runsAgain(stored) && stored.repeats === repeats;
    if (!isAsBefore) throw new RunsElsewhere();
    this.#questionId = stored?.questionId ?? null;
    return earlier;
  }

  #toMessages({ reply, complete, usage, answeredBy, finishReason: reason }: TurnResult): Message[] {
    const { clock, ids } = this.services;
    const { ids: callIds = null, hasAny: hasCalls = false } = this.calls ?? {};
    const messages: Message[] = [];
    // That of a turn that runs again is stored already.
    if (this.message.text !== "" && (this.message.named?.repeats ?? null) === null) {
      const asked = {
        id: callIds?.questionId ?? ids.uuid(),
        role: "user",
        channel: "text",
        parts: textParts(this.message.text),
      } as const;
      messages.push({ ...asked, ...uncounted, complete: true, createdAt: this.#sentAt });
      this.#questionId = asked.id;
    }
    if (reply.length === 0 && !hasCalls) return messages;
    const parts = reply.length === 0 ? textParts("") : reply;
    const said = { id: callIds?.replyId ?? ids.uuid(), role: "assistant", channel: "text", parts, complete } as const;
    const { inputTokens, outputTokens, estimated: tokensEstimated } = usage;
    const finishReason = toFinishReason(reason);
    const tokens = { inputTokens, outputTokens, tokensEstimated };
    const counted = {
      ...tokens,
      finishReason,
      companionVersion: this.companion.version,
      ...(answeredBy ?? noAnswerer),
    };
    this.#replyId = said.id;
    const companionVersion = this.companion.version;
    messages.push({ ...said, ...counted, companionVersion, createdAt: Math.max(this.#sentAt, clock.nowMs()) });
    return messages;
  }
}
