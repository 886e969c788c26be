/** Servers' shares in the coordination of one PostgreSQL database: several in one process, as several servers have it. */
import { openCoordination, type PostgresCoordination } from "../../src/engines/postgres/coordination/coordination.ts";
import { type OpenedPostgres, openPostgresStore } from "../../src/engines/postgres/open.ts";
import { type Clock, systemClock } from "../../src/lib/clock.ts";
import { createCapturedLog } from "./captured-log.ts";

export interface PostgresInstance extends OpenedPostgres {
  coordination: PostgresCoordination;
  log: ReturnType<typeof createCapturedLog>;
  close(): Promise<void>;
}

export interface InstanceChoices {
  clock?: Clock;
  sharesWindows?: boolean;
  patienceMs?: number;
  log?: ReturnType<typeof createCapturedLog>;
}

export async function openPostgresInstance(url: string, choices: InstanceChoices = {}): Promise<PostgresInstance> {
  const { log = createCapturedLog() } = choices;
  const opened = await openPostgresStore({ url, pool: 4, poolHeavy: 2, log });
  const options = { url, version: "1.2.3", clock: systemClock, sharesWindows: true, ...choices, log };
  try {
    const coordination = await openCoordination(opened, options);
    async function close() {
      await coordination.close();
      await opened.store.close();
    }
    return { ...opened, coordination, log, close };
  } catch (error) {
    await opened.store.close();
    throw error;
  }
}

/** What a probe with this name, and these labels, shows now. */
export async function readProbe({ coordination }: PostgresInstance, name: string): Promise<number | null> {
  const probe = coordination.probes.find((one) => one.name === name);
  if (probe === undefined) throw new Error(`there is no probe ${name}`);
  return await probe.read();
}
