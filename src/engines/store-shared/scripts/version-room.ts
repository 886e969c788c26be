/** Which versions go: beyond those that are kept, and the oldest of an account that is full. */
import { maxVersions } from "../../../domain/version.ts";
import { textColumns as texts } from "../rows/versions.ts";
import { all, get, getEach, lock, run, type Script } from "./script.ts";

/** Further conversations are not searched: then a version counts as named. */
const maxSearched = 5_000;
/** Servers' clocks differ, and a reply takes its time. */
const slackMs = 60 * 60_000;

const conversationsUntil = `FROM conversations k WHERE k.companion_id = v.companion_id AND k.created_at <=
    coalesce((SELECT n.created_at FROM companion_versions n
      WHERE n.companion_id = v.companion_id AND n.number > v.number ORDER BY n.number LIMIT 1), v.created_at) + ${slackMs}`;
/** Whether a kept message names version `v`: one that was written while it was the current one. The cheap part is first. */
const isNamed = `((SELECT count(*) FROM (SELECT 1 ${conversationsUntil} LIMIT ${maxSearched + 1}) AS found) > ${maxSearched}
    OR EXISTS (SELECT 1
      FROM (SELECT k.number, k.updated_at ${conversationsUntil} ORDER BY k.created_at DESC LIMIT ${maxSearched}) AS found
        JOIN messages m ON m.conversation_number = found.number
      WHERE found.updated_at >= v.created_at - ${slackMs} AND m.created_at >= v.created_at - ${slackMs}
        AND m.companion_version = v.number))`;

/** One index each, and the account not in it: of an EXISTS, PostgreSQL would read all versions of the account. */
const isUnused = (column: string) => `(SELECT 1 FROM companion_versions v
    WHERE v.${column} = companion_texts.hash AND (v.account_id = $1) IS TRUE LIMIT 1) IS NULL`;

/** Versions examined in one search for room, how many at a time, and conversations of all their companions. */
const maxExamined = 500;
const perPage = 50;
const maxSearchedInAll = 2 * maxSearched;
const oldestConversations = `SELECT k.number, k.created_at FROM conversations k WHERE k.companion_id = $1
    ORDER BY k.created_at LIMIT $2`;

export const roomQueries = {
  unused: `DELETE FROM companion_texts WHERE account_id = $1 AND hash = ANY ($2::text[])
    AND ${texts.map(isUnused).join(" AND ")}`,
  oldest: `SELECT v.companion_id AS "companionId", v.number, v.created_at AS "createdAt", coalesce((SELECT n.created_at
      FROM companion_versions n WHERE n.companion_id = v.companion_id AND n.number > v.number
      ORDER BY n.number LIMIT 1), v.created_at) AS "endedAt"
    FROM companion_versions v WHERE v.account_id = $1 AND v.created_at >= $2
      AND (v.created_at, v.companion_id, v.number) > ($2, $3, $4)
      AND EXISTS (SELECT 1 FROM companions c WHERE c.id = v.companion_id AND c.version > v.number)
    ORDER BY v.created_at, v.companion_id, v.number LIMIT $5`,
  // Once for all versions of a companion: one by one, each would search the same conversations.
  conversations: `SELECT count(*) AS count, max(found.created_at) AS "lastAt" FROM (${oldestConversations}) AS found`,
  named: `SELECT DISTINCT m.companion_version AS number FROM (${oldestConversations}) AS found
    JOIN messages m ON m.conversation_number = found.number WHERE m.companion_version IS NOT NULL`,
  // What has just left the newest, and some that may have been named until now.
  beyond: `SELECT v.companion_id AS "companionId", v.number FROM companion_versions v
    WHERE v.companion_id = $1 AND v.number <= $2 AND (v.number = $2 OR v.number IN (
      SELECT o.number FROM companion_versions o WHERE o.companion_id = $1 ORDER BY o.number LIMIT 8)) AND NOT ${isNamed}`,
  delete: `DELETE FROM companion_versions WHERE companion_id = $1 AND number = $2
    RETURNING ${texts.join(", ")}`,
  owner: 'SELECT account_id AS "accountId" FROM companion_versions WHERE companion_id = $1 LIMIT 1',
  deleteSome: `DELETE FROM companion_versions WHERE companion_id = $1 AND number IN
      (SELECT o.number FROM companion_versions o WHERE o.companion_id = $1 ORDER BY o.number LIMIT $2)
    RETURNING ${texts.join(", ")}`,
  held: 'SELECT companion_bytes AS "companionBytes" FROM account_holdings WHERE account_id = $1',
};

type Key = { companionId: string; number: number };

/** Which versions of a companion kept messages name, as far as its conversations were searched. */
interface Named {
  readonly numbers: ReadonlySet<number>;
  /** What was still answering then may be named by what was not searched. */
  readonly searchedUntil: number;
  readonly searched: number;
}

function* findNamed(companionId: string, limit: number): Script<Named> {
  const found = yield* get<{ count: number; lastAt: number | null }>(roomQueries.conversations, companionId, limit);
  const { count = 0, lastAt = null } = found ?? {};
  const rows = count === 0 ? [] : yield* all<{ number: number }>(roomQueries.named, companionId, limit);
  const searchedUntil = count < limit ? Number.POSITIVE_INFINITY : (lastAt ?? 0);
  return { numbers: new Set(rows.map(({ number }) => number)), searchedUntil, searched: count };
}

function* remove(accountId: string, versions: readonly Key[]): Script<void> {
  if (versions.length === 0) return;
  const keys = versions.map(({ companionId, number }) => [companionId, number]);
  const rows = yield* getEach<Record<string, string | null>>(roomQueries.delete, keys);
  yield* versionRoom.removeUnused(
    accountId,
    rows.flatMap((row) => Object.values(row ?? {})),
  );
}

export const versionRoom = {
  /** Texts that no version has any more. */
  *removeUnused(accountId: string, hashes: readonly (string | null)[]): Script<void> {
    const given = [...new Set(hashes.filter((hash) => hash !== null))];
    if (given.length > 0) yield* run(roomQueries.unused, accountId, given);
  },

  /** Call it with companions that have just changed. */
  *trim(accountId: string, companions: readonly { id: string; version: number }[]): Script<void> {
    for (const { id, version } of companions) {
      if (version <= maxVersions) continue;
      yield* remove(accountId, yield* all<Key>(roomQueries.beyond, id, version - maxVersions));
    }
  },

  /** Deletes the oldest versions of the account that no message names until it holds so few bytes, or none is left. */
  *make(accountId: string, maxBytes: number): Script<void> {
    let after: [createdAt: number, companionId: string, number: number] = [0, "", 0];
    const known = new Map<string, Named>();
    let left = maxSearchedInAll;
    for (let examined = 0; examined < maxExamined; examined += perPage) {
      const page = yield* all<Key & { createdAt: number; endedAt: number }>(
        roomQueries.oldest,
        ...[accountId, ...after, perPage],
      );
      for (const version of page) {
        const { companionId, number, endedAt } = version;
        const named = known.get(companionId) ?? (yield* findNamed(companionId, Math.min(left, maxSearched)));
        if (!known.has(companionId)) left -= named.searched;
        known.set(companionId, named);
        if (named.numbers.has(number) || endedAt + slackMs >= named.searchedUntil) continue;
        yield* remove(accountId, [version]);
        const [held] = yield* all<{ companionBytes: number }>(roomQueries.held, accountId);
        if (held === undefined || held.companionBytes <= maxBytes) return;
      }
      const last = page.at(-1);
      if (page.length < perPage || last === undefined) return;
      after = [last.createdAt, last.companionId, last.number];
    }
  },
};

export const versionRemovals = {
  /** Up to `limit` versions of a companion that is deleted; false: there may be more. Locks its account. */
  *removeOfCompanion(companionId: string, limit: number): Script<boolean> {
    const owner = yield* get<{ accountId: string }>(roomQueries.owner, companionId);
    if (owner === null) return true;
    // A change that stores a text just now would lose it.
    yield* lock(`account ${owner.accountId}`);
    const rows = yield* all<Record<string, string | null>>(roomQueries.deleteSome, companionId, limit);
    yield* versionRoom.removeUnused(
      owner.accountId,
      rows.flatMap((row) => Object.values(row)),
    );
    return rows.length < limit;
  },
};
