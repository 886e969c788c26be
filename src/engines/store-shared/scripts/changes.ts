/**
 * What every change made by people also writes in its commit, the audit entry and the idempotent response, and how
 * both are read.
 */
import type { AuditActor, AuditEntry, AuditFilter, AuditNames, AuditStore } from "../../../contracts/store/audit.ts";
import type { IdempotencyStore, IdempotentResponse, IdempotentWrite } from "../../../contracts/store/idempotency.ts";
import { type ListOrder, toPage } from "../../../contracts/store/page.ts";
import type { WriteContext } from "../../../contracts/store/write-context.ts";
import { AppError } from "../../../domain/errors.ts";
import { pause } from "../../../lib/pause.ts";
import { idempotencyLifetimeMs } from "../rows/bounds.ts";
import { holdings } from "./holdings.ts";
import { all, columns, get, insertAll, lockRows, run, type Script, type ScriptRunner } from "./script.ts";

/** What a change made by people is called in the audit log. */
interface Change {
  accountId: string;
  action: string;
  targetId: string | null;
  details: AuditEntry["details"];
}

/** The entry as a row: its actor in columns of their own, its details as JSON. */
function toAuditRow({ actor, details, ...entry }: AuditEntry) {
  const { kind, id: actorId, ipPrefix, requestId, member = null, accountId = entry.accountId } = actor;
  const actorKind: AuditActor["kind"] = accountId === entry.accountId ? kind : "operator";
  const who = { actorKind, actorId, ipPrefix, requestId, actorMemberId: member?.id ?? null };
  return { ...entry, ...who, actorName: member?.name ?? null, details: JSON.stringify(details) };
}

// Overwrites the slot only if its response has expired: a live one belongs to a request that came first.
const insertResponse = `INSERT INTO idempotency (account_id, method, path, key, body_hash, status, body, created_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
  ON CONFLICT (account_id, method, path, key) DO UPDATE SET body_hash = excluded.body_hash, status = excluded.status,
    body = excluded.body, created_at = excluded.created_at WHERE idempotency.created_at <= $9`;

function* keep({ slot, bodyHash, status, body }: IdempotentWrite, nowMs: number): Script<void> {
  const { accountId, method, path, key } = slot;
  const response = [accountId, method, path, key, bodyHash, status, body, nowMs];
  if ((yield* run(insertResponse, ...response, nowMs - idempotencyLifetimeMs)) > 0) return;
  // The commit of another request with the same key was first, and this one's is undone.
  const sentence = "Another request with this Idempotency-Key came first. Send it again for its response.";
  throw new AppError("conflict", sentence);
}

export const changes = {
  *audit(...entries: AuditEntry[]): Script<void> {
    yield* insertAll("audit", entries.map(toAuditRow));
  },

  /** Call it inside a write, after the rows were changed; null if nothing has changed. */
  *record(context: WriteContext, change: Change | null): Script<void> {
    const { auditId: id, actor, nowMs, idempotent } = context;
    if (change !== null) yield* changes.audit({ id, actor, createdAt: nowMs, ...change });
    if (idempotent === undefined) return;
    yield* keep(idempotent, nowMs);
    yield* holdings.checkNewResponse(idempotent.slot.accountId, context);
  },

  /** The number of an account, used where repeating its id in every row would cost space. Null if there is no such account. */
  *findAccountNumber(accountId: string): Script<number | null> {
    return (yield* get<{ number: number }>("SELECT number FROM accounts WHERE id = $1", accountId))?.number ?? null;
  },

  /** The account that a new row would belong to; it may have been deleted since the request was admitted. */
  *requireAccount(accountId: string): Script<number> {
    const number = yield* changes.findAccountNumber(accountId);
    if (number === null) throw new AppError("not_found", "There is no such account.");
    return number;
  },
};

const selectResponse = `SELECT body_hash AS "bodyHash", status, body FROM idempotency
  WHERE account_id = $1 AND method = $2 AND path = $3 AND key = $4 AND created_at > $5`;
const selectAccounts = `SELECT DISTINCT account_id AS id FROM
  (SELECT account_id FROM idempotency WHERE created_at <= $1 ORDER BY created_at LIMIT $2) AS expired`;
const lockHoldings = `SELECT 1 FROM account_holdings WHERE account_id = ANY ($1::text[])
  ORDER BY account_id FOR NO KEY UPDATE`;
const deleteExpired = `DELETE FROM idempotency WHERE (account_id, method, path, key) IN
  (SELECT account_id, method, path, key FROM idempotency WHERE created_at <= $2 AND account_id = ANY ($1::text[])
   ORDER BY created_at LIMIT $3 FOR UPDATE SKIP LOCKED)`;

/** Recorded responses of retried calls; `changes.ts` writes them. */
export function createIdempotencyStore(scripts: ScriptRunner): IdempotencyStore {
  return {
    find: ({ accountId, method, path, key }, nowMs) =>
      scripts.read(() =>
        get<IdempotentResponse>(selectResponse, accountId, method, path, key, nowMs - idempotencyLifetimeMs),
      ),

    purge: (nowMs, limit) =>
      scripts.writeHeavy(function* () {
        const expiredAt = nowMs - idempotencyLifetimeMs;
        const ids = (yield* all<{ id: string }>(selectAccounts, expiredAt, limit)).map(({ id }) => id);
        if (ids.length === 0) return 0;
        // The trigger that counts responses would lock the accounts' rows in the order of the responses, and a purge
        // at another server in another: a deadlock.
        yield* lockRows(lockHoldings, ids);
        return yield* run(deleteExpired, ids, expiredAt, limit);
      }),
  };
}

interface Row extends Omit<AuditEntry, "actor" | "details"> {
  actorKind: AuditActor["kind"];
  actorId: string | null;
  ipPrefix: string | null;
  requestId: string | null;
  actorMemberId: string | null;
  actorName: string | null;
  details: string;
}

const shown = columns<Row>("e", [
  ...(["id", "accountId", "actorKind", "actorId", "ipPrefix", "requestId"] as const),
  ...(["actorMemberId", "actorName", "action", "targetId", "details", "createdAt"] as const),
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

function toEntry({ actorKind: kind, actorId: id, ipPrefix, requestId, details, ...row }: Row): AuditEntry {
  const { actorMemberId, actorName, ...entry } = row;
  const who = actorMemberId === null ? {} : { member: { id: actorMemberId, name: actorName ?? "" } };
  return { ...entry, actor: { kind, id, ipPrefix, requestId, ...who }, details: JSON.parse(details) };
}

// An entry outlives what it names. Its own words come first: of a deleted companion no other are left.
const nameOf = (prefix: string, table: string, column = "name") =>
  `WHEN e.action LIKE '${prefix}.%' THEN (SELECT n.${column} FROM ${table} n WHERE n.id = e.target_id)`;

export const auditQueries = {
  first: selectFirst.desc,
  following: selectFollowing.desc,
  names: `SELECT e.id, e.details, CASE
      WHEN e.actor_member_id IS NOT NULL THEN e.actor_name
      WHEN e.actor_id IS NULL THEN NULL
      WHEN e.actor_kind = 'key' THEN (SELECT k.name FROM api_keys k WHERE k.id = e.actor_id)
      WHEN e.actor_kind = 'session' THEN (SELECT coalesce(a.name, a.email) FROM accounts a WHERE a.id = e.account_id)
    END AS actor, CASE
      ${nameOf("companion", "companions")} ${nameOf("draft", "companions")} ${nameOf("visitor", "companions")}
      ${nameOf("key", "api_keys")} ${nameOf("embed_token", "embed_tokens")} ${nameOf("visitor_key", "visitor_keys")}
      ${nameOf("tool", "tools")} ${nameOf("source", "knowledge_sources", "title")} ${nameOf("webhook", "webhooks", "url")}
      ${nameOf("member", "members")} ${nameOf("account", "accounts", "email")}
    END AS target
    FROM audit e WHERE e.id = ANY ($2::text[]) AND e.account_id = $1`,
};

function toNames({
  actor,
  target,
  details,
}: {
  actor: string | null;
  target: string | null;
  details: string;
}): AuditNames {
  const { name } = JSON.parse(details) as AuditEntry["details"];
  return { actor: actor || null, target: target || (typeof name === "string" ? name : null) };
}

function matches({ actor, action, accountId }: AuditEntry, filter: AuditFilter): boolean {
  if (filter.action !== null && action !== filter.action && !action.startsWith(`${filter.action}.`)) return false;
  if (filter.actor === null) return true;
  const { kind, id, member } = actor;
  if (kind === "key") return id === filter.actor;
  if (kind !== "session") return kind === filter.actor;
  return id !== null && (member?.id ?? accountId) === filter.actor;
}

/** Entries that are examined in one go, so that streams can go on, and for one page. */
const perRead = 500;
const maxRead = 5_000;

/** The audit log; changes write their entries through `changes.ts`. */
export function createAuditStore(scripts: ScriptRunner): AuditStore {
  const list: AuditStore["list"] = async (accountId, { fromMs, toMs }, { limit, afterId, order = "desc" }) => {
    const [text, after] = afterId === null ? [selectFirst[order], []] : [selectFollowing[order], [afterId]];
    const rows = await scripts.read(() => all<Row>(text, accountId, fromMs, toMs, limit + 1, ...after));
    return toPage(rows.map(toEntry), limit);
  };

  return {
    record: (entry) => scripts.write(() => changes.audit(entry)),

    async list(accountId, range, page, filter) {
      if (!filter || (filter.action === null && filter.actor === null)) return await list(accountId, range, page);
      const items: AuditEntry[] = [];
      for (let { afterId } = page, read = 0; ; read += perRead) {
        if (read > 0) await pause();
        const part = await list(accountId, range, { ...page, limit: perRead, afterId });
        items.push(...part.items.filter((entry) => matches(entry, filter)));
        afterId = part.nextAfterId;
        if (items.length > page.limit) return toPage(items, page.limit);
        if (afterId === null || read + perRead >= maxRead) return { items, nextAfterId: afterId };
      }
    },

    async readNames(accountId, ids) {
      type Named = { id: string; actor: string | null; target: string | null; details: string };
      const rows = await scripts.readHeavy(() => all<Named>(auditQueries.names, accountId, ids));
      return new Map(rows.map((row) => [row.id, toNames(row)]));
    },
  };
}
