/** Changes to accounts that several parts of the store make in their own writes. */
import { and, eq, ne } from "drizzle-orm";
import type { Account } from "../../domain/account.ts";
import type { NewAccount } from "../contract/accounts.ts";
import type { WriteContext } from "../contract/write-context.ts";
import { addressTaken } from "../rows/refusals.ts";
import type { SqliteEngine } from "./engine.ts";
import { isUniqueViolation } from "./failures.ts";
import type { ChangeRecorder } from "./parts.ts";
import { accounts, oneTimeLinks, sessions } from "./schema/accounts.ts";

export const anyPassword = "SELECT 1 FROM accounts WHERE password_hash IS NOT NULL LIMIT 1";

/** Throws `invalid_request` if the address is taken. */
export function insertAccount(
  { orm }: SqliteEngine,
  changes: ChangeRecorder,
  account: NewAccount,
  context: WriteContext,
): Account {
  const createdAt = context.nowMs;
  try {
    orm
      .insert(accounts)
      .values({ ...account, createdAt })
      .run();
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    throw addressTaken(error);
  }
  const { id, email, plan, role } = account;
  const made = { id, email, plan, role, suspendedAt: null, totpConfirmedAt: null, createdAt };
  changes.record(context, { accountId: id, action: "account.create", targetId: id, details: { plan, role } });
  return made;
}

/** Also ends sessions and links: whoever knew the old password, or held a link, is signed out. */
export function replacePassword(
  { orm }: SqliteEngine,
  changes: ChangeRecorder,
  change: { id: string; passwordHash: string; keptSessionId: string | null },
  context: WriteContext,
): void {
  const { id, passwordHash, keptSessionId } = change;
  orm.update(accounts).set({ passwordHash }).where(eq(accounts.id, id)).run();
  orm.delete(oneTimeLinks).where(eq(oneTimeLinks.accountId, id)).run();
  const ended = endSessions(orm, id, keptSessionId);
  const details = { changed: ["password"], sessions_ended: ended };
  changes.record(context, { accountId: id, action: "account.update", targetId: id, details });
}

/** Returns how many there were. */
export function endSessions(orm: SqliteEngine["orm"], accountId: string, keptId: string | null): number {
  const others = and(eq(sessions.accountId, accountId), keptId === null ? undefined : ne(sessions.id, keptId));
  return orm.delete(sessions).where(others).returning({ id: sessions.id }).all().length;
}
