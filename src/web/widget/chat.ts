/** The panel's state and actions, without any DOM: messages, the reply in progress, problems. */
import type { Companion, CompanionConfig } from "../sdk/index.ts";
import type { ConfigSource } from "./config-source.ts";
import {
  beginTurn,
  createConversationKeeper,
  type Message,
  type MessageState,
  makeMessage,
  mergeMessages,
  type Previous,
  pulseMs,
  settleTurn,
  type Turn,
} from "./conversation.ts";
import { isRefusal, type Problem, toProblem } from "./problem.ts";

export const maxMessageLength = 2000;
/** How long, plus a random share, a tab leaves a waiting message to the tab in which it was written. */
const adoptionMs = 1_500;

export interface ChatListener {
  /** Something must be redrawn. */
  changed(): void;
  /** A reply has more text, or has ended. */
  replied(message: Message): void;
  /** For the page's own listeners: `message`, `reply`, `error`. */
  emit(name: string, detail: unknown): void;
}

interface RunningTurn extends Turn {
  sessionId: string;
  controller: AbortController;
}

export class Chat {
  readonly companion: Companion;
  readonly source: ConfigSource;
  messages: Message[];
  /** What the visitor left by "New conversation", and can go back to. */
  previous: Previous | null;
  /** What happened to the last message. */
  problem: Problem | null = null;

  readonly #listener: ChatListener;
  readonly #keeper: ReturnType<typeof createConversationKeeper>;
  readonly #unwatch: () => void;
  /** The message that waits, where it was written in this tab. */
  #ownWaitingId = "";
  #turn: RunningTurn | null = null;
  #isClosed = false;
  #adoption = 0;
  #watch = 0;

  constructor(companion: Companion, source: ConfigSource, token: string, listener: ChatListener) {
    this.companion = companion;
    this.source = source;
    this.#keeper = createConversationKeeper(token);
    this.#listener = listener;
    this.messages = this.#keeper.load();
    this.previous = this.#keeper.loadPrevious();
    this.#unwatch = this.#keeper.watch(() => this.#follow());
    this.#watchOthers();
    void this.flush();
  }

  get config(): CompanionConfig | null {
    return this.source.config;
  }

  /** Whether a reply is under way in this tab. */
  get isStreaming(): boolean {
    return this.#turn !== null;
  }

  get waiting(): Message | undefined {
    return this.messages.find(({ state }) => state === "waiting");
  }

  /** Sends a message, or keeps it until it can be sent; resolves when its reply has ended, in whatever way. */
  async send(text: string): Promise<void> {
    if (this.isStreaming || this.waiting || !text.trim() || [...text].length > maxMessageLength) return;
    const asked: Message = { ...makeMessage("user", "waiting"), text };
    this.#ownWaitingId = asked.id;
    this.#change((kept) => [...kept, asked]);
    this.problem = null;
    this.#listener.emit("message", { text });
    if (navigator.onLine && this.config) await this.#ask(asked.id);
    else this.#listener.changed();
  }

  /** Asks the last question once more; what came of its reply is forgotten. */
  async retry(): Promise<void> {
    if (!this.config) return this.source.load();
    const asked = this.waiting ?? this.messages.findLast(({ role }) => role === "user");
    if (asked && !this.isStreaming) await this.#ask(asked.id);
  }

  /** Sends what waits, as soon as that can succeed. */
  async flush(): Promise<void> {
    const { waiting } = this;
    if (!waiting || !navigator.onLine || !this.config || this.isStreaming) return;
    if (waiting.id === this.#ownWaitingId) return this.#ask(waiting.id);
    // Written in another tab, which may be closed by now.
    clearTimeout(this.#adoption);
    const adopt = () => {
      this.#follow();
      if (this.waiting?.id === waiting.id && navigator.onLine) void this.#ask(waiting.id);
    };
    this.#adoption = window.setTimeout(adopt, adoptionMs * (1 + Math.random()));
  }

  stop(): void {
    this.#turn?.controller.abort();
  }

  /** Ends a reply in progress although the visitor did not ask for that. */
  close(): void {
    this.#isClosed = true;
    this.#unwatch();
    clearTimeout(this.#adoption);
    clearTimeout(this.#watch);
    this.leave();
    this.stop();
  }

  /** The page goes away, and a reply under way with it. */
  leave(): void {
    this.#save("incomplete");
  }

  /** Adds what was said aloud. */
  add(role: Message["role"], text: string): void {
    this.#change((kept) => [...kept, { ...makeMessage(role, "done"), text }]);
    this.#listener.changed();
  }

  startAnew(): void {
    this.#switch([], () => this.companion.newConversation());
  }

  /** Goes back to the conversation before this one, which then is the one before. */
  goBack(): void {
    const { previous } = this;
    if (!previous) return;
    this.#switch(previous.messages, () => this.companion.resumeConversation(previous.sessionId));
    void this.flush();
  }

  #switch(messages: Message[], change: () => void): void {
    this.leave();
    this.stop();
    const left = { sessionId: this.companion.sessionId, messages: this.#keeper.load() };
    change();
    // An empty conversation does not replace the previous one, unless the visitor goes back to that.
    if (left.messages.length > 0 || messages.length > 0) this.#keeper.savePrevious(left);
    this.previous = this.#keeper.loadPrevious();
    this.problem = null;
    this.#change(() => messages);
    this.#listener.changed();
  }

  /** Applies the changes of other tabs. */
  #follow(): void {
    // A new conversation has begun there: nobody waits for this reply any more.
    if (this.#turn && this.#turn.sessionId !== this.companion.sessionId) this.stop();
    this.previous = this.#keeper.loadPrevious();
    const before = this.messages.at(-1)?.id;
    this.#take(this.#keeper.load());
    if (before !== this.messages.at(-1)?.id && !this.isStreaming) this.problem = null;
    this.#watchOthers();
    this.#listener.changed();
  }

  /** The tab of a reply in progress may be closed without notice. */
  #watchOthers(): void {
    const isOthers = ({ state, id }: Message) => state === "streaming" && id !== this.#turn?.reply.id;
    if (!this.messages.some(isOthers) || this.#isClosed) return;
    clearTimeout(this.#watch);
    this.#watch = window.setTimeout(() => this.#follow(), 3 * pulseMs);
  }

  #change(edit: (kept: Message[]) => Message[]): void {
    this.#take(this.#keeper.change(edit));
  }

  #take(kept: Message[]): void {
    this.messages = mergeMessages(kept, this.messages, this.#turn);
  }

  /** Writes the turn under way to where it stands; nothing into another conversation, begun here or in another tab. */
  #save(state?: MessageState): void {
    if (this.#turn?.sessionId !== this.companion.sessionId) return;
    const { asked, reply } = this.#turn;
    reply.seenAt = Date.now();
    this.#change((kept) => settleTurn(kept, { asked, reply: { ...reply, state: state ?? reply.state } }));
  }

  async #ask(id: string): Promise<void> {
    const asked = this.messages.find((message) => message.id === id);
    if (!asked || this.isStreaming) return;
    const wasOffline = !navigator.onLine;
    const reply = makeMessage("assistant", "streaming");
    const controller = new AbortController();
    const turn = { asked, reply, controller, sessionId: this.companion.sessionId };
    this.#turn = turn;
    this.problem = null;
    // Until there is a reply: the page may go away before its first word.
    asked.state = "incomplete";
    this.#change((kept) => beginTurn(kept, { asked, reply: { ...reply, seenAt: Date.now() } }));
    const pulse = setInterval(() => this.#save(), pulseMs);
    this.#listener.changed();
    this.#listener.replied(reply);
    try {
      for await (const fragment of this.companion.chat(asked.text, { signal: controller.signal })) {
        reply.text += fragment;
        this.#listener.replied(reply);
      }
      reply.state = asked.state = "done";
      this.#listener.emit("reply", { text: reply.text });
    } catch (error) {
      this.#fail(turn, error, wasOffline);
    }
    clearInterval(pulse);
    this.#save();
    this.#turn = null;
    if (turn.sessionId === this.companion.sessionId) this.#listener.replied(reply);
    this.#listener.changed();
    void this.flush();
  }

  #fail({ asked, reply, controller, sessionId }: RunningTurn, error: unknown, wasOffline: boolean): void {
    const { aborted } = controller.signal;
    const isStopped = aborted && !this.#isClosed;
    reply.state = isStopped ? "stopped" : "incomplete";
    if (!reply.text) asked.state = isStopped ? "stopped" : aborted ? "incomplete" : "failed";
    if (aborted) return;
    const problem = toProblem(error, !!reply.text);
    if (wasOffline && problem.code === "network") {
      // Nobody can have heard it.
      asked.state = "waiting";
      this.#ownWaitingId = asked.id;
      return;
    }
    this.#listener.emit("error", error);
    if (isRefusal(problem.code)) this.source.forget();
    if (sessionId === this.companion.sessionId) this.problem = problem;
  }
}
