/** Accounts: who owns companions, and who may sign in. */
import type { Account, Plan, Role } from "../../domain/account.ts";
import type { WriteContext } from "./write-context.ts";

export interface NewAccount {
  id: string;
  /** Already lower case. */
  email: string;
  plan: Plan;
  role: Role;
  /** argon2id in PHC form, or null until a password is set by link. */
  passwordHash: string | null;
}

export interface AccountPatch {
  plan?: Plan;
  role?: Role;
  suspendedAt?: number | null;
}

/** What an account holds now. */
export interface Held {
  companions: number;
  /** Not revoked. */
  keys: number;
  /** Of companions as stored. */
  bytes: number;
}

export interface AccountStore {
  /** Rejects with `invalid_request` on `email` when the address is taken. Audit: `account.create`. */
  create(account: NewAccount, context: WriteContext): Promise<Account>;
  findById(id: string): Promise<Account | null>;
  findByEmail(email: string): Promise<Account | null>;
  /** The stored password hash, or null where the account is unknown or has none. */
  findPasswordHash(accountId: string): Promise<string | null>;
  /** Null where there is no such account. Never counts companions one by one. */
  findHeld(accountId: string): Promise<Held | null>;
  /** All accounts, oldest first; there are as many as an operator makes by hand. */
  list(): Promise<Account[]>;
  /** Whether any account has a password; while none has, `serve` offers a set-up link. */
  hasAnyPassword(): Promise<boolean>;
  /** Null when there is no such account. Audit: `account.update`, naming the changed fields. */
  update(id: string, patch: AccountPatch, context: WriteContext): Promise<Account | null>;
  /**
   * Ends the account's reset links and all its sessions but `keptSessionId` in the same write. Null when there is no
   * such account. Audit: `account.update`, never with the hash.
   */
  setPassword(
    id: string,
    passwordHash: string,
    keptSessionId: string | null,
    context: WriteContext,
  ): Promise<Account | null>;
  /** Deletes the account with all it owns; usage is kept. False when absent. Audit: `account.delete`. */
  delete(id: string, context: WriteContext): Promise<boolean>;
}
