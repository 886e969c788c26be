/** A conversation with listeners here: what is new is read once for all of them, and each gets every message once. */
import type { HandoffStore, LiveConversation, LiveMessage } from "../../contracts/store/handoffs.ts";
import type { ConversationKey } from "../../domain/conversation.ts";
import { type Handoff, isOutside } from "../../domain/handoff.ts";
import type { LiveEnd, LiveEvent, LiveListener } from "./live.ts";

type ListeningStore = Pick<HandoffStore, "findLive" | "listLive">;

/** Messages of one read. */
const pageSize = 50;
/** Of one conversation; the sixth ends the first. */
const maxListeners = 5;

/** What is shown of a state: another deadline alone, which moves with every message, is no change of it. */
export function stateMark(handoff: Handoff | null): string {
  if (handoff === null) return "companion";
  const { state, reason, person, sinceMs } = handoff;
  return `${state} ${reason} ${person?.id ?? ""} ${sinceMs}`;
}

/** One listener's progress. */
export class Subscriber {
  seq = 0;
  /** Whether it has got all that there was: from then on it gets what the channel reads. */
  isLive = false;
  isOver = false;
  stays = true;
  #mark: string | null = null;
  readonly #listener: LiveListener;

  constructor(listener: LiveListener) {
    this.#listener = listener;
  }

  send(event: LiveEvent): Promise<void> | undefined {
    return this.isOver ? undefined : this.#listener.take(event);
  }

  sendMessage(message: LiveMessage): Promise<void> | undefined {
    if (message.seq <= this.seq) return undefined;
    this.seq = message.seq;
    return this.send({ type: "message", message });
  }

  /** Unless it has this state already. */
  sendState(handoff: Handoff | null, isSilent = false): void {
    const mark = stateMark(handoff);
    if (mark === this.#mark) return;
    this.#mark = mark;
    if (!isSilent) void this.send({ type: "state", handoff });
  }

  end(reason: LiveEnd): void {
    if (this.isOver) return;
    void this.send({ type: "end", reason });
    this.isOver = true;
  }
}

export class LiveChannel {
  readonly key: ConversationKey;
  readonly subscribers = new Set<Subscriber>();
  /** As last read; null before the first read, and once it is gone. */
  opened: LiveConversation | null = null;
  /** Null before the first read. */
  conversationId: string | null = null;
  /** A read has failed: what it was for is still to be read. */
  isBehind = false;
  /** Up to here the live ones have everything. */
  #seq = 0;
  readonly #store: ListeningStore;
  #last: Promise<unknown> = Promise.resolve();
  #next: Promise<void> | null = null;

  constructor(key: ConversationKey, store: ListeningStore) {
    this.key = key;
    this.#store = store;
  }

  add(subscriber: Subscriber): void {
    this.subscribers.add(subscriber);
    const [oldest] = this.subscribers;
    if (this.subscribers.size <= maxListeners || oldest === undefined) return;
    this.subscribers.delete(oldest);
    oldest.end("replaced");
  }

  /** Resolves after a read that begins from now on: never two at the same time, and one for all who wait for it. */
  refresh(): Promise<void> {
    if (this.#next !== null) return this.#next;
    const next = this.#last.then(() => {
      this.#next = null;
      return this.#read();
    });
    this.#next = next;
    this.#last = next.catch(() => {
      this.isBehind = true;
    });
    return next;
  }

  /** Sends what there was, page by page as the listener takes it, and then lets it live. */
  async catchUp(subscriber: Subscriber): Promise<void> {
    const { opened } = this;
    while (opened !== null && !subscriber.isOver && subscriber.seq < this.#seq) {
      const { messages } = await this.#store.listLive(opened.conversationId, subscriber.seq, pageSize);
      for (const message of messages) await subscriber.sendMessage(message);
      // Erased meanwhile: the next read of the channel ends it.
      if (messages.length === 0) break;
    }
    subscriber.isLive = true;
    this.#sendState([subscriber]);
  }

  async #read(): Promise<void> {
    const found = await this.#store.findLive(this.key);
    this.isBehind = false;
    if (found === null) {
      this.opened = null;
      for (const subscriber of this.subscribers) subscriber.end("unavailable");
      return;
    }
    if (this.opened === null) this.#seq = found.newestSeq;
    this.opened = found;
    this.conversationId = found.conversationId;
    // A person who takes a conversation is named before what they write; one who leaves it, after that.
    if (isOutside(found.handoff)) this.#sendState(this.subscribers);
    await this.#readMessages(found);
    this.#sendState(this.subscribers);
  }

  async #readMessages({ conversationId, newestSeq }: LiveConversation): Promise<void> {
    while (this.#seq < newestSeq) {
      const isHeard = this.subscribers.values().some(({ isLive, isOver }) => isLive && !isOver);
      // Those that begin read for themselves.
      const page = isHeard ? await this.#store.listLive(conversationId, this.#seq, pageSize) : null;
      for (const message of page?.messages ?? []) this.#pass(message);
      if (page === null || page.messages.length === 0) this.#seq = Math.max(this.#seq, newestSeq);
    }
  }

  #pass(message: LiveMessage): void {
    this.#seq = Math.max(this.#seq, message.seq);
    for (const subscriber of this.subscribers) if (subscriber.isLive) void subscriber.sendMessage(message);
  }

  #sendState(subscribers: Iterable<Subscriber>): void {
    const { opened } = this;
    if (opened === null) return;
    for (const subscriber of subscribers) {
      if (!subscriber.isLive) continue;
      subscriber.sendState(opened.handoff);
      if (!isOutside(opened.handoff) && !subscriber.stays) subscriber.end("over");
    }
  }
}
