/** What a companion shows and where it was seen: uploaded avatars, and websites that have asked for its configuration. */
import type { CompanionStore, Seen } from "../../../contracts/store/companions.ts";
import { addSighting, type Sighting } from "../../../domain/sighting.ts";
import { companionEvent } from "../rows/events.ts";
import { fromPaddedBlob, toPaddedBlob } from "../rows/knowledge.ts";
import { changes } from "./changes.ts";
import { companionStates } from "./companion-states.ts";
import type { CompanionWriter } from "./companion-writes.ts";
import { holdings } from "./holdings.ts";
import { get, insert, run, type Script, type ScriptRunner } from "./script.ts";

export const faceQueries = {
  avatar: "SELECT image FROM companion_avatars WHERE hash = $1 LIMIT 1",
  seen: `SELECT c.seen_on AS "seenOn" FROM companions c WHERE c.id = $1 FOR NO KEY UPDATE OF c`,
};
const deleteAvatar = "DELETE FROM companion_avatars WHERE companion_id = $1";
const noteAvatar = "UPDATE companions SET avatar_hash = $2, avatar_bytes = $3, updated_at = $4 WHERE id = $1";
const writeSeen = "UPDATE companions SET seen_on = $2 WHERE id = $1";

function* noteSeen(companionId: string, seen: readonly Seen[]): Script<void> {
  const row = yield* get<{ seenOn: string | null }>(faceQueries.seen, companionId);
  if (row === null) return;
  const before: readonly Sighting[] = JSON.parse(row.seenOn ?? "[]");
  const after = seen.reduce((known, { origin, seenAt }) => addSighting(known, origin, seenAt), before);
  if (after !== before) yield* run(writeSeen, companionId, JSON.stringify(after));
}

export function createCompanionFaces(
  scripts: ScriptRunner,
  { emit }: Pick<CompanionWriter, "emit">,
): Pick<CompanionStore, "setAvatar" | "findAvatar" | "recordSeen"> {
  return {
    setAvatar: (accountId, id, avatar, context, check) =>
      scripts.change(accountId, function* () {
        const held = yield* companionStates.lockOne(accountId, id);
        if (held === null) return null;
        const { companion } = held;
        check?.(companion);
        if (companion.avatarHash === (avatar?.hash ?? null)) return companion;
        const before = yield* holdings.measure(accountId, context);
        const [avatarHash, avatarBytes] = [avatar?.hash ?? null, avatar?.image.length ?? null];
        yield* run(deleteAvatar, id);
        if (avatar !== null) {
          const image = toPaddedBlob(avatar.image);
          yield* insert("companion_avatars", { companionId: id, hash: avatar.hash, image });
        }
        yield* run(noteAvatar, id, avatarHash, avatarBytes, context.nowMs);
        yield* holdings.checkGrowth(accountId, before, context);
        const details = { changed: ["avatar"] };
        yield* changes.record(context, { accountId, action: "companion.update", targetId: id, details });
        const after = { ...companion, avatarHash, avatarBytes, updatedAt: context.nowMs };
        if (context.hasWebhooks !== false) {
          yield* emit([companionEvent("companion.updated", accountId, after, context, ["avatar"])]);
        }
        return after;
      }),

    findAvatar: (hash) =>
      scripts.read(function* () {
        const row = yield* get<{ image: Uint8Array }>(faceQueries.avatar, hash);
        return row && fromPaddedBlob(row.image);
      }),

    async recordSeen(seen) {
      const byCompanion = Map.groupBy(seen, ({ companionId }) => companionId);
      // Of several servers, all lock the rows in one order. Nothing that people change: no cache has to be read again.
      const sorted = [...byCompanion].sort(([one], [other]) => (one < other ? -1 : 1));
      if (sorted.length === 0) return;
      await scripts.append(function* () {
        for (const [companionId, ofOne] of sorted) yield* noteSeen(companionId, ofOne);
      });
    },
  };
}
