/** Voice in SQLite: managed agents with their locks and outbox, and sessions waiting for their transcripts. */
import { and, eq, gte } from "drizzle-orm";
import { spendingFactsOf } from "../../domain/budget.ts";
import { textParts, uncounted } from "../../domain/conversation.ts";
import { openDayOf } from "../../domain/usage.ts";
import type { ReachedBudget } from "../contract/spending.ts";
import type { SpokenCost, VoiceStore } from "../contract/voice.ts";
import { longestVoiceWaitMs } from "../rows/bounds.ts";
import { toVisitorId } from "../rows/conversation.ts";
import type { SqliteEngine } from "./engine.ts";
import type { StoreParts } from "./parts.ts";
import type { StoredRow } from "./rows/columns.ts";
import { companions, voiceAgentLocks, voiceAgents, voiceOutbox, voiceSessions } from "./schema/companions.ts";

type TakenSession = Pick<
  StoredRow<typeof voiceSessions>,
  "companionId" | "sessionId" | "visitorId" | "sealedVisitor" | "accountId" | "keyId" | "day" | "reservationId"
> & { metadata: string };

export function createVoiceStore(
  engine: SqliteEngine,
  { voiceAgents: agents, conversations, usage, quota, spending }: StoreParts,
): VoiceStore {
  const { orm } = engine;
  const takeLock = engine.query<null, [string, string, number, number, number]>(
    `INSERT INTO voice_agent_locks (companion_id, owner, until_ms) VALUES (?, ?, ?)
     ON CONFLICT DO UPDATE SET owner = excluded.owner, until_ms = excluded.until_ms
       WHERE owner = excluded.owner OR until_ms NOT BETWEEN ? AND ?`,
  );
  const selectDue = engine.query<Omit<StoredRow<typeof voiceOutbox>, "dueAt">, [number, number, number]>(
    `SELECT provider, agent_id AS agentId, attempts + 1 AS attempts FROM voice_outbox
     WHERE due_at <= ? OR due_at > ? ORDER BY due_at LIMIT ?`,
  );
  const leaseItem = engine.query<null, [number, number, string, string]>(
    "UPDATE voice_outbox SET attempts = ?, due_at = ? WHERE provider = ? AND agent_id = ?",
  );
  const takeSession = engine.query<TakenSession, [providerConversationId: string]>(
    `UPDATE voice_sessions SET is_taken = 1 WHERE provider_conversation_id = ? AND is_taken = 0
       AND EXISTS (SELECT 1 FROM companions WHERE id = companion_id)
     RETURNING companion_id AS companionId, session_id AS sessionId, visitor_id AS visitorId,
       sealed_visitor AS sealedVisitor, account_id AS accountId, key_id AS keyId, day, reservation_id AS reservationId,
       (SELECT metadata FROM companions WHERE id = companion_id) AS metadata`,
  );
  const deleteSessions = engine.query<null, [number, number]>(
    `DELETE FROM voice_sessions WHERE provider_conversation_id IN
       (SELECT provider_conversation_id FROM voice_sessions WHERE created_at < ? ORDER BY created_at LIMIT ?)`,
  );

  function selectAgent(companionId: string) {
    return orm.select().from(voiceAgents).where(eq(voiceAgents.companionId, companionId)).get() ?? null;
  }

  /** Whether the owner may still give the companion an agent, and the companion still wants one. */
  function mayKeep(companionId: string, owner: string, nowMs: number): boolean {
    const held = and(
      eq(voiceAgentLocks.companionId, companionId),
      eq(voiceAgentLocks.owner, owner),
      gte(voiceAgentLocks.untilMs, nowMs),
    );
    if (orm.select().from(voiceAgentLocks).where(held).get() === undefined) return false;
    const companion = orm
      .select({ voiceId: companions.voiceId })
      .from(companions)
      .where(eq(companions.id, companionId));
    return (companion.get()?.voiceId ?? null) !== null;
  }

  /** Under the session's key and day; in usage under a later one, once that is over. */
  function settle(session: TakenSession, { cost, provider, atMs }: SpokenCost): readonly ReachedBudget[] {
    const { accountId, companionId, day, reservationId } = session;
    const keyId = session.keyId || null;
    const counts = { costMicros: cost.micros, costPicos: cost.picos };
    const usedDay = openDayOf(day, atMs);
    usage.add({ accountId, companionId, keyId, day: usedDay, answeredBy: { provider, model: "" } }, counts);
    const facts = spendingFactsOf({ companionId, keyId, metadata: JSON.parse(session.metadata) });
    return spending.settle({ accountId, day }, cost, { facts, reservationId, atMs });
  }

  return {
    findAgent: (companionId) => engine.read(() => selectAgent(companionId)),
    canUseAgent: (accountId, agentId) => engine.read(() => agents.canUse(accountId, [agentId])),

    lockAgent: (companionId, owner, nowMs, untilMs) =>
      engine.write(() => takeLock.run(companionId, owner, untilMs, nowMs + 1, nowMs + longestVoiceWaitMs) > 0),

    unlockAgent: async (companionId, owner) => {
      const held = and(eq(voiceAgentLocks.companionId, companionId), eq(voiceAgentLocks.owner, owner));
      await engine.write(() => orm.delete(voiceAgentLocks).where(held).run());
    },

    saveAgent: (agent, owner, nowMs) =>
      engine.write(() => {
        const before = selectAgent(agent.companionId);
        const isSame = before?.agentId === agent.agentId && before.provider === agent.provider;
        if (!mayKeep(agent.companionId, owner, nowMs)) {
          if (!isSame) agents.putOut(agent.provider, agent.agentId, nowMs);
          return false;
        }
        if (before !== null && !isSame) agents.putOut(before.provider, before.agentId, nowMs);
        const { companionId, ...settings } = agent;
        orm
          .insert(voiceAgents)
          .values(agent)
          .onConflictDoUpdate({ target: voiceAgents.companionId, set: settings })
          .run();
        return true;
      }),

    takeDueOutbox: async (nowMs, untilMs, limit) => {
      if ((await engine.read(() => selectDue.get(nowMs, nowMs + longestVoiceWaitMs, 1))) === null) return [];
      return await engine.write(() => {
        // Read again under the lock: another process may have taken them since.
        const due = selectDue.all(nowMs, nowMs + longestVoiceWaitMs, limit);
        for (const item of due) leaseItem.run(item.attempts, untilMs, item.provider, item.agentId);
        return due;
      });
    },

    finishOutbox: async (provider, agentId) => {
      await engine.write(() => orm.delete(voiceOutbox).where(isItem(provider, agentId)).run());
    },

    postponeOutbox: async (provider, agentId, dueAt) => {
      await engine.write(() => orm.update(voiceOutbox).set({ dueAt }).where(isItem(provider, agentId)).run());
    },

    startSession: (session) =>
      engine.write(() => {
        const { providerConversationId, accountId, companionId, keyId, day, ...facts } = session;
        usage.add({ accountId, companionId, keyId, day, answeredBy: null }, { voiceSessions: 1 });
        quota.add("voice_sessions", companionId, day);
        if (providerConversationId === null) return;
        const companion = orm
          .select({ id: companions.id })
          .from(companions)
          .where(eq(companions.id, companionId))
          .get();
        if (companion === undefined) return;
        const { sessionId, sealedVisitor, createdAt, reservationId } = facts;
        const visitorId = facts.visitorId ?? "";
        orm
          .insert(voiceSessions)
          .values({
            ...{ providerConversationId, accountId, companionId, sessionId, visitorId, sealedVisitor, createdAt },
            ...{ keyId: keyId ?? "", day, reservationId },
          })
          .onConflictDoNothing()
          .run();
      }),

    countDay: (companionId, day) => engine.read(() => quota.count("voice_sessions", companionId, day)),

    findSession: (providerConversationId) =>
      engine.read(() => {
        const isSession = eq(voiceSessions.providerConversationId, providerConversationId);
        const row = orm
          .select({ session: voiceSessions })
          .from(voiceSessions)
          .innerJoin(companions, eq(companions.id, voiceSessions.companionId))
          .where(isSession)
          .get();
        if (row === undefined) return null;
        const { companionId, sessionId, visitorId, createdAt } = row.session;
        return { companionId, sessionId, visitorId: toVisitorId(visitorId), createdAt };
      }),

    addTranscript: (providerConversationId, conversationId, messages, spoken) =>
      engine.write(() => {
        const session = takeSession.get(providerConversationId);
        if (session === null) return { isAdded: false, reached: [] };
        const { companionId, sessionId, sealedVisitor } = session;
        const key = { companionId, sessionId, visitorId: toVisitorId(session.visitorId) };
        const said = messages.map(({ text, ...message }) => {
          return { ...message, parts: textParts(text), channel: "voice" as const, ...uncounted };
        });
        const facts = { clientId: null, endCode: null, sealedVisitor };
        const isAdded = conversations.add(key, conversationId, said, facts);
        return { isAdded, reached: spoken === null ? [] : settle(session, spoken) };
      }),

    deleteSessions: (beforeMs, limit) => engine.write(() => deleteSessions.run(beforeMs, limit)),
  };
}

function isItem(provider: string, agentId: string) {
  return and(eq(voiceOutbox.provider, provider), eq(voiceOutbox.agentId, agentId));
}
