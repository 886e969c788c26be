/**
 * Turns of this server that wait for one ahead of them, here or at another server. Each asks whether its time has come
 * when it is notified; a check each second finds those that were not.
 */
import type { StopListener, StopSignal } from "../../../lib/stop-signal.ts";
import { unavailable } from "../failures.ts";
import type { Queries } from "../queries.ts";
import type { Ticket } from "./ticket-endings.ts";
import type { TicketRequest, Tickets, Verdict } from "./tickets.ts";

export interface Admission {
  verdict: Exclude<Verdict, "wait">;
  day: string;
}

export interface WaitingTurnsOptions {
  tickets: Tickets;
  /** For the periodic checks. */
  queries: Queries;
}

interface Waiter extends StopListener {
  readonly ticket: Ticket;
  readonly request: TicketRequest;
  readonly signal: StopSignal;
  isAsking: boolean;
  mustAskAgain: boolean;
  resolve(admission: Admission): void;
  reject(reason: unknown): void;
}

const checkEveryMs = 1000;
/** After this long without an answer to any check, no turn waits any longer. */
const patienceMs = 10_000;

/** Those with none ahead of them, and those whose ticket is gone. */
const checkStatement = `SELECT w.id FROM unnest($1::text[]) AS w (id) LEFT JOIN open_turns t ON t.id = w.id
  WHERE t.id IS NULL OR NOT EXISTS
    (SELECT 1 FROM open_turns a WHERE a.queue_key = t.queue_key AND a.number < t.number)`;

export class WaitingTurns {
  readonly #options: WaitingTurnsOptions;
  readonly #waiters = new Map<string, Waiter>();
  readonly #timer: Timer;
  #isChecking = false;
  #answeredMs = 0;

  constructor(options: WaitingTurnsOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.check(), checkEveryMs);
    this.#timer.unref();
  }

  /** Resolves when its time has come, or nothing is left of the day then. Rejects as `TurnGate.enter` does. */
  wait(ticket: Ticket, request: TicketRequest, signal: StopSignal): Promise<Admission> {
    const { promise, resolve, reject } = Promise.withResolvers<Admission>();
    const leave = () => {
      signal.removeEventListener("abort", waiter);
      this.#waiters.delete(ticket.id);
    };
    const waiter: Waiter = {
      ticket,
      request,
      signal,
      isAsking: false,
      mustAskAgain: false,
      resolve: (admission) => {
        leave();
        resolve(admission);
      },
      reject: (reason) => {
        leave();
        this.#options.tickets.end(ticket);
        reject(reason);
      },
      handleEvent() {
        // An answer that is under way may use up some of the day, and is waited for.
        if (!waiter.isAsking) waiter.reject(signal.reason);
      },
    };
    if (this.#waiters.size === 0) this.#answeredMs = performance.now();
    this.#waiters.set(ticket.id, waiter);
    signal.addEventListener("abort", waiter);
    if (signal.aborted) waiter.reject(signal.reason);
    return promise;
  }

  /** Asks for the one with this ticket, if it waits here. */
  wake(ticketId: string): void {
    const waiter = this.#waiters.get(ticketId);
    if (waiter !== undefined) void this.#ask(waiter);
  }

  /** Asks for the first one of this conversation that waits here. */
  wakeNext(queueKey: string): void {
    for (const waiter of this.#waiters.values()) {
      if (waiter.request.queueKey === queueKey) return void this.#ask(waiter);
    }
  }

  /** Asks for everyone whose time has come unnoticed. Never rejects. */
  async check(): Promise<void> {
    if (this.#waiters.size === 0 || this.#isChecking) return;
    this.#isChecking = true;
    try {
      const rows = await this.#options.queries.all<{ id: string }>(checkStatement, [[...this.#waiters.keys()]]);
      this.#answeredMs = performance.now();
      for (const { id } of rows) this.wake(id);
    } catch (error) {
      if (performance.now() - this.#answeredMs > patienceMs) this.#rejectAll(unavailable(error));
    } finally {
      this.#isChecking = false;
    }
  }

  close(): void {
    clearInterval(this.#timer);
    this.#rejectAll(unavailable());
  }

  #rejectAll(reason: Error): void {
    for (const waiter of this.#waiters.values()) waiter.reject(reason);
  }

  async #ask(waiter: Waiter): Promise<void> {
    waiter.mustAskAgain = true;
    if (waiter.isAsking) return;
    waiter.isAsking = true;
    while (waiter.mustAskAgain && this.#isWaiting(waiter)) {
      waiter.mustAskAgain = false;
      await this.#askOnce(waiter);
    }
    waiter.isAsking = false;
  }

  async #askOnce(waiter: Waiter): Promise<void> {
    const { ticket, request, signal } = waiter;
    const { tickets } = this.#options;
    // Where the outcome is unknown, the next check asks again.
    let outcome = await tickets.take(ticket, request).catch(() => null);
    if (outcome?.verdict === "gone" && this.#isWaiting(waiter)) {
      // PostgreSQL crashed before the ticket was on disk.
      try {
        outcome = await tickets.enter(request, ticket.id);
      } catch (error) {
        return waiter.reject(error);
      }
    }
    if (!this.#isWaiting(waiter)) return tickets.end(ticket);
    if (signal.aborted) return waiter.reject(signal.reason);
    if (outcome === null || outcome.verdict === "wait" || outcome.verdict === "gone") return;
    waiter.resolve({ verdict: outcome.verdict, day: outcome.day });
    if (outcome.verdict !== "run" && ticket.queueKey !== null) this.wakeNext(ticket.queueKey);
  }

  #isWaiting(waiter: Waiter): boolean {
    return this.#waiters.get(waiter.ticket.id) === waiter;
  }
}
