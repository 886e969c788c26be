/** Voice in PostgreSQL: managed agents with their locks and outbox, and sessions waiting for their transcripts. */

import { spendingFactsOf } from "../../domain/budget.ts";
import { textParts, uncounted } from "../../domain/conversation.ts";
import { openDayOf } from "../../domain/usage.ts";
import type { ReachedBudget } from "../contract/spending.ts";
import type {
  NewVoiceSession,
  SpokenCost,
  VoiceAgent,
  VoiceOutboxItem,
  VoiceSession,
  VoiceStore,
} from "../contract/voice.ts";
import { longestVoiceWaitMs } from "../rows/bounds.ts";
import { parseMetadata } from "../rows/companion.ts";
import { toVisitorId } from "../rows/conversation.ts";
import { withoutNul } from "../rows/text.ts";
import type { PostgresEngine } from "./engine.ts";
import type { StoreParts } from "./parts.ts";
import type { Queries } from "./queries.ts";
import { mapColumns } from "./rows/columns.ts";
import { voiceAgents as voiceAgentsTable } from "./schema/companions.ts";
import type { Transaction } from "./transaction.ts";

const agentColumns = mapColumns(voiceAgentsTable);
const selectAgent = `SELECT ${agentColumns.select("a")} FROM voice_agents a WHERE a.companion_id = $1`;
const takeLock = `INSERT INTO voice_agent_locks AS held (companion_id, owner, until_ms) VALUES ($1, $2, $3)
  ON CONFLICT (companion_id) DO UPDATE SET owner = excluded.owner, until_ms = excluded.until_ms
    WHERE held.owner = excluded.owner OR held.until_ms NOT BETWEEN $4 AND $5`;
const lockCompanion = `SELECT voice_id AS "voiceId" FROM companions WHERE id = $1 FOR NO KEY UPDATE`;
const selectHeld = "SELECT FROM voice_agent_locks WHERE companion_id = $1 AND owner = $2 AND until_ms >= $3 FOR SHARE";
const replaceAgent = `ON CONFLICT (companion_id) DO UPDATE SET
  provider = excluded.provider, agent_id = excluded.agent_id, settings_hash = excluded.settings_hash`;
const isDue = "(due_at <= $1 OR due_at > $2)";
const takeDue = `WITH due AS MATERIALIZED (SELECT provider, agent_id, due_at FROM voice_outbox WHERE ${isDue}
      ORDER BY due_at LIMIT $3 FOR UPDATE SKIP LOCKED)
  UPDATE voice_outbox o SET attempts = o.attempts + 1, due_at = $4 FROM due
  WHERE o.provider = due.provider AND o.agent_id = due.agent_id
  RETURNING o.provider, o.agent_id AS "agentId", o.attempts, due.due_at::float8 AS "dueAt"`;
// The order of locks is that of settled turns: what belongs to companions and visitors is shared first.
const shareCompanion = "SELECT share_companions(ARRAY[$1::text])";
const shareVisitor = "SELECT share_companions(ARRAY[$1::text]), share_visitors(ARRAY[$1::text], ARRAY[$2::text])";
const insertSession = `INSERT INTO voice_sessions
    (provider_conversation_id, account_id, companion_id, session_id, visitor_id, created_at, sealed_visitor, key_id, day,
      reservation_id)
  SELECT $1, $2, id, $4, $5, $6, $7, $8, $9, $10 FROM companions WHERE id = $3 ON CONFLICT DO NOTHING`;
const selectSession = `SELECT s.companion_id AS "companionId", s.session_id AS "sessionId", s.visitor_id AS "visitorId",
    s.created_at::float8 AS "createdAt"
  FROM voice_sessions s JOIN companions c ON c.id = s.companion_id WHERE s.provider_conversation_id = $1`;
const selectWaiting = `SELECT companion_id AS "companionId", session_id AS "sessionId", visitor_id AS "visitorId"
  FROM voice_sessions WHERE provider_conversation_id = $1 AND NOT is_taken`;
const takeSession = `UPDATE voice_sessions SET is_taken = true WHERE provider_conversation_id = $1 AND NOT is_taken
  AND visitor_id = $2 AND EXISTS (SELECT FROM companions WHERE id = companion_id)
  RETURNING sealed_visitor AS "sealedVisitor", account_id AS "accountId", key_id AS "keyId", day,
    reservation_id AS "reservationId", (SELECT metadata FROM companions WHERE id = companion_id) AS metadata`;
const deleteSessions = `WITH old AS MATERIALIZED (SELECT provider_conversation_id FROM voice_sessions
      WHERE created_at < $1 ORDER BY created_at LIMIT $2 FOR UPDATE SKIP LOCKED)
  DELETE FROM voice_sessions s USING old WHERE s.provider_conversation_id = old.provider_conversation_id`;

type TakenRow = Pick<NewVoiceSession, "sealedVisitor" | "accountId" | "day" | "reservationId"> & {
  /** Empty for the dashboard. */
  keyId: string;
  metadata: string;
};
type SessionRow = Omit<VoiceSession, "visitorId"> & { visitorId: string };

export function createVoiceStore(
  engine: PostgresEngine,
  { voiceAgents: agents, conversations, usage, quota, spending, tickets }: StoreParts,
): VoiceStore {
  const findAgent = (queries: Queries, companionId: string) => queries.get<VoiceAgent>(selectAgent, [companionId]);

  /** Whether the owner may still give the companion an agent, and the companion still wants one. */
  async function mayKeep(
    transaction: Transaction,
    companionId: string,
    owner: string,
    nowMs: number,
  ): Promise<boolean> {
    const companion = await transaction.get<{ voiceId: string | null }>(lockCompanion, [companionId]);
    const held = await transaction.get(selectHeld, [companionId, owner, nowMs]);
    return held !== null && (companion?.voiceId ?? null) !== null;
  }

  /** For its transcript. Null if it is unknown, or was taken before. */
  async function take(transaction: Transaction, keptId: string) {
    for (let lockedFor: string | null = null; ; ) {
      const session = await transaction.get<Omit<SessionRow, "createdAt">>(selectWaiting, [keptId]);
      // Once more if it changed hands while this waited for the lock: a session does so once.
      if (session === null || session.visitorId === lockedFor) return null;
      lockedFor = session.visitorId;
      await transaction.run(shareVisitor, [session.companionId, lockedFor]);
      const taken = await transaction.get<TakenRow>(takeSession, [keptId, lockedFor]);
      if (taken !== null) return { ...session, ...taken };
    }
  }

  /** Under the session's key and day; in usage under a later one, once that is over. */
  async function settle(
    transaction: Transaction,
    session: TakenRow & { companionId: string },
    { cost, provider, atMs }: SpokenCost,
  ): Promise<ReachedBudget[]> {
    const { accountId, companionId, day, reservationId } = session;
    const keyId = session.keyId || null;
    const counts = { costMicros: cost.micros, costPicos: cost.picos };
    await spending.share(transaction, accountId);
    await usage.add(transaction, [
      { accountId, companionId, keyId, day: openDayOf(day, atMs), answeredBy: { provider, model: "" }, ...counts },
    ]);
    const facts = spendingFactsOf({ companionId, keyId, metadata: parseMetadata(session.metadata) });
    return await spending.settle(transaction, { accountId, day }, cost, { facts, reservationId, atMs });
  }

  return {
    findAgent: (companionId) => findAgent(engine.quick, companionId),
    canUseAgent: (accountId, agentId) => agents.canUse(engine.quick, accountId, [agentId]),

    lockAgent: (companionId, owner, nowMs, untilMs) =>
      engine.write(async (transaction) => {
        const parameters = [companionId, owner, untilMs, nowMs + 1, nowMs + longestVoiceWaitMs];
        return (await transaction.run(takeLock, parameters)) > 0;
      }),

    unlockAgent: async (companionId, owner) => {
      const release = "DELETE FROM voice_agent_locks WHERE companion_id = $1 AND owner = $2";
      await engine.write((transaction) => transaction.run(release, [companionId, owner]));
    },

    saveAgent: (agent, owner, nowMs) =>
      engine.write(async (transaction) => {
        const { companionId, provider, agentId } = agent;
        const isKept = await mayKeep(transaction, companionId, owner, nowMs);
        await agents.lock(transaction, [agentId]);
        const before = await findAgent(transaction, companionId);
        const isSame = before?.agentId === agentId && before.provider === provider;
        if (!isKept) {
          if (!isSame) await agents.putOut(transaction, provider, agentId, nowMs);
          return false;
        }
        if (before !== null && !isSame) await agents.putOut(transaction, before.provider, before.agentId, nowMs);
        await agentColumns.insert(transaction, [agent], replaceAgent);
        return true;
      }),

    takeDueOutbox: async (nowMs, untilMs, limit) => {
      const due = [nowMs, nowMs + longestVoiceWaitMs];
      if ((await engine.heavy.get(`SELECT FROM voice_outbox WHERE ${isDue} LIMIT 1`, due)) === null) return [];
      const items = await engine.writeHeavy((transaction) =>
        transaction.all<VoiceOutboxItem & { dueAt: number }>(takeDue, [...due, limit, untilMs]),
      );
      items.sort((one, other) => one.dueAt - other.dueAt);
      return items.map(({ dueAt: _, ...item }) => item);
    },

    finishOutbox: async (provider, agentId) => {
      const remove = "DELETE FROM voice_outbox WHERE provider = $1 AND agent_id = $2";
      await engine.writeHeavy((transaction) => transaction.run(remove, [provider, agentId]));
    },

    postponeOutbox: async (provider, agentId, dueAt) => {
      const postpone = "UPDATE voice_outbox SET due_at = $3 WHERE provider = $1 AND agent_id = $2";
      await engine.writeHeavy((transaction) => transaction.run(postpone, [provider, agentId, dueAt]));
    },

    startSession: async (session) => {
      const { providerConversationId, accountId, companionId, keyId, day, sessionId, createdAt, ticketId } = session;
      await engine.write(async (transaction) => {
        const visitorId = session.visitorId ?? "";
        const keptId = providerConversationId === null ? null : withoutNul(providerConversationId);
        const { sealedVisitor, reservationId } = session;
        const place = [keptId, accountId, companionId, sessionId, visitorId, createdAt];
        const row = [...place, sealedVisitor, keyId ?? "", day, reservationId];
        await Promise.all([
          transaction.run(shareCompanion, [companionId]),
          usage.add(transaction, [{ accountId, companionId, keyId, day, answeredBy: null, voiceSessions: 1 }]),
          quota.add(transaction, [{ kind: "voice_sessions", companionId, day }]),
          keptId === null ? null : transaction.run(insertSession, row),
          // In the same commit, so that its place in the quota is neither taken twice nor free between.
          ticketId === null ? null : transaction.run("DELETE FROM open_turns WHERE id = $1", [ticketId]),
        ]);
      });
      if (ticketId !== null) tickets.noteEnded(ticketId);
    },

    countDay: (companionId, day) => quota.count(engine.quick, "voice_sessions", companionId, day),

    findSession: async (providerConversationId) => {
      const row = await engine.quick.get<SessionRow>(selectSession, [withoutNul(providerConversationId)]);
      return row === null ? null : { ...row, visitorId: toVisitorId(row.visitorId) };
    },

    addTranscript: (providerConversationId, conversationId, messages, spoken) =>
      engine.write(async (transaction) => {
        const keptId = withoutNul(providerConversationId);
        const session = await take(transaction, keptId);
        if (session === null) return { isAdded: false, reached: [] };
        const { companionId, sessionId, visitorId, sealedVisitor } = session;
        const key = { companionId, sessionId, visitorId: toVisitorId(visitorId) };
        const said = messages.map(({ text, ...message }) => {
          return { ...message, parts: textParts(text), channel: "voice" as const, ...uncounted };
        });
        const isAdded = await conversations.add(transaction, { key, sealedVisitor }, conversationId, said);
        return { isAdded, reached: spoken === null ? [] : await settle(transaction, session, spoken) };
      }),

    deleteSessions: (beforeMs, limit) =>
      engine.writeHeavy((transaction) => transaction.run(deleteSessions, [beforeMs, limit])),
  };
}
