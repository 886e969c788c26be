/** Conversations in PostgreSQL: lists, reading, deletion and erasure. */
import { type ConversationStore, newestMessages } from "../../contracts/store/conversations.ts";
import type { ConversationKey } from "../../domain/conversation.ts";
import { ofAccount } from "../store-shared/scripts/companions.ts";
import { emptyDeliveries } from "../store-shared/scripts/told-events.ts";
import { createConversationLists } from "./conversation-lists.ts";
import { mergeConversation } from "./conversation-merge.ts";
import { deleteConversations } from "./conversation-removal.ts";
import type { PostgresEngine } from "./engine.ts";
import { createMessagePages } from "./message-pages.ts";
import type { StoreParts } from "./parts.ts";
import { createRetention } from "./retention.ts";

/** Only of an existing companion: conversations of a deleted one just wait for their own deletion. */
const selectKey = `SELECT c.companion_id AS "companionId", c.session_id AS "sessionId", c.visitor_id AS "visitorId"
  FROM conversations c JOIN companions ON companions.id = c.companion_id WHERE c.id = $1 AND c.account_id = $2`;
const selectCompanion = `SELECT 1 AS one FROM companions c WHERE c.id = $1 AND ${ofAccount("$2")}`;
const deleteOne = deleteConversations("id = $2");
const deleteOfVisitors = deleteConversations(
  "account_id = $2 AND visitor_id = ANY($3::text[]) AND visitor_id <> '' AND companion_id = $4",
);
const deleteVoiceSessions = "DELETE FROM voice_sessions WHERE companion_id = $1 AND visitor_id = ANY($2::text[])";
const emptyOfVisitors = emptyDeliveries("companion_id = $1 AND visitor_id = ANY($2::text[])");
/** Day by day, of which there are few: no index begins with the visitor. */
const deleteVisitorDays = `WITH RECURSIVE days AS (
    (SELECT day FROM visitor_daily WHERE companion_id = $1 ORDER BY day LIMIT 1)
    UNION ALL
    SELECT (SELECT v.day FROM visitor_daily v WHERE v.companion_id = $1 AND v.day > days.day ORDER BY v.day LIMIT 1)
      FROM days WHERE days.day IS NOT NULL
  )
  DELETE FROM visitor_daily v USING days
  WHERE v.companion_id = $1 AND v.day = days.day AND v.visitor_id = ANY($2::text[])`;

export function createConversationStore(engine: PostgresEngine, parts: StoreParts): ConversationStore {
  const { changes, erasures, events, removals, log } = parts;
  const lists = createConversationLists(engine);
  const pages = createMessagePages(engine);

  /** What arrives from now on is not erased. If that cannot be asked, the next message asks anyway. */
  async function renewMark(): Promise<void> {
    await erasures.renewMark().catch((error) => log.warn("the arrival mark was not renewed", { error }));
  }

  return {
    list: (accountId, query, page) => lists.list(accountId, query, page),
    find: (accountId, id, page = newestMessages) => pages.find(accountId, id, page),

    delete: async (accountId, id, context) => {
      const isDeleted = await engine.change(accountId, async (transaction) => {
        const row = await transaction.get<ConversationKey & { visitorId: string }>(selectKey, [id, accountId]);
        if (row === null) return false;
        const { companionId, sessionId, visitorId } = row;
        await erasures.note(transaction, { companionId, visitorIds: [visitorId], sessionId });
        if ((await transaction.run(deleteOne, [context.nowMs, id])) === 0) return false;
        const change = { accountId, action: "conversation.delete", targetId: id, details: { companionId } };
        await changes.record(transaction, context, change);
        return true;
      });
      if (!isDeleted) return false;
      removals.start();
      await renewMark();
      return true;
    },

    merge: (from, visitor) => mergeConversation(engine, from, visitor),

    eraseVisitors: async (accountId, companionId, visitorIds, context, event = null) => {
      const isOwn = await engine.change(accountId, async (transaction) => {
        if ((await transaction.get(selectCompanion, [companionId, accountId])) === null) return false;
        const change = { accountId, action: "visitor.erase", targetId: companionId, details: {} };
        await changes.record(transaction, context, change);
        await erasures.note(transaction, { companionId, visitorIds, sessionId: null });
        if (event !== null) await events.tell(transaction, [event]);
        await Promise.all([
          transaction.run(deleteVoiceSessions, [companionId, visitorIds]),
          transaction.run(deleteVisitorDays, [companionId, visitorIds]),
          transaction.run(emptyOfVisitors, [companionId, visitorIds]),
          transaction.run(deleteOfVisitors, [context.nowMs, accountId, visitorIds, companionId]),
        ]);
        return true;
      });
      if (!isOwn) return false;
      await renewMark();
      // A removal does not say whose conversation it was, so all of them are finished.
      await removals.finishConversations();
      return true;
    },

    deleteExpired: createRetention(engine, removals),
  };
}
