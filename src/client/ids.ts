/** Names for calls and messages. */

/** A random UUID. They only have to differ: a caller who knows one still needs the API key. */
export function makeUuid(): string {
  // Node 18 has it behind a flag.
  const { crypto } = globalThis as { crypto?: { randomUUID?(): string } };
  if (crypto?.randomUUID) return crypto.randomUUID();
  return "10000000-1000-4000-8000-100000000000".replace(/[018]/g, (digit) =>
    (Number(digit) ^ ((Math.random() * 16) >> (Number(digit) / 4))).toString(16),
  );
}
