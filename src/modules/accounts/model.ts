/** Accounts on the wire. */
import type { Account } from "../../domain/account.ts";
import { toRfc3339 } from "../../lib/clock.ts";

export function toWireAccount(account: Account) {
  return {
    id: account.id,
    email: account.email,
    plan: account.plan,
    role: account.role,
    suspended_at: account.suspendedAt === null ? null : toRfc3339(account.suspendedAt),
    created_at: toRfc3339(account.createdAt),
  };
}
