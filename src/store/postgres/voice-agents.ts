/** What companions and voice share about provider agents; call it inside a write. */
import { requireOneVoice, unusableAgent, type VoiceFields } from "../../domain/voice-fields.ts";
import type { Queries } from "./queries.ts";
import type { Transaction } from "./transaction.ts";

/** The condition for an account's companions to use an agent of its owner; both arguments are SQL expressions. */
export function isGranted(accountId: string, agentId: string): string {
  return `(EXISTS (SELECT 1 FROM voice_agent_grants g WHERE g.account_id = ${accountId} AND g.agent_id = ${agentId})
    OR EXISTS (SELECT 1 FROM accounts o WHERE o.id = ${accountId} AND o.role = 'operator'))`;
}

/** The condition for the server to keep the agent for a companion, or to have it still to delete. */
function isManagedBy(agentId: string): string {
  return `(EXISTS (SELECT 1 FROM voice_agents a WHERE a.agent_id = ${agentId})
    OR EXISTS (SELECT 1 FROM voice_outbox o WHERE o.agent_id = ${agentId}))`;
}

const selectManaged = `SELECT ${isManagedBy("$1")} AS "isManaged"`;
/** Of the account `$1`. */
const countUsable = `SELECT count(*)::int AS usable FROM unnest($2::text[]) AS wish(agent_id)
  WHERE NOT ${isManagedBy("wish.agent_id")} AND ${isGranted("$1", "wish.agent_id")}`;
/** In the order given, so that two never wait for each other. */
const lockAll = `SELECT pg_advisory_xact_lock(hashtextextended('voice agent ' || agent_id, 0))
  FROM unnest($1::text[]) AS wanted(agent_id)`;
const insertOutbox = `INSERT INTO voice_outbox (provider, agent_id, attempts, due_at) VALUES ($1, $2, 0, $3)
  ON CONFLICT DO NOTHING`;
const dismissAgents = `WITH taken AS (DELETE FROM voice_agents WHERE companion_id = ANY($1::text[]) RETURNING provider, agent_id)
  INSERT INTO voice_outbox (provider, agent_id, attempts, due_at)
  SELECT provider, agent_id, 0, $2 FROM taken ORDER BY provider, agent_id ON CONFLICT DO NOTHING`;

export type VoiceAgentKeeper = ReturnType<typeof createVoiceAgentKeeper>;

export function createVoiceAgentKeeper() {
  const isManaged = async (queries: Queries, agentId: string) =>
    (await queries.get<{ isManaged: boolean }>(selectManaged, [agentId]))?.isManaged === true;

  async function canUse(queries: Queries, accountId: string, agentIds: readonly string[]): Promise<boolean> {
    const found = await queries.get<{ usable: number }>(countUsable, [accountId, agentIds]);
    return found?.usable === agentIds.length;
  }

  /**
   * Nobody else begins to manage these agents, or to name them, until the transaction ends. Take it after the locks of
   * accounts and companions.
   */
  async function lock(transaction: Transaction, agentIds: readonly string[]): Promise<void> {
    await transaction.run(lockAll, [[...agentIds].sort()]);
  }

  return {
    isManaged,
    canUse,
    lock,

    /**
     * Rejects both fields at once, and an agent that the account may not use, unless the companion already has it. Of
     * many companions, all must pass.
     */
    async check(
      transaction: Transaction,
      accountId: string,
      companions: readonly VoiceFields[],
      currentAgentId: string | null,
    ): Promise<void> {
      for (const fields of companions) requireOneVoice(fields);
      const wanted = new Set(companions.map(({ voiceAgentId }) => voiceAgentId));
      const agentIds = [...wanted].filter((agentId) => agentId !== null && agentId !== currentAgentId) as string[];
      if (agentIds.length === 0) return;
      await lock(transaction, agentIds);
      if (!(await canUse(transaction, accountId, agentIds))) throw unusableAgent();
    },

    /** Adds an agent to the outbox, for deletion at its provider. */
    async putOut(transaction: Transaction, provider: string, agentId: string, dueAt: number): Promise<void> {
      await transaction.run(insertOutbox, [provider, agentId, dueAt]);
    },

    /** Moves the managed agents that the companions have to the outbox. Lock the companions' rows before. */
    async dismiss(transaction: Transaction, companionIds: readonly string[], nowMs: number): Promise<void> {
      await transaction.run(dismissAgents, [companionIds, nowMs]);
      await transaction.run("DELETE FROM voice_agent_locks WHERE companion_id = ANY($1::text[])", [companionIds]);
    },
  };
}
