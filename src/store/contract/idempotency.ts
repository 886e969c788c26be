/** Retried management POSTs: the first 2xx is recorded in the same commit as what it made. */

/** Identity of a retried call, unique per (account, method, path, key). */
export interface IdempotencySlot {
  accountId: string;
  method: string;
  path: string;
  key: string;
}

export interface IdempotentResponse {
  /** SHA-256 of the request's body. */
  bodyHash: string;
  status: number;
  /** As sent, byte by byte; it must hold no secret. */
  body: string;
}

/** What a create method writes beside what it makes. */
export interface IdempotentWrite extends IdempotentResponse {
  slot: IdempotencySlot;
}

export interface IdempotencyStore {
  /** The recorded answer younger than 24 h, or null. */
  find(slot: IdempotencySlot, nowMs: number): Promise<IdempotentResponse | null>;
  /** Deletes answers older than 24 h, up to `limit`; returns how many. */
  purge(nowMs: number, limit: number): Promise<number>;
}
