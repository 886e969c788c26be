/** The audit log in PostgreSQL; changes write their entries through `changes.ts`. */
import type { AuditEntry, AuditStore } from "../contract/audit.ts";
import { type ListOrder, toPage } from "../contract/page.ts";
import type { PostgresEngine } from "./engine.ts";
import type { ChangeRecorder } from "./parts.ts";
import { mapColumns } from "./rows/columns.ts";
import { audit } from "./schema/accounts.ts";

const columns = mapColumns(audit);
const read = columns.createReader();

function select(order: ListOrder, isFollowing = ""): string {
  const direction = order === "asc" ? "ASC" : "DESC";
  return `SELECT ${columns.select("e")} FROM audit e
    WHERE e.account_id = $1 AND e.created_at >= $2 AND e.created_at < $3 ${isFollowing}
    ORDER BY e.created_at ${direction}, e.number ${direction} LIMIT $4`;
}

// A cursor that is no entry of the account gives no row to compare with, and so nothing: starting over would never end,
// and would reveal which ids belong to another account.
const cursor = "(SELECT created_at, number FROM audit WHERE id = $5 AND account_id = $1)";
const selectFirst = { desc: select("desc"), asc: select("asc") };
const selectFollowing = {
  desc: select("desc", `AND (e.created_at, e.number) < ${cursor}`),
  asc: select("asc", `AND (e.created_at, e.number) > ${cursor}`),
};

export function createAuditStore(engine: PostgresEngine, changes: ChangeRecorder): AuditStore {
  function toEntry(row: object): AuditEntry {
    const { actorKind, actorId, ipPrefix, requestId, number: _, ...entry } = read(row);
    return { ...entry, actor: { kind: actorKind, id: actorId, ipPrefix, requestId } };
  }

  return {
    record: (entry) => engine.write((transaction) => changes.audit(transaction, entry)),

    async list(accountId, { fromMs, toMs }, { limit, afterId, order = "desc" }) {
      const range = [accountId, fromMs, toMs, limit + 1];
      const rows =
        afterId === null
          ? await engine.quick.all<object>(selectFirst[order], range)
          : await engine.quick.all<object>(selectFollowing[order], [...range, afterId]);
      return toPage(rows.map(toEntry), limit);
    },
  };
}
