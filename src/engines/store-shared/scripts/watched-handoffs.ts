/** Conversations whose state has to change without anyone's request: no one of the team is there for them any more. */
import type { HandoffStore } from "../../../contracts/store/handoffs.ts";
import { presentMs } from "../../../domain/presence.ts";
import { type HandoffRow, hasCompanion, type KeyRow, toHandoff, toKey } from "../rows/handoff.ts";
import { joined, placed, shown } from "./handoffs.ts";
import { all, get, type ScriptRunner } from "./script.ts";

const presenceOf = "SELECT 1 FROM presence p WHERE p.person_id = h.person_id AND p.account_id = h.account_id";
/**
 * The person of a record was present since they have it. One whose switch is off was not, even though their dashboard is
 * open: their silence releases nothing.
 */
export const wasThere = (record: string) =>
  `((p.is_available AND p.seen_at_ms >= ${record}.since_ms) OR p.until_ms > ${record}.since_ms)`;
/** The shortest wait that a companion can have. */
const leastWaitMs = 30_000;

const isOfKey = (personId: string) => `${personId} LIKE '%:%'`;
/**
 * Whether it is someone named by a key that has ended: their ids begin with the key's, a UUID, and a colon. Counted, so
 * that PostgreSQL reads no table to hash it.
 */
export const hasLostKey = (
  personId: string,
  nowMs: string,
) => `(${isOfKey(personId)} AND (SELECT count(*) FROM api_keys k
  WHERE k.id = substr(${personId}, 1, 36) AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > ${nowMs})) = 0)`;
/** The account's own sign-in is a member of its id, and is never removed. */
const isNoMember = `(h.person_id <> h.account_id AND NOT ${isOfKey("h.person_id")} AND
  (SELECT count(*) FROM members m WHERE m.id = h.person_id AND m.account_id = h.account_id) = 0)`;

export const watchedQueries = {
  absent: `SELECT ${placed}, ${shown} ${joined}
    WHERE h.state = 'person' AND h.owed_since_ms IS NOT NULL AND h.owed_since_ms <= $1 AND ${hasCompanion}
      AND (h.was_present OR EXISTS (${presenceOf} AND ${wasThere("h")}))
      AND NOT EXISTS (${presenceOf} AND ((p.is_available AND p.seen_at_ms > $2) OR p.until_ms > $3))
    ORDER BY h.owed_since_ms LIMIT $4`,
  stray: `SELECT ${placed}, ${shown} ${joined} WHERE h.state <> 'companion' AND ${hasCompanion} AND (
      (SELECT c.handoff FROM companions c WHERE c.id = h.companion_id) IS NULL
      OR ${hasLostKey("h.person_id", "$1")} OR ${isNoMember}) LIMIT $2`,
  countState: "SELECT count(*) AS count FROM handoffs WHERE state <> 'companion' AND state = $1",
};

type Joined = HandoffRow & KeyRow & { conversationId: string };
const toPlaced = (row: Joined) => ({ key: toKey(row), handoff: toHandoff(row.conversationId, row) });

export function createWatched(scripts: ScriptRunner): Pick<HandoffStore, "listAbsent" | "listStray" | "countState"> {
  return {
    async listAbsent(nowMs, limit) {
      const times = [nowMs - leastWaitMs, nowMs - presentMs, nowMs];
      return (await scripts.read(() => all<Joined>(watchedQueries.absent, ...times, limit))).map(toPlaced);
    },

    async listStray(nowMs, limit) {
      return (await scripts.read(() => all<Joined>(watchedQueries.stray, nowMs, limit))).map(toPlaced);
    },

    async countState(state) {
      return (await scripts.read(() => get<{ count: number }>(watchedQueries.countState, state)))?.count ?? 0;
    },
  };
}
