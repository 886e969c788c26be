/** Keeps small texts in the browser; in memory where it has no storage or forbids it. */

export interface TextStorage {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  /** Where it is missing, an empty text is set instead. */
  removeItem?(key: string): void;
}

type StorageName = "localStorage" | "sessionStorage";

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

/** Removes all that this browser and this tab keep of a companion, whichever part wrote it. */
export function forgetCompanion(token: string): void {
  for (const name of ["localStorage", "sessionStorage"] as const) {
    try {
      for (const key of Object.keys(globalThis[name])) {
        if (key.startsWith(keyPrefix(token))) globalThis[name].removeItem(key);
      }
    } catch {
      // What is refused holds nothing.
    }
  }
}
