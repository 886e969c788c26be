/** Identifiers and secrets as an argument, so that tests can foresee them. */
export interface IdSource {
  /** A UUIDv7 in lower case: sorts by creation time, also within one millisecond of one process. */
  uuid(): string;
  /** A random UUIDv4 in lower case, which tells nothing about when it was made. */
  randomUuid(): string;
  /** `length` base-62 characters from the operating system's random source, unbiased. */
  secret(length: number): string;
  /** From the same source, as they are. */
  bytes(length: number): Uint8Array;
}

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

function randomBase62(length: number): string {
  let out = "";
  while (out.length < length) {
    for (const byte of crypto.getRandomValues(new Uint8Array(length))) {
      // 248 is the largest multiple of 62 below 256: taking more would favour the first letters.
      if (byte < 248 && out.length < length) out += base62.charAt(byte % 62);
    }
  }
  return out;
}

export const systemIds: IdSource = {
  uuid: () => Bun.randomUUIDv7(),
  randomUuid: () => crypto.randomUUID(),
  secret: randomBase62,
  bytes: (length) => crypto.getRandomValues(new Uint8Array(length)),
};

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Whether the text has the shape of a UUID of any version, in either case. */
export function isUuid(text: string): boolean {
  return uuidPattern.test(text);
}

/** The UUID as it is kept, in lower case; undefined for text of another shape. */
export function toUuid(text: string): string | undefined {
  return isUuid(text) ? text.toLowerCase() : undefined;
}
