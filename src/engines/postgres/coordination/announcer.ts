/** What servers of one database announce to each other: many lines in one notification, which all of them receive. */
import type { Announcements } from "../../../contracts/announcements.ts";
import type { Pool } from "../pool.ts";

export const announcementChannel = "companiond_announcements";

export interface AnnouncerOptions {
  pool: Pick<Pool, "once">;
  /** Of this server, which ignores its own. */
  instanceNumber: string;
}

/** PostgreSQL takes fewer than 8000. */
const maxPayloadBytes = 7_900;
const maxQueued = 10_000;
/** Each notification is a commit that others wait for, so there are few of them. */
const betweenMs = 25;
/** Commits in the order of the calls, and without waiting for the disk: nothing of it is kept. */
const notify = "SELECT set_config('synchronous_commit', 'off', true), pg_notify($1, $2)";

type Listener = Parameters<Announcements["onReceived"]>[0];

export class Announcer implements Announcements {
  readonly isShared = true;
  readonly #options: AnnouncerOptions;
  readonly #listeners: Listener[] = [];
  /** Each once, in the order of the first. */
  readonly #queued = new Set<string>();
  #running: Promise<void> | null = null;
  #isClosed = false;

  constructor(options: AnnouncerOptions) {
    this.#options = options;
  }

  send(text: string): void {
    if (this.#isClosed || this.#queued.size >= maxQueued || Buffer.byteLength(text) > 500) return;
    // Behind what was announced since: the last announcement counts.
    this.#queued.delete(text);
    this.#queued.add(text);
    this.#running ??= this.#run();
  }

  onReceived(listener: Listener): void {
    this.#listeners.push(listener);
  }

  receive(payload: string): void {
    const [sender, ...texts] = payload.split("\n");
    if (sender === this.#options.instanceNumber) return;
    for (const text of texts) for (const listener of this.#listeners) listener({ text });
  }

  noteLoss(): void {
    for (const listener of this.#listeners) listener("may_have_missed");
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#queued.clear();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#queued.size > 0) {
      // The first wait gathers what one turn of the loop announces.
      await Bun.sleep(betweenMs);
      if (this.#queued.size === 0) break;
      const payload = this.#takePayload();
      // What does not arrive is lost: a receiver that must not miss it polls the store.
      await this.#options.pool.once.all(notify, [announcementChannel, payload]).catch(() => {});
    }
    this.#running = null;
  }

  #takePayload(): string {
    let payload = this.#options.instanceNumber;
    let bytes = payload.length;
    for (const text of this.#queued) {
      const more = 1 + Buffer.byteLength(text);
      if (bytes + more > maxPayloadBytes) break;
      payload += `\n${text}`;
      bytes += more;
      this.#queued.delete(text);
    }
    return payload;
  }
}
