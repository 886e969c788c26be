/** Calls of tools: begun, finished, decided on and listed. How their words leave the storage is each engine's own. */
import { toPage } from "../../../contracts/store/page.ts";
import type { CallingReply, Decision, ToolCallStore } from "../../../contracts/store/tool-calls.ts";
import type { ConversationKey } from "../../../domain/conversation.ts";
import type { ToolCall } from "../../../domain/tool.ts";
import { pause } from "../../../lib/pause.ts";
import { beforeAll } from "../rows/budgets.ts";
import { withoutNul } from "../rows/text.ts";
import { ofAccount } from "./companion-states.ts";
import { all, columns, get, insert, insertAll, run, runAll, type Script, type ScriptRunner } from "./script.ts";

type CallRow = Omit<ToolCall, "arguments" | "result"> & { number: number; arguments: string; result: string | null };

const textOf = (condition: string) =>
  `(SELECT x.text FROM tool_call_texts x WHERE x.call_number = t.number AND ${condition} LIMIT 1)`;
const fields = ["number", "id", "toolId", "tool", "state", "durationMs", "createdAt"] as const;
const shown = `${columns<CallRow>("t", fields)}, ${textOf("NOT x.is_result")} AS arguments,
  ${textOf("x.is_result")} AS result`;

/** The parameters of a conversation's key are the first three, with `''` for no visitor. */
const keyOf = ({ companionId, sessionId, visitorId }: ConversationKey) => [companionId, sessionId, visitorId ?? ""];
const conversationOfKey =
  "SELECT number FROM conversations WHERE companion_id = $1 AND session_id = $2 AND visitor_id = $3";
const isOpenOfKey = "t.conversation_number IS NULL AND t.companion_id = $1 AND t.session_id = $2 AND t.visitor_id = $3";

/** A clock that was set back lets a reply seem older than the calls that led to it. */
const maxSetBackMs = 60 * 60_000;
/** The reply's conversation, if it was stored. */
const stored = `(SELECT c.number FROM conversations c
    JOIN messages m ON m.conversation_number = c.number AND m.created_at >= t.created_at - ${maxSetBackMs}
      AND m.id = t.reply_id
    WHERE c.companion_id = t.companion_id AND c.session_id = t.session_id
      AND c.visitor_id = t.visitor_id LIMIT 1)`;

// Of a key that is used again, what began before the conversation belonged to one that is gone.
const shownConversation = `CASE WHEN t.conversation_number IS NULL
    THEN (SELECT c.id FROM conversations c WHERE c.companion_id = t.companion_id AND c.session_id = t.session_id
      AND c.visitor_id = t.visitor_id AND c.created_at <= t.created_at)
    ELSE (SELECT c.id FROM conversations c WHERE c.number = t.conversation_number) END`;
const selectPage = (after: string) => `SELECT ${shown}, ${shownConversation} AS "conversationId",
    t.conversation_number IS NULL AS "isOpen"
  FROM tool_calls t WHERE t.tool_id = $1 AND t.id ${after} LIMIT $3`;

// The key of the call's conversation as it is now: a verified visitor may have taken that over.
const isOfKey = `t.id = $4 AND t.is_asked AND t.companion_id = $1 AND EXISTS (SELECT 1 FROM tools o WHERE o.id = t.tool_id)
  AND CASE WHEN t.conversation_number IS NULL THEN t.session_id = $2 AND t.visitor_id = $3
    ELSE t.conversation_number = (${conversationOfKey}) END`;

export const toolCallQueries = {
  ofMessage: `SELECT ${shown}, t.reply_id AS "replyId" FROM tool_calls t WHERE ${isOpenOfKey} AND t.message_id = $4
    UNION ALL SELECT ${shown}, t.reply_id AS "replyId" FROM tool_calls t
      WHERE t.conversation_number IS NOT NULL AND t.conversation_number = (${conversationOfKey}) AND t.message_id = $4`,
  ofReplies: `SELECT ${shown}, t.reply_id AS "replyId" FROM tool_calls t WHERE t.reply_id = ANY ($1::text[])`,
  pages: { desc: selectPage("< $2 ORDER BY t.id DESC"), asc: selectPage("> $2 ORDER BY t.id") },
  open: `SELECT t.number, ${stored} AS conversation FROM (
      SELECT * FROM tool_calls WHERE conversation_number IS NULL AND created_at > 0 AND created_at < $1
      ORDER BY created_at LIMIT $2 FOR UPDATE SKIP LOCKED
    ) AS t`,
  holdConversations: `SELECT number FROM conversations WHERE number = ANY ($1::float8[]::bigint[])
    FOR KEY SHARE SKIP LOCKED`,
  decided: `SELECT ${shown}, t.reply_id AS "replyId", t.message_id AS "messageId" FROM tool_calls t WHERE ${isOfKey}`,
  openOfVisitors: `SELECT number FROM tool_calls
    WHERE conversation_number IS NULL AND companion_id = $1 AND visitor_id = ANY ($2::text[]) LIMIT $3`,
  openOfCompanion: "SELECT number FROM tool_calls WHERE conversation_number IS NULL AND companion_id = $1 LIMIT $2",
  ofConversations: `SELECT number FROM tool_calls
    WHERE conversation_number IS NOT NULL AND conversation_number = ANY ($1::float8[]::bigint[]) LIMIT $2`,
};

const decideOn = `UPDATE tool_calls AS t SET state = $5 WHERE ${isOfKey} AND t.state = 'waiting' AND t.created_at >= $6`;
const endCall = `UPDATE tool_calls AS t SET state = $2, duration_ms = $3
  WHERE t.id = $1 AND ${textOf("x.is_result")} IS NULL RETURNING number`;
const attach = "UPDATE tool_calls SET conversation_number = $2 WHERE number = $1 AND conversation_number IS NULL";
const attachAllOfKey = `UPDATE tool_calls AS t SET conversation_number = $4 WHERE ${isOpenOfKey}`;
const giveAllOfKey = `UPDATE tool_calls AS t SET visitor_id = $4 WHERE ${isOpenOfKey}`;
const selectTool = `SELECT 1 AS one FROM tools o JOIN companions c ON c.id = o.companion_id
  WHERE o.id = $1 AND o.companion_id = $2 AND ${ofAccount("$3")}`;

const removeCalls = "DELETE FROM tool_calls WHERE number = ANY ($1::float8[]::bigint[])";
const removeTexts = "DELETE FROM tool_call_texts WHERE call_number = ANY ($1::float8[]::bigint[])";

/** Rows that are examined in one commit. */
const openPerCommit = 100;

const inOrder = (one: CallRow, other: CallRow) => one.createdAt - other.createdAt || one.number - other.number;

function toCall({
  number: _,
  id,
  toolId,
  tool,
  arguments: sent,
  result,
  state,
  durationMs,
  createdAt,
}: CallRow): ToolCall {
  return { id, toolId, tool, arguments: sent, result, state, durationMs, createdAt };
}

/** Deletes calls, by their numbers, with their words. */
export type CallRemover = (numbers: readonly number[]) => Script<unknown>;

/** Where deleted words need no more than that. */
export function* removeRows(numbers: readonly number[]): Script<void> {
  // In this order: a call that is just being finished gets its result first, or never.
  yield* run(removeCalls, numbers);
  yield* run(removeTexts, numbers);
}

/** What deletions of other things do with calls, inside their write; each returns how many it has deleted. */
export function createCallRemovals(remove: CallRemover) {
  function* removeFound(found: readonly { number: number }[]): Script<number> {
    if (found.length > 0) yield* remove(found.map(({ number }) => number));
    return found.length;
  }

  return {
    *removeOfConversations(conversations: readonly number[], limit: number): Script<number> {
      return yield* removeFound(yield* all(toolCallQueries.ofConversations, conversations, limit));
    },

    /** Of those that are in no conversation yet, and may never be. */
    *removeOpenOfVisitors(companionId: string, visitorIds: readonly string[], limit: number): Script<number> {
      return yield* removeFound(yield* all(toolCallQueries.openOfVisitors, companionId, visitorIds, limit));
    },

    *removeOpenOfCompanion(companionId: string, limit: number): Script<number> {
      return yield* removeFound(yield* all(toolCallQueries.openOfCompanion, companionId, limit));
    },

    /** Before the conversation is deleted: its calls are found by its number then, and seen no more. */
    *attachAll(key: ConversationKey, conversationNumber: number): Script<void> {
      yield* run(attachAllOfKey, ...keyOf(key), conversationNumber);
    },

    /** With an anonymous conversation. */
    *giveAll(from: ConversationKey, visitorId: string): Script<void> {
      yield* run(giveAllOfKey, ...keyOf(from), visitorId);
    },
  };
}

export function createToolCallStore(scripts: ScriptRunner, remove: CallRemover): ToolCallStore {
  function* begin({ key, replyId, messageId }: CallingReply, calls: readonly ToolCall[]): Script<void> {
    const { companionId, sessionId } = key;
    const of = { companionId, sessionId, visitorId: key.visitorId ?? "", conversationNumber: null, replyId, messageId };
    const rows = calls.map(({ id, toolId, tool, state, durationMs, createdAt }) => {
      const facts = { id, toolId, tool: withoutNul(tool), state, isAsked: state === "waiting", durationMs, createdAt };
      return { ...of, ...facts };
    });
    const numbers = yield* insertAll<{ id: string; number: number }>("tool_calls", rows, "RETURNING id, number");
    const numberOf = new Map(numbers.map(({ id, number }) => [id, number]));
    const texts = calls.flatMap(({ id, arguments: sent, result }) => {
      const callNumber = numberOf.get(id) ?? 0;
      const asked = { callNumber, isResult: false, text: withoutNul(sent) };
      return result === null ? [asked] : [asked, { callNumber, isResult: true, text: withoutNul(result) }];
    });
    yield* insertAll("tool_call_texts", texts);
  }

  /**
   * Checks whether replies of open calls were stored by now. It waits for no one, who may wait for it: what another caller
   * has, or is just deleting, is left for the next time.
   */
  function* settleOpen(beforeMs: number, limit: number): Script<{ attached: number; deleted: number }> {
    const open = yield* all<{ number: number; conversation: number | null }>(toolCallQueries.open, beforeMs, limit);
    const gone = open.flatMap(({ number, conversation }) => (conversation === null ? [number] : []));
    const stored = open.flatMap(({ number, conversation }) =>
      conversation === null ? [] : [{ number, conversation }],
    );
    const conversations = [...new Set(stored.map(({ conversation }) => conversation))];
    const held = yield* all<{ number: number }>(toolCallQueries.holdConversations, conversations);
    const isHeld = new Set(held.map(({ number }) => number));
    const attached = stored.filter(({ conversation }) => isHeld.has(conversation));
    if (attached.length > 0) {
      yield* runAll(
        attach,
        attached.map(({ number, conversation }) => [number, conversation]),
      );
    }
    if (gone.length > 0) yield* remove(gone);
    return { attached: attached.length, deleted: gone.length };
  }

  return {
    begin: (reply, calls) => scripts.append(() => begin(reply, calls)),

    finish: (id, { state, result, durationMs }) =>
      scripts.append(function* () {
        const ended = yield* get<{ number: number }>(endCall, id, state, durationMs);
        if (ended === null) return;
        yield* insert("tool_call_texts", { callNumber: ended.number, isResult: true, text: withoutNul(result) });
      }),

    async listOfMessage(key, messageId) {
      const rows = await scripts.read(() =>
        all<CallRow & { replyId: string }>(toolCallQueries.ofMessage, ...keyOf(key), messageId),
      );
      return rows.sort(inOrder).map((row) => ({ ...toCall(row), replyId: row.replyId }));
    },

    async listOfReplies(replyIds) {
      const rows = await scripts.read(() => all<CallRow & { replyId: string }>(toolCallQueries.ofReplies, replyIds));
      const byReply = Map.groupBy(rows.sort(inOrder), ({ replyId }) => replyId);
      return new Map([...byReply].map(([replyId, calls]) => [replyId, calls.map(toCall)]));
    },

    async listOfTool(accountId, companionId, toolId, { limit, afterId, order = "desc" }) {
      type Row = CallRow & { conversationId: string | null; isOpen: boolean | number };
      const rows = await scripts.read(function* () {
        if ((yield* get(selectTool, toolId, companionId, accountId)) === null) return null;
        return yield* all<Row>(toolCallQueries.pages[order], toolId, afterId ?? beforeAll[order], limit + 1);
      });
      if (rows === null) return null;
      const { items, nextAfterId } = toPage(rows, limit);
      // Deleted conversations are gone from all lists immediately, and their calls in the background.
      const kept = items.filter(({ conversationId, isOpen }) => conversationId !== null || Boolean(isOpen));
      return { items: kept.map((row) => ({ ...toCall(row), conversationId: row.conversationId })), nextAfterId };
    },

    decide: (id, key, { isApproved, sinceMs }) =>
      scripts.append(function* (): Script<Decision> {
        const callKey = [...keyOf(key), id] as const;
        const taken = yield* run(decideOn, ...callKey, isApproved ? "running" : "declined", sinceMs);
        const row = yield* get<CallRow & { replyId: string; messageId: string | null }>(
          toolCallQueries.decided,
          ...callKey,
        );
        if (row === null) return { outcome: "missing" };
        const { replyId, messageId } = row;
        const call = { ...toCall(row), reply: { key, replyId, messageId } };
        if (taken > 0) return { outcome: "taken", call };
        return call.state === "running" && call.createdAt >= sinceMs
          ? { outcome: "running", call }
          : { outcome: "over" };
      }),

    async deleteOrphans(beforeMs, limit) {
      for (let deleted = 0; ; await pause()) {
        const most = Math.min(openPerCommit, limit - deleted);
        const done = await scripts.append(() => settleOpen(beforeMs, most));
        deleted += done.deleted;
        if (done.attached + done.deleted < most || deleted >= limit) return deleted;
      }
    },
  };
}
