/** What companions and voice share about provider agents; call it inside a write. */

import type { VoiceAgentGrant, VoiceAgentGrantStore } from "../../../contracts/store/voice-agent-grants.ts";
import type { WriteContext } from "../../../contracts/store/write-context.ts";
import { invalidFields } from "../../../domain/errors.ts";
import { requireOneVoice, unusableAgent, type VoiceFields } from "../../../domain/voice-fields.ts";
import { changes } from "./changes.ts";
import { all, get, insert, insertAll, lockRows, run, type Script, type ScriptRunner } from "./script.ts";

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

const selectManaged = `SELECT 1 AS one WHERE ${isManagedBy("$1")}`;
/** Of the account `$1`. */
const countUsable = `SELECT count(*) AS usable FROM unnest($2::text[]) AS wish(agent_id)
  WHERE NOT ${isManagedBy("wish.agent_id")} AND ${isGranted("$1", "wish.agent_id")}`;
/** In the order given, so that two never wait for each other. */
const lockAll = `SELECT pg_advisory_xact_lock(hashtextextended('voice agent ' || agent_id, 0))
  FROM unnest($1::text[]) AS wanted(agent_id)`;
const takeAgents = `DELETE FROM voice_agents WHERE companion_id = ANY ($1::text[]) RETURNING provider, agent_id AS "agentId"`;

/** An agent at its provider. */
interface Agent {
  provider: string;
  agentId: string;
}

function* enqueue(agents: readonly Agent[], dueAt: number): Script<void> {
  const rows = agents.map(({ provider, agentId }) => ({ provider, agentId, attempts: 0, dueAt }));
  yield* insertAll("voice_outbox", rows, "ON CONFLICT DO NOTHING");
}

export const voiceAgents = {
  *isManaged(agentId: string): Script<boolean> {
    return (yield* get(selectManaged, agentId)) !== null;
  },

  *canUse(accountId: string, agentIds: readonly string[]): Script<boolean> {
    const found = yield* get<{ usable: number }>(countUsable, accountId, agentIds);
    return found?.usable === agentIds.length;
  },

  /**
   * No one else begins to manage these agents, or to name them, until the transaction ends. Take it after the locks of
   * accounts and companions.
   */
  lock: (agentIds: readonly string[]): Script<void> => lockRows(lockAll, [...agentIds].sort()),

  /**
   * Rejects both fields together, and an agent that the account may not use, unless the companion already has it. Of
   * many companions, all must pass.
   */
  *check(accountId: string, companions: readonly VoiceFields[], currentAgentId: string | null): Script<void> {
    for (const fields of companions) requireOneVoice(fields);
    const wanted = new Set(companions.map(({ voiceAgentId }) => voiceAgentId));
    const agentIds = [...wanted].filter((agentId) => agentId !== null && agentId !== currentAgentId) as string[];
    if (agentIds.length === 0) return;
    yield* voiceAgents.lock(agentIds);
    if (!(yield* voiceAgents.canUse(accountId, agentIds))) throw unusableAgent();
  },

  /** Adds an agent to the outbox, for deletion at its provider. */
  putOut: (provider: string, agentId: string, dueAt: number): Script<void> => enqueue([{ provider, agentId }], dueAt),

  /** Moves the managed agents that the companions have to the outbox. Lock the companions' rows before. */
  *dismiss(companionIds: readonly string[], nowMs: number): Script<void> {
    const taken = yield* all<Agent>(takeAgents, companionIds);
    // In one order, so that two never wait for each other.
    const inOrder = taken.toSorted((one, other) => (one.agentId < other.agentId ? -1 : 1));
    yield* enqueue(inOrder, nowMs);
    yield* run("DELETE FROM voice_agent_locks WHERE companion_id = ANY ($1::text[])", companionIds);
  },
};

const countCompanions = "SELECT count(*) AS companions FROM companions WHERE account_id = $1 AND voice_agent_id = $2";
const select = `SELECT g.agent_id AS "agentId", g.created_at AS "createdAt",
    (SELECT count(*) FROM companions c WHERE c.voice_agent_id = g.agent_id AND c.account_id = g.account_id) AS companions
  FROM voice_agent_grants g WHERE g.account_id = $1`;
const selectAll = `${select} ORDER BY g.created_at DESC, g.agent_id`;
const selectOne = `${select} AND g.agent_id = $2`;

const refuse = (detail: string) => invalidFields([{ param: "agent_id", detail }]);

function* record(context: WriteContext, accountId: string, action: string, grant: VoiceAgentGrant): Script<void> {
  const details = { agent_id: grant.agentId, companions: grant.companions };
  yield* changes.record(context, { accountId, action, targetId: grant.agentId, details });
}

/** Grants of voice agents. */
export function createVoiceAgentGrantStore(scripts: ScriptRunner): VoiceAgentGrantStore {
  return {
    list: (accountId) => scripts.read(() => all<VoiceAgentGrant>(selectAll, accountId)),

    countCompanions: (accountId, agentId) =>
      scripts.read(function* () {
        return (yield* get<{ companions: number }>(countCompanions, accountId, agentId))?.companions ?? 0;
      }),

    grant: (accountId, agentId, context) =>
      scripts.change(accountId, function* () {
        yield* changes.requireAccount(accountId);
        yield* voiceAgents.lock([agentId]);
        if (yield* voiceAgents.isManaged(agentId)) throw refuse("The server keeps this agent for a companion.");
        const row = { accountId, agentId, createdAt: context.nowMs };
        const inserted = yield* insert("voice_agent_grants", row, "ON CONFLICT DO NOTHING");
        if (inserted === 0) throw refuse("The account already has this agent.");
        const grant = yield* get<VoiceAgentGrant>(selectOne, accountId, agentId);
        if (grant === null) throw new Error("an inserted grant is missing");
        yield* record(context, accountId, "voice_agent.grant", grant);
        return grant;
      }),

    revoke: (accountId, agentId, context) =>
      scripts.change(accountId, function* () {
        // PostgreSQL refuses NUL, so no agent that has it was granted.
        const grant = agentId.includes("\0") ? null : yield* get<VoiceAgentGrant>(selectOne, accountId, agentId);
        if (grant === null) return null;
        yield* run("DELETE FROM voice_agent_grants WHERE account_id = $1 AND agent_id = $2", accountId, agentId);
        yield* record(context, accountId, "voice_agent.revoke", grant);
        return grant;
      }),
  };
}
