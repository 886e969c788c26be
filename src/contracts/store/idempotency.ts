/** Retried management POSTs: the first 2xx response is recorded in the same commit as what it created. */

/** Identity of a retried call, unique per (account, method, path, key). */
export interface IdempotencySlot {
  accountId: string;
  method: string;
  path: string;
  key: string;
}

export interface IdempotentResponse {
  /** SHA-256 of the request body. */
  bodyHash: string;
  status: number;
  /** As sent, byte for byte; must not contain a secret. */
  body: string;
}

/** What a create method writes beside what it makes. */
export interface IdempotentWrite extends IdempotentResponse {
  slot: IdempotencySlot;
}

export interface IdempotencyStore {
  /** The recorded response younger than 24 h, or null. */
  find(slot: IdempotencySlot, nowMs: number): Promise<IdempotentResponse | null>;
  /** Deletes up to `limit` responses older than 24 h; returns how many. */
  purge(nowMs: number, limit: number): Promise<number>;
}
