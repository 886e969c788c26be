/** What the servers of one database keep of their certificate there: sealed texts by name. */

/** Rejects with `unavailable` as the store does. */
export interface CertificateTexts {
  /** Those that exist. */
  find(names: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Those whose names begin with `prefix`, up to `limit`. */
  list(prefix: string, limit: number): Promise<ReadonlyMap<string, string>>;
  /** Replaces one of the same name. */
  put(name: string, sealed: string): Promise<void>;
  remove(name: string): Promise<void>;
  /** All whose names begin with `prefix`. */
  removeAll(prefix: string): Promise<void>;
}
