/** The audit log in SQLite; changes write their entries through `changes.ts`. */
import { and, asc, desc, eq, gte, lt, sql } from "drizzle-orm";
import type { AuditEntry, AuditStore } from "../contract/audit.ts";
import { toPage } from "../contract/page.ts";
import type { SqliteEngine } from "./engine.ts";
import type { ChangeRecorder } from "./parts.ts";
import { audit } from "./schema/accounts.ts";

export function createAuditStore(engine: SqliteEngine, changes: ChangeRecorder): AuditStore {
  const { orm } = engine;

  function toEntry(row: typeof audit.$inferSelect): AuditEntry {
    const { id, accountId, actorKind, actorId, ipPrefix, requestId, action, targetId, details, createdAt } = row;
    const actor = { kind: actorKind, id: actorId, ipPrefix, requestId };
    return { id, accountId, actor, action, targetId, details, createdAt };
  }

  return {
    record: (entry) => engine.write(() => changes.audit(entry)),

    list: (accountId, { fromMs, toMs }, { limit, afterId, order }) =>
      engine.read(() => {
        const isOwn = eq(audit.accountId, accountId);
        const isCursor = and(eq(audit.id, afterId ?? ""), isOwn);
        const after = afterId === null ? null : orm.select().from(audit).where(isCursor).get();
        // Starting over would never end, and would reveal which ids belong to another account.
        if (after === undefined) return { items: [], nextAfterId: null };
        const isAsc = order === "asc";
        const place = sql`(${audit.createdAt}, ${audit.number})`;
        const afterPlace = after === null ? null : sql`(${after.createdAt}, ${after.number})`;
        const isFollowing =
          afterPlace === null ? undefined : isAsc ? sql`${place} > ${afterPlace}` : sql`${place} < ${afterPlace}`;
        const direction = isAsc ? asc : desc;
        const rows = orm
          .select()
          .from(audit)
          .where(and(isOwn, gte(audit.createdAt, fromMs), lt(audit.createdAt, toMs), isFollowing))
          .orderBy(direction(audit.createdAt), direction(audit.number))
          .limit(limit + 1)
          .all();
        return toPage(rows.map(toEntry), limit);
      }),
  };
}
