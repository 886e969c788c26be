/** What voice counts in PostgreSQL: sessions, and what they cost once their transcripts are there. */
import type { ReachedBudget } from "../../contracts/store/spending.ts";
import type { NewVoiceSession, SpokenCost } from "../../contracts/store/voice.ts";
import { spendingFactsOf } from "../../domain/budget.ts";
import { textParts, uncounted } from "../../domain/conversation.ts";
import { openDayOf } from "../../domain/usage.ts";
import { parseMetadata } from "../store-shared/rows/companion.ts";
import { toVisitorId } from "../store-shared/rows/conversation.ts";
import { transcriptEvents } from "../store-shared/rows/events.ts";
import { withoutNul } from "../store-shared/rows/text.ts";
import type { VoiceCounting } from "../store-shared/scripts/voice.ts";
import type { PostgresEngine } from "./engine.ts";
import { hasWebhooks } from "./events.ts";
import type { StoreParts } from "./parts.ts";
import type { Transaction } from "./transaction.ts";

// The order of locks is that of settled turns: what belongs to companions and visitors is shared first.
const shareCompanion = "SELECT share_companions(ARRAY[$1::text])";
const shareVisitor = "SELECT share_companions(ARRAY[$1::text]), share_visitors(ARRAY[$1::text], ARRAY[$2::text])";
const insertSession = `INSERT INTO voice_sessions
    (provider_conversation_id, account_id, companion_id, session_id, visitor_id, created_at, sealed_visitor, key_id, day,
      reservation_id)
  SELECT $1, $2, id, $4, $5, $6, $7, $8, $9, $10 FROM companions WHERE id = $3 ON CONFLICT DO NOTHING`;
const selectWaiting = `SELECT companion_id AS "companionId", session_id AS "sessionId", visitor_id AS "visitorId"
  FROM voice_sessions WHERE provider_conversation_id = $1 AND NOT is_taken`;
const takeSession = `UPDATE voice_sessions SET is_taken = true WHERE provider_conversation_id = $1 AND NOT is_taken
  AND visitor_id = $2 AND EXISTS (SELECT FROM companions WHERE id = companion_id)
  RETURNING sealed_visitor AS "sealedVisitor", account_id AS "accountId", key_id AS "keyId", day,
    reservation_id AS "reservationId", (SELECT metadata FROM companions WHERE id = companion_id) AS metadata,
    ${hasWebhooks("account_id")} AS "hasWebhooks"`;
type TakenRow = Pick<NewVoiceSession, "sealedVisitor" | "accountId" | "day" | "reservationId"> & {
  /** Empty for the dashboard. */
  keyId: string;
  metadata: string;
  hasWebhooks: boolean;
};
interface WaitingRow {
  companionId: string;
  sessionId: string;
  visitorId: string;
}

export function createVoiceCounting(
  engine: PostgresEngine,
  { conversations, events, usage, quota, spending, tickets }: StoreParts,
): VoiceCounting {
  /** For its transcript. Null if it is unknown, or was claimed before. */
  async function take(transaction: Transaction, keptId: string) {
    for (let lockedFor: string | null = null; ; ) {
      const session = await transaction.get<WaitingRow>(selectWaiting, [keptId]);
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
    startSession: async (session) => {
      const { providerConversationId, accountId, companionId, keyId, day, sessionId, createdAt, ticketId } = session;
      await engine.write(async (transaction) => {
        const visitorId = session.visitorId ?? "";
        const keptId = withoutNul(providerConversationId);
        const { sealedVisitor, reservationId } = session;
        const ids = [keptId, accountId, companionId, sessionId, visitorId, createdAt];
        const row = [...ids, sealedVisitor, keyId ?? "", day, reservationId];
        await Promise.all([
          transaction.run(shareCompanion, [companionId]),
          usage.add(transaction, [{ accountId, companionId, keyId, day, answeredBy: null, voiceSessions: 1 }]),
          quota.add(transaction, [{ kind: "voice_sessions", companionId, day }]),
          keptId === null ? null : transaction.run(insertSession, row),
          // In the same commit, so that its slot in the quota is neither counted twice nor free in between.
          ticketId === null ? null : transaction.run("DELETE FROM open_turns WHERE id = $1", [ticketId]),
        ]);
      });
      if (ticketId !== null) tickets.noteEnded(ticketId);
    },

    countDay: (companionId, day) => quota.count(engine.quick, "voice_sessions", companionId, day),

    addTranscript: (providerConversationId, conversationId, messages, spoken) =>
      engine.write(async (transaction) => {
        const keptId = withoutNul(providerConversationId);
        const session = await take(transaction, keptId);
        if (session === null) return { isAdded: false, reached: [] };
        const { accountId, companionId, sessionId, visitorId, sealedVisitor } = session;
        const key = { companionId, sessionId, visitorId: toVisitorId(visitorId) };
        const said = messages.map(({ text, ...message }) => {
          return { ...message, parts: textParts(text), channel: "voice" as const, ...uncounted };
        });
        const isAdded = await conversations.add(transaction, { key, sealedVisitor }, conversationId, said);
        const reached = spoken === null ? [] : await settle(transaction, session, spoken);
        if (session.hasWebhooks && messages.length > 0) {
          const metadata = parseMetadata(session.metadata);
          const kept = { accountId, key, sealedVisitor, metadata, newId: conversationId, messages };
          await events.emitOf(transaction, key, (id) => transcriptEvents(kept, id));
        }
        return { isAdded, reached };
      }),
  };
}
