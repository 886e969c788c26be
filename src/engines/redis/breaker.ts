/** Redis behind a breaker: while it is away no one waits for it, and callers learn so immediately. */
import type { Log } from "../../lib/log.ts";
import type { Probe } from "../../lib/probe.ts";
import { addressOf, nameOf } from "./address.ts";
import { closedReason, RedisConnection, RedisFailure } from "./connection.ts";
import type { Script } from "./script.ts";
import { signInScripts } from "./sign-in-scripts.ts";
import { windowScript } from "./window-script.ts";

/** All scripts, which every new connection loads first. */
export const scripts: readonly Script[] = [windowScript, ...Object.values(signInScripts)];

export interface RedisTimes {
  /** How long a command may take. */
  readonly commandMs: number;
  /** How long connecting may take, with TLS and authentication. */
  readonly connectMs: number;
  /** Between two attempts to reach Redis again, doubled after each. */
  readonly firstPauseMs: number;
  readonly maxPauseMs: number;
  /** Between two checks that Redis is still there: an unused connection may be lost without a sign. */
  readonly heartbeatMs: number;
}

export const defaultTimes: RedisTimes = {
  commandMs: 120,
  connectMs: 2000,
  firstPauseMs: 20,
  maxPauseMs: 1000,
  heartbeatMs: 15_000,
};

/** A connection that ended sooner does not count as a recovery: the pauses go on growing. */
const steadyMs = 10_000;

export interface SharedRedis {
  /**
   * Runs the script and returns its numbers, or null if Redis is away or did not answer in time; then it is unknown
   * whether it ran. Never rejects, and takes at most `commandMs`. Calls made one after the other run in that order.
   */
  ask(script: Script, keys: readonly string[], args: readonly string[]): Promise<readonly number[] | null>;
  /** Whether Redis is away now, so that this instance counts on its own. */
  readonly isLocal: boolean;
  /** The same as a metric. */
  readonly probes: readonly Probe[];
  /** Ends the connection and the attempts to get another; callers get null from then on. */
  close(): void;
}

/** Takes the connection over, which must be ready (`prepare`). */
export function guardConnection(url: string, connection: RedisConnection, log: Log, times: RedisTimes): SharedRedis {
  return new Breaker(url, connection, log, times);
}

/** Loads the scripts, and sees that Redis takes writes: a replica or a full one answers, but would count nothing. */
export async function prepare(
  connection: RedisConnection,
  { connectMs, commandMs }: Pick<RedisTimes, "connectMs" | "commandMs">,
): Promise<void> {
  await Promise.all(scripts.map(({ text }) => connection.send("SCRIPT", ["LOAD", text], connectMs)));
  // With the visitors' deadline: a server that is too slow for them is still away.
  const key = `companiond:probe:${crypto.randomUUID()}`;
  await Promise.all([
    connection.send("SET", [key, "1", "PX", "1000"], commandMs),
    connection.send("DEL", [key], commandMs),
  ]);
}

class Breaker implements SharedRedis {
  readonly probes: readonly Probe[] = [
    {
      name: "companiond_limits_local",
      help: "1 while Redis is away, so that this instance counts rates and failed sign-ins on its own.",
      read: () => (this.isLocal ? 1 : 0),
    },
  ];
  readonly #url: string;
  readonly #log: Log;
  readonly #times: RedisTimes;
  /** Null while the breaker is open. */
  #connection: RedisConnection | null = null;
  #connectedAtMs = 0;
  #pauseMs: number;
  #isClosed = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Also keeps servers and proxies from closing a connection that is idle at night. */
  readonly #heartbeat: ReturnType<typeof setInterval>;

  constructor(url: string, connection: RedisConnection, log: Log, times: RedisTimes) {
    this.#url = url;
    this.#log = log;
    this.#times = times;
    this.#pauseMs = times.firstPauseMs;
    this.#use(connection);
    this.#heartbeat = setInterval(() => void this.#check(), times.heartbeatMs);
  }

  get isLocal(): boolean {
    return this.#connection === null;
  }

  async ask(script: Script, keys: readonly string[], args: readonly string[]): Promise<readonly number[] | null> {
    const connection = this.#connection;
    if (connection === null) return null;
    try {
      return (await connection.run(script, keys, args, this.#times.commandMs)) as number[];
    } catch (error) {
      this.#lose(connection, reasonOf(error));
      return null;
    }
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    clearInterval(this.#heartbeat);
    const connection = this.#connection;
    this.#connection = null;
    connection?.close();
  }

  async #check(): Promise<void> {
    const connection = this.#connection;
    try {
      await connection?.send("PING", [], this.#times.commandMs);
    } catch (error) {
      if (connection !== null) this.#lose(connection, reasonOf(error));
    }
  }

  #use(connection: RedisConnection): void {
    this.#connection = connection;
    this.#connectedAtMs = performance.now();
    connection.onClose = () => this.#lose(connection, closedReason);
  }

  /** Closing the connection ends the wait of all others that have asked on it. */
  #lose(connection: RedisConnection, reason: string): void {
    if (this.#connection !== connection) return;
    this.#connection = null;
    connection.close();
    this.#log.warn("Redis is away: this instance counts on its own until it is back", {
      server: nameOf(addressOf(this.#url)),
      reason,
    });
    const awaySinceMs = performance.now();
    if (awaySinceMs - this.#connectedAtMs >= steadyMs) this.#pauseMs = this.#times.firstPauseMs;
    this.#tryLater(awaySinceMs);
  }

  /** One attempt at a time: the next begins after this one has failed. */
  #tryLater(awaySinceMs: number): void {
    this.#timer = setTimeout(() => void this.#tryAgain(awaySinceMs), this.#pauseMs);
    this.#pauseMs = Math.min(this.#pauseMs * 2, this.#times.maxPauseMs);
  }

  async #tryAgain(awaySinceMs: number): Promise<void> {
    const connection = await this.#reach();
    if (this.#isClosed) {
      connection?.close();
      return;
    }
    if (connection === null) {
      this.#tryLater(awaySinceMs);
      return;
    }
    this.#use(connection);
    this.#log.info("Redis is back: all instances count together again", {
      server: nameOf(addressOf(this.#url)),
      awayMs: Math.round(performance.now() - awaySinceMs),
    });
  }

  async #reach(): Promise<RedisConnection | null> {
    let connection: RedisConnection | null = null;
    try {
      connection = await RedisConnection.open(this.#url, this.#times.connectMs);
      await prepare(connection, this.#times);
      return connection;
    } catch {
      connection?.close();
      return null;
    }
  }
}

function reasonOf(error: unknown): string {
  return error instanceof RedisFailure ? error.reason : closedReason;
}
