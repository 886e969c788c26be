/** Embed tokens; a revoked one is deleted. */
import type { EmbedTokenStore } from "../../../contracts/store/embed-tokens.ts";
import type { EmbedToken } from "../../../domain/companion.ts";
import { changes } from "./changes.ts";
import { ownsCompanion } from "./companions.ts";
import { holdings } from "./holdings.ts";
import { all, columns, get, insert, run, type ScriptRunner } from "./script.ts";
import type { RecordLastUses } from "./sessions.ts";

// The companion row contains its oldest valid token, for lists.
const refreshOldest = `UPDATE companions SET embed_token =
    (SELECT token FROM embed_tokens WHERE companion_id = companions.id ORDER BY created_at, id LIMIT 1)
  WHERE id = $1`;
const shown = columns<EmbedToken>("t", ["id", "companionId", "token", "name", "createdAt", "lastUsedAt"]);
const selectOldestFirst = `SELECT ${shown} FROM embed_tokens t WHERE t.companion_id = $1 ORDER BY t.created_at, t.id`;
const deleteOne = "DELETE FROM embed_tokens WHERE id = $1 AND companion_id = $2 RETURNING name";

export function createEmbedTokenStore(scripts: ScriptRunner, recordLastUses: RecordLastUses): EmbedTokenStore {
  return {
    create: (accountId, companionId, { id, token, name }, context) =>
      scripts.change(accountId, function* () {
        if (!(yield* ownsCompanion(accountId, companionId))) return null;
        const made = { id, companionId, token, name, createdAt: context.nowMs, lastUsedAt: null };
        yield* insert("embed_tokens", made);
        yield* holdings.checkNewToken(accountId, companionId, context);
        yield* run(refreshOldest, companionId);
        const details = { companionId, name };
        yield* changes.record(context, { accountId, action: "embed_token.create", targetId: id, details });
        return made;
      }),

    list: (accountId, companionId) =>
      scripts.read(function* () {
        if (!(yield* ownsCompanion(accountId, companionId))) return null;
        return yield* all<EmbedToken>(selectOldestFirst, companionId);
      }),

    revoke: (accountId, companionId, tokenId, context) =>
      scripts.change(accountId, function* () {
        if (!(yield* ownsCompanion(accountId, companionId))) return false;
        const revoked = yield* get<{ name: string | null }>(deleteOne, tokenId, companionId);
        if (revoked === null) return false;
        yield* run(refreshOldest, companionId);
        const details = { companionId, name: revoked.name };
        yield* changes.record(context, { accountId, action: "embed_token.revoke", targetId: tokenId, details });
        return true;
      }),

    recordUses: (uses) =>
      recordLastUses(
        "embed_tokens",
        uses.map(({ tokenId: id, lastUsedAt }) => ({ id, lastUsedAt })),
      ),
  };
}
