/** What the panel knows and does, without a pixel: messages, the reply under way, problems. */
import type { Companion, CompanionConfig } from "../sdk/index.ts";
import type { ConfigSource } from "./config-source.ts";
import { createConversationKeeper, type Message } from "./conversation.ts";
import { type Problem, toProblem } from "./problem.ts";

export const maxMessageLength = 2000;

export interface ChatListener {
  /** Something is to be drawn anew. */
  changed(): void;
  /** A reply has more text, or has ended. */
  replied(message: Message): void;
  /** For the page's own listeners: `message`, `reply`, `error`. */
  emit(name: string, detail: unknown): void;
}

export class Chat {
  readonly companion: Companion;
  readonly source: ConfigSource;
  messages: Message[];
  /** What happened to the last message. */
  problem: Problem | null = null;

  readonly #listener: ChatListener;
  readonly #keeper: ReturnType<typeof createConversationKeeper>;
  #running: AbortController | null = null;
  #isClosed = false;

  constructor(companion: Companion, source: ConfigSource, token: string, listener: ChatListener) {
    this.companion = companion;
    this.source = source;
    this.#keeper = createConversationKeeper(token);
    this.#listener = listener;
    this.messages = this.#keeper.load();
  }

  get config(): CompanionConfig | null {
    return this.source.config;
  }

  get isStreaming(): boolean {
    return this.#running !== null;
  }

  /** Sends a message; resolves when its reply has ended, however it did. */
  async send(text: string): Promise<void> {
    if (this.isStreaming || !text.trim() || [...text].length > maxMessageLength) return;
    // Another tab may have gone on with the conversation.
    this.messages = this.#keeper.load();
    const asked: Message = { role: "user", text, at: Date.now(), state: "done" };
    this.messages.push(asked);
    this.#listener.emit("message", { text });
    await this.#ask(asked);
  }

  /** Asks the last question once more; what came of its reply is forgotten. */
  async retry(): Promise<void> {
    if (this.isStreaming) return;
    const last = this.messages.findLastIndex(({ role }) => role === "user");
    const asked = this.messages[last];
    if (!asked) return;
    this.messages.length = last + 1;
    await this.#ask(asked);
  }

  stop(): void {
    this.#running?.abort();
  }

  /** Ends a reply under way, which nobody has asked for. */
  close(): void {
    this.#isClosed = true;
    this.stop();
  }

  /** Adds what was said aloud. */
  add(role: Message["role"], text: string): void {
    this.messages.push({ role, text, at: Date.now(), state: "done" });
    this.save();
    this.#listener.changed();
  }

  startAnew(): void {
    this.stop();
    this.companion.newConversation();
    this.messages = [];
    this.problem = null;
    this.save();
    this.#listener.changed();
  }

  save(): void {
    this.#keeper.save(this.messages);
  }

  async #ask(asked: Message): Promise<void> {
    const messages = this.messages;
    const running = new AbortController();
    const reply: Message = { role: "assistant", text: "", at: Date.now(), state: "streaming" };
    this.#running = running;
    this.problem = null;
    // Until there is a reply: the page may go away before its first word.
    asked.state = "incomplete";
    messages.push(reply);
    this.save();
    this.#listener.changed();
    this.#listener.replied(reply);
    try {
      for await (const fragment of this.companion.chat(asked.text, { signal: running.signal })) {
        reply.text += fragment;
        this.#listener.replied(reply);
      }
      reply.state = asked.state = "done";
      this.#listener.emit("reply", { text: reply.text });
    } catch (error) {
      const isStopped = running.signal.aborted && !this.#isClosed;
      reply.state = isStopped ? "stopped" : "incomplete";
      if (!reply.text) {
        messages.splice(messages.indexOf(reply), 1);
        asked.state = isStopped ? "stopped" : this.#isClosed ? "incomplete" : "failed";
      }
      if (!running.signal.aborted) {
        this.#listener.emit("error", error);
        // A reply that had begun is a reply cut off, whatever cut it.
        if (messages === this.messages)
          this.problem = reply.text ? { code: reply.state, retryAt: 0 } : toProblem(error);
      }
    }
    this.#running = null;
    if (messages === this.messages) {
      this.save();
      this.#listener.replied(reply);
    }
    this.#listener.changed();
  }
}
