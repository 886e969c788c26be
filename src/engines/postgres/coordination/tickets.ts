/** Tickets in the database: requested, acquired when their turn comes, released. */

import { maxWaitingTurns } from "../../../contracts/coordination.ts";
import type { Clock } from "../../../lib/clock.ts";
import { toUtcDay } from "../../../lib/clock.ts";
import type { Log } from "../../../lib/log.ts";
import type { OpenTickets } from "../open-tickets.ts";
import type { Pool } from "../pool.ts";
import { type Ticket, TicketEndings } from "./ticket-endings.ts";

export interface TicketRequest {
  companionId: string;
  /** `uncounted` takes nothing of a day. */
  kind: "message" | "voice_session" | "uncounted";
  /** Null: it does not queue. */
  queueKey: string | null;
  /** Of this kind, for the companion's UTC day; null where nothing is counted. */
  perDay: number | null;
  /** A visitor with a limit of their own, which holds besides. */
  visitor: { readonly id: string; readonly messagesPerDay: number } | null;
  /** The client's name for the message. */
  messageId: string | null;
}

/** `wait`: it is in the queue, and nothing of the day is counted for it. */
export type Verdict = "run" | "wait" | "queue_full" | "day_used_up" | "visitor_day_used_up" | "runs_elsewhere";

export interface TicketsOptions {
  /** Its statements may be sent twice. */
  pool: Pick<Pool, "reads" | "once">;
  instanceNumber: number;
  clock: Pick<Clock, "nowMs">;
  tickets: OpenTickets;
  log: Log;
}

const enterStatement = `SELECT enter_turn($1::text, $2::bigint, $3::text, $4::text, $5::text, ${maxWaitingTurns},
  $6::text, $7::bigint, $8::text[], $9::text, $10::text, $11::bigint) AS verdict`;
const takeStatement = `SELECT verdict, counted_day AS "countedDay"
  FROM take_turn($1::text, $2::text, $3::text, $4::bigint, $5::bigint)`;
export const elsewhereStatement = `SELECT i.url FROM open_turns t LEFT JOIN instances i ON i.number = t.instance_number
  WHERE t.queue_key = $1 AND t.message_id = $2 AND t.instance_number <> $3::bigint LIMIT 1`;
const ownStatement = `SELECT id, companion_id AS "companionId", queue_key AS "queueKey" FROM open_turns
  WHERE instance_number = $1::bigint`;

export class Tickets {
  readonly #options: TicketsOptions;
  readonly #endings: TicketEndings;
  #onGone: (ticket: Ticket) => void = () => {};

  constructor(options: TicketsOptions) {
    this.#options = options;
    this.#endings = new TicketEndings({ ...options, onGone: (ticket) => this.#onGone(ticket) });
  }

  /** `listener` is notified of each ticket of this server that is gone from the database. */
  onGone(listener: (ticket: Ticket) => void): void {
    this.#onGone = listener;
  }

  /**
   * One round trip. The ticket must be ended after `run` and `wait`; nothing is held after a refusal. Rejects with
   * `unavailable`: then nothing is held either, or will be as soon as PostgreSQL can be asked.
   */
  async enter(
    request: TicketRequest,
    id: string = crypto.randomUUID(),
  ): Promise<{ ticket: Ticket; verdict: Verdict; day: string }> {
    const { companionId, kind, queueKey, perDay, visitor, messageId } = request;
    const { pool, instanceNumber, clock, tickets } = this.#options;
    const ticket = { id, companionId, queueKey };
    const day = toUtcDay(clock.nowMs());
    const along = this.#endings.takeAlong(companionId);
    tickets.hold(id);
    try {
      const ended = along.map((one) => one.id);
      // Asked twice if the connection was lost: the second answer shows the outcome of the first.
      const row = await pool.reads.get<{ verdict: Verdict }>(enterStatement, [
        ...[id, instanceNumber, companionId, kind, queueKey, day, perDay],
        ended,
        ...[messageId, visitor?.id ?? null, visitor?.messagesPerDay ?? null],
      ]);
      if (row === null) throw new Error("PostgreSQL returned nothing for a ticket");
      this.#endings.confirm(along);
      if (row.verdict !== "run" && row.verdict !== "wait") tickets.takeEnded(id);
      return { ticket, verdict: row.verdict, day };
    } catch (error) {
      // Its commit may have arrived, or may still.
      this.end(ticket);
      throw error;
    }
  }

  /** Whether a waiting ticket's time has come. `gone`: the database has lost it. Rejects as above, and the ticket stays. */
  async take(
    { id, companionId }: Ticket,
    { perDay, visitor }: TicketRequest,
  ): Promise<{ verdict: Verdict | "gone"; day: string }> {
    const { pool, clock, tickets } = this.#options;
    const today = toUtcDay(clock.nowMs());
    const row = await pool.reads.get<{ verdict: Verdict | "gone"; countedDay: string | null }>(takeStatement, [
      ...[id, companionId, today, perDay, visitor?.messagesPerDay ?? null],
    ]);
    if (row === null) throw new Error("PostgreSQL returned nothing for a ticket");
    if (row.verdict === "day_used_up" || row.verdict === "visitor_day_used_up") tickets.takeEnded(id);
    return { verdict: row.verdict, day: row.countedDay ?? today };
  }

  /** The URL of another server that has a ticket for this message; null if none has. */
  findElsewhere(queueKey: string, messageId: string): Promise<{ url: string | null } | null> {
    const { pool, instanceNumber } = this.#options;
    return pool.reads.get<{ url: string | null }>(elsewhereStatement, [queueKey, messageId, instanceNumber]);
  }

  /** Returns immediately. Call it once for each ticket. */
  end(ticket: Ticket): void {
    if (this.#options.tickets.takeEnded(ticket.id)) this.#onGone(ticket);
    else this.#endings.add(ticket);
  }

  /**
   * Ends what is in the database under this server's number and has no holder: a commit that arrived after its
   * caller had given up, and after the ticket was deleted in vain.
   */
  async sweep(): Promise<void> {
    const { pool, instanceNumber, tickets } = this.#options;
    const rows = await pool.reads.all<Ticket>(ownStatement, [instanceNumber]);
    for (const ticket of rows) if (!tickets.isHeld(ticket.id)) this.#endings.add(ticket);
  }

  close(): Promise<void> {
    return this.#endings.close();
  }
}
