/** Releases tickets in the background: in batches, again and again until it is known to have happened. */
import type { Log } from "../../../lib/log.ts";
import type { Pool } from "../pool.ts";

export interface Ticket {
  readonly id: string;
  readonly companionId: string;
  /** Null if it does not queue. */
  readonly queueKey: string | null;
}

export interface TicketEndingsOptions {
  pool: Pick<Pool, "once">;
  log: Log;
  /** A ticket is gone from the database. */
  onGone: (ticket: Ticket) => void;
}

const maxAtOnce = 500;
/** Of one companion, those that the next ticket takes along. */
const maxAlong = 100;
const firstWaitMs = 50;
const maxWaitMs = 1000;
/** How long closing waits for the last ones; what is left then is deleted with this server's name. */
const closingMs = 2000;

const endStatement = "SELECT set_config('synchronous_commit', 'off', true), end_tickets($1::text[])";

export class TicketEndings {
  readonly #options: TicketEndingsOptions;
  /** Not known to be gone, by companion. */
  readonly #pending = new Map<string, Map<string, Ticket>>();
  #running: Promise<void> | null = null;
  #isClosed = false;

  constructor(options: TicketEndingsOptions) {
    this.#options = options;
  }

  add(ticket: Ticket): void {
    const others = this.#pending.get(ticket.companionId);
    if (others === undefined) this.#pending.set(ticket.companionId, new Map([[ticket.id, ticket]]));
    else others.set(ticket.id, ticket);
    this.#running ??= this.#run();
  }

  /** For the companion's next ticket, which must find these gone. Call `confirm` once it has. */
  takeAlong(companionId: string): readonly Ticket[] {
    const pending = this.#pending.get(companionId);
    return pending === undefined ? [] : [...pending.values().take(maxAlong)];
  }

  confirm(tickets: readonly Ticket[]): void {
    for (const ticket of tickets) {
      const others = this.#pending.get(ticket.companionId);
      if (!others?.delete(ticket.id)) continue;
      if (others.size === 0) this.#pending.delete(ticket.companionId);
      this.#options.onGone(ticket);
    }
  }

  async close(): Promise<void> {
    await Promise.race([this.#running, Bun.sleep(closingMs)]);
    this.#isClosed = true;
  }

  /** Async from the start: what is released in the same turn of the event loop is released together. */
  async #run(): Promise<void> {
    let waitMs = firstWaitMs;
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#pending.size > 0 && !this.#isClosed) {
      const batch = this.#nextBatch();
      try {
        await this.#options.pool.once.get(endStatement, [batch.map(({ id }) => id)]);
        this.confirm(batch);
        waitMs = firstWaitMs;
      } catch (error) {
        if (waitMs === firstWaitMs) this.#options.log.warn("tickets cannot be released yet", { error });
        await Bun.sleep(waitMs);
        waitMs = Math.min(2 * waitMs, maxWaitMs);
      }
    }
    this.#running = null;
  }

  #nextBatch(): Ticket[] {
    const batch: Ticket[] = [];
    for (const tickets of this.#pending.values()) {
      batch.push(...tickets.values().take(maxAtOnce - batch.length));
      if (batch.length === maxAtOnce) break;
    }
    return batch;
  }
}
