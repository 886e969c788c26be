/** The panel's state and actions, without any DOM: messages, the reply in progress, problems. */
import type { TokenSource } from "../sdk/identity.ts";
import { type Client, patienceMs } from "./client.ts";
import type { ConfigSource } from "./config-source.ts";
import { type Decision, findOpenTurn, type Message, makeMessage, type Previous, pulseMs } from "./conversation.ts";
import { allowsChat, type Problem, toProblem } from "./problem.ts";
import { type ChatListener, Replies } from "./replies.ts";
import type { RunningTurn } from "./running-turn.ts";
import { Transcript } from "./transcript.ts";

export const maxMessageLength = 2000;
/** How long, plus a random share, a tab leaves to another one what began there. */
const adoptionMs = 1_500;

export class Chat {
  readonly client: Client;
  readonly source: ConfigSource;
  readonly #listener: ChatListener;
  readonly #transcript: Transcript;
  readonly #replies: Replies;
  readonly #unwatch: () => void;
  /** Whether it is not the companion who answers. */
  isHeld = false;
  /** The message that waits, where it was written in this tab. */
  #ownWaitingId = "";
  #isClosed = false;
  /** While it is not known whose conversation this browser keeps: nothing of it is shown, and nothing added. */
  #arrival: Promise<void> | null = null;
  #adoption = 0;
  #watch = 0;

  constructor(client: Client, source: ConfigSource, token: string, listener: ChatListener) {
    this.client = client;
    this.source = source;
    this.#transcript = new Transcript(client, token);
    this.#replies = new Replies(client, source, this.#transcript, listener, () => void this.flush());
    this.#listener = listener;
    this.#unwatch = this.#transcript.watch(() => this.#follow());
  }

  /** Shows what is kept, and goes on with what was under way. `visitor`: whom the page has identified, if anyone. */
  start(visitor: TokenSource): void {
    if (visitor) void this.identify(visitor);
    else if (!this.client.isForeign) this.#begin();
  }

  get messages(): Message[] {
    return this.#transcript.messages;
  }

  get earlier(): Previous[] {
    return this.#transcript.earlier;
  }

  /** What happened to the last message. */
  get problem(): Problem | null {
    return this.#replies.problem;
  }

  /** Whether a reply is under way in this tab. */
  get isStreaming(): boolean {
    return this.#transcript.turn !== null;
  }

  get pause(): RunningTurn["pause"] | undefined {
    return this.#transcript.turn?.pause;
  }

  get waiting(): Message | undefined {
    return this.messages.find(({ state }) => state === "waiting");
  }

  /** Whether what the visitor writes has to stay where it is written: one message may wait, also for a reply. */
  get isBusy(): boolean {
    return !!this.waiting || !!this.#arrival;
  }

  /** Sends a message, or keeps it until it can be sent; resolves when its reply has ended, however it did. */
  async send(text: string): Promise<void> {
    await this.#arrival;
    if (this.client.isForeign) await this.identify(null);
    if (this.isBusy || !text.trim() || [...text].length > maxMessageLength) return;
    const asked: Message = { ...makeMessage("user", "waiting"), text };
    this.#ownWaitingId = asked.id;
    const add = () => this.#transcript.change((kept) => [...kept, asked]);
    add();
    this.#replies.problem = null;
    this.#listener.emit("message", { text });
    const timer = setTimeout(this.#listener.changed, patienceMs);
    if (this.client.visitor) await this.#meet();
    clearTimeout(timer);
    if (!this.messages.includes(asked)) add();
    if (allowsChat(this.source) && asked.state === "waiting" && !this.isStreaming) await this.#ask(asked.id);
    else this.#listener.changed();
  }

  /** Asks that question once more; without an id goes on with the reply that was cut off, or asks the last question. */
  async retry(id?: string): Promise<void> {
    void this.source.load();
    if (this.#arrival) return this.identify(this.client.visitor);
    if (!id && this.#replies.goOn(true)) return;
    const asked = this.waiting ?? this.messages.findLast(({ role }) => role === "user");
    if (allowsChat(this.source)) await this.#ask(id ?? asked?.id);
  }

  /** Sends what the visitor decided on the call that a message asks for. */
  decide(asked: Message, decision: Decision): void {
    void this.#replies.decide(asked, decision);
  }

  /** Sends what waits, and goes on with a reply whose page has gone, as soon as that can succeed. */
  async flush(): Promise<void> {
    const { waiting, problem } = this;
    clearTimeout(this.#adoption);
    if (!navigator.onLine || !allowsChat(this.source) || !(waiting || findOpenTurn(this.messages, false))) return;
    // Begun in another tab, which may be closed by now; or refused by a limit.
    const waitMs = Math.max(waiting?.id === this.#ownWaitingId ? 0 : adoptionMs, (problem?.retryAt ?? 0) - Date.now());
    if (waiting && !waitMs) return this.#ask(waiting.id);
    const goOn = () => {
      this.#transcript.load();
      if (!this.#replies.goOn(false) && navigator.onLine && this.waiting?.id === waiting?.id)
        void this.#ask(waiting?.id);
    };
    this.#adoption = window.setTimeout(goOn, waitMs + Math.random() * adoptionMs);
  }

  stop(): void {
    this.#transcript.turn?.stop.abort();
  }

  /** The page goes on without this chat; a reply in progress goes on without both. */
  close(): void {
    this.#isClosed = true;
    this.#unwatch();
    clearTimeout(this.#adoption);
    clearTimeout(this.#watch);
    this.#replies.part();
  }

  /** The page goes away: the next one, or another tab, may go on with the reply immediately. */
  leave(): void {
    this.#transcript.save({ seenAt: 0 });
  }

  /** Changes what is kept, and draws it. */
  change(edit: (kept: Message[]) => Message[]): void {
    this.#transcript.change(edit);
    this.#listener.changed();
  }

  /** Adds what was said aloud. */
  add(role: Message["role"], text: string): void {
    this.change((kept) => [...kept, { ...makeMessage(role, "done"), text }]);
  }

  restart(): void {
    this.#switch([], () => this.client.newConversation());
  }

  /** Goes back to an earlier conversation, the one before this where none is named; this one then is the one before. */
  goBack(id = this.earlier[0]?.sessionId): void {
    const wanted = this.earlier.find(({ sessionId }) => sessionId === id);
    if (!wanted) return;
    this.#switch(wanted.messages, () => this.client.resumeConversation(wanted.sessionId));
    void this.flush();
  }

  /** Shows what this visitor has said, here or on another device; for null nothing, and forgets it. */
  async identify(visitor: TokenSource): Promise<void> {
    // Pages say it again and again, mostly of the same visitor: then nothing of it may show.
    const isAgain = visitor && this.client.visitor && !this.#arrival;
    if (!isAgain) this.#replies.part();
    this.client.identify(visitor);
    if (isAgain) return this.#meet();
    this.#replies.problem = null;
    this.#transcript.clear(!visitor);
    const arrival = this.client.ready();
    this.#arrival = visitor ? arrival.catch(() => {}) : null;
    this.#listener.changed();
    try {
      await arrival;
      if (this.client.visitor !== visitor || this.#isClosed) return;
      this.#arrival = null;
      this.#begin();
      await this.#transcript.restore();
    } catch (error) {
      this.#listener.emit("error", error);
      this.#replies.problem = toProblem(error);
    }
    this.#listener.changed();
  }

  /** The token of now may be another visitor's than the one before, or no one's: then what is drawn is not theirs. */
  async #meet(): Promise<void> {
    const { visitor, sessionId, isKnown } = this.client;
    await this.client.ready().catch(() => {});
    if (this.client.visitor !== visitor || this.#isClosed) return;
    if (this.client.sessionId !== sessionId) {
      this.#replies.part();
      this.#transcript.clear(true);
      this.#begin();
    } else if (this.client.isKnown === isKnown) return;
    await this.#transcript.restore();
    this.#listener.changed();
  }

  #begin(): void {
    this.#transcript.load();
    this.#watchOthers();
    if (!this.#replies.goOn(false)) void this.flush();
  }

  #switch(messages: Message[], change: () => void): void {
    this.#transcript.save({ state: "incomplete", isOpen: undefined });
    this.stop();
    this.#transcript.replace(messages, change);
    this.#replies.problem = null;
    this.#listener.switched();
  }

  /** Applies the changes of other tabs. */
  #follow(): void {
    if (this.#arrival || this.client.isForeign) return;
    // A new conversation has begun there: no one waits for this reply any more.
    if (this.isStreaming && this.#transcript.turn?.sessionId !== this.client.sessionId) this.stop();
    const before = this.messages.at(-1)?.id;
    this.#transcript.load();
    if (before !== this.messages.at(-1)?.id && !this.isStreaming) this.#replies.problem = null;
    this.#watchOthers();
    this.#listener.changed();
  }

  /** The tab of a reply in progress may be closed without notice. */
  #watchOthers(): void {
    const isOthers = ({ state, id }: Message) => state === "streaming" && id !== this.#transcript.turn?.reply.id;
    if (!this.messages.some(isOthers) || this.#isClosed) return;
    clearTimeout(this.#watch);
    if (findOpenTurn(this.messages, false)) void this.flush();
    else this.#watch = window.setTimeout(() => this.#follow(), 3 * pulseMs);
  }

  async #ask(id: string | undefined): Promise<void> {
    const asked = this.messages.find((message) => message.id === id);
    if (!asked || this.isStreaming) return;
    if (navigator.onLine) return this.#replies.ask(asked);
    this.#ownWaitingId = asked.id;
    asked.state = "waiting";
    this.change((kept) => kept.map((message) => (message.id === id ? asked : message)));
  }
}
