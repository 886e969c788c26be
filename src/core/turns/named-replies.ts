/** All replies to named messages that run here: one for each, within bounded memory. */
import type { StoredExchange } from "../../contracts/store/store.ts";
import { AppError } from "../../domain/errors.ts";
import { SharedBudget } from "../../lib/shared-budget.ts";
import { type After, afterTimeout } from "../../lib/spaced-queue.ts";
import type { NamedEvent, TurnEnd } from "./events.ts";
import { KeptReply, type KeptReplyHost } from "./kept-reply.ts";
import { type KeptMemory, type KeptShares, KeptText } from "./kept-text.ts";

/** For all replies together, as long as someone reads them or they run. */
export const maxKeptRepliesBytes = 64 * 1024 * 1024;

/** How long a reply goes on that no one reads. */
export const unreadMs = 120_000;

/** Whose reply: the conversation's queue key and the client's name for the message. */
export interface ReplyName {
  readonly queueKey: string;
  readonly messageId: string;
}

export interface NamedReplies {
  /** The reply that runs here; null if none does. */
  find(name: ReplyName): KeptReply | null;
  /**
   * A reply for the message, to be run immediately; null if one runs already. Throws `unavailable` if too much is held.
   */
  claim(name: ReplyName, message: string, isResumable: boolean): KeptReply | null;
  /** A reply of the store, for clients to follow. Throws `unavailable` if too much is held. */
  open(exchange: StoredExchange, events: readonly NamedEvent[]): KeptReply;
  /** Stops all with `unavailable`, for the end of the process. */
  stopAll(): void;
  /** Replies held, running or not yet read to their end. */
  readonly count: number;
  readonly heldBytes: number;
  /** Replies that ended because no one came back for them. */
  readonly abandonedCount: number;
  /** Times that a client came back to a reply. */
  resumedCount: number;
}

export interface NamedRepliesOptions {
  after?: After;
  maxBytes?: number;
}

/** `long`: what all long replies share. */
export function createNamedReplies(
  long: SharedBudget,
  { after = afterTimeout, maxBytes = maxKeptRepliesBytes }: NamedRepliesOptions = {},
) {
  return new Registry(after, long, new SharedBudget({ total: maxBytes }));
}

class Registry implements NamedReplies, KeptReplyHost, KeptMemory {
  abandonedCount = 0;
  resumedCount = 0;
  readonly #running = new Map<string, KeptReply>();
  /** Not yet read to their end; the one that ended longest ago first. */
  readonly #ended = new Set<KeptReply>();

  constructor(
    readonly after: After,
    readonly long: SharedBudget,
    readonly kept: SharedBudget,
  ) {}

  get heldBytes(): number {
    return this.kept.held;
  }

  get count(): number {
    return this.#running.size + this.#ended.size;
  }

  find(name: ReplyName): KeptReply | null {
    return this.#running.get(toKey(name)) ?? null;
  }

  claim(name: ReplyName, message: string, isResumable: boolean): KeptReply | null {
    const key = toKey(name);
    if (this.#running.has(key)) return null;
    const reply = new KeptReply(this, key, new KeptText(this), message, isResumable);
    if (!reply.text.hold()) throw tooMuchHeld();
    this.#running.set(key, reply);
    return reply;
  }

  open({ question, reply, isComplete, endCode }: StoredExchange, events: readonly NamedEvent[]): KeptReply {
    const opened = new KeptReply(this, "", new KeptText(this), question, true);
    const end: TurnEnd = isComplete
      ? { type: "end", outcome: "complete" }
      : { type: "end", outcome: "broken", code: endCode ?? "abandoned" };
    if (!opened.fill(reply ?? "", end, events)) {
      opened.text.release();
      throw tooMuchHeld();
    }
    this.#ended.add(opened);
    return opened;
  }

  stopAll(): void {
    const error = new AppError("unavailable", "The server is stopping. Try again shortly.");
    for (const reply of this.#running.values()) reply.stop("unavailable", error);
  }

  watchUnread(reply: KeptReply): Disposable {
    const error = new AppError("unavailable", "No one has read the reply for two minutes.");
    return this.after(unreadMs, () => reply.stop("abandoned", error));
  }

  noteEnded(reply: KeptReply, end: TurnEnd): void {
    if (end.outcome === "broken" && end.code === "abandoned") this.abandonedCount++;
    this.#running.delete(reply.name);
    this.#ended.add(reply);
  }

  forget(reply: KeptReply): void {
    if (this.#running.get(reply.name) === reply) this.#running.delete(reply.name);
    this.#ended.delete(reply);
    reply.text.release();
  }

  /** Those that ended longest ago make room, if they hold any; their readers find them in the store. */
  grow({ shares }: KeptText, share: keyof KeptShares, bytes: number): boolean {
    for (const reply of this.#ended) {
      if (shares[share].growTo(bytes)) return true;
      if (reply.text.shares[share].held > 0) reply.cut();
    }
    return shares[share].growTo(bytes);
  }
}

function toKey({ queueKey, messageId }: ReplyName): string {
  return `${queueKey} ${messageId}`;
}

function tooMuchHeld(): AppError {
  return new AppError("unavailable", "Too many replies are under way. Try again shortly.", { retryAfterSeconds: 1 });
}
