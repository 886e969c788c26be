/** Terms as numbers: the index holds no words, so that none is left in a file once its source is deleted. */
import type { Store } from "../../../contracts/store/store.ts";

/** From 0 to 2^53 - 1. */
export type NumberTerm = (term: string) => number;

/** In `server_secrets`, and so in each backup and copy: without it, nothing of the index is found. */
const keyName = "knowledge-words";
const keyBytes = 16;
/** Far above what the longest term takes in UTF-8. */
const termBytes = 512;

/**
 * SHA-256 of a key and the term, cut. An attacker who chooses words could make two of them one in a hash without a key,
 * and in the quick ones with a seed too: XXH64 and wyhash have pairs that are equal for every seed. Keys have one
 * length, and no one sees a number, so that it need not be an HMAC.
 */
export function numberTermsBy(key: Uint8Array): NumberTerm {
  const input = new Uint8Array(key.length + termBytes);
  input.set(key);
  const text = input.subarray(key.length);
  const digest = new Uint8Array(32);
  const view = new DataView(digest.buffer);
  const encoder = new TextEncoder();
  return (term) => {
    const { written } = encoder.encodeInto(term, text);
    Bun.SHA256.hash(input.subarray(0, key.length + written), digest);
    return (view.getUint32(0) & 0x1fffff) * 2 ** 32 + view.getUint32(4);
  };
}

/** The numbering of a database, whose key is made when it is first asked for, and then read once. */
export function openTermNumbers({ serverSecrets }: Pick<Store, "serverSecrets">): () => Promise<NumberTerm> {
  let opened: NumberTerm | null = null;
  return async () => {
    if (opened === null) {
      // Not sealed: a file that shows it shows the passages too.
      const fresh = () => crypto.getRandomValues(new Uint8Array(keyBytes)).toHex();
      const kept = (await serverSecrets.find(keyName)) ?? (await serverSecrets.keep(keyName, fresh()));
      opened = numberTermsBy(Uint8Array.fromHex(kept));
    }
    return opened;
  };
}
