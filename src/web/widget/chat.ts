/** What the widget knows and does, without a pixel: configuration, messages, the reply under way, problems. */
import { type Companion, type CompanionConfig, createCompanion } from "../sdk/index.ts";
import { openStorage } from "../sdk/storage.ts";
import { createConversationKeeper, type Message } from "./conversation.ts";
import { type Problem, toProblem } from "./problem.ts";

const configAgeMs = 10 * 60_000;
export const maxMessageLength = 2000;

export interface ChatListener {
  /** Something is to be drawn anew. */
  changed(): void;
  /** A reply has more text, or has ended. */
  replied(message: Message): void;
  /** For the page's own listeners: `ready`, `message`, `reply`, `error`. */
  emit(name: string, detail: unknown): void;
}

export class Chat {
  readonly companion: Companion;
  config: CompanionConfig | null = null;
  messages: Message[];
  /** What keeps the companion itself from being shown. */
  configProblem: Problem | null = null;
  /** What happened to the last message. */
  problem: Problem | null = null;
  isLoading = false;

  readonly #listener: ChatListener;
  readonly #keeper: ReturnType<typeof createConversationKeeper>;
  readonly #configKey: string;
  #running: AbortController | null = null;

  constructor(baseUrl: string, token: string, listener: ChatListener) {
    this.companion = createCompanion({ baseUrl, token });
    this.#keeper = createConversationKeeper(token);
    this.#configKey = `companion:${token}:config`;
    this.#listener = listener;
    this.messages = this.#keeper.load();
  }

  get isStreaming(): boolean {
    return this.#running !== null;
  }

  /** Fetches the configuration unless it is there; a failure is kept as `configProblem`. */
  async load(): Promise<void> {
    if (this.config || this.isLoading) return;
    const storage = openStorage("sessionStorage");
    try {
      const { at, config } = JSON.parse(storage.getItem(this.#configKey) || "{}");
      if (config && Date.now() - at < configAgeMs) this.config = config;
    } catch {
      // Written by someone else: asked for anew.
    }
    if (!this.config) {
      this.isLoading = true;
      this.#listener.changed();
      try {
        // A busy site's limit is not to be used up by trying: the visitor's opening is the next try.
        this.config = await this.companion.config({ retries: 0 });
        this.configProblem = null;
        storage.setItem(this.#configKey, JSON.stringify({ at: Date.now(), config: this.config }));
      } catch (error) {
        this.configProblem = toProblem(error);
        this.#listener.emit("error", error);
      }
      this.isLoading = false;
    }
    if (this.config) this.#listener.emit("ready", this.config);
    this.#listener.changed();
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
      const isStopped = running.signal.aborted;
      reply.state = isStopped ? "stopped" : "incomplete";
      if (!reply.text) {
        messages.splice(messages.indexOf(reply), 1);
        asked.state = isStopped ? "stopped" : "failed";
      }
      if (!isStopped) {
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
