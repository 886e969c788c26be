/** What systemd passes to a service about itself through the environment; no settings, so never from the env file. */
import type { Variables } from "./read-settings.ts";

export interface SupervisorFacts {
  /** `NOTIFY_SOCKET`: where a service reports its state; `@` begins an abstract name. Null without `Type=notify`. */
  readonly notifySocket: string | null;
  /** How often a sign of life is expected (`WatchdogSec`); null if none is, or of another process. */
  readonly watchdogMs: number | null;
  /** `JOURNAL_STREAM`: device and inode of what goes to the journal, such as `8:12345`. */
  readonly journalStream: string | null;
}

export function readSupervisor(environment: Variables, pid: number = process.pid): SupervisorFacts {
  const { NOTIFY_SOCKET, WATCHDOG_USEC, WATCHDOG_PID, JOURNAL_STREAM } = environment;
  const isMine = WATCHDOG_PID === undefined || WATCHDOG_PID === "" || Number(WATCHDOG_PID) === pid;
  const watchdogMs = Number(WATCHDOG_USEC ?? 0) / 1000;
  return {
    notifySocket: NOTIFY_SOCKET || null,
    watchdogMs: isMine && Number.isFinite(watchdogMs) && watchdogMs > 0 ? watchdogMs : null,
    journalStream: JOURNAL_STREAM || null,
  };
}
