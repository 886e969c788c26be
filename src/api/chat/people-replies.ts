/** Messages to a companion whose conversations people may step into: those that the companion does not answer are kept for them. */
import type { Services } from "../../core/dependencies.ts";
import type { KeptForPerson, VisitorConversation } from "../../core/people/people.ts";
import { handoffTextOf } from "../../core/people/texts.ts";
import type { KeptMessage } from "../../core/turns/conversation-storage.ts";
import { type PeopleKeptMessage, PeopleStorage } from "../../core/turns/people-storage.ts";
import { Turn } from "../../core/turns/turn.ts";
import { KeptForPeople, type NamedStart, type TurnStart } from "../../core/turns/turn-start.ts";
import { AppError } from "../../domain/errors.ts";
import { isOutside, toVisitorState } from "../../domain/handoff.ts";
import { contextOf } from "../../http/request-context.ts";
import { EventStream } from "../../http/sse.ts";
import { openResponse } from "../../http/stream-response.ts";

/** What is sent, and how it is to be answered. */
export interface PeopleMessage {
  readonly text: string;
  /** Null unless the client gave it a name. */
  readonly messageId: string | null;
  readonly hasEvents: boolean;
  /** Spends the visitor's proof of work; null where none was asked for. */
  readonly spend: ((named: Pick<NamedStart, "messageId" | "repeats"> | null) => Promise<void>) | null;
}

/** A turn that begins only while the companion has the conversation, and is stopped once it has not. */
export function makePeopleTurn(
  services: Services,
  conversation: VisitorConversation,
  message: PeopleKeptMessage,
  start: Omit<TurnStart, "storage">,
): Turn {
  const storage = new PeopleStorage(services, conversation, message, start.caller?.hasEvents === true);
  const { spendWork = null } = start;
  // The last before a provider is asked, which takes a while.
  const spendLast = spendWork && (() => spendWork().then(() => storage.keepIfTaken()));
  const turn = new Turn(services, { ...start, storage, right: storage.guard(start.right), spendWork: spendLast });
  storage.follow(turn);
  return turn;
}

export class PeopleReplies {
  #spent: Promise<void> | undefined;
  /** Whether the turn of this request has kept its message: then it is no repeat that asks what became of it. */
  #isOwn = false;

  constructor(
    private readonly services: Services,
    private readonly request: Request,
    private readonly conversation: VisitorConversation,
    private readonly message: PeopleMessage,
  ) {}

  /** As `makePeopleTurn`. */
  makeTurn(start: Omit<TurnStart, "storage">, message: KeptMessage): Turn {
    const spendWork = () => this.#spend(start.named);
    return makePeopleTurn(this.services, this.conversation, { ...message, spendWork }, { ...start, spendWork });
  }

  /** Keeps the message where people have the conversation; null where the companion answers it. */
  async keep(): Promise<Response | null> {
    if (!isOutside(await this.services.store.handoffs.find(this.conversation.key))) return null;
    const { messageId } = this.message;
    await this.#spend(messageId === null ? null : { messageId, repeats: null });
    const kept = await this.#keep();
    return kept && this.#respond(kept);
  }

  /** Answers a message that is kept already. */
  async answerKept(): Promise<Response> {
    const handoff = await this.services.store.handoffs.find(this.conversation.key);
    const kept = isOutside(handoff) ? await this.#keep() : null;
    return this.#respond(kept ?? { handoff, texts: [] });
  }

  /** Answers a message without a name that was kept during its turn, as `keepRefused` others. */
  async answerFailure(failure: unknown): Promise<Response> {
    return failure instanceof KeptForPeople ? this.#respond(failure.kept) : await this.keepRefused(failure);
  }

  /** Who takes a conversation waits in its queue: what it refuses meanwhile is theirs. Rejects with other failures. */
  async keepRefused(failure: unknown): Promise<Response> {
    this.#isOwn ||= failure instanceof KeptForPeople;
    const isRefused = failure instanceof AppError && failure.code === "rate_limited";
    const kept = isRefused ? await this.keep() : null;
    if (kept === null) throw failure;
    return kept;
  }

  /** Once: a solution is good for one message, whatever becomes of it. */
  async #spend(named: Pick<NamedStart, "messageId" | "repeats"> | null): Promise<void> {
    this.#spent ??= this.message.spend?.(named);
    await this.#spent;
  }

  #keep(): Promise<KeptForPerson | null> {
    const { text, messageId, hasEvents } = this.message;
    // To a client that has left while its message waited nothing is brought.
    const isPlain = !hasEvents && !this.request.signal.aborted;
    return this.services.people.keepMessage(this.conversation, { text, messageId, isPlain, isOwn: this.#isOwn });
  }

  #respond({ handoff, texts }: Pick<KeptForPerson, "texts"> & { handoff: KeptForPerson["handoff"] | null }): Response {
    const { services, request, conversation, message } = this;
    const { companion } = conversation;
    const stream = new EventStream(request.signal, services.heartbeats, message.hasEvents);
    if (message.hasEvents) stream.take({ type: "state", state: toVisitorState(handoff, companion.name) });
    else if (texts.length > 0)
      stream.take({ type: "text", deltas: texts.map((text, at) => (at === 0 ? "" : "\n\n") + text) });
    else if (isOutside(handoff) && companion.handoff !== null) {
      const text = handoffTextOf(companion.handoff, handoff.state, message.text);
      stream.take({ type: "text", deltas: [text] });
    }
    stream.take({ type: "end", outcome: "complete" });
    return openResponse(stream, {}, contextOf(request, services.ids));
  }
}
