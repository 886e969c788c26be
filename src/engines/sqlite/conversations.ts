/** Conversations in SQLite: lists, reading, deletion and erasure. */
import {
  type ConversationStore,
  type MessagePageRequest,
  type MessagePosition,
  newestMessages,
} from "../../contracts/store/conversations.ts";
import type { Message } from "../../domain/conversation.ts";
import { isVerifiedId } from "../../domain/visitor.ts";
import { pause } from "../../lib/pause.ts";
import { messagePageBytes } from "../store-shared/rows/bounds.ts";
import { toConversation } from "../store-shared/rows/conversation.ts";
import { emptyDeliveries } from "../store-shared/scripts/event-deliveries.ts";
import { createPeopleLists } from "../store-shared/scripts/people-lists.ts";
import { createConversationLists } from "./conversation-lists.ts";
import { type ConversationRow, conversationColumns } from "./conversation-reader.ts";
import type { SqliteEngine } from "./engine.ts";
import type { StoreParts } from "./parts.ts";
import { createRetention } from "./retention.ts";
import { type MessageRow, messageColumns, toMessage } from "./rows/message.ts";

/** Messages per commit while a visitor is erased: a few milliseconds of work. */
const erasedPerCommit = 100;

export function createConversationStore(engine: SqliteEngine, parts: StoreParts): ConversationStore {
  const { calls, changes, erasures, eraser, events, knowledge, removals, visitorDays } = parts;
  const lists = createConversationLists(engine);
  const people = createPeopleLists(parts.scripts);
  const pages = createMessagePages(engine);
  const selectOfVisitor = engine.query<{ number: number }, [string, string, string]>(
    `SELECT number FROM conversations INDEXED BY conversations_visitor
     WHERE account_id = ? AND visitor_id = ? AND visitor_id <> '' AND companion_id = ? LIMIT 1`,
  );
  const deleteConversation = engine.query<null, [number]>("DELETE FROM conversations WHERE number = ?");
  // A removal no longer records whose conversation it was, so an erasure must finish all of them.
  const selectRemoval = engine.query<{ number: number; target_id: string; target_number: number }>(
    "SELECT number, target_id, target_number FROM removals WHERE kind = 'conversation' LIMIT 1",
  );
  const deleteRemoval = engine.query<null, [number]>("DELETE FROM removals WHERE number = ?");
  const emptyOfConversation = engine.query<null, [number]>(
    emptyDeliveries("conversation_id = (SELECT id FROM conversations WHERE number = ?)"),
  );
  const emptyOfDeleted = engine.query<null, [string]>(emptyDeliveries("conversation_id = ?"));
  const emptyOfVisitor = engine.query<null, [string, string]>(emptyDeliveries("companion_id = ? AND visitor_id = ?"));
  const deleteVoiceSessions = engine.query<null, [string, string]>(
    "DELETE FROM voice_sessions WHERE companion_id = ? AND visitor_id = ?",
  );
  const takeOver = engine.query<null, [string, string, string, string, string, string]>(
    `UPDATE conversations SET visitor_id = ?, sealed_visitor = ?
     WHERE companion_id = ? AND session_id = ? AND visitor_id = ? AND NOT EXISTS
       (SELECT 1 FROM conversations AS own WHERE own.companion_id = conversations.companion_id
         AND own.session_id = conversations.session_id AND own.visitor_id = ?)`,
  );
  // Their transcripts are still to come.
  const takeCallsOver = engine.query<null, [string, string, string, string, string]>(
    `UPDATE voice_sessions SET visitor_id = ?, sealed_visitor = ?
     WHERE companion_id = ? AND visitor_id = ? AND session_id = ? AND is_taken = 0`,
  );
  /** Only of an existing companion: conversations of a deleted one just wait for their own deletion. */
  const selectOne = engine.query<ConversationRow & { hadTools: number; hadPeople: number }, [string, string]>(
    () => `SELECT ${conversationColumns.select("v")}, c.had_tools AS hadTools,
      c.had_people AS hadPeople FROM conversations v JOIN companions c ON c.id = v.companion_id
      WHERE v.id = ? AND v.account_id = ?`,
  );
  const selectCompanion = engine.query<{ one: number }, [string, string]>(
    "SELECT 1 AS one FROM companions WHERE id = ? AND account_id = ?",
  );

  function findOfVisitors(accountId: string, companionId: string, visitorIds: readonly string[]) {
    for (const visitorId of visitorIds) {
      const found = selectOfVisitor.get(accountId, visitorId, companionId);
      if (found !== null) return found;
    }
    return null;
  }

  /**
   * Erases messages of the visitors, and of conversations deleted before; returns fewer than a full commit when none is
   * left.
   */
  function eraseSome(accountId: string, companionId: string, visitorIds: readonly string[]): number {
    for (const visitorId of visitorIds) {
      deleteVoiceSessions.run(companionId, visitorId);
      visitorDays.erase(companionId, visitorId);
      emptyOfVisitor.run(companionId, visitorId);
    }
    let erased = 0;
    while (erased < erasedPerCommit) {
      const conversation = findOfVisitors(accountId, companionId, visitorIds);
      const removal = conversation === null ? selectRemoval.get() : null;
      const number = conversation?.number ?? removal?.target_number;
      if (number === undefined) break;
      if (removal === null) emptyOfConversation.run(number);
      else emptyOfDeleted.run(removal.target_id);
      const limit = erasedPerCommit - erased;
      const messages = eraser.erase(number, limit);
      const noted = messages + knowledge.removeTurns(number, limit - messages);
      const done = noted + calls.removeOfConversations([number], limit - noted);
      if (done < limit) {
        deleteConversation.run(number);
        if (removal !== null) deleteRemoval.run(removal.number);
      }
      erased += done;
    }
    if (erased === erasedPerCommit) return erased;
    return erased + calls.removeOpenOfVisitors(companionId, visitorIds, erasedPerCommit - erased);
  }

  return {
    list: (accountId, query, page) => people.list(lists, accountId, query, page),
    readExcerpts: people.readExcerpts,

    merge: async (from, visitor) => {
      if (isVerifiedId(from.visitorId)) return false;
      const { companionId, sessionId } = from;
      const anonymousId = from.visitorId ?? "";
      const { arrivalMark } = visitor;
      return await engine.append(() => {
        if (arrivalMark !== undefined && erasures.cover({ ...from, visitorId: visitor.id }, arrivalMark)) return false;
        const takenOver = takeOver.run(visitor.id, visitor.sealed, companionId, sessionId, anonymousId, visitor.id);
        if (takenOver === 0) return false;
        takeCallsOver.run(visitor.id, visitor.sealed, companionId, anonymousId, sessionId);
        calls.giveAll(from, visitor.id);
        return true;
      });
    },

    async find(accountId, id, page = newestMessages) {
      const found = await engine.snapshot(() => {
        const row = selectOne.get(id, accountId);
        if (row === null) return null;
        const read = pages.read(row.number, page);
        return {
          conversation: toConversation(row),
          mayHaveCalls: row.hadTools === 1,
          ...read,
          hadPeople: row.hadPeople,
        };
      });
      if (found === null) return null;
      const { hadPeople, ...plain } = found;
      return hadPeople === 1 ? await people.complete(accountId, plain) : plain;
    },

    delete: async (accountId, id, context) => {
      const isDeleted = await engine.write(() => {
        const row = selectOne.get(id, accountId);
        if (row === null) return false;
        const { number, companionId } = row;
        const conversation = toConversation(row);
        erasures.noteConversation(conversation);
        calls.attachAll(conversation, number);
        emptyOfConversation.run(number);
        deleteConversation.run(number);
        removals.add("conversation", id, number, context.nowMs);
        changes.record(context, { accountId, action: "conversation.delete", targetId: id, details: { companionId } });
        return true;
      });
      if (isDeleted) removals.start();
      return isDeleted;
    },

    eraseVisitors: async (accountId, companionId, visitorIds, context, event = null) => {
      const isOwn = await engine.write(() => {
        if (selectCompanion.get(companionId, accountId) === null) return false;
        if (event !== null) events.emit(event);
        for (const visitorId of visitorIds) erasures.noteVisitor(companionId, visitorId);
        changes.record(context, { accountId, action: "visitor.erase", targetId: companionId, details: {} });
        return true;
      });
      if (!isOwn) return false;
      while ((await engine.write(() => eraseSome(accountId, companionId, visitorIds))) >= erasedPerCommit) {
        await pause();
      }
      await engine.emptyLog();
      return true;
    },

    deleteExpired: createRetention(engine, removals),
  };
}

const newestBefore = `FROM messages WHERE conversation_number = ? AND (created_at, number) < (?, ?)
  ORDER BY created_at DESC, number DESC LIMIT ?`;
export const messagePageQuery = () => `SELECT ${messageColumns.select("messages")} ${newestBefore}`;

/** Pages of a conversation's messages. */
export function createMessagePages(engine: SqliteEngine) {
  // The length is stored before the text, which is not read for it.
  const selectLengths = engine.query<{ bytes: number }, [number, number, number, number]>(
    `SELECT octet_length(text) AS bytes ${newestBefore}`,
  );
  const selectBefore = engine.query<MessageRow, [number, number, number, number]>(messagePageQuery);
  // Numbers change when messages around them are erased, so a position contains the id.
  const selectNumber = engine.query<{ number: number }, [number, number, string]>(
    "SELECT number FROM messages WHERE conversation_number = ? AND created_at = ? AND id = ?",
  );

  return {
    /** Call it inside a read. */
    read(
      conversationNumber: number,
      page: MessagePageRequest,
    ): { messages: Message[]; nextBefore: MessagePosition | null } {
      const { before, limit } = page;
      const createdAt = before?.createdAt ?? Number.MAX_SAFE_INTEGER;
      const number = before === null ? 0 : (selectNumber.get(conversationNumber, createdAt, before.id)?.number ?? 0);
      // One more than the page shows whether there are older ones.
      const lengths = selectLengths.all(conversationNumber, createdAt, number, limit + 1);
      const count = countInPage(lengths.slice(0, limit));
      const rows = selectBefore.all(conversationNumber, createdAt, number, count);
      const oldest = count < lengths.length ? rows.at(-1) : undefined;
      const nextBefore = oldest === undefined ? null : { createdAt: oldest.createdAt, id: oldest.id };
      return { messages: rows.reverse().map(toMessage), nextBefore };
    },
  };
}

/** How many of them fill a page; the first always fits, however long it is. */
function countInPage(lengths: readonly { bytes: number }[]): number {
  let leftBytes = messagePageBytes;
  const last = lengths.findIndex(({ bytes }) => {
    leftBytes -= bytes;
    return leftBytes <= 0;
  });
  return last === -1 ? lengths.length : last + 1;
}
