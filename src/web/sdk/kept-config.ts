/** The companion's configuration as this browser last knew it. */
import type { CompanionConfig } from "./connection.ts";
import { keyPrefix, type TextStorage } from "./storage.ts";

export interface ConfigKeeper {
  /** Null where none is kept of this server, or none that is younger. */
  read(maxAgeMs?: number): CompanionConfig | null;
  /** Null forgets it. */
  keep(config: CompanionConfig | null): void;
}

export function createConfigKeeper(storage: TextStorage, token: string, baseUrl: string): ConfigKeeper {
  const key = `${keyPrefix(token)}config`;
  return {
    read(maxAgeMs = Number.POSITIVE_INFINITY) {
      try {
        const { at, from, config } = JSON.parse(storage.getItem(key) || "{}");
        // The clock may have been set back.
        return config && from === baseUrl && Math.abs(Date.now() - at) < maxAgeMs ? config : null;
      } catch {
        // Written by other code.
        return null;
      }
    },
    keep: (config) => storage.setItem(key, config ? JSON.stringify({ at: Date.now(), from: baseUrl, config }) : ""),
  };
}
