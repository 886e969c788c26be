/** Conversations whose state has to change without anyone's request: nobody of the team is there for them any more. */
import type { HandoffStore } from "../../../contracts/store/handoffs.ts";
import { presentMs } from "../../../domain/handoff.ts";
import { type HandoffRow, type KeyRow, toHandoff, toKey } from "../rows/handoff.ts";
import { hasCompanion, joined, placed, shown } from "./handoffs.ts";
import { all, get, type ScriptRunner } from "./script.ts";

const presenceOf = "SELECT 1 FROM presence p WHERE p.person_id = h.person_id AND p.account_id = h.account_id";
/** The shortest wait that a companion can have. */
const leastWaitMs = 30_000;

export const watchedQueries = {
  absent: `SELECT ${placed}, ${shown} ${joined}
    WHERE h.state = 'person' AND h.owed_since_ms IS NOT NULL AND h.owed_since_ms <= $1 AND ${hasCompanion}
      AND (h.was_present OR EXISTS (${presenceOf} AND (p.seen_at_ms >= h.since_ms OR p.until_ms > h.since_ms)))
      AND NOT EXISTS (${presenceOf} AND ((p.is_available AND p.seen_at_ms > $2) OR p.until_ms > $3))
    ORDER BY h.owed_since_ms LIMIT $4`,
  // Ids of a key's people begin with its own, a UUID, and a colon.
  stray: `SELECT ${placed}, ${shown} ${joined} JOIN companions c ON c.id = h.companion_id
    WHERE h.state <> 'companion' AND (c.handoff IS NULL OR (h.person_id LIKE '%:%' AND NOT EXISTS (
      SELECT 1 FROM api_keys k WHERE k.id = substr(h.person_id, 1, 36) AND k.revoked_at IS NULL
        AND (k.expires_at IS NULL OR k.expires_at > $1))))
    LIMIT $2`,
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
