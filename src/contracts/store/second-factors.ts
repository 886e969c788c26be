/** Second factors of people, and the sealed values of the server itself. */
import type { Identity } from "../../domain/member.ts";
import type { WriteContext } from "./write-context.ts";

export interface SecondFactor {
  sealedSecret: string;
  /** Null until the secret is confirmed by a first code: signing in does not require it yet. */
  confirmedAt: number | null;
  /** The newest time step whose code was accepted. */
  lastStep: number | null;
  recoveryCodesLeft: number;
}

export interface SecondFactorConfirmation {
  /** The secret that the code was checked against; a different secret set meanwhile is not confirmed. */
  sealedSecret: string;
  step: number;
  /** SHA-256 of each code. */
  recoveryHashes: readonly string[];
  /** The only session to keep: all others of the person were opened without the second factor. */
  keptSessionId: string;
}

export interface SecondFactorStore {
  find(person: Identity): Promise<SecondFactor | null>;
  /** Addresses of people who have a secret, confirmed or not, oldest first, at most `limit`. */
  listHolders(limit: number): Promise<string[]>;
  /**
   * Stores a new secret, replacing an unconfirmed one; false, changing nothing, if one is confirmed. Audit:
   * `totp.begin`.
   */
  begin(person: Identity, sealedSecret: string, context: WriteContext): Promise<boolean>;
  /** False, changing nothing, if that secret is no longer waiting for confirmation. Audit: `totp.enable`. */
  confirm(person: Identity, confirmation: SecondFactorConfirmation, context: WriteContext): Promise<boolean>;
  /** Uses up a code: true once per step, and never for a step before an accepted one. */
  takeStep(person: Identity, step: number): Promise<boolean>;
  /** Uses up a recovery code, by its SHA-256: true once. Audit: `totp.recover`, with the number left. */
  takeRecoveryCode(person: Identity, hash: string, context: WriteContext): Promise<boolean>;
  /** Removes the secret, confirmed or not, and the recovery codes. False if there is none. Audit: `totp.disable`. */
  remove(person: Identity, context: WriteContext): Promise<boolean>;
}

export interface ServerSecretStore {
  find(name: string): Promise<string | null>;
  /** Stores the value if the name has none; resolves with the stored one. */
  keep(name: string, sealed: string): Promise<string>;
  /** Replaces the value of the name. */
  replace(name: string, sealed: string): Promise<void>;
}
