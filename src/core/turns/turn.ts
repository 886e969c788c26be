/** Runs one message from start to end: ticket, request to the model, reply, commit, and events for its readers. */
import type { TurnTicket } from "../../contracts/coordination.ts";
import type { ReplyEvent, ReplySink } from "../../contracts/llm/provider.ts";
import type { SpendingState } from "../../domain/budget.ts";
import { AppError } from "../../domain/errors.ts";
import type { StreamErrorCode } from "../../domain/stream-end.ts";
import { Stop } from "../../lib/stop-signal.ts";
import type { Services } from "../dependencies.ts";
import type { ToolServices } from "../tools/tool-reply.ts";
import { AskedReply, enterTurn, mayUseTools } from "./admission.ts";
import type { FollowedTurn, NamedEvent, TurnEnd, TurnReader } from "./events.ts";
import {
  countFailedReply,
  logRefusal,
  type TurnEnding,
  toIncompleteEnd,
  toLogged,
  toRefusedEnd,
} from "./failed-replies.ts";
import type { OpenTurn } from "./open-turns.ts";
import { ReplyText, TurnReaders } from "./reply-memory.ts";
import { buildRequest, toTurnResult } from "./reply-request.ts";
import { noteReached } from "./spending.ts";
import type { TurnKnowledge } from "./turn-knowledge.ts";
import type { ReplySource, TurnOutcome, TurnStart, TurnText } from "./turn-start.ts";

export type TurnServices = ToolServices & Pick<Services, "coordination" | "openTurns" | "knowledge" | "replyMemory">;

/** After this long without text the response begins all the same: no 502 is possible then, but clients do not time out. */
const waitMs = 10_000;

export class Turn implements OpenTurn, FollowedTurn, ReplySink {
  checkedMark = -1;
  ended = Promise.resolve();
  readonly #services: TurnServices;
  readonly #start: TurnStart;
  readonly #stop = new Stop();
  /** Null before `begin`, and once the response has begun: from then on failures are reported only to the readers. */
  #beginning: PromiseWithResolvers<void> | null = null;
  readonly #text: TurnText;
  readonly #readers = new TurnReaders();
  /** Why the server stopped it; null if it did not, or if all readers left. */
  #ending: TurnEnding | null = null;
  #waitingTimer: ReturnType<typeof setTimeout> | undefined;
  #askedAtMs = 0;
  #firstTextMs: number | null = null;
  /** Null for a companion without any. */
  #knowledge: TurnKnowledge | null = null;

  constructor(services: TurnServices, start: TurnStart) {
    this.#services = services;
    this.#start = start;
    this.#text = start.named?.text ?? new ReplyText(services.replyMemory);
  }

  /**
   * Call it once. Resolves when the response may begin: first text, end of the reply, or ten seconds of waiting; the
   * rest goes on in the background. Rejects with why it was refused, or failed: then nothing is stored, and nothing counted
   * but a provider's failure with what it counted, unless the right to the companion was revoked while it was replying.
   */
  begin(): Promise<void> {
    this.#beginning = Promise.withResolvers();
    const { promise } = this.#beginning;
    this.ended = this.#live();
    return promise;
  }

  get isStopped(): boolean {
    return this.#stop.aborted;
  }

  attach(reader: TurnReader): void {
    this.#readers.add(reader);
  }

  leave(reader: TurnReader): void {
    if (this.#readers.remove(reader) && this.#readers.isEmpty) this.stopUnread();
  }

  /** No one reads it any more: this alone decides that the operator does not pay for such a reply. */
  stopUnread(): void {
    this.#stop.abort(new AppError("unavailable", "All readers have left."));
  }

  /** Stops the turn for everyone. If it was stopped before, the first reason stays. */
  stop(code: StreamErrorCode, error: AppError): void {
    if (this.isStopped) return;
    this.#ending = { code, error };
    this.#stop.abort(error);
  }

  async checkRight(): Promise<boolean> {
    return this.#hasRight(await this.#start.right.check());
  }

  async readRight(): Promise<SpendingState | null> {
    const spending = await this.#start.right.check(true);
    if (!this.#hasRight(spending)) throw this.#stop.reason;
    return this.isStopped ? null : spending;
  }

  requireRunning(): void {
    if (this.isStopped) throw this.#stop.reason;
  }

  #hasRight(spending: SpendingState | null): spending is SpendingState {
    if (spending === null) this.stop("unavailable", this.#start.right.refusal());
    return spending !== null;
  }

  /** Runs the whole turn. Never rejects, because no one awaits it. */
  async #live(): Promise<void> {
    try {
      this.#services.openTurns.enter(this, this.#start.address);
      let ticket: TurnTicket | null = null;
      // Neither a stack of what has to be released nor more functions that wait: thousands of turns live for minutes.
      try {
        // If it is stopped while it waits, it is dropped and costs nothing.
        ticket = await enterTurn(this.#services, this.#start, this.#stop);
        await this.#answer(ticket);
      } finally {
        if (ticket !== null) this.#text[Symbol.dispose]();
        ticket?.leave();
        this.#services.openTurns.leave(this, this.#start.address);
      }
    } catch (error) {
      // Everything has been released by now, so an immediate retry finds it free.
      this.#refuse(error);
    }
  }

  async #answer(ticket: TurnTicket): Promise<void> {
    try {
      const { asked, source } = await this.#prepare(ticket);
      let outcome: TurnOutcome;
      try {
        this.#askedAtMs = this.#services.clock.monotonicMs();
        this.#waitingTimer = setTimeout(() => this.note({ type: "waiting" }), waitMs);
        outcome = await source.reply(this.#knowledge?.reply ?? this, this.#stop);
        if (this.#isTakenUnsaid && !outcome.complete) {
          await asked.countUnsaid(outcome);
          throw this.#stop.reason;
        }
      } catch (failure) {
        // Before its first text: it is counted by this, and there is nothing to store.
        throw await countFailedReply(this.#services, this.#start, asked, failure);
      } finally {
        this.#stopWaiting();
      }
      await this.#settle(asked, outcome);
    } catch (error) {
      // A message to which nothing was said is theirs who took the conversation meanwhile.
      if (this.#isTakenUnsaid) await this.#start.storage.people?.keepMessage();
      throw error;
    }
  }

  /** Chooses where the reply comes from; the last that can refuse the turn. */
  async #prepare(ticket: TurnTicket): Promise<{ asked: AskedReply; source: ReplySource }> {
    const { request, knowledge } = await buildRequest(this.#services, this.#start, { sink: this, signal: this.#stop });
    this.#knowledge = knowledge;
    const asked = new AskedReply(this.#services, this.#start, ticket, request, this);
    const fixed = knowledge?.source ?? null;
    const tools = fixed === null && mayUseTools(this.#start) ? await import("../tools/tool-reply.ts") : null;
    const source = fixed ?? (await tools?.openToolReply(this.#services, this.#start, asked, this)) ?? asked;
    await asked.admit(source.isCharged);
    return { asked, source };
  }

  get #isTakenUnsaid(): boolean {
    return this.#ending?.code === "taken" && this.#firstTextMs === null && !this.#start.storage.people?.hasCalls;
  }

  #stopWaiting(): void {
    clearTimeout(this.#waitingTimer);
    this.#waitingTimer = undefined;
  }

  emit(event: ReplyEvent): Promise<unknown> | undefined {
    if (this.#firstTextMs === null) {
      this.#firstTextMs = this.#services.clock.monotonicMs() - this.#askedAtMs;
      this.#open();
    }
    const last = this.#text.add(event.deltas);
    if (last !== null) {
      if (last !== "") this.#readers.take({ type: "text", deltas: [last] });
      this.stop("too_long", new AppError("upstream_error", "The reply is too long."));
      return undefined;
    }
    const stalled = this.#readers.take(event);
    if (!this.#text.hold(this.#readers.heldUnits)) {
      this.#readers.dropHeld();
      this.stop("unavailable", new AppError("unavailable", "Too much is held for long replies and slow readers."));
    }
    return stalled;
  }

  /** Begins the response: after a while without text, and with a tool, since what it does is not undone. */
  note(event: NamedEvent | { readonly type: "waiting" }): void {
    this.#readers.take(event);
    this.#open();
  }

  /** Stores the turn, and reports to its readers how it ended. */
  async #settle(asked: AskedReply, outcome: TurnOutcome): Promise<void> {
    const knowledge = this.#knowledge;
    if (this.#ending !== null && this.#beginning !== null) this.#beginning.reject(this.#ending.error);
    else this.#open();
    if (outcome.endsInHalf && this.#start.named) (knowledge?.reply ?? this).emit({ type: "text", deltas: ["\ufffd"] });
    knowledge?.reply?.end(outcome.complete, outcome.isPaused);
    // Decided before it is stored: a stop from now on changes nothing.
    const end: TurnEnd = outcome.complete
      ? { type: "end", outcome: "complete" }
      : toIncompleteEnd(this.#services, this.#start, this.#ending, outcome.failure);
    const result = toTurnResult(this.#services, this.#start, {
      ...{ asked, outcome, end, knowledge, isKept: true, text: this.#text.toString(), firstTextMs: this.#firstTextMs },
      isTooLong: this.#ending?.code === "too_long",
    });
    this.#services.measurements.countTokens(result.usage);
    try {
      const reached = await this.#start.storage.settle(result);
      if (reached.length > 0) noteReached(this.#services, reached);
    } catch (error) {
      this.#services.log.error("turn not kept", toLogged(this.#start, error));
      this.#readers.take({ type: "end", outcome: "broken", code: "unavailable" });
      return;
    } finally {
      // Even if it is unknown whether the turn was stored.
      asked.ticket.settle();
    }
    const isSaid = end.outcome === "complete" && outcome.isPaused !== true;
    const sources = (await knowledge?.note(isSaid)) ?? [];
    const changes = (await this.#start.storage.people?.noteStored(isSaid && knowledge?.source != null)) ?? [];
    for (const event of [...sources, ...changes]) this.#readers.take(event);
    this.#readers.take(end);
  }

  #open(): void {
    this.#stopWaiting();
    this.#beginning?.resolve();
    this.#beginning = null;
  }

  /** There is nothing to store: reports an error to the caller if the response has not begun, and the end to readers. */
  #refuse(error: unknown): void {
    if (this.#beginning === null) logRefusal(this.#services, this.#start, error);
    this.#beginning?.reject(error);
    this.#readers.take(toRefusedEnd(error, this.#ending));
  }
}
