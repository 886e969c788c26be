/** Embed tokens in SQLite; a revoked one is deleted. */
import { and, asc, eq } from "drizzle-orm";
import type { EmbedTokenStore } from "../contract/embed-tokens.ts";
import type { SqliteEngine } from "./engine.ts";
import { setLastUse } from "./last-use.ts";
import type { ChangeRecorder, HoldingsKeeper } from "./parts.ts";
import { embedTokens } from "./schema/clustered.ts";
import { companions } from "./schema/companions.ts";

export function createEmbedTokenStore(
  engine: SqliteEngine,
  changes: ChangeRecorder,
  holdings: HoldingsKeeper,
): EmbedTokenStore {
  const { orm } = engine;
  const recordUse = engine.query<null, [number, string]>(`UPDATE embed_tokens SET ${setLastUse} WHERE id = ?`);
  // The companion row contains its oldest valid token, for lists.
  const refreshOldest = engine.query<null, [string]>(
    `UPDATE companions SET embed_token =
       (SELECT token FROM embed_tokens WHERE companion_id = companions.id ORDER BY created_at, id LIMIT 1)
     WHERE id = ?`,
  );

  function ownsCompanion(accountId: string, companionId: string): boolean {
    const own = and(eq(companions.id, companionId), eq(companions.accountId, accountId));
    return orm.select({ number: companions.number }).from(companions).where(own).get() !== undefined;
  }

  return {
    create: (accountId, companionId, { id, token, name }, context) =>
      engine.write(() => {
        if (!ownsCompanion(accountId, companionId)) return null;
        const made = { id, companionId, token, name, createdAt: context.nowMs, lastUsedAt: null };
        orm.insert(embedTokens).values(made).run();
        holdings.checkNewToken(accountId, companionId, context);
        refreshOldest.run(companionId);
        const details = { companionId, name };
        changes.record(context, { accountId, action: "embed_token.create", targetId: id, details });
        return made;
      }),

    list: (accountId, companionId) =>
      engine.read(() => {
        if (!ownsCompanion(accountId, companionId)) return null;
        const oldestFirst = [asc(embedTokens.createdAt), asc(embedTokens.id)];
        const own = eq(embedTokens.companionId, companionId);
        return orm
          .select()
          .from(embedTokens)
          .where(own)
          .orderBy(...oldestFirst)
          .all();
      }),

    revoke: (accountId, companionId, tokenId, context) =>
      engine.write(() => {
        if (!ownsCompanion(accountId, companionId)) return false;
        const own = and(eq(embedTokens.id, tokenId), eq(embedTokens.companionId, companionId));
        const [revoked] = orm.delete(embedTokens).where(own).returning({ name: embedTokens.name }).all();
        if (revoked === undefined) return false;
        refreshOldest.run(companionId);
        const details = { companionId, name: revoked.name };
        changes.record(context, { accountId, action: "embed_token.revoke", targetId: tokenId, details });
        return true;
      }),

    recordUses: async (uses) => {
      if (uses.length === 0) return;
      await engine.append(() => {
        for (const { tokenId, lastUsedAt } of uses) recordUse.run(lastUsedAt, tokenId);
      });
    },
  };
}
