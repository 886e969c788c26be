/** Grants of voice agents in PostgreSQL. */
import type { VoiceAgentGrant, VoiceAgentGrantStore } from "../contract/voice-agent-grants.ts";
import type { WriteContext } from "../contract/write-context.ts";
import { agentIsGranted, agentIsManaged } from "../rows/refusals.ts";
import type { PostgresEngine } from "./engine.ts";
import type { StoreParts } from "./parts.ts";
import type { Queries } from "./queries.ts";

const countCompanions = `SELECT count(*)::float8 AS companions FROM companions
  WHERE account_id = $1 AND voice_agent_id = $2`;
const select = `SELECT g.agent_id AS "agentId", g.created_at::float8 AS "createdAt",
    (SELECT count(*) FROM companions c WHERE c.voice_agent_id = g.agent_id AND c.account_id = g.account_id)::float8
      AS companions
  FROM voice_agent_grants g WHERE g.account_id = $1`;
const insert =
  "INSERT INTO voice_agent_grants (account_id, agent_id, created_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING";

export function createVoiceAgentGrantStore(
  engine: PostgresEngine,
  { changes, voiceAgents }: Pick<StoreParts, "changes" | "voiceAgents">,
): VoiceAgentGrantStore {
  const find = (transaction: Queries, accountId: string, agentId: string) =>
    transaction.get<VoiceAgentGrant>(`${select} AND g.agent_id = $2`, [accountId, agentId]);

  async function record(
    transaction: Queries,
    context: WriteContext,
    accountId: string,
    action: string,
    grant: VoiceAgentGrant,
  ): Promise<void> {
    const details = { agent_id: grant.agentId, companions: grant.companions };
    await changes.record(transaction, context, { accountId, action, targetId: grant.agentId, details });
  }

  return {
    list: async (accountId) => {
      const newestFirst = `${select} ORDER BY g.created_at DESC, g.agent_id`;
      return [...(await engine.quick.all<VoiceAgentGrant>(newestFirst, [accountId]))];
    },

    countCompanions: async (accountId, agentId) =>
      (await engine.quick.get<{ companions: number }>(countCompanions, [accountId, agentId]))?.companions ?? 0,

    grant: (accountId, agentId, context) =>
      engine.change(accountId, async (transaction) => {
        await changes.requireAccount(transaction, accountId);
        await voiceAgents.lock(transaction, [agentId]);
        if (await voiceAgents.isManaged(transaction, agentId)) throw agentIsManaged();
        const inserted = await transaction.run(insert, [accountId, agentId, context.nowMs]);
        if (inserted === 0) throw agentIsGranted();
        const grant = await find(transaction, accountId, agentId);
        if (grant === null) throw new Error("an inserted grant is missing");
        await record(transaction, context, accountId, "voice_agent.grant", grant);
        return grant;
      }),

    revoke: (accountId, agentId, context) =>
      engine.change(accountId, async (transaction) => {
        // PostgreSQL refuses NUL, so no agent that has it was granted.
        const grant = agentId.includes("\0") ? null : await find(transaction, accountId, agentId);
        if (grant === null) return null;
        await transaction.run("DELETE FROM voice_agent_grants WHERE account_id = $1 AND agent_id = $2", [
          accountId,
          agentId,
        ]);
        await record(transaction, context, accountId, "voice_agent.revoke", grant);
        return grant;
      }),
  };
}
