/** What companions and voice share about provider agents; call it inside a write. */
import { requireOneVoice, unusableAgent, type VoiceFields } from "../../domain/voice-fields.ts";
import type { SqliteEngine } from "./engine.ts";

/** The condition for an account's companions to use an agent of its owner; both arguments are SQL expressions. */
export function isGranted(accountId: string, agentId: string): string {
  return `(EXISTS (SELECT 1 FROM voice_agent_grants WHERE account_id = ${accountId} AND agent_id = ${agentId})
    OR EXISTS (SELECT 1 FROM accounts WHERE id = ${accountId} AND role = 'operator'))`;
}

export type VoiceAgentKeeper = ReturnType<typeof createVoiceAgentKeeper>;

export function createVoiceAgentKeeper(engine: SqliteEngine) {
  const selectManaged = engine.query<{ found: number }, [string, string]>(
    `SELECT 1 AS found FROM voice_agents WHERE agent_id = ?
     UNION ALL SELECT 1 FROM voice_outbox WHERE agent_id = ? LIMIT 1`,
  );
  const selectGranted = engine.query<{ found: number }, [string, string]>(
    `SELECT 1 AS found FROM (SELECT ? AS account_id, ? AS agent_id) AS wish WHERE ${isGranted("wish.account_id", "wish.agent_id")}`,
  );
  const takeAgent = engine.query<{ provider: string; agent_id: string }, [string]>(
    "DELETE FROM voice_agents WHERE companion_id = ? RETURNING provider, agent_id",
  );
  const deleteLock = engine.query<null, [string]>("DELETE FROM voice_agent_locks WHERE companion_id = ?");
  const insertOutbox = engine.query<null, [string, string, number]>(
    "INSERT INTO voice_outbox (provider, agent_id, attempts, due_at) VALUES (?, ?, 0, ?) ON CONFLICT DO NOTHING",
  );

  const isManaged = (agentId: string) => selectManaged.get(agentId, agentId) !== null;
  const canUse = (accountId: string, agentId: string) =>
    !isManaged(agentId) && selectGranted.get(accountId, agentId) !== null;

  return {
    isManaged,
    canUse,

    /** Rejects both fields at once, and an agent that the account may not use, unless the companion already has it. */
    check(accountId: string, fields: VoiceFields, currentAgentId: string | null): void {
      requireOneVoice(fields);
      const { voiceAgentId } = fields;
      if (voiceAgentId === null || voiceAgentId === currentAgentId) return;
      if (!canUse(accountId, voiceAgentId)) throw unusableAgent();
    },

    /** Adds an agent to the outbox, for deletion at its provider. */
    putOut(provider: string, agentId: string, dueAt: number): void {
      insertOutbox.run(provider, agentId, dueAt);
    },

    /** Moves the companion's managed agent, if it has one, to the outbox. */
    dismiss(companionId: string, nowMs: number): void {
      const agent = takeAgent.get(companionId);
      if (agent !== null) insertOutbox.run(agent.provider, agent.agent_id, nowMs);
      deleteLock.run(companionId);
    },
  };
}
