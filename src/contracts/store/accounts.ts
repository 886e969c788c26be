/** Accounts, which own companions and may sign in. */
import type { Account, Plan, Role } from "../../domain/account.ts";
import type { Identity } from "../../domain/member.ts";
import type { WriteContext } from "./write-context.ts";

export interface NewAccount {
  id: string;
  /** In lower case. */
  email: string;
  plan: Plan;
  role: Role;
  /** argon2id in PHC form, or null until a password is set with a link. */
  passwordHash: string | null;
}

export interface AccountPatch {
  plan?: Plan;
  role?: Role;
  suspendedAt?: number | null;
}

/** What an account currently holds. */
export interface Held {
  companions: number;
  /** Keys that are not revoked. */
  keys: number;
  /** Size of the companions as stored. */
  bytes: number;
}

export interface AccountStore {
  /** Rejects with `invalid_request` on `email` if the address signs in already, a joined member among them. Audit: `account.create`. */
  create(account: NewAccount, context: WriteContext): Promise<Account>;
  findById(id: string): Promise<Account | null>;
  findByEmail(email: string): Promise<Account | null>;
  /** Null if there is no such account. Never counts companions one by one. */
  findHeld(accountId: string): Promise<Held | null>;
  /** All accounts, oldest first, without paging: operators create them by hand. */
  list(): Promise<Account[]>;
  /** Whether any account has a password; as long as none has, `serve` offers a set-up link. */
  hasAnyPassword(): Promise<boolean>;
  /** Null if there is no such account. Audit: `account.update`, naming the changed fields. */
  update(id: string, patch: AccountPatch, context: WriteContext): Promise<Account | null>;
  /**
   * Ends the person's links and all their sessions except `keptSessionId` in the same write. False if there is no such
   * person. Audit: `account.update` or `member.update`, never with the hash.
   */
  setPassword(
    person: Identity,
    passwordHash: string,
    keptSessionId: string | null,
    context: WriteContext,
  ): Promise<boolean>;
  /** Deletes the account and everything it owns; usage is kept. False if absent. Audit: `account.delete`. */
  delete(id: string, context: WriteContext): Promise<boolean>;
}
