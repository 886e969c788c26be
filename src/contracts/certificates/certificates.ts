/**
 * Who keeps the server's certificate: obtains it from an authority, renews it, and answers the authority's challenges.
 * The listeners know only this; what an authority is, they do not.
 */
import type { Certificate } from "../../lib/certificate.ts";

export interface ManagedCertificates {
  /** What is served now; null until there is one. */
  readonly current: Certificate | null;
  /** Calls the listener with each certificate that replaces `current`, in order. One listener. */
  onChange(listener: (certificate: Certificate) => void): void;
  /**
   * The body that the authority expects under `/.well-known/acme-challenge/{token}`; null for a token that no order waits
   * for. Never rejects.
   */
  findChallenge(token: string): Promise<string | null>;
  /** What goes on, for `doctor`, the log and metrics. */
  readonly state: CertificateState;
  /** Begins to obtain and to renew. Until the listeners answer challenges, nothing is asked of an authority. */
  start(): void;
  /**
   * For SIGHUP, after `start`: checks what is stored, and obtains what is missing or due without waiting for the next
   * attempt, as far as the authority's limits allow. Returns immediately.
   */
  lookAgain(): void;
  /** Ends an order under way; never rejects. */
  stop(): Promise<void>;
}

export interface CertificateState {
  readonly domains: readonly string[];
  /** Epoch milliseconds; null without a certificate. */
  readonly expiresAtMs: number | null;
  /** When the next attempt or renewal is due, in epoch milliseconds; null while one runs. */
  readonly nextAttemptAtMs: number | null;
  /** Why there is no certificate, or no newer one: a sentence that names what to do. Null if all is well. */
  readonly problem: string | null;
}
