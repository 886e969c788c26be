/** The companion's public configuration: cached for a minute by the browser, and requested until it arrives. */
import type { CompanionConfig, Connection } from "../sdk/connection.ts";
import { type ConfigCache, createConfigCache, openStorage } from "../sdk/storage.ts";
import { isRefusal, type Problem, toProblem } from "./problem.ts";

/** As long as the interface allows a page to show a companion that may no longer exist. */
const ageMs = 60_000;
/** How long nothing is drawn for want of an answer. */
const patienceMs = 5_000;
const firstWaitMs = 5_000;
const maxWaitMs = 5 * 60_000;
/** How often a visitor's opening the chat asks before the server allows it: by then there may be room. */
const earlyRequests = 3;

export interface ConfigListener {
  /** Something must be redrawn. */
  changed(): void;
  /** For the page's own listeners: `ready`, `error`. */
  emit(name: string, detail: unknown): void;
}

export class ConfigSource {
  /** While the server gives no answer, what was last known, if anything. */
  config: CompanionConfig | null = null;
  /** Why the companion cannot be shown as it is now. */
  problem: Problem | null = null;

  readonly #connection: Connection;
  readonly #listener: ConfigListener;
  /** Shared by all tabs, so that a visitor who reads eleven pages makes one or two requests. */
  readonly #kept: ConfigCache;
  #isLoading = false;
  #isAnswered = false;
  #isWanted = false;
  #failures = 0;
  #early = 0;
  #timer = 0;

  constructor(connection: Connection, baseUrl: string, token: string, listener: ConfigListener) {
    this.#connection = connection;
    this.#kept = createConfigCache(openStorage("localStorage"), token, baseUrl);
    this.#listener = listener;
    window.addEventListener("online", this.#retry);
  }

  /** Whether there is nothing to be shown on this page. */
  get isRefused(): boolean {
    return isRefusal(this.problem?.code);
  }

  /** Resolves once something can be drawn: by the answer, or where none comes in time by what was last known. */
  async begin(isWanted: boolean): Promise<void> {
    await Promise.race([this.load(isWanted), new Promise((resolve) => setTimeout(resolve, patienceMs))]);
    if (!this.problem) this.#fallBack();
  }

  /**
   * Requests the configuration unless it is there, not before the server allows it; a failure is kept as `problem`.
   * `isWanted`: someone has the chat open. Until then what a limit refused is not requested again automatically: the views
   * of many pages would keep it full. `isOpened`: a visitor has just opened it, and need not wait.
   */
  async load(isWanted = false, isOpened = false): Promise<void> {
    this.#isWanted ||= isWanted;
    if (this.#isAnswered || this.#isLoading || this.isRefused) return;
    clearTimeout(this.#timer);
    const { retryAt = 0 } = this.problem ?? {};
    if (retryAt > Date.now() && !(isOpened && this.#early++ < earlyRequests)) return this.#waitUntil(retryAt);
    this.#isLoading = true;
    try {
      let config = this.#kept.read(ageMs);
      if (!config) {
        // By the server alone: the minute is counted here.
        config = await this.#connection.config({ retries: 0, cache: "no-cache" });
        this.#kept.keep(config);
      }
      this.#isAnswered = true;
      this.problem = null;
      this.#show(config);
    } catch (error) {
      this.#fail(error);
    }
    this.#isLoading = false;
    this.#listener.changed();
  }

  /** What is shown from now on, whatever the server says. */
  give(config: CompanionConfig): void {
    this.#isAnswered = true;
    this.#show(config);
    this.#listener.changed();
  }

  /** The server has refused the companion meanwhile: the next page is not to show it. */
  forget(): void {
    this.#kept.keep(null);
  }

  close(): void {
    clearTimeout(this.#timer);
    window.removeEventListener("online", this.#retry);
  }

  #show(config: CompanionConfig): void {
    this.config = config;
    this.#listener.emit("ready", config);
  }

  #fallBack(): void {
    const kept = this.config ? null : this.#kept.read();
    if (kept) this.#show(kept);
  }

  #fail(error: unknown): void {
    this.problem = toProblem(error);
    this.#listener.emit("error", error);
    if (this.isRefused) {
      this.config = null;
      this.forget();
      return;
    }
    this.#fallBack();
    if (this.problem.retryAt) this.#waitUntil(this.problem.retryAt);
    else this.#wait(Math.min(firstWaitMs * 2 ** this.#failures++, maxWaitMs));
  }

  #waitUntil(at: number): void {
    if (this.#isWanted) this.#wait(at - Date.now());
  }

  #wait(waitMs: number): void {
    // Spreads the retries of many pages on one network.
    this.#timer = window.setTimeout(this.#retry, waitMs + Math.random() * 1000);
  }

  #retry = (): void => void this.load();
}
