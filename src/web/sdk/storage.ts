/** Keeps small texts in the browser; in memory where it has no storage or forbids it. */

export interface TextStorage {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

/** Never throws: a sandboxed frame refuses the storage itself, a full one each write. */
export function openStorage(name: "localStorage" | "sessionStorage"): TextStorage {
  const memory = new Map<string, string>();
  let stored: TextStorage | null = null;
  try {
    stored = globalThis[name] ?? null;
  } catch {
    // Blocked: memory alone then.
  }
  return {
    getItem(key) {
      try {
        return memory.get(key) ?? stored?.getItem(key) ?? null;
      } catch {
        return null;
      }
    },
    setItem(key, value) {
      try {
        if (!stored) throw 0;
        stored.setItem(key, value);
        memory.delete(key);
      } catch {
        memory.set(key, value);
      }
    },
    removeItem(key) {
      memory.delete(key);
      try {
        stored?.removeItem(key);
      } catch {
        // Nothing can be kept there, so nothing is.
      }
    },
  };
}

/** A random UUID, also on plain-HTTP pages, where browsers hide `crypto.randomUUID`. */
export function makeUuid(): string {
  if (crypto.randomUUID) return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] ?? 0) & 15) | 64;
  bytes[8] = ((bytes[8] ?? 0) & 63) | 128;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, "$1-$2-$3-$4-$5");
}

export function isUuid(text: string | null): text is string {
  return text !== null && /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text);
}
