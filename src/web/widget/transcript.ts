/** The messages that are drawn, and where they are kept: for this tab and for all others. */
import type { Client } from "./client.ts";
import {
  createConversationKeeper,
  type Message,
  mergeMessages,
  type Previous,
  readHistory,
  settleTurn,
} from "./conversation.ts";
import type { RunningTurn } from "./running-turn.ts";

export class Transcript {
  messages: Message[] = [];
  /** What the visitor left by "New conversation", and can go back to. */
  previous: Previous | null = null;
  /** What is under way in this tab. */
  turn: RunningTurn | null = null;

  readonly #client: Client;
  readonly #keeper: ReturnType<typeof createConversationKeeper>;

  constructor(client: Client, token: string) {
    this.#client = client;
    this.#keeper = createConversationKeeper(token);
  }

  /** Calls when another tab has changed something; returns a function that stops. */
  watch(onChange: () => void): () => void {
    return this.#keeper.watch(onChange);
  }

  /** Draws what is kept now, whichever tab wrote it. */
  load(): void {
    this.previous = this.#keeper.loadPrevious();
    this.#take(this.#keeper.load());
  }

  /** Draws nothing; what is kept stays, unless it is to be forgotten. */
  clear(isForgotten: boolean): void {
    this.messages = [];
    this.previous = null;
    if (isForgotten) this.#keeper.forget();
  }

  change(edit: (kept: Message[]) => Message[]): void {
    this.#take(this.#keeper.change(edit));
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
    const left = { sessionId: this.#client.sessionId, messages: this.#keeper.load() };
    begin();
    // An empty conversation does not replace the previous one, unless the visitor goes back to that.
    if (left.messages.length > 0 || messages.length > 0) this.#keeper.savePrevious(left);
    this.previous = this.#keeper.loadPrevious();
    this.change(() => messages);
  }

  /** What a known visitor said on another device. */
  async restore(): Promise<void> {
    const client = this.#client;
    if (!client.isKnown || this.messages.length > 0 || this.previous) return;
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
