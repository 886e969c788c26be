/** The state of what servers share, for metrics. */
import type { Probe } from "../../../lib/probe.ts";
import type { PostgresEngine } from "../engine.ts";
import type { Pool } from "../pool.ts";
import type { Settling } from "../settling.ts";
import type { InstanceClock } from "./instance-clock.ts";
import type { Reaper } from "./reaper.ts";

export interface ProbedParts {
  engine: PostgresEngine;
  settling: Settling;
  reaper: Reaper;
  clock: InstanceClock;
}

export function createProbes({ engine, settling, reaper, clock }: ProbedParts): Probe[] {
  return [
    ...probesOfPool("quick", engine.quickPool),
    ...probesOfPool("heavy", engine.heavyPool),
    {
      name: "companiond_database_bytes",
      help: "Size of the database's files.",
      // On the disk of PostgreSQL, not on ours.
      labels: { file: "postgres" },
      read: () => readSize(engine),
    },
    {
      name: "companiond_turn_batches_total",
      help: "Commits that settled turns, each of one turn or several.",
      read: () => settling.counts.batches,
    },
    {
      name: "companiond_turns_batched_total",
      help: "Turns that were settled in these commits.",
      read: () => settling.counts.turns,
    },
    {
      name: "companiond_tickets_reaped_total",
      help: "Slots in queues and messages of daily quotas that dead servers had left, and this one deleted.",
      read: () => reaper.reapedCount,
    },
    {
      name: "companiond_instances",
      help: "Servers that run on this database, this one included.",
      read: () => reaper.liveCount,
    },
    {
      name: "companiond_database_clock_offset_seconds",
      help: "What is added to this machine's time to get the database's.",
      read: () => clock.offsetMs / 1000,
    },
  ];
}

async function readSize({ heavy }: PostgresEngine): Promise<number | null> {
  try {
    const size = "SELECT pg_database_size(current_database())::float8 AS bytes";
    return (await heavy.get<{ bytes: number }>(size))?.bytes ?? null;
  } catch {
    return null;
  }
}

function probesOfPool(name: string, pool: Pool): Probe[] {
  return [
    {
      name: "companiond_database_pool_open",
      help: "Queries and transactions under way, those that wait for a connection included.",
      labels: { pool: name },
      read: () => pool.openCount,
    },
    {
      name: "companiond_database_timeouts_total",
      help: "How often the database did not answer in time.",
      labels: { pool: name },
      read: () => pool.timeoutCount,
    },
  ];
}
