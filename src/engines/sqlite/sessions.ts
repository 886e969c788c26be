/** Finds dashboard sessions in SQLite. */
import type { Session, SessionStore } from "../../contracts/store/sessions.ts";
import type { Plan, Role } from "../../domain/account.ts";
import type { SqliteEngine } from "./engine.ts";
import { mapColumns } from "./rows/columns.ts";
import { tables } from "./tables.ts";

interface FoundRow extends Session {
  email: string;
  plan: Plan;
  role: Role;
  suspendedAt: number | null;
  totpConfirmedAt: number | null;
  accountCreatedAt: number;
}

export function createSessionLookup(engine: SqliteEngine): SessionStore["findByHash"] {
  const select = engine.query<FoundRow, [string]>(
    () => `SELECT ${mapColumns(tables.sessions, ["hash"]).select("s")}, a.email, a.plan, a.role, a.suspended_at AS suspendedAt,
       a.totp_confirmed_at AS totpConfirmedAt, a.created_at AS accountCreatedAt
     FROM sessions s JOIN accounts a ON a.id = s.account_id WHERE s.hash = ?`,
  );
  return (hash) =>
    engine.read(() => {
      const row = select.get(hash);
      if (row === null) return null;
      const { email, plan, role, suspendedAt, totpConfirmedAt, accountCreatedAt, ...session } = row;
      const account = { id: session.accountId, email, plan, role, suspendedAt, totpConfirmedAt };
      return { session, account: { ...account, createdAt: accountCreatedAt } };
    });
}
