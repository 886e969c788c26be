/** The companion's public configuration: from what the tab has kept, or from the server. */
import type { Companion, CompanionConfig } from "../sdk/index.ts";
import { openStorage } from "../sdk/storage.ts";
import { type Problem, toProblem } from "./problem.ts";

const ageMs = 10 * 60_000;

export interface ConfigListener {
  /** Something is to be drawn anew. */
  changed(): void;
  /** For the page's own listeners: `ready`, `error`. */
  emit(name: string, detail: unknown): void;
}

export class ConfigSource {
  config: CompanionConfig | null = null;
  /** What keeps the companion from being shown. */
  problem: Problem | null = null;
  isLoading = false;

  readonly #companion: Companion;
  readonly #key: string;
  readonly #listener: ConfigListener;

  constructor(companion: Companion, token: string, listener: ConfigListener) {
    this.#companion = companion;
    this.#key = `companion:${token}:config`;
    this.#listener = listener;
  }

  /** Fetches the configuration unless it is there; a failure is kept as `problem`. */
  async load(): Promise<void> {
    if (this.config || this.isLoading) return;
    const storage = openStorage("sessionStorage");
    try {
      const { at, config } = JSON.parse(storage.getItem(this.#key) || "{}");
      if (config && Date.now() - at < ageMs) this.config = config;
    } catch {
      // Written by someone else: asked for anew.
    }
    if (!this.config) {
      this.isLoading = true;
      this.#listener.changed();
      try {
        // A busy site's limit is not to be used up by trying: the visitor's opening is the next try.
        this.config = await this.#companion.config({ retries: 0 });
        this.problem = null;
        storage.setItem(this.#key, JSON.stringify({ at: Date.now(), config: this.config }));
      } catch (error) {
        this.problem = toProblem(error);
        this.#listener.emit("error", error);
      }
      this.isLoading = false;
    }
    if (this.config) this.#listener.emit("ready", this.config);
    this.#listener.changed();
  }
}
