/**
 * Proves that a request comes from an instance with the same secret key: an HMAC over method, address, time, nonce and the
 * body's hash. The address is part of it, so that what was sent to one instance is of no use at another.
 */
import type { Clock } from "../../lib/clock.ts";
import type { IdSource } from "../../lib/ids.ts";
import type { Sealing } from "../../lib/sealing.ts";
import { sha256Hex } from "../../lib/sha256.ts";
import type { CheckedCall } from "./instances.ts";
import { isSameProof } from "./proven-pieces.ts";

export interface CallProofs {
  /** For one request. */
  make(method: string, url: string, body: string): Promise<string>;
  /** See `Instances.check`. */
  check(method: string, url: string, proof: string): Promise<CheckedCall | null>;
  /** Of the response to a request with this proof, and of no other: the nonce is part of it. */
  makeAnswerKey(proof: string): Promise<string>;
}

interface CallProofsOptions {
  sealing: Pick<Sealing, "digest">;
  /** The clock that all instances share. */
  clock: Pick<Clock, "nowMs">;
  ids: Pick<IdSource, "secret">;
}

/** How old a proof may be, and how far ahead its clock. */
const windowMs = 30_000;
const nonceLength = 22;
const proofPattern = /^(\d{1,15})\.([0-9A-Za-z]{22})\.([0-9a-f]{64})\.([\w-]{43})$/;

export function createCallProofs({ sealing, clock, ids }: CallProofsOptions): CallProofs {
  const seen = new SeenNonces();
  const sign = (...parts: (string | number)[]) => sealing.digest("instance", parts.join("\n"));
  return {
    async make(method, url, body) {
      const [sentAtMs, nonce, bodyHash] = [clock.nowMs(), ids.secret(nonceLength), sha256Hex(body)];
      const mac = await sign("call", method, url, sentAtMs, nonce, bodyHash);
      return `${sentAtMs}.${nonce}.${bodyHash}.${mac}`;
    },
    async check(method, url, proof) {
      const [, sentAtMs = "", nonce = "", bodyHash = "", mac = ""] = proofPattern.exec(proof) ?? [];
      const expected = await sign("call", method, url, sentAtMs, nonce, bodyHash);
      if (!isSameProof(mac, expected)) return null;
      const nowMs = clock.nowMs();
      if (Math.abs(nowMs - Number(sentAtMs)) > windowMs || !seen.add(nonce, nowMs)) return null;
      return { bodyHash, answerKey: await this.makeAnswerKey(proof) };
    },
    makeAnswerKey: (proof) => sign("answer", proof),
  };
}

/** Far more calls than instances pass on in that time; their sender has the secret key. */
const maxNonces = 100_000;

/** Nonces of authentic requests, each remembered for at least as long as its proof is in time. */
class SeenNonces {
  #older = new Set<string>();
  #newer = new Set<string>();
  #turnedAtMs = 0;

  /** False if it was there, or the list is full. */
  add(nonce: string, nowMs: number): boolean {
    // A proof that is ahead of this clock stays good for two windows.
    if (Math.abs(nowMs - this.#turnedAtMs) > 2 * windowMs) {
      this.#older = this.#newer;
      this.#newer = new Set();
      this.#turnedAtMs = nowMs;
    }
    if (this.#older.has(nonce) || this.#newer.has(nonce) || this.#newer.size >= maxNonces) return false;
    this.#newer.add(nonce);
    return true;
  }
}
