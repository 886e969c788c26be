/** What companions and voice share about provider agents; to be called inside a write. */
import { requireOneVoice, unusableAgent, type VoiceFields } from "../../domain/voice-fields.ts";
import type { SqliteEngine } from "./engine.ts";

export type VoiceAgentKeeper = ReturnType<typeof createVoiceAgentKeeper>;

export function createVoiceAgentKeeper(engine: SqliteEngine) {
  const selectManaged = engine.query<{ found: number }, [string, string]>(
    `SELECT 1 AS found FROM voice_agents WHERE agent_id = ?
     UNION ALL SELECT 1 FROM voice_outbox WHERE agent_id = ? LIMIT 1`,
  );
  const selectBound = engine.query<{ account_id: string }, [string, string]>(
    "SELECT account_id FROM companions WHERE voice_agent_id = ? AND account_id <> ? LIMIT 1",
  );
  const takeAgent = engine.query<{ provider: string; agent_id: string }, [string]>(
    "DELETE FROM voice_agents WHERE companion_id = ? RETURNING provider, agent_id",
  );
  const deleteLock = engine.query<null, [string]>("DELETE FROM voice_agent_locks WHERE companion_id = ?");
  const insertOutbox = engine.query<null, [string, string, number]>(
    "INSERT INTO voice_outbox (provider, agent_id, attempts, due_at) VALUES (?, ?, 0, ?) ON CONFLICT DO NOTHING",
  );

  const isManaged = (agentId: string) => selectManaged.get(agentId, agentId) !== null;
  const findOtherAccount = (agentId: string, exceptAccountId: string) =>
    selectBound.get(agentId, exceptAccountId)?.account_id ?? null;

  return {
    isManaged,
    findOtherAccount,

    /** Rejects both fields at once, and an agent that the server manages or that another account uses. */
    check(accountId: string, fields: VoiceFields): void {
      requireOneVoice(fields);
      const { voiceAgentId } = fields;
      if (voiceAgentId === null) return;
      if (isManaged(voiceAgentId) || findOtherAccount(voiceAgentId, accountId) !== null) throw unusableAgent();
    },

    /** Puts an agent in for deletion at its provider. */
    putOut(provider: string, agentId: string, dueAt: number): void {
      insertOutbox.run(provider, agentId, dueAt);
    },

    /** The companion's managed agent, if it has one, goes to the outbox. */
    dismiss(companionId: string, nowMs: number): void {
      const agent = takeAgent.get(companionId);
      if (agent !== null) insertOutbox.run(agent.provider, agent.agent_id, nowMs);
      deleteLock.run(companionId);
    },
  };
}
