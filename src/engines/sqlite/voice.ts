/** What voice counts in SQLite: sessions, and what they cost once their transcripts are there. */
import type { ReachedBudget } from "../../contracts/store/spending.ts";
import type { SpokenCost } from "../../contracts/store/voice.ts";
import { spendingFactsOf } from "../../domain/budget.ts";
import { textParts, uncounted } from "../../domain/conversation.ts";
import { openDayOf } from "../../domain/usage.ts";
import { toVisitorId } from "../store-shared/rows/conversation.ts";
import { transcriptEvents } from "../store-shared/rows/events.ts";
import { withoutNul } from "../store-shared/rows/text.ts";
import type { VoiceCounting } from "../store-shared/scripts/voice.ts";
import type { SqliteEngine } from "./engine.ts";
import { hasWebhooks } from "./events.ts";
import type { StoreParts } from "./parts.ts";
import { mapColumns, type StoredRow } from "./rows/columns.ts";
import { tables } from "./tables.ts";

type TakenSession = Pick<
  StoredRow<typeof tables.voiceSessions>,
  "companionId" | "sessionId" | "visitorId" | "sealedVisitor" | "accountId" | "keyId" | "day" | "reservationId"
> & { metadata: string; hasWebhooks: number };

export function createVoiceCounting(
  engine: SqliteEngine,
  { conversations, events, usage, quota, spending }: StoreParts,
): VoiceCounting {
  const selectCompanion = engine.query<{ one: number }, [string]>("SELECT 1 AS one FROM companions WHERE id = ?");
  const insertSession = mapColumns(tables.voiceSessions).createInsert(engine, "ON CONFLICT DO NOTHING");
  const takeSession = engine.query<TakenSession, [providerConversationId: string]>(
    `UPDATE voice_sessions SET is_taken = 1 WHERE provider_conversation_id = ? AND is_taken = 0
       AND EXISTS (SELECT 1 FROM companions WHERE id = companion_id)
     RETURNING companion_id AS companionId, session_id AS sessionId, visitor_id AS visitorId,
       sealed_visitor AS sealedVisitor, account_id AS accountId, key_id AS keyId, day, reservation_id AS reservationId,
       (SELECT metadata FROM companions WHERE id = companion_id) AS metadata,
       ${hasWebhooks("account_id")} AS hasWebhooks`,
  );

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
    startSession: (session) =>
      engine.write(() => {
        const { providerConversationId, accountId, companionId, keyId, day, ticketId: _, ...facts } = session;
        usage.add({ accountId, companionId, keyId, day, answeredBy: null }, { voiceSessions: 1 });
        quota.add("voice_sessions", companionId, day);
        if (providerConversationId === null || selectCompanion.get(companionId) === null) return;
        insertSession({
          ...{ ...facts, visitorId: facts.visitorId ?? "", accountId, companionId, keyId: keyId ?? "", day },
          ...{ providerConversationId: withoutNul(providerConversationId), isTaken: false },
        });
      }),

    countDay: (companionId, day) => engine.read(() => quota.count("voice_sessions", companionId, day)),

    addTranscript: (providerConversationId, conversationId, messages, spoken) =>
      engine.write(() => {
        const session = takeSession.get(withoutNul(providerConversationId));
        if (session === null) return { isAdded: false, reached: [] };
        const { companionId, sessionId, sealedVisitor } = session;
        const key = { companionId, sessionId, visitorId: toVisitorId(session.visitorId) };
        const said = messages.map(({ text, ...message }) => {
          return { ...message, parts: textParts(text), channel: "voice" as const, ...uncounted };
        });
        const facts = { clientId: null, endCode: null, sealedVisitor };
        const isAdded = conversations.add(key, conversationId, said, facts);
        if (session.hasWebhooks === 1 && messages.length > 0) {
          const metadata = JSON.parse(session.metadata);
          const kept = { accountId: session.accountId, key, sealedVisitor, metadata, newId: conversationId, messages };
          events.emitOf(key, (id) => transcriptEvents(kept, id));
        }
        return { isAdded, reached: spoken === null ? [] : settle(session, spoken) };
      }),
  };
}
