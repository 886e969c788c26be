/**
 * Keeps small texts in the browser, a companion's configuration among them; in memory where it has no storage or
 * forbids it.
 */
import type { CompanionConfig } from "./connection.ts";

export interface TextStorage {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  /** Where it is missing, an empty text is set instead. */
  removeItem?(key: string): void;
}

export type StorageName = "localStorage" | "sessionStorage";

/** Never throws: a sandboxed frame refuses the storage itself, a full one each write. */
export function openStorage(name: StorageName): Required<TextStorage> {
  const memory = new Map<string, string | null>();
  return {
    getItem(key) {
      try {
        return memory.has(key) ? (memory.get(key) ?? null) : globalThis[name].getItem(key);
      } catch {
        return null;
      }
    },
    setItem(key, value) {
      try {
        globalThis[name].setItem(key, value);
        memory.delete(key);
      } catch {
        memory.set(key, value);
      }
    },
    removeItem(key) {
      memory.delete(key);
      try {
        globalThis[name].removeItem(key);
      } catch {
        // What is refused holds nothing.
      }
    },
  };
}

/** Where everything about a companion is kept. */
export function keyPrefix(token: string): string {
  // By companion: one owner must not recognise the visitor of another on a page that hosts both.
  return `companion:${token}:`;
}

/** The browser's and the tab's. */
export const everywhere = ["localStorage", "sessionStorage"] as const;

/** Removes all that is kept of a companion there, whichever part wrote it. */
export function forgetCompanion(token: string, areas: readonly StorageName[] = everywhere): void {
  for (const name of areas) {
    try {
      for (const key of Object.keys(globalThis[name])) {
        if (key.startsWith(keyPrefix(token))) globalThis[name].removeItem(key);
      }
    } catch {
      // What is refused holds nothing.
    }
  }
}

export interface ConfigCache {
  /** Null where none is kept of this server, or none that is younger. */
  read(maxAgeMs?: number): CompanionConfig | null;
  /** Null forgets it. */
  keep(config: CompanionConfig | null): void;
}

/** The companion's configuration as this browser last knew it. */
export function createConfigCache(storage: TextStorage, token: string, baseUrl: string): ConfigCache {
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
