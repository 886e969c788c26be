/** One connection to Redis whose every wait has a deadline. It does not come back: its user opens another. */
import { RedisClient } from "bun";
import type { Script } from "./script.ts";

/** Redis did not do what it was asked to. `reason` is fit for a log: it holds no key, argument or password. */
export class RedisFailure extends Error {
  readonly reason: string;

  constructor(reason: string) {
    super(`Redis: ${reason}`);
    this.name = "RedisFailure";
    this.reason = reason;
  }
}

export const closedReason = "connection closed";

export class RedisConnection {
  /** Called once when the connection ends, from either side. */
  onClose: () => void = () => {};
  readonly #client: RedisClient;

  private constructor(client: RedisClient) {
    this.#client = client;
    client.onclose = () => this.onClose();
  }

  /** Rejects with a `RedisFailure`, which seldom shows the cause: the driver does not tell refusals apart. */
  static async open(url: string, deadlineMs: number): Promise<RedisConnection> {
    // The driver itself would come back after a second at most; our own probes do after 20 ms.
    const client = new RedisClient(url, {
      autoReconnect: false,
      enableOfflineQueue: false,
      connectionTimeout: deadlineMs,
    });
    const connection = new RedisConnection(client);
    try {
      await inTime(client.connect(), deadlineMs);
    } catch (error) {
      connection.close();
      throw toFailure(error);
    }
    return connection;
  }

  /** Rejects with a `RedisFailure` after `deadlineMs` at most; whether Redis did it is unknown then. */
  async send(command: string, args: readonly string[], deadlineMs: number): Promise<unknown> {
    try {
      return await inTime(this.#client.send(command, [...args]), deadlineMs);
    } catch (error) {
      throw toFailure(error);
    }
  }

  /** As `send`. One round trip, or two where Redis has forgotten the script. The text is sent before this returns. */
  async run(script: Script, keys: readonly string[], args: readonly string[], deadlineMs: number): Promise<unknown> {
    const parameters = [String(keys.length), ...keys, ...args];
    try {
      return await inTime(this.#evaluate(script, parameters), deadlineMs);
    } catch (error) {
      throw toFailure(error);
    }
  }

  async #evaluate(script: Script, parameters: readonly string[]): Promise<unknown> {
    try {
      return await this.#client.send("EVALSHA", [script.digest, ...parameters]);
    } catch (error) {
      if (toFailure(error).reason !== "NOSCRIPT") throw error;
      return await this.#client.send("EVAL", [script.text, ...parameters]);
    }
  }

  close(): void {
    this.#client.close();
  }
}

/** An answer that has arrived is read before this gives up, even if the process was busy until long after the deadline. */
const lastReadMs = 20;

async function inTime<Value>(answer: Promise<Value>, deadlineMs: number): Promise<Value> {
  const late = Promise.withResolvers<never>();
  let timer = setTimeout(() => {
    timer = setTimeout(
      () => late.reject(new RedisFailure(`no answer within ${Math.round(deadlineMs)} ms`)),
      lastReadMs,
    );
  }, deadlineMs - lastReadMs);
  try {
    return await Promise.race([answer, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Of Redis' message, only the leading word is passed on: the rest may repeat what it was sent. */
function toFailure(error: unknown): RedisFailure {
  if (error instanceof RedisFailure) return error;
  const text = error instanceof Error ? error.message : "";
  return new RedisFailure(/^[A-Z]{2,}\b/.exec(text)?.[0] ?? closedReason);
}
