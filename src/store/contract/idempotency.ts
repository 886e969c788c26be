/** Retried management POSTs: the first 2xx is recorded in the same commit as what it made. */

/** Identity of a retried call, unique per (account, method, path, key). */
export interface IdempotencySlot {
  accountId: string;
  method: string;
  path: string;
  key: string;
}

/** What a create method writes beside what it makes. */
export interface IdempotentWrite {
  slot: IdempotencySlot;
  /** SHA-256 of the request's body. */
  bodyHash: string;
  /** Renders the answer to replay from the object just made; must hold no secret. */
  render(made: unknown): { status: number; body: string };
}

export interface IdempotentResponse {
  bodyHash: string;
  status: number;
  body: string;
}

export interface IdempotencyStore {
  /** The recorded answer younger than 24 h, or null. */
  find(slot: IdempotencySlot, nowMs: number): Promise<IdempotentResponse | null>;
  /** Deletes answers older than 24 h, up to `limit`; returns how many. */
  purge(nowMs: number, limit: number): Promise<number>;
}
