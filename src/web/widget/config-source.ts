/** The companion's public configuration: cached for a minute by the browser, and requested until it arrives. */
import type { CompanionConfig, Connection } from "../sdk/connection.ts";
import { keyPrefix, openStorage } from "../sdk/storage.ts";
import { isRefusal, type Problem, toProblem } from "./problem.ts";

/** As long as the interface allows a page to show a companion that may no longer exist. */
const ageMs = 60_000;
const firstWaitMs = 5_000;
const longestWaitMs = 5 * 60_000;

export interface ConfigListener {
  /** Something must be redrawn. */
  changed(): void;
  /** For the page's own listeners: `ready`, `error`. */
  emit(name: string, detail: unknown): void;
}

export class ConfigSource {
  config: CompanionConfig | null = null;
  /** Why the companion cannot be shown. */
  problem: Problem | null = null;

  readonly #connection: Connection;
  readonly #baseUrl: string;
  readonly #key: string;
  readonly #listener: ConfigListener;
  /** Shared by all tabs, so that a visitor who reads eleven pages makes one or two requests. */
  readonly #storage = openStorage("localStorage");
  #isLoading = false;
  #failures = 0;
  #timer = 0;

  constructor(connection: Connection, baseUrl: string, token: string, listener: ConfigListener) {
    this.#connection = connection;
    this.#baseUrl = baseUrl;
    this.#key = `${keyPrefix(token)}config`;
    this.#listener = listener;
    window.addEventListener("online", this.#retry);
  }

  /** Whether there is nothing to be shown on this page. */
  get isRefused(): boolean {
    return isRefusal(this.problem?.code);
  }

  /** Fetches the configuration unless it is there; a failure is kept as `problem`, and tried again by itself. */
  async load(): Promise<void> {
    const isTooEarly = (this.problem?.retryAt ?? 0) > Date.now();
    if (this.config || this.#isLoading || this.isRefused || isTooEarly) return;
    this.config = this.#readKept();
    if (!this.config) {
      clearTimeout(this.#timer);
      this.#isLoading = true;
      try {
        // By the server alone: the minute is counted here.
        this.config = await this.#connection.config({ retries: 0, cache: "no-cache" });
        this.#storage.setItem(this.#key, JSON.stringify({ at: Date.now(), from: this.#baseUrl, config: this.config }));
      } catch (error) {
        this.#fail(error);
      }
      this.#isLoading = false;
    }
    if (this.config) {
      this.problem = null;
      this.#listener.emit("ready", this.config);
    }
    this.#listener.changed();
  }

  /** The server has refused the companion meanwhile: the next page is not to show it. */
  forget(): void {
    this.#storage.setItem(this.#key, "");
  }

  close(): void {
    clearTimeout(this.#timer);
    window.removeEventListener("online", this.#retry);
  }

  #readKept(): CompanionConfig | null {
    try {
      const { at, from, config } = JSON.parse(this.#storage.getItem(this.#key) || "{}");
      // The clock may have been set back.
      return config && from === this.#baseUrl && Math.abs(Date.now() - at) < ageMs ? config : null;
    } catch {
      // Written by other code: request it again.
      return null;
    }
  }

  #fail(error: unknown): void {
    this.problem = toProblem(error);
    this.#listener.emit("error", error);
    if (this.isRefused) return;
    const waitMs = this.problem.retryAt
      ? this.problem.retryAt - Date.now()
      : Math.min(firstWaitMs * 2 ** this.#failures++, longestWaitMs);
    // Spreads the retries of many pages on one network.
    this.#timer = window.setTimeout(this.#retry, waitMs + Math.random() * 1000);
  }

  #retry = (): void => void this.load();
}
