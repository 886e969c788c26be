/** Finds dashboard sessions in PostgreSQL: requests of one turn of the event loop share a query. */
import type { Session, SessionStore } from "../../contracts/store/sessions.ts";
import type { Plan, Role } from "../../domain/account.ts";
import type { PostgresEngine } from "./engine.ts";
import { mapColumns } from "./rows/columns.ts";
import { tables } from "./tables.ts";

interface FoundRow extends Session {
  lookupKey: string;
  email: string;
  plan: Plan;
  role: Role;
  suspendedAt: number | null;
  totpConfirmedAt: number | null;
  accountCreatedAt: number;
}

const selectByHashes = `SELECT s.hash AS "lookupKey", ${mapColumns(tables.sessions, ["hash"]).select("s")}, a.email, a.plan, a.role,
    a.suspended_at::float8 AS "suspendedAt", a.totp_confirmed_at::float8 AS "totpConfirmedAt",
    a.created_at::float8 AS "accountCreatedAt"
  FROM sessions s JOIN accounts a ON a.id = s.account_id WHERE s.hash = ANY($1::text[])`;

export function createSessionLookup(engine: PostgresEngine): SessionStore["findByHash"] {
  const lookup = engine.lookup<FoundRow>(selectByHashes);
  return async (hash) => {
    const row = await lookup(hash);
    if (row === null) return null;
    const { lookupKey, email, plan, role, suspendedAt, totpConfirmedAt, accountCreatedAt, ...session } = row;
    const account = { id: session.accountId, email, plan, role, suspendedAt, totpConfirmedAt };
    return { session, account: { ...account, createdAt: accountCreatedAt } };
  };
}
