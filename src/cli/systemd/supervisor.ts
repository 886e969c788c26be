/**
 * Reports the server's state to systemd, where the unit has `Type=notify`: that it starts, serves, reloads and stops,
 * and, for the watchdog, that it works.
 */
import type { SupervisorFacts } from "../../config/supervisor.ts";
import type { Log } from "../../lib/log.ts";
import type { NotifySocket } from "./notify-socket.ts";

export interface Supervisor {
  /** Before the database is opened. */
  starting(): void;
  serving(now: ServingNow): void;
  reload(run: () => Promise<void> | void): Promise<void>;
  stopping(status: string): void;
}

export interface ServingNow {
  /** One line for `systemctl status`; asked again with each sign of life. */
  describe(): string;
  /** Settles, either way, unless the store hangs. */
  check(): Promise<void>;
}

/** How long a start may take beyond the unit's own limit: a large database is backed up and then migrated. */
const maxStartMs = 15 * 60_000;
/** Messages are kept in order, so one that is not accepted delays those after it. */
const retry = { everyMs: 100, times: 50 };

/** Longer than any wait of the store's own, and than the shortest watchdog that may be set. */
const storeHungAfterMs = 30_000;

interface SupervisorOptions extends Pick<SupervisorFacts, "watchdogMs"> {
  log: Log;
  hungAfterMs?: number;
  retryMs?: number;
}

const noSupervisor: Supervisor = { starting() {}, serving() {}, reload: async (run) => run(), stopping() {} };

export async function openSupervisor({ notifySocket, watchdogMs }: SupervisorFacts, log: Log): Promise<Supervisor> {
  if (notifySocket === null) return noSupervisor;
  const { openNotifySocket } = await import("./notify-socket.ts");
  const socket = openNotifySocket(notifySocket);
  if (socket !== null) return supervise(socket, { watchdogMs, log });
  log.warn("the server's state cannot be reported to systemd: NOTIFY_SOCKET cannot be used", { notifySocket });
  return noSupervisor;
}

/** Exported for tests, which bring a socket of their own. */
export function supervise(
  socket: NotifySocket,
  { watchdogMs, log, hungAfterMs = storeHungAfterMs, retryMs = retry.everyMs }: SupervisorOptions,
): Supervisor {
  const waiting: string[] = [];
  let retriesLeft = retry.times;
  let isRetrying = false;
  let isLost = false;
  let serving: ServingNow | null = null;
  let isStopping = false;

  /** Sent immediately where possible: what comes next may hold up the event loop, as a migration does. */
  function notify(...fields: string[]): void {
    waiting.push(fields.join("\n"));
    if (!isRetrying) sendWaiting();
  }

  function sendWaiting(): void {
    isRetrying = false;
    for (let [text] = waiting; text !== undefined; [text] = waiting) {
      if (!socket.send(text)) {
        if (retriesLeft-- > 0) {
          isRetrying = true;
          setTimeout(sendWaiting, retryMs).unref();
          return;
        }
        // Once, and not again with each sign of life that is not accepted.
        if (!isLost) log.warn("systemd did not take a message", { message: text.split("\n")[0] });
        isLost = true;
      } else isLost = false;
      retriesLeft = retry.times;
      waiting.shift();
    }
  }

  /** A status is one line. */
  const describe = (text: string) => `STATUS=${text.replaceAll("\n", " ")}`;

  /**
   * The timer shows that the event loop turns, and a check that settles that the store does. A check that fails counts
   * as life: on a full disk, or while a database server is away, a restart would not help, and would end replies.
   */
  function watch(): void {
    if (watchdogMs === null) return;
    let checkingSinceMs: number | null = null;
    const check = () => {
      if (checkingSinceMs !== null && performance.now() - checkingSinceMs > hungAfterMs) {
        log.error("the store hangs, so the watchdog gets no sign of life", { hungAfterMs });
        return;
      }
      if (checkingSinceMs === null && serving !== null) {
        checkingSinceMs = performance.now();
        const settled = () => (checkingSinceMs = null);
        serving.check().then(settled, settled);
      }
      // While systemd does not read, one message waits for it, not many.
      if (waiting.length > 0) return;
      notify("WATCHDOG=1", ...(serving === null || isStopping ? [] : [describe(serving.describe())]));
    };
    setInterval(check, watchdogMs / 2).unref();
  }

  return {
    starting() {
      notify(`EXTEND_TIMEOUT_USEC=${maxStartMs * 1000}`, describe("Opening the database"));
    },
    serving(now) {
      serving = now;
      notify("READY=1", describe(now.describe()));
      watch();
    },
    async reload(run) {
      notify("RELOADING=1", `MONOTONIC_USEC=${socket.nowUs()}`, describe("Reloading"));
      await run();
      if (!isStopping) notify("READY=1", describe(serving?.describe() ?? ""));
    },
    stopping(status) {
      isStopping = true;
      notify("STOPPING=1", describe(status));
    },
  };
}
