/** How replies come to be: a question is asked, or a reply is gone on with, and what came of it is reported. */
import type { ConversationState } from "../../reply-reader/reply-reader.ts";
import type { Client } from "./client.ts";
import type { ConfigSource } from "./config-source.ts";
import {
  beginTurn,
  type Decision,
  findOpenTurn,
  type Message,
  makeMessage,
  pulseMs,
  settleTurn,
} from "./conversation.ts";
import { isLimit, isRefusal, type Problem, toCut, toProblem } from "./problem.ts";
import { type RunningTurn, runTurn, startTurn } from "./running-turn.ts";
import type { Transcript } from "./transcript.ts";

export interface ChatListener {
  /** Something must be redrawn. */
  changed(): void;
  /** The visitor has gone to another conversation. */
  switched(): void;
  /** A reply has more text, or has ended. */
  replied(message: Message): void;
  /** Who answers from now on, where that is not the companion; null: it found nothing, and offers a person. */
  answers(state: ConversationState | null): void;
  /** For the page's own listeners: `message`, `reply`, `error`. */
  emit(name: string, detail: unknown): void;
}

export class Replies {
  /** What happened to the last message. */
  problem: Problem | null = null;

  readonly #client: Client;
  readonly #source: ConfigSource;
  readonly #transcript: Transcript;
  readonly #listener: ChatListener;
  readonly #ended: () => void;

  /** `ended`: the next one may begin. */
  constructor(client: Client, source: ConfigSource, transcript: Transcript, listener: ChatListener, ended: () => void) {
    this.#client = client;
    this.#source = source;
    this.#transcript = transcript;
    this.#listener = listener;
    this.#ended = ended;
  }

  /** Asks; resolves when the reply has ended, however it did. */
  async ask(asked: Message): Promise<void> {
    // The same name only where nothing came of it: what was read in part is requested again.
    const reply: Message = { ...makeMessage("assistant", "streaming", asked.replyId), isOpen: true };
    asked.replyId = undefined;
    await this.#run(startTurn({ asked, reply }, this.#client.sessionId), true);
  }

  /** Sends what the visitor decided; resolves when the reply to that has ended, however it did. */
  async decide(asked: Message, decision: Decision): Promise<void> {
    const reply: Message = { ...makeMessage("assistant", "streaming"), isFinal: true };
    await this.#run({ ...startTurn({ asked, reply }, this.#client.sessionId), decision }, false);
  }

  /** Goes on with a reply that was cut off, or whose page has gone; false where there is none. */
  goOn(wasCut: boolean): boolean {
    const turn = findOpenTurn(this.#transcript.messages, wasCut);
    if (!turn || this.#transcript.turn) return false;
    turn.reply.state = "streaming";
    void this.#run(startTurn(turn, this.#client.sessionId), false);
    return true;
  }

  /** The page goes on without the reply under way, which goes on without the page. */
  part(): void {
    const { turn } = this.#transcript;
    // The tab that takes it up need not wait.
    this.#transcript.save({ seenAt: 0 });
    this.#transcript.turn = null;
    turn?.leave.abort();
  }

  async #run(turn: RunningTurn, isNew: boolean): Promise<void> {
    const { asked, reply } = turn;
    this.#transcript.turn = turn;
    this.problem = null;
    // Until there is a reply: the page may go away before its first word.
    if (!turn.decision) asked.state = "incomplete";
    const apply = isNew ? beginTurn : settleTurn;
    this.#transcript.change((kept) => apply(kept, { asked, reply: { ...reply, seenAt: Date.now() } }));
    const pulse = setInterval(() => this.#transcript.save(), pulseMs);
    const replied = () => this.#listener.replied(reply);
    this.#listener.changed();
    replied();
    const error = await runTurn(this.#client, turn, isNew, { ...this.#listener, replied });
    clearInterval(pulse);
    if (this.#transcript.turn !== turn) return;
    const problem = error ? (reply.text ? toCut : toProblem)(error) : null;
    // Sent before the configuration was there, so it is still sent automatically.
    if (isLimit(problem?.code) && !this.#source.config) asked.state = "waiting";
    this.#transcript.save();
    this.#transcript.turn = null;
    if (reply.text && reply.state === "done") this.#listener.emit("reply", { text: reply.text });
    const isHere = turn.sessionId === this.#client.sessionId;
    if (problem) {
      if (isHere) this.problem = problem;
      this.#listener.emit("error", error);
      if (isRefusal(problem.code)) this.#source.forget();
    }
    if (isHere) replied();
    this.#listener.changed();
    this.#ended();
  }
}
