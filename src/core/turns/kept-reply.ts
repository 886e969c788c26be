/**
 * The reply to a message that its client has named: the turn's only reader, which keeps the text, so that clients can
 * follow it from any position, leave and come back.
 */
import { AppError } from "../../domain/errors.ts";
import type { StreamErrorCode } from "../../domain/stream-end.ts";
import type { After } from "../../lib/spaced-queue.ts";
import type { FollowedTurn, NamedEvent, TurnEnd, TurnEvent, TurnReader } from "./events.ts";
import type { KeptText } from "./kept-text.ts";
import { type EventAt, type FollowedReply, ReplyFollower } from "./reply-follower.ts";

/** Of one reply, so that no one opens thousands. */
const maxFollowers = 16;

/** How long clients wait for the end of a reply that was stopped: half of what their connections may be silent. */
export const endMs = 5_000;

/** What a reply needs of its turn: see `Turn`. */
interface KeptTurn extends FollowedTurn {
  readonly isStopped: boolean;
  /** Never rejects. */
  readonly ended: Promise<void>;
  begin(): Promise<void>;
  stop(code: StreamErrorCode, error: AppError): void;
  stopUnread(): void;
}

/** What a reply needs of its registry. */
export interface KeptReplyHost {
  readonly after: After;
  /** Abandons the unread reply after a while, unless the result is disposed of before. */
  watchUnread(reply: KeptReply): Disposable;
  /** It runs no more, and has followers that do not have all of it yet. */
  noteEnded(reply: KeptReply, end: TurnEnd): void;
  /** No one needs it any more. */
  forget(reply: KeptReply): void;
}

export class KeptReply implements TurnReader, FollowedReply {
  /** What the visitor said. */
  readonly message: string;
  readonly text: KeptText;
  /** How it ended; null while it runs. */
  end: TurnEnd | null = null;
  readonly events: EventAt[] = [];
  isLate = false;
  /** The registry's name for it. */
  readonly name: string;
  /** The text goes to the followers from here, and is theirs to hold. */
  readonly heldUnits = 0;
  /** Whether the turn goes on when everyone has left. */
  #isResumable: boolean;
  readonly #host: KeptReplyHost;
  readonly #followers = new Set<ReplyFollower>();
  #turn: KeptTurn | null = null;
  #begun: Promise<void> = Promise.resolve();
  #unreadTimer: Disposable | null = null;

  constructor(host: KeptReplyHost, name: string, text: KeptText, message: string, isResumable: boolean) {
    this.#host = host;
    this.name = name;
    this.text = text;
    this.message = message;
    this.#isResumable = isResumable;
  }

  /** As `Turn.begin`: resolves when responses may begin. */
  get begun(): Promise<void> {
    return this.#begun;
  }

  /** Resolves when the turn has released what it took. Rejects with `unavailable` if the store takes long. */
  async whenEnded(): Promise<void> {
    const late = Promise.withResolvers<never>();
    using _ = this.#host.after(endMs, () => late.reject(notStoredYet()));
    await Promise.race([this.#turn?.ended, late.promise]);
  }

  get isStopped(): boolean {
    return this.#turn?.isStopped === true;
  }

  /** Whether it ends because everyone has left: a client that comes now should wait for that, and ask the store. */
  get isLeft(): boolean {
    return this.isStopped && this.isUnread;
  }

  /** Whether no one follows it at the moment. */
  get isUnread(): boolean {
    return this.#followers.size === 0;
  }

  get hasEnded(): boolean {
    return this.end !== null;
  }

  /** Runs the turn. Readers who want all of it follow before. */
  run(turn: KeptTurn, first: () => void): void {
    this.#turn = turn;
    turn.attach(this);
    first();
    this.#begun = turn.begin();
    // Reported to everyone who waits for it; perhaps no one does.
    this.#begun.catch(() => {});
  }

  /** It ended earlier, like this. Of its events, those before it began with words come first, the others last. */
  fill(text: string, end: TurnEnd, events: readonly NamedEvent[]): boolean {
    this.text.add([text]);
    for (const event of events) this.events.push({ offset: event.type === "tool" ? 0 : this.text.units, event });
    this.end = end;
    return this.text.hold();
  }

  makeResumable(): void {
    this.#isResumable = true;
  }

  /** Throws `rate_limited` if it has too many followers. */
  follow(offset: number): ReplyFollower {
    if (this.#followers.size >= maxFollowers) {
      throw new AppError("rate_limited", "This reply has too many readers. Close one of them.", {
        retryAfterSeconds: 1,
      });
    }
    this.#unreadTimer?.[Symbol.dispose]();
    this.#unreadTimer = null;
    const follower = new ReplyFollower(this, offset);
    this.#followers.add(follower);
    return follower;
  }

  /** Stops the turn for everyone; the first reason stays. */
  stop(code: StreamErrorCode, error: AppError): void {
    this.#turn?.stop(code, error);
  }

  /** Drops what its followers do not have yet. */
  cut(): void {
    for (const follower of [...this.#followers]) follower.cut();
    this.#host.forget(this);
  }

  read(offset: number): readonly string[] {
    return this.text.read(offset);
  }

  remove(follower: ReplyFollower): void {
    if (!this.#followers.delete(follower) || this.#followers.size > 0) return;
    if (this.hasEnded) this.#host.forget(this);
    else if (this.#isResumable) this.#unreadTimer = this.#host.watchUnread(this);
    else this.#turn?.stopUnread();
  }

  /** From the turn. Never a promise: no follower holds the provider up, or another follower. */
  take(event: TurnEvent): undefined {
    if (event.type === "waiting") {
      this.isLate = true;
      for (const follower of this.#followers) follower.wait();
      return;
    }
    if (this.hasEnded) return;
    if (event.type === "end") this.#finish(event);
    else if (event.type !== "text") this.events.push({ offset: this.text.units, event });
    for (const follower of [...this.#followers]) follower.advance();
    this.forgetUnread();
  }

  /** Forgets it if it has ended, and no one follows it. */
  forgetUnread(): void {
    if (this.hasEnded && this.isUnread) this.#host.forget(this);
  }

  /** The turn's text is this reply's, and nothing of it is held twice. */
  dropHeld(): void {}

  #finish(end: TurnEnd): void {
    this.end = end;
    this.#unreadTimer?.[Symbol.dispose]();
    this.#unreadTimer = null;
    this.#host.noteEnded(this, end);
  }
}

function notStoredYet(): AppError {
  const sentence = "The reply has been stopped, but is not stored yet. Try again in a moment.";
  return new AppError("unavailable", sentence, { retryAfterSeconds: 1 });
}
