/**
 * Conversations in PostgreSQL: reading, deletion, erasure, and their change from a browser to a verified visitor.
 */
import {
  type ConversationPage,
  type ConversationStore,
  type MessagePageRequest,
  newestMessages,
  type TakingVisitor,
} from "../../contracts/store/conversations.ts";
import { type ConversationKey, type Message, textParts } from "../../domain/conversation.ts";
import { isVerifiedId } from "../../domain/visitor.ts";
import { messagePageBytes } from "../store-shared/rows/bounds.ts";
import { toConversation } from "../store-shared/rows/conversation.ts";
import { ofAccount } from "../store-shared/scripts/companion-states.ts";
import { emptyDeliveries } from "../store-shared/scripts/event-deliveries.ts";
import { createPeopleLists, type PeopleLists } from "../store-shared/scripts/people-lists.ts";
import { createConversationLists } from "./conversation-lists.ts";
import type { PostgresEngine } from "./engine.ts";
import { lockVisitorsAlone, wasErased } from "./erasures.ts";
import { callRemovals } from "./knowledge-removal.ts";
import type { StoreParts } from "./parts.ts";
import { createRetention, deleteConversations } from "./retention.ts";
import { mapColumns } from "./rows/columns.ts";
import { tables } from "./tables.ts";

/** Only of an existing companion: conversations of a deleted one just wait for their own deletion. */
const selectKey = `SELECT c.number::float8 AS number, c.companion_id AS "companionId", c.session_id AS "sessionId", c.visitor_id AS "visitorId"
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
  const people = createPeopleLists(parts.scripts);
  const pages = createMessagePages(engine, people);

  /** What arrives from now on is not erased. If that cannot be asked, the next message asks anyway. */
  async function renewMark(): Promise<void> {
    await erasures.renewMark().catch((error) => log.warn("the arrival mark was not renewed", { error }));
  }

  return {
    list: (accountId, query, page) => people.list(lists, accountId, query, page),
    readExcerpts: people.readExcerpts,
    find: (accountId, id, page = newestMessages) => pages.find(accountId, id, page),

    delete: async (accountId, id, context) => {
      const isDeleted = await engine.change(accountId, async (transaction) => {
        const row = await transaction.get<ConversationKey & { number: number; visitorId: string }>(selectKey, [
          id,
          accountId,
        ]);
        if (row === null) return false;
        const { number, companionId, sessionId, visitorId } = row;
        await erasures.note(transaction, { companionId, visitorIds: [visitorId], sessionId });
        await callRemovals.attachAll(transaction, row, number);
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
        if (event !== null) await events.emit(transaction, [event]);
        await Promise.all([
          transaction.run(deleteVoiceSessions, [companionId, visitorIds]),
          transaction.run(deleteVisitorDays, [companionId, visitorIds]),
          transaction.run(emptyOfVisitors, [companionId, visitorIds]),
          transaction.run(deleteOfVisitors, [context.nowMs, accountId, visitorIds, companionId]),
        ]);
        await callRemovals.removeOpenOfVisitors(transaction, companionId, visitorIds, Number.MAX_SAFE_INTEGER);
        return true;
      });
      if (!isOwn) return false;
      await renewMark();
      // A removal does not record whose conversation it was, so all of them are finished.
      await removals.finishConversations();
      return true;
    },

    deleteExpired: createRetention(engine, removals),
  };
}

const shareCompanion = "SELECT share_companions(ARRAY[$1::text])";
const takeOver = `UPDATE conversations SET visitor_id = $4, sealed_visitor = $5
  WHERE companion_id = $1 AND session_id = $2 AND visitor_id = $3 AND NOT EXISTS (
    SELECT FROM conversations own WHERE own.companion_id = $1 AND own.session_id = $2 AND own.visitor_id = $4
  )`;
/** Their transcripts are still to come. */
const takeCallsOver = `UPDATE voice_sessions SET visitor_id = $4, sealed_visitor = $5
  WHERE companion_id = $1 AND visitor_id = $3 AND session_id = $2 AND NOT is_taken`;

/** Gives an anonymous conversation to a verified visitor. As `ConversationStore.merge`. */
async function mergeConversation(
  engine: PostgresEngine,
  from: ConversationKey,
  visitor: TakingVisitor,
): Promise<boolean> {
  const { companionId, sessionId, visitorId } = from;
  if (isVerifiedId(visitorId)) return false;
  const { arrivalMark = null } = visitor;
  const anonymousId = visitorId ?? "";
  return await engine.write(async (transaction) => {
    // The order of locks is that of settled turns. Nothing is settled for either visitor, or erased, until this ends:
    // so no one creates the visitor's own conversation between the search for it and the change.
    await transaction.run(shareCompanion, [companionId]);
    await lockVisitorsAlone(transaction, companionId, [anonymousId, visitor.id]);
    const own = { companionId, sessionId, visitorId: visitor.id };
    if (arrivalMark !== null && (await wasErased(transaction, own, arrivalMark))) return false;
    const parameters = [companionId, sessionId, anonymousId, visitor.id, visitor.sealed];
    if ((await transaction.run(takeOver, parameters)) === 0) return false;
    await transaction.run(takeCallsOver, parameters);
    await callRemovals.giveAll(transaction, from, visitor.id);
    return true;
  });
}

const messageColumns = mapColumns(tables.messages, [
  "number",
  "conversationNumber",
  "clientId",
  "endCode",
  "repeats",
  "seq",
]);

interface ConversationFields {
  companionId: string;
  sessionId: string;
  visitorId: string;
  sealedVisitor: string | null;
  messageCount: number;
  hadTools: boolean;
  hadPeople: boolean;
  beganAt: number;
  updatedAt: number;
}

/** All of the message is null if the page has none. */
interface PageRow extends ConversationFields, Omit<Message, "id" | "parts"> {
  id: string | null;
  companionVersion: number | null;
  text: string;
  /** Of the page, and one more if there are older ones. */
  following: number;
}

// One statement, so that all of it is of one moment. Of a text that is left out, only the length is read. One more than
// the page shows whether there are older ones; the first always fits, however long it is.
const selectPage = `SELECT c.companion_id AS "companionId", c.session_id AS "sessionId", c.visitor_id AS "visitorId",
    c.sealed_visitor AS "sealedVisitor", c.message_count::float8 AS "messageCount", c.created_at::float8 AS "beganAt", c.updated_at::float8 AS "updatedAt",
    companions.had_tools AS "hadTools", companions.had_people AS "hadPeople", page.following::float8 AS following, ${messageColumns.select("page")}
  FROM conversations c JOIN companions ON companions.id = c.companion_id
    LEFT JOIN LATERAL (
      SELECT m.*, count(*) OVER () AS following, row_number() OVER newest AS rank,
        sum(octet_length(m.text)) OVER newest - octet_length(m.text) AS newer_bytes
      FROM (
        SELECT * FROM messages WHERE conversation_number = c.number AND (created_at, number) < ($3, coalesce(
          (SELECT number FROM messages WHERE conversation_number = c.number AND created_at = $3 AND id = $4), 0))
        ORDER BY created_at DESC, number DESC LIMIT $5::int + 1
      ) AS m
      WINDOW newest AS (ORDER BY m.created_at DESC, m.number DESC ROWS UNBOUNDED PRECEDING)
    ) AS page ON page.newer_bytes < ${messagePageBytes} AND page.rank <= $5::int
  WHERE c.id = $1 AND c.account_id = $2
  ORDER BY page.created_at, page.number`;

/** A conversation with a page of its messages. */
function createMessagePages(engine: PostgresEngine, people: PeopleLists) {
  return {
    /** Null if the account has no such conversation, or its companion is deleted. */
    async find(accountId: string, id: string, { before, limit }: MessagePageRequest): Promise<ConversationPage | null> {
      const position = [before?.createdAt ?? Number.MAX_SAFE_INTEGER, before?.id ?? ""];
      const rows = await engine.quick.all<PageRow>(selectPage, [id, accountId, ...position, limit]);
      const [oldest] = rows;
      if (oldest === undefined) return null;
      const { companionId, sessionId, visitorId, sealedVisitor, messageCount, beganAt: createdAt, updatedAt } = oldest;
      const conversation = toConversation({
        ...{ id, companionId, sessionId, visitorId, sealedVisitor },
        ...{ messageCount, createdAt, updatedAt },
      });
      const found = rows.flatMap((row) => toMessage(row) ?? []);
      const hasOlder = oldest.id !== null && oldest.following > rows.length;
      const nextBefore = hasOlder ? { createdAt: oldest.createdAt, id: oldest.id ?? "" } : null;
      const plain = { conversation, mayHaveCalls: oldest.hadTools, messages: found, nextBefore };
      return oldest.hadPeople ? await people.complete(accountId, plain) : plain;
    },
  };
}

function toMessage(row: PageRow): Message | null {
  const { id, role, channel, complete, inputTokens, outputTokens, tokensEstimated, createdAt, text } = row;
  const { finishReason, companionVersion, model, provider } = row;
  if (id === null) return null;
  const tokens = { inputTokens, outputTokens, tokensEstimated };
  const said = { id, role, channel, complete, parts: textParts(text) };
  return { ...said, ...tokens, finishReason, companionVersion, model, provider, createdAt };
}
