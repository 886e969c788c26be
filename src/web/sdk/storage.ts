/** Keeps small texts in the browser; in memory where it has no storage or forbids it. */

export interface TextStorage {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
}

/** Never throws: a sandboxed frame refuses the storage itself, a full one each write. */
export function openStorage(name: "localStorage" | "sessionStorage"): TextStorage {
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
  };
}

/** A random UUID, also on plain-HTTP pages, where browsers hide `crypto.randomUUID`. */
export function makeUuid(): string {
  return (
    crypto.randomUUID?.() ??
    "10000000-1000-4000-8000-100000000000".replace(/[018]/g, (digit) => {
      const [random = 0] = crypto.getRandomValues(new Uint8Array(1));
      // 8 stands for the variant's digit, of which only the lower two bits are random.
      return (Number(digit) ^ (random & (15 >> (Number(digit) / 4)))).toString(16);
    })
  );
}

export function isUuid(text: string | null): text is string {
  return /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text ?? "");
}
