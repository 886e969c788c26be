/** Keeps imported keys: opening and importing one takes longer than verifying with it. No verdict is kept. */
import type { VisitorKey } from "../../contracts/store/store.ts";
import type { Sealing } from "../../lib/sealing.ts";
import { importKey } from "./key-material.ts";

const maxKept = 1000;

/** The name under which a key is sealed: of one account, so that no row can be moved to another. */
export function sealedKeyName(accountId: string, keyId: string): string {
  return `visitor-key:${accountId}:${keyId}`;
}

export class ImportedKeys {
  /** By id; a row that holds something else is another key. */
  readonly #kept = new Map<string, { sealed: string; imported: Promise<CryptoKey> }>();

  constructor(private readonly sealing: Sealing) {}

  /** Rejects if the key cannot be opened. */
  get(accountId: string, { id, algorithm, sealed }: VisitorKey): Promise<CryptoKey> {
    const known = this.#kept.get(id);
    if (known?.sealed === sealed) return known.imported;
    const imported = this.sealing
      .open(sealedKeyName(accountId, id), sealed)
      .then((material) => importKey(algorithm, material));
    imported.catch(() => this.#kept.delete(id));
    this.#kept.set(id, { sealed, imported });
    const [first = id] = this.#kept.keys();
    if (this.#kept.size > maxKept) this.#kept.delete(first);
    return imported;
  }
}
