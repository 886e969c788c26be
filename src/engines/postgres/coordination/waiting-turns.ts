/**
 * Turns of this server that wait for one ahead of them, here or at another server. Each asks whether its time has come
 * when it is notified; a check each second finds those that were not.
 */
import type { StopListener, StopSignal } from "../../../lib/stop-signal.ts";
import { unavailable } from "../failures.ts";
import type { Queries } from "../queries.ts";
import type { Ticket } from "./ticket-endings.ts";
import type { Place, Tickets, Verdict } from "./tickets.ts";

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
  readonly place: Place;
  readonly signal: StopSignal;
  isAsking: boolean;
  mustAskAgain: boolean;
  resolve(admission: Admission): void;
  reject(reason: unknown): void;
}

const lookEveryMs = 1000;
/** After this long without an answer to any check, no turn waits any longer. */
const patienceMs = 10_000;

/** Those with none ahead of them, and those whose ticket is gone. */
const lookStatement = `SELECT w.id FROM unnest($1::text[]) AS w (id) LEFT JOIN open_turns t ON t.id = w.id
  WHERE t.id IS NULL OR NOT EXISTS
    (SELECT 1 FROM open_turns a WHERE a.queue_key = t.queue_key AND a.number < t.number)`;

export class WaitingTurns {
  readonly #options: WaitingTurnsOptions;
  readonly #waiters = new Map<string, Waiter>();
  readonly #timer: Timer;
  #isLooking = false;
  #answeredMs = 0;

  constructor(options: WaitingTurnsOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.look(), lookEveryMs);
    this.#timer.unref();
  }

  /** Resolves when its time has come, or nothing is left of the day then. Rejects as `TurnGate.enter` does. */
  wait(ticket: Ticket, place: Place, signal: StopSignal): Promise<Admission> {
    const { promise, resolve, reject } = Promise.withResolvers<Admission>();
    const leave = () => {
      signal.removeEventListener("abort", waiter);
      this.#waiters.delete(ticket.id);
    };
    const waiter: Waiter = {
      ticket,
      place,
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
  tell(ticketId: string): void {
    const waiter = this.#waiters.get(ticketId);
    if (waiter !== undefined) void this.#ask(waiter);
  }

  /** Asks for the first one of this conversation that waits here. */
  tellNext(queueKey: string): void {
    for (const waiter of this.#waiters.values()) {
      if (waiter.place.queueKey === queueKey) return void this.#ask(waiter);
    }
  }

  /** Asks for everyone whose time has come unnoticed. Never rejects. */
  async look(): Promise<void> {
    if (this.#waiters.size === 0 || this.#isLooking) return;
    this.#isLooking = true;
    try {
      const rows = await this.#options.queries.all<{ id: string }>(lookStatement, [[...this.#waiters.keys()]]);
      this.#answeredMs = performance.now();
      for (const { id } of rows) this.tell(id);
    } catch (error) {
      if (performance.now() - this.#answeredMs > patienceMs) this.#rejectAll(unavailable(error));
    } finally {
      this.#isLooking = false;
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
    const { ticket, place, signal } = waiter;
    const { tickets } = this.#options;
    // Where the outcome is unknown, the next check asks again.
    let told = await tickets.take(ticket, place).catch(() => null);
    if (told?.verdict === "gone" && this.#isWaiting(waiter)) {
      // PostgreSQL crashed before the ticket was on disk.
      try {
        told = await tickets.enter(place, ticket.id);
      } catch (error) {
        return waiter.reject(error);
      }
    }
    if (!this.#isWaiting(waiter)) return tickets.end(ticket);
    if (signal.aborted) return waiter.reject(signal.reason);
    if (told === null || told.verdict === "wait" || told.verdict === "gone") return;
    waiter.resolve({ verdict: told.verdict, day: told.day });
    if (told.verdict !== "run" && ticket.queueKey !== null) this.tellNext(ticket.queueKey);
  }

  #isWaiting(waiter: Waiter): boolean {
    return this.#waiters.get(waiter.ticket.id) === waiter;
  }
}
