/** Second factors of accounts, and the sealed values of the server itself. */
import type { WriteContext } from "./write-context.ts";

export interface SecondFactor {
  sealedSecret: string;
  /** Null while the secret waits for its first code: signing in does not ask for it yet. */
  confirmedAt: number | null;
  /** The newest time step of which a code was taken. */
  lastStep: number | null;
  recoveryCodesLeft: number;
}

export interface SecondFactorConfirmation {
  /** The secret that the code was checked against: another one that came meanwhile is not confirmed. */
  sealedSecret: string;
  step: number;
  /** SHA-256 of each code. */
  recoveryHashes: readonly string[];
  /** All other sessions of the account end: they were opened without the second factor. */
  keptSessionId: string;
}

export interface SecondFactorStore {
  find(accountId: string): Promise<SecondFactor | null>;
  /** Addresses of accounts that have a secret, confirmed or not, oldest first, `limit` at most. */
  listHolders(limit: number): Promise<string[]>;
  /** Keeps a new secret in place of one that waits; false, changing nothing, where one is confirmed. Audit: `totp.begin`. */
  begin(accountId: string, sealedSecret: string, context: WriteContext): Promise<boolean>;
  /** False, changing nothing, where that secret does not wait any more. Audit: `totp.enable`. */
  confirm(accountId: string, confirmation: SecondFactorConfirmation, context: WriteContext): Promise<boolean>;
  /** Spends a code: true once for each step, and never for one before a step that was taken. */
  takeStep(accountId: string, step: number): Promise<boolean>;
  /** Spends a recovery code, by its SHA-256: true once. Audit: `totp.recover`, with how many are left. */
  takeRecoveryCode(accountId: string, hash: string, context: WriteContext): Promise<boolean>;
  /** Takes secret, confirmed or not, and recovery codes away. False where there is none. Audit: `totp.disable`. */
  remove(accountId: string, context: WriteContext): Promise<boolean>;
}

export interface ServerSecretStore {
  find(name: string): Promise<string | null>;
  /** Keeps the value where the name has none; resolves with the one that is kept. */
  keep(name: string, sealed: string): Promise<string>;
  /** Puts the value in the place of the one that the name has. */
  replace(name: string, sealed: string): Promise<void>;
}
