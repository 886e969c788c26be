/** A certificate authority. `acme/` is the engine. */
import type { Certificate } from "../../lib/certificate.ts";

export interface CertificateOrder {
  /** In lower case; all of them become names of the certificate. */
  readonly names: readonly string[];
  /** PEM, as `makeAccountKey` made it. */
  readonly accountKey: string;
  /** Where the authority may write; null for nowhere. */
  readonly email: string | null;
  /** Called before the authority is asked to fetch `token`: from then on, `answer` must be found under it. */
  putChallenge(token: string, answer: string): Promise<void>;
}

/** When the authority would have a certificate replaced; if it lies in the past, then now. Epoch milliseconds. */
export interface RenewalWindow {
  readonly fromMs: number;
  readonly toMs: number;
}

/**
 * Every call has a deadline of its own, and rejects with `AuthorityFailure` or the signal's reason. The terms of the
 * authority count as accepted.
 */
export interface Authority {
  /** A new key of an account, in PEM. */
  makeAccountKey(): Promise<string>;
  /** Resolves with the chain and a new key. */
  order(order: CertificateOrder, signal: AbortSignal): Promise<Certificate>;
  /** Null where the authority does not specify it. `cert` is the chain in PEM. */
  findRenewalWindow(cert: string, signal: AbortSignal): Promise<RenewalWindow | null>;
}

/**
 * - `away`: no answer, or one that reports a failure of the authority itself.
 * - `limited`: too many requests, orders or failures.
 * - `dns`, `connection`, `unauthorized`, `caa`: it checked `domain`, and found no address, nothing that answers, another
 *   answer, or a record that lets only others issue certificates.
 * - `name`: it does not issue for such a name.
 * - `email`, `terms`, `account`: the account's data, the authority's terms, or the account itself.
 * - `untrusted`: the certificate of the authority's own address comes from no trusted issuer.
 * - `directory`: what answers at its address is no directory of an authority: the address is wrong.
 * - `unusable`: what answers does not speak ACME as it should.
 * - `refused`: any other refusal.
 */
export type AuthorityFailureKind =
  | "away"
  | "limited"
  | "dns"
  | "connection"
  | "unauthorized"
  | "caa"
  | "name"
  | "email"
  | "terms"
  | "account"
  | "untrusted"
  | "directory"
  | "unusable"
  | "refused";

interface FailureFacts {
  readonly kind: AuthorityFailureKind;
  /** The authority's words, or those of the connection. Not trusted: of any length, with any characters. */
  readonly detail: string;
  /** Which of the order's names it is about; null if none. */
  readonly domain?: string | null;
  /** How long the authority asked to wait; null if it did not specify. */
  readonly retryAfterMs?: number | null;
}

export class AuthorityFailure extends Error {
  readonly kind: AuthorityFailureKind;
  readonly detail: string;
  readonly domain: string | null;
  readonly retryAfterMs: number | null;

  constructor({ kind, detail, domain = null, retryAfterMs = null }: FailureFacts, cause?: unknown) {
    super(detail, { cause });
    this.name = "AuthorityFailure";
    this.kind = kind;
    this.detail = detail;
    this.domain = domain;
    this.retryAfterMs = retryAfterMs;
  }
}
