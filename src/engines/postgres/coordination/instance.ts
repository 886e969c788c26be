/** This server among those of the database: it keeps the session whose locks show that it is alive. */
import type { SQL } from "bun";
import { AppError } from "../../../domain/errors.ts";
import type { Log } from "../../../lib/log.ts";
import { unavailable } from "../failures.ts";
import { type InstanceFacts, joinOthers, register, registerAgain } from "./instance-locks.ts";
import { openSession, type Session } from "./session.ts";

export interface InstanceOptions {
  connect: (onClose: () => void) => SQL;
  facts: InstanceFacts;
  log: Log;
  /** How long to wait at the start until another server has gone. */
  patienceMs?: number;
}

/** What is done with the session each second. `isFresh`: it was just opened. Resolves with when to come again. */
export type Beat = (session: Session, isFresh: boolean) => Promise<number>;

/** A killed server's slot is free within this time. */
const startPatienceMs = 10_000;
const firstReopenMs = 100;
const lastReopenMs = 1_000;
/** How long closing waits for what is under way. */
const closingMs = 2_000;
/** Without a beat for this long, others may take this server for dead soon. A beat comes each second. */
const aliveMs = 4_000;

export class Instance {
  readonly number: number;
  readonly #options: InstanceOptions;
  #facts: InstanceFacts;
  readonly #closing = Promise.withResolvers<void>();
  #session: Session | null;
  #isClosed = false;
  #beatMs = performance.now();
  #running: Promise<void> | null = null;
  #reopenAfterMs = firstReopenMs;
  #isSupplanted = false;

  /** Rejects with `conflict` if this server cannot serve beside those that do, and with `unavailable`. */
  static async start(options: InstanceOptions): Promise<Instance> {
    const { connect, facts, log, patienceMs = startPatienceMs } = options;
    const session = await openSession(connect);
    try {
      const onWait = () =>
        log.info("another server has the database: waiting for it to stop", { atMostMs: patienceMs });
      await joinOthers(session, { sharesWindows: facts.sharesWindows, patienceMs, onWait });
      return new Instance(options, session, await register(session, facts));
    } catch (error) {
      session.end();
      throw error;
    }
  }

  private constructor(options: InstanceOptions, session: Session, number: number) {
    this.#options = options;
    this.#facts = options.facts;
    this.#session = session;
    this.number = number;
  }

  /** The session as it is now; null while there is none. */
  get session(): Session | null {
    return this.#session;
  }

  /** Where others reach this server from now on. Without a session it is published with the next one. */
  async announce(url: string): Promise<void> {
    this.#facts = { ...this.#facts, url };
    const session = this.#session;
    try {
      if (session !== null) await this.#writeUrl(session);
    } catch (error) {
      if (!session?.hasEnded) throw error;
    }
  }

  /** Call it once. A beat that fails ends the session, and another one is opened. */
  startBeating(beat: Beat): void {
    this.#running = this.#run(beat);
  }

  /** Throws `unavailable` if this server has had no contact for so long that others may take it for dead. */
  checkAlive(): void {
    if (performance.now() - this.#beatMs <= aliveMs) return;
    throw new AppError("unavailable", "This server has lost its session with the database. It is trying again.");
  }

  /** Deletes what this server holds in the database, then gives up its locks. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#closing.resolve();
    await Promise.race([this.#running, Bun.sleep(closingMs)]);
    // Where this fails, the other servers do it.
    await this.#leave().catch(() => {});
    this.#session?.end();
  }

  async #leave(): Promise<void> {
    await this.#session?.ask("SELECT reap_instances($1::bigint[])", [[this.number]]);
    await this.#session?.ask("SELECT pg_advisory_unlock_all()");
  }

  async #writeUrl(session: Session): Promise<void> {
    await session.ask("UPDATE instances SET url = $2 WHERE number = $1::bigint AND url IS DISTINCT FROM $2", [
      ...[this.number, this.#facts.url],
    ]);
  }

  async #run(beat: Beat): Promise<void> {
    let isFresh = true;
    while (!this.#isClosed) {
      try {
        if (this.#session === null) {
          this.#session = await this.#reopen();
          // Again, as it is now: it may have been announced while there was no session.
          await this.#writeUrl(this.#session);
          isFresh = true;
        }
        const session = this.#session;
        if (this.#isClosed) return session.end();
        const waitMs = await beat(session, isFresh);
        isFresh = false;
        this.#beatMs = performance.now();
        await Promise.race([Bun.sleep(waitMs), session.ended, this.#closing.promise]);
        if (session.hasEnded) throw unavailable(new Error("PostgreSQL has ended the session"));
      } catch (error) {
        await this.#noteLoss(error);
      }
    }
  }

  async #noteLoss(error: unknown): Promise<void> {
    if (this.#isClosed) return;
    const wasOpen = this.#session !== null;
    this.#session?.end();
    this.#session = null;
    // The first time immediately: others give a lost lock little time.
    if (wasOpen) {
      this.#options.log.warn("the session with the database was lost", { error });
      this.#reopenAfterMs = firstReopenMs;
      return;
    }
    const isSupplanted = error instanceof AppError && error.code === "conflict";
    if (isSupplanted && !this.#isSupplanted) {
      this.#options.log.error("another server has replaced this one", { error });
    }
    this.#isSupplanted = isSupplanted;
    await Promise.race([Bun.sleep(this.#reopenAfterMs), this.#closing.promise]);
    this.#reopenAfterMs = Math.min(2 * this.#reopenAfterMs, lastReopenMs);
  }

  async #reopen(): Promise<Session> {
    const { connect, log } = this.#options;
    const session = await openSession(connect);
    try {
      await registerAgain(session, this.number, this.#facts);
    } catch (error) {
      session.end();
      throw error;
    }
    log.info("the session with the database is back", { instance: this.number });
    return session;
  }
}
