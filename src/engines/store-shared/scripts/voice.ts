/** Managed agents of voice with their locks and outbox. Each engine counts sessions and their costs differently. */
import type { VoiceAgent, VoiceOutboxItem, VoiceSession, VoiceStore } from "../../../contracts/store/voice.ts";
import { maxVoiceWaitMs } from "../rows/bounds.ts";
import { toVisitorId } from "../rows/conversation.ts";
import { withoutNul } from "../rows/text.ts";
import { all, columns, get, insert, run, type Script, type ScriptRunner } from "./script.ts";
import { voiceAgents } from "./voice-agents.ts";

const selectAgent = `SELECT ${columns<VoiceAgent>("a", ["companionId", "provider", "agentId", "settingsHash"])}
  FROM voice_agents a WHERE a.companion_id = $1`;
const takeLock = `INSERT INTO voice_agent_locks (companion_id, owner, until_ms) VALUES ($1, $2, $3)
  ON CONFLICT (companion_id) DO UPDATE SET owner = excluded.owner, until_ms = excluded.until_ms
    WHERE voice_agent_locks.owner = excluded.owner OR voice_agent_locks.until_ms NOT BETWEEN $4 AND $5`;
const releaseLock = "DELETE FROM voice_agent_locks WHERE companion_id = $1 AND owner = $2";
const lockCompanion = `SELECT voice_id AS "voiceId" FROM companions WHERE id = $1 FOR NO KEY UPDATE`;
const selectHeld = `SELECT 1 AS one FROM voice_agent_locks
  WHERE companion_id = $1 AND owner = $2 AND until_ms >= $3 FOR SHARE`;
const replaceAgent = `ON CONFLICT (companion_id) DO UPDATE SET
  provider = excluded.provider, agent_id = excluded.agent_id, settings_hash = excluded.settings_hash`;
const selectDue = `SELECT provider, agent_id AS "agentId", attempts + 1 AS attempts FROM voice_outbox
  WHERE due_at <= $1 OR due_at > $2 ORDER BY due_at LIMIT $3`;
const lockDue = `${selectDue} FOR UPDATE SKIP LOCKED`;
const leaseItem = "UPDATE voice_outbox SET attempts = $3, due_at = $4 WHERE provider = $1 AND agent_id = $2";
const selectSession = `SELECT s.companion_id AS "companionId", s.session_id AS "sessionId", s.visitor_id AS "visitorId",
    s.created_at AS "createdAt"
  FROM voice_sessions s JOIN companions c ON c.id = s.companion_id WHERE s.provider_conversation_id = $1`;
const deleteSessions = `WITH old AS MATERIALIZED (SELECT provider_conversation_id AS id FROM voice_sessions
    WHERE created_at < $1 ORDER BY created_at LIMIT $2 FOR UPDATE SKIP LOCKED)
  DELETE FROM voice_sessions WHERE provider_conversation_id IN (SELECT id FROM old)`;

/** Whether the owner may still give the companion an agent, and the companion still wants one. */
function* mayKeep(companionId: string, owner: string, nowMs: number): Script<boolean> {
  const companion = yield* get<{ voiceId: string | null }>(lockCompanion, companionId);
  const held = yield* get(selectHeld, companionId, owner, nowMs);
  return held !== null && (companion?.voiceId ?? null) !== null;
}

/** What an engine has of its own. */
export type VoiceCounting = Pick<VoiceStore, "startSession" | "countDay" | "addTranscript">;

export function createVoiceStore(scripts: ScriptRunner, counting: VoiceCounting): VoiceStore {
  return {
    ...counting,

    findAgent: (companionId) => scripts.read(() => get<VoiceAgent>(selectAgent, companionId)),
    canUseAgent: (accountId, agentId) => scripts.read(() => voiceAgents.canUse(accountId, [agentId])),

    lockAgent: (companionId, owner, nowMs, untilMs) =>
      scripts.write(function* () {
        return (yield* run(takeLock, companionId, owner, untilMs, nowMs + 1, nowMs + maxVoiceWaitMs)) > 0;
      }),

    async unlockAgent(companionId, owner) {
      await scripts.write(() => run(releaseLock, companionId, owner));
    },

    saveAgent: (agent, owner, nowMs) =>
      scripts.write(function* () {
        const { companionId, provider, agentId } = agent;
        const isKept = yield* mayKeep(companionId, owner, nowMs);
        yield* voiceAgents.lock([agentId]);
        const before = yield* get<VoiceAgent>(selectAgent, companionId);
        const isSame = before?.agentId === agentId && before.provider === provider;
        if (!isKept) {
          if (!isSame) yield* voiceAgents.putOut(provider, agentId, nowMs);
          return false;
        }
        if (before !== null && !isSame) yield* voiceAgents.putOut(before.provider, before.agentId, nowMs);
        yield* insert("voice_agents", { ...agent }, replaceAgent);
        return true;
      }),

    async takeDueOutbox(nowMs, untilMs, limit) {
      const due = [nowMs, nowMs + maxVoiceWaitMs];
      if ((await scripts.readHeavy(() => get(selectDue, ...due, 1))) === null) return [];
      return await scripts.writeHeavy(function* () {
        const items = yield* all<VoiceOutboxItem>(lockDue, ...due, limit);
        for (const { provider, agentId, attempts } of items) {
          yield* run(leaseItem, provider, agentId, attempts, untilMs);
        }
        return items;
      });
    },

    async finishOutbox(provider, agentId) {
      const remove = "DELETE FROM voice_outbox WHERE provider = $1 AND agent_id = $2";
      await scripts.writeHeavy(() => run(remove, provider, agentId));
    },

    async postponeOutbox(provider, agentId, dueAt) {
      const postpone = "UPDATE voice_outbox SET due_at = $3 WHERE provider = $1 AND agent_id = $2";
      await scripts.writeHeavy(() => run(postpone, provider, agentId, dueAt));
    },

    async findSession(providerConversationId) {
      const row = await scripts.read(() =>
        get<VoiceSession & { visitorId: string }>(selectSession, withoutNul(providerConversationId)),
      );
      return row === null ? null : { ...row, visitorId: toVisitorId(row.visitorId) };
    },

    deleteSessions: (beforeMs, limit) => scripts.writeHeavy(() => run(deleteSessions, beforeMs, limit)),
  };
}
