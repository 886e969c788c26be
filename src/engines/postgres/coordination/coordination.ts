/**
 * The coordination engine for servers that share a database. A turn or voice session under way has a ticket, a row that
 * is its position in the queue and its share of the day; the commit that keeps it deletes the ticket. Each server proves by
 * a lock of a session that it is alive, and the others delete the tickets of one that is not.
 */
import type { SQL } from "bun";
import type { DailyQuota } from "../../../contracts/coordination.ts";
import type { SharedCoordination } from "../../../contracts/store/engine.ts";
import { type Clock, createSharedClock, secondsToMidnight, systemClock } from "../../../lib/clock.ts";
import type { Log } from "../../../lib/log.ts";
import { connect } from "../connection.ts";
import { requireNoCopy } from "../copy-guard.ts";
import type { OpenedPostgres } from "../open.ts";
import { Announcer, announcementChannel } from "./announcer.ts";
import { createDuties } from "./duties.ts";
import { Instance } from "./instance.ts";
import { ClockWatch, InstanceClock } from "./instance-clock.ts";
import { Notifications } from "./notifications.ts";
import { requireDirect } from "./pooler-check.ts";
import { createProbes } from "./probes.ts";
import { Reaper } from "./reaper.ts";
import { Tickets } from "./tickets.ts";
import { createTurnGate } from "./turn-gate.ts";
import { WaitingTurns } from "./waiting-turns.ts";

export interface CoordinationOptions {
  url: string;
  version: string;
  sharesWindows: boolean;
  /** The system's clock is corrected by the database's; any other is taken as it is. */
  clock: Clock;
  log: Log;
  /** How long to wait at the start until another server has gone. */
  patienceMs?: number;
}

export interface PostgresCoordination extends SharedCoordination {
  /** Throws `unavailable` if this server has lost contact for so long that others may take it for dead. */
  checkAlive(): void;
  /** Releases what this server holds. Close it before the store. */
  close(): Promise<void>;
}

/** Connections beside the pools: the session whose locks show that the server is alive, and the one that listens. */
export const ownConnections = 2;

const sessionStatementMs = 2_000;
/** The session has a statement each second. Without contact its locks end with this, and others can go on. */
const idleSessionMs = 5_000;
const beatMs = 1_000;
/** After a check that missed another server. */
const soonMs = 700;
const sweepEachBeats = 5;

/** Rejects with `conflict` if the server cannot serve beside those that do, and with `unavailable`. */
export async function openCoordination(
  { engine, parts }: Pick<OpenedPostgres, "engine" | "parts">,
  { url, version, sharesWindows, clock: ownClock, log, patienceMs }: CoordinationOptions,
): Promise<PostgresCoordination> {
  const connectOne = (onClose: () => void): SQL =>
    connect({ url, max: 1, statementMs: sessionStatementMs, idleSessionMs, onClose });
  const instance = await Instance.start({
    connect: connectOne,
    facts: { id: crypto.randomUUID(), url: null, version, sharesWindows, startedAtMs: ownClock.nowMs() },
    log,
    ...(patienceMs === undefined ? {} : { patienceMs }),
  });
  const instanceClock = new InstanceClock();
  const clockWatch = new ClockWatch(log);
  const reaper = new Reaper({ pool: engine.heavyPool, log });
  try {
    // Again, now that a copy can see this server: one that began after the first check sees it, or is seen here.
    await requireNoCopy(engine.quick);
    if (instance.session !== null) {
      await requireDirect(instance.session, engine.quickPool);
      await instanceClock.start(instance.session);
      clockWatch.check(instanceClock.offsetMs);
    }
  } catch (error) {
    await instance.close();
    throw error;
  }
  const shared = {
    get clockOffsetMs() {
      return instanceClock.offsetMs;
    },
  };
  const clock = ownClock === systemClock ? createSharedClock(shared) : ownClock;
  const tickets = new Tickets({
    pool: engine.quickPool,
    instanceNumber: instance.number,
    clock,
    tickets: parts.tickets,
    log,
  });
  const waiting = new WaitingTurns({ tickets, queries: engine.quick });
  tickets.onGone(({ queueKey }) => {
    if (queueKey !== null) waiting.wakeNext(queueKey);
  });
  const announcer = new Announcer({ pool: engine.quickPool, instanceNumber: String(instance.number) });
  const notifications = new Notifications({
    connect: (onClose) => connect({ url, max: 1, statementMs: sessionStatementMs, onClose }),
    channels: {
      [`companiond_turns_${instance.number}`]: (ticketId) => waiting.wake(ticketId),
      [announcementChannel]: (payload) => announcer.receive(payload),
    },
    onListening() {
      void waiting.check();
      announcer.noteLoss();
    },
  });

  let beats = 0;
  instance.startBeating(async (session, isFresh) => {
    if (isFresh) reaper.beginGrace();
    await instanceClock.measure(session);
    clockWatch.check(instanceClock.offsetMs);
    const isAnyMissing = await reaper.check(session);
    await notifications.echo(session);
    if (++beats % sweepEachBeats === 0) void tickets.sweep().catch(() => {});
    return isAnyMissing ? soonMs : beatMs;
  });

  return {
    turns: createTurnGate({ clock, tickets, waiting }),
    voiceSessions: createDailyReservations(clock, tickets),
    arrivals: parts.arrivals,
    announcements: announcer,
    duties: createDuties(instance),
    get clockOffsetMs() {
      return instanceClock.offsetMs;
    },
    announce: (url) => instance.announce(url),
    async countOthers() {
      const row = await engine.quick.get<{ count: number }>(
        "SELECT count(*)::int AS count FROM live_instances() AS l (number) WHERE l.number <> $1::bigint",
        [instance.number],
      );
      return row?.count ?? 0;
    },
    probes: createProbes({ engine, settling: parts.settling, reaper, clock: instanceClock }),
    checkAlive: () => instance.checkAlive(),
    async close() {
      waiting.close();
      await announcer.close();
      await tickets.close();
      await Promise.all([notifications.close(), instance.close()]);
    },
  };
}

/**
 * The daily quota of voice sessions, at any server of the database: a reservation is a ticket that does not queue.
 */
function createDailyReservations(clock: Pick<Clock, "nowMs">, tickets: Tickets): DailyQuota {
  return {
    async reserve(companionId, limit) {
      const { ticket, verdict, day } = await tickets.enter({
        companionId,
        kind: "voice_session",
        queueKey: null,
        perDay: limit,
        visitor: null,
        messageId: null,
      });
      if (verdict !== "run") {
        return { isAdmitted: false, reason: "day_used_up", retryAfterSeconds: secondsToMidnight(clock.nowMs()) };
      }
      let isOpen = true;
      const close = () => {
        if (isOpen) tickets.end(ticket);
        isOpen = false;
      };
      // What is durable is counted without its ticket.
      return { isAdmitted: true, id: ticket.id, day, settle: close, release: close };
    },
  };
}
