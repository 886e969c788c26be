/** The audit log; changes write their entries through `changes.ts`. */
import type { AuditActor, AuditEntry, AuditStore } from "../../../contracts/store/audit.ts";
import { type ListOrder, toPage } from "../../../contracts/store/page.ts";
import { changes } from "./changes.ts";
import { all, columns, type ScriptRunner } from "./script.ts";

interface Row extends Omit<AuditEntry, "actor" | "details"> {
  actorKind: AuditActor["kind"];
  actorId: string | null;
  ipPrefix: string | null;
  requestId: string | null;
  details: string;
}

const shown = columns<Row>("e", [
  ...(["id", "accountId", "actorKind", "actorId", "ipPrefix", "requestId"] as const),
  ...(["action", "targetId", "details", "createdAt"] as const),
]);

function select(order: ListOrder, isFollowing = ""): string {
  const direction = order === "asc" ? "ASC" : "DESC";
  return `SELECT ${shown} FROM audit e
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

function toEntry({ actorKind: kind, actorId: id, ipPrefix, requestId, details, ...entry }: Row): AuditEntry {
  return { ...entry, actor: { kind, id, ipPrefix, requestId }, details: JSON.parse(details) };
}

export function createAuditStore(scripts: ScriptRunner): AuditStore {
  return {
    record: (entry) => scripts.write(() => changes.audit(entry)),

    async list(accountId, { fromMs, toMs }, { limit, afterId, order = "desc" }) {
      const [text, after] = afterId === null ? [selectFirst[order], []] : [selectFollowing[order], [afterId]];
      const rows = await scripts.read(() => all<Row>(text, accountId, fromMs, toMs, limit + 1, ...after));
      return toPage(rows.map(toEntry), limit);
    },
  };
}
