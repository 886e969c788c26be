/** Receives the notifications of other servers, on a connection of its own that is opened again whenever it ends. */
import type { SQL } from "bun";
import type { Session } from "./session.ts";

export interface NotificationsOptions {
  connect: (onClose: () => void) => SQL;
  /** By name; on the first, what is sent by `echo` comes back. */
  channels: Readonly<Record<string, (payload: string) => void>>;
  /** It receives from now on; earlier notifications are lost. */
  onListening: () => void;
}

/** A payload that only proves that the connection works. */
const echo = "";
const silenceMs = 5_000;
const openMs = 5_000;
const reopenAfterMs = 250;

export class Notifications {
  readonly #options: NotificationsOptions;
  readonly #closing = Promise.withResolvers<void>();
  readonly #running: Promise<void>;
  readonly #echoChannel: string;
  #isClosed = false;
  #heardMs = 0;
  #end = () => {};

  constructor(options: NotificationsOptions) {
    this.#options = options;
    this.#echoChannel = Object.keys(options.channels)[0] ?? "";
    this.#running = this.#run();
  }

  /** Call it each second: what is sent here comes back, unless nothing is listening. */
  async echo(session: Session): Promise<void> {
    // A connection may be dead without an end: then nothing arrives on it any more.
    if (this.#heardMs > 0 && performance.now() - this.#heardMs > silenceMs) this.#end();
    await session.ask("SELECT set_config('synchronous_commit', 'off', true), pg_notify($1, $2)", [
      this.#echoChannel,
      echo,
    ]);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#closing.resolve();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#isClosed) {
      try {
        await this.#listen();
      } catch {
        // Not logged: those who wait also check each second, and the loss of the database is logged elsewhere.
        await Promise.race([Bun.sleep(reopenAfterMs), this.#closing.promise]);
      }
    }
  }

  /** Until the connection ends, or has gone silent. */
  async #listen(): Promise<void> {
    const { connect, channels, onListening } = this.#options;
    const ended = Promise.withResolvers<void>();
    // The driver would listen again automatically, but writes to the standard error while it cannot.
    const sql = connect(ended.resolve);
    this.#end = ended.resolve;
    try {
      const listening = Object.entries(channels).map(([channel, onPayload]) =>
        sql.listen(channel, (payload: string) => {
          this.#heardMs = performance.now();
          if (payload !== echo) onPayload(payload);
        }),
      );
      await Promise.race([Promise.all(listening), rejectAfter(openMs), this.#closing.promise]);
      this.#heardMs = performance.now();
      onListening();
      await Promise.race([ended.promise, this.#closing.promise]);
    } finally {
      this.#heardMs = 0;
      await sql.close({ timeout: 0 }).catch(() => {});
    }
  }
}

async function rejectAfter(durationMs: number): Promise<never> {
  await Bun.sleep(durationMs);
  throw new Error(`nothing came within ${durationMs} ms`);
}
