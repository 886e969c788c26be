/** Grants of voice agents in SQLite. */
import type { VoiceAgentGrant, VoiceAgentGrantStore } from "../contract/voice-agent-grants.ts";
import type { WriteContext } from "../contract/write-context.ts";
import { agentIsGranted, agentIsManaged } from "../rows/refusals.ts";
import type { SqliteEngine } from "./engine.ts";
import type { ChangeRecorder } from "./parts.ts";
import type { VoiceAgentKeeper } from "./voice-agents.ts";

export function createVoiceAgentGrantStore(
  engine: SqliteEngine,
  changes: ChangeRecorder,
  agents: VoiceAgentKeeper,
): VoiceAgentGrantStore {
  const count = engine.query<{ companions: number }, [string, string]>(
    "SELECT count(*) AS companions FROM companions WHERE account_id = ? AND voice_agent_id = ?",
  );
  const select = `SELECT g.agent_id AS agentId, g.created_at AS createdAt,
    (SELECT count(*) FROM companions c WHERE c.voice_agent_id = g.agent_id AND c.account_id = g.account_id) AS companions
    FROM voice_agent_grants g WHERE g.account_id = ?`;
  const selectAll = engine.query<VoiceAgentGrant, [string]>(`${select} ORDER BY g.created_at DESC, g.agent_id`);
  const selectOne = engine.query<VoiceAgentGrant, [string, string]>(`${select} AND g.agent_id = ?`);
  const insert = engine.query<null, [string, string, number]>(
    "INSERT INTO voice_agent_grants (account_id, agent_id, created_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
  );
  const remove = engine.query<null, [string, string]>(
    "DELETE FROM voice_agent_grants WHERE account_id = ? AND agent_id = ?",
  );

  function record(context: WriteContext, accountId: string, action: string, grant: VoiceAgentGrant): void {
    const details = { agent_id: grant.agentId, companions: grant.companions };
    changes.record(context, { accountId, action, targetId: grant.agentId, details });
  }

  return {
    list: (accountId) => engine.read(() => selectAll.all(accountId)),

    countCompanions: (accountId, agentId) => engine.read(() => count.get(accountId, agentId)?.companions ?? 0),

    grant: (accountId, agentId, context) =>
      engine.write(() => {
        changes.requireAccount(accountId);
        if (agents.isManaged(agentId)) throw agentIsManaged();
        if (insert.run(accountId, agentId, context.nowMs) === 0) throw agentIsGranted();
        const grant = selectOne.get(accountId, agentId);
        if (grant === null) throw new Error("an inserted grant is missing");
        record(context, accountId, "voice_agent.grant", grant);
        return grant;
      }),

    revoke: (accountId, agentId, context) =>
      engine.write(() => {
        const grant = selectOne.get(accountId, agentId);
        if (grant === null) return null;
        remove.run(accountId, agentId);
        record(context, accountId, "voice_agent.revoke", grant);
        return grant;
      }),
  };
}
