/** The messages that are drawn, and where they are kept: for this tab and for all others. */
import type { Client } from "./client.ts";
import {
  createConversationStore,
  type Message,
  mergeMessages,
  type Previous,
  readHistory,
  settleTurn,
} from "./conversation.ts";
import type { RunningTurn } from "./running-turn.ts";

export class Transcript {
  messages: Message[] = [];
  /** What the visitor left by "New conversation", and can go back to: the newest first. */
  earlier: Previous[] = [];
  /** What is under way in this tab. */
  turn: RunningTurn | null = null;

  readonly #client: Client;
  readonly #store: ReturnType<typeof createConversationStore>;

  constructor(client: Client, token: string) {
    this.#client = client;
    this.#store = createConversationStore(token);
  }

  /** Calls when another tab has changed something; returns a function that stops. */
  watch(onChange: () => void): () => void {
    return this.#store.watch(onChange);
  }

  /** Draws what is kept now, whichever tab wrote it. */
  load(): void {
    this.earlier = this.#store.loadEarlier();
    this.#take(this.#store.load());
  }

  /** Draws nothing; what is kept stays, unless it must be forgotten. */
  clear(isForgotten: boolean): void {
    this.messages = [];
    this.earlier = [];
    if (isForgotten) this.#store.forget();
  }

  change(edit: (kept: Message[]) => Message[]): void {
    this.#take(this.#store.change(edit));
  }

  /** Writes the turn under way to where it stands; nothing into another conversation, begun here or in another tab. */
  save(change: Partial<Message> = {}): void {
    if (!this.turn || this.turn.sessionId !== this.#client.sessionId) return;
    const { asked, reply } = this.turn;
    reply.seenAt = Date.now();
    this.change((kept) => settleTurn(kept, { asked, reply: { ...reply, ...change } }));
  }

  /** Leaves this conversation for another one, which `begin` makes the client's. */
  replace(messages: Message[], begin: () => void): void {
    const left = { sessionId: this.#client.sessionId, messages: this.#store.load() };
    begin();
    const others = this.#store.loadEarlier().filter(({ sessionId }) => sessionId !== this.#client.sessionId);
    this.#store.saveEarlier(left.messages.length > 0 ? [left, ...others] : others);
    this.earlier = this.#store.loadEarlier();
    this.change(() => messages);
  }

  /** What a known visitor said on another device. */
  async restore(): Promise<void> {
    const client = this.#client;
    if (!client.isKnown || this.messages.length > 0 || this.earlier.length > 0) return;
    const { sessionId } = client;
    const found = await client.findConversation().catch(() => null);
    // A message may have been sent meanwhile, or a conversation begun.
    if (!found || this.messages.length > 0 || client.sessionId !== sessionId) return;
    client.resumeConversation(found.session_id);
    this.change(() => readHistory(found));
  }

  #take(kept: Message[]): void {
    this.messages = mergeMessages(kept, this.messages, this.turn);
  }
}
