/** Who of the team is present: members by their switch and their dashboards, people of a key for as long as it names them. */
import type { HandoffStore, Presence } from "../../../contracts/store/handoffs.ts";
import { AppError } from "../../../domain/errors.ts";
import type { Person } from "../../../domain/handoff.ts";
import { maxPresenceMs, maxPresent, presentMs } from "../../../domain/presence.ts";
import { changes } from "./changes.ts";
import { all, columns, get, insertAll, run, runAll, type Script, type ScriptRunner } from "./script.ts";
import { hasLostKey, wasThere } from "./watched-handoffs.ts";

interface PresenceRow extends Omit<Presence, "person" | "companionIds" | "isAvailable"> {
  person: string;
  isAvailable: boolean | number;
  memberName: string | null;
  companionIds: string | null;
  ownName: string | null;
}

// What a member may see and is called is asked each time.
const shownPresence = `${columns<PresenceRow>("p", ["person", "isAvailable", "seenAtMs", "untilMs"])},
    (SELECT m.name FROM members m WHERE m.id = p.person_id) AS "memberName",
    (SELECT m.companion_ids FROM members m WHERE m.id = p.person_id) AS "companionIds",
    (SELECT a.name FROM accounts a WHERE a.id = p.person_id) AS "ownName"`;

export const presenceQueries = {
  present: `SELECT ${shownPresence} FROM presence p
    WHERE p.account_id = $1 AND ((p.is_available AND p.seen_at_ms > $2) OR p.until_ms > $3) AND NOT ${hasLostKey("p.person_id", "$3")}
    ORDER BY p.person_id`,
  presence: `SELECT ${shownPresence} FROM presence p WHERE p.person_id = $1 AND p.account_id = $2`,
};

const replacePresence = `ON CONFLICT (person_id) DO UPDATE SET
  person = excluded.person, is_available = excluded.is_available, until_ms = excluded.until_ms,
  seen_at_ms = coalesce(excluded.seen_at_ms, presence.seen_at_ms)
  WHERE presence.account_id = excluded.account_id`;
const noteSeen = "UPDATE presence SET seen_at_ms = $2 WHERE person_id = $1";
// What is replaced is forgotten: whether they were present with what they have now.
const keepWasPresent = `UPDATE handoffs SET was_present = true WHERE account_id = $1 AND state = 'person' AND NOT was_present
  AND EXISTS (SELECT 1 FROM presence p WHERE p.person_id = handoffs.person_id AND p.account_id = $1 AND ${wasThere("handoffs")})`;
// As seen from an end that is an hour away at most.
const deleteOver = "DELETE FROM presence WHERE account_id = $1 AND until_ms < $2";
const countPresent = `SELECT count(*) AS count FROM presence WHERE account_id = $1 AND until_ms IS NOT NULL AND person_id <> $2`;

/** None of a member who is gone. */
function toPresence({ memberName, companionIds, ownName, ...row }: PresenceRow, accountId: string): Presence[] {
  const person: Person = JSON.parse(row.person);
  const presence = { ...row, isAvailable: Boolean(row.isAvailable), companionIds: null };
  if (person.memberId === null) return [{ ...presence, person }];
  if (person.memberId === accountId) return [{ ...presence, person: { ...person, name: ownName } }];
  if (memberName === null) return [];
  const seen = companionIds === null ? null : JSON.parse(companionIds);
  return [{ ...presence, person: { ...person, name: memberName }, companionIds: seen }];
}

export type PresenceStore = Pick<HandoffStore, "setPresence" | "recordSeen" | "listPresent" | "findPresence">;

export function createPresence(scripts: ScriptRunner): PresenceStore {
  /** A key may name anybody: what was over an hour ago goes, and there are only so many. False: it ends, and nothing is kept. */
  function* makeRoom(accountId: string, { person, untilMs }: Presence): Script<boolean> {
    if (untilMs === null) {
      yield* run("DELETE FROM presence WHERE account_id = $1 AND person_id = $2", accountId, person.id);
      return false;
    }
    yield* run(deleteOver, accountId, untilMs - maxPresenceMs);
    const count = (yield* get<{ count: number }>(countPresent, accountId, person.id))?.count ?? 0;
    if (count < maxPresent) return true;
    throw new AppError(
      "limit_reached",
      `API keys can make at most ${maxPresent} people of an account present within an hour.`,
    );
  }

  return {
    async setPresence(accountId, presence) {
      const { person, isAvailable, seenAtMs, untilMs } = presence;
      const row = { accountId, personId: person.id, person: JSON.stringify(person), isAvailable, seenAtMs, untilMs };
      await scripts.change(accountId, function* () {
        yield* changes.requireAccount(accountId);
        yield* run(keepWasPresent, accountId);
        if (person.memberId !== null || (yield* makeRoom(accountId, presence))) {
          yield* insertAll("presence", [row], replacePresence);
        }
      });
    },

    async recordSeen(personIds, atMs) {
      await scripts.append(() =>
        runAll(
          noteSeen,
          personIds.map((id) => [id, atMs]),
        ),
      );
    },

    async listPresent(accountId, nowMs) {
      const rows = await scripts.read(() =>
        all<PresenceRow>(presenceQueries.present, accountId, nowMs - presentMs, nowMs),
      );
      return rows.flatMap((row) => toPresence(row, accountId));
    },

    async findPresence(accountId, personId) {
      const row = await scripts.read(() => get<PresenceRow>(presenceQueries.presence, personId, accountId));
      return (row && toPresence(row, accountId)[0]) ?? null;
    },
  };
}
