/** Embed tokens in PostgreSQL; a revoked one is deleted. */
import type { EmbedToken } from "../../domain/companion.ts";
import type { EmbedTokenStore } from "../contract/embed-tokens.ts";
import type { PostgresEngine } from "./engine.ts";
import { recordLastUses } from "./last-use.ts";
import type { StoreParts } from "./parts.ts";
import type { Queries } from "./queries.ts";
import { mapColumns } from "./rows/columns.ts";
import { ofAccount } from "./rows/companion.ts";
import { embedTokens } from "./schema/companions.ts";

// The companion row contains its oldest valid token, for lists.
const refreshOldest = `UPDATE companions SET embed_token =
    (SELECT token FROM embed_tokens WHERE companion_id = companions.id ORDER BY created_at, id LIMIT 1)
  WHERE id = $1`;

const tokenColumns = mapColumns(embedTokens);
const selectOldestFirst = `SELECT ${tokenColumns.select("t")} FROM embed_tokens t WHERE t.companion_id = $1
  ORDER BY t.created_at, t.id`;
const deleteOne = "DELETE FROM embed_tokens WHERE id = $1 AND companion_id = $2 RETURNING name";

const selectOwned = `SELECT FROM companions c WHERE c.id = $1 AND ${ofAccount("$2")}`;

export function createEmbedTokenStore(
  engine: PostgresEngine,
  { changes, holdings }: Pick<StoreParts, "changes" | "holdings">,
): EmbedTokenStore {
  async function ownsCompanion(queries: Queries, accountId: string, companionId: string): Promise<boolean> {
    return (await queries.get(selectOwned, [companionId, accountId])) !== null;
  }

  return {
    create: (accountId, companionId, { id, token, name }, context) =>
      engine.change(accountId, async (transaction) => {
        if (!(await ownsCompanion(transaction, accountId, companionId))) return null;
        const made = { id, companionId, token, name, createdAt: context.nowMs, lastUsedAt: null };
        await tokenColumns.insert(transaction, [made]);
        await holdings.checkNewToken(transaction, accountId, companionId, context);
        await transaction.run(refreshOldest, [companionId]);
        const details = { companionId, name };
        await changes.record(transaction, context, { accountId, action: "embed_token.create", targetId: id, details });
        return made;
      }),

    list: async (accountId, companionId) => {
      if (!(await ownsCompanion(engine.quick, accountId, companionId))) return null;
      return [...(await engine.quick.all<EmbedToken>(selectOldestFirst, [companionId]))];
    },

    revoke: (accountId, companionId, tokenId, context) =>
      engine.change(accountId, async (transaction) => {
        if (!(await ownsCompanion(transaction, accountId, companionId))) return false;
        const revoked = await transaction.get<{ name: string | null }>(deleteOne, [tokenId, companionId]);
        if (revoked === null) return false;
        await transaction.run(refreshOldest, [companionId]);
        const details = { companionId, name: revoked.name };
        const change = { accountId, action: "embed_token.revoke", targetId: tokenId, details };
        await changes.record(transaction, context, change);
        return true;
      }),

    recordUses: async (uses) => {
      if (uses.length === 0) return;
      const used = uses.map(({ tokenId, lastUsedAt }) => ({ id: tokenId, lastUsedAt }));
      await engine.write((transaction) => recordLastUses(transaction, "embed_tokens", used));
    },
  };
}
