/** A conversation with a page of its messages. */
import type { ConversationPage, MessagePageRequest } from "../../contracts/store/conversations.ts";
import type { Message } from "../../domain/conversation.ts";
import { textParts } from "../../domain/conversation.ts";
import { messagePageBytes } from "../store-shared/rows/bounds.ts";
import { toConversation } from "../store-shared/rows/conversation.ts";
import type { PostgresEngine } from "./engine.ts";
import { mapColumns } from "./rows/columns.ts";
import { tables } from "./tables.ts";

const messageColumns = mapColumns(tables.messages, ["number", "conversationNumber", "clientId", "endCode", "repeats"]);

interface ConversationFields {
  companionId: string;
  sessionId: string;
  visitorId: string;
  sealedVisitor: string | null;
  messageCount: number;
  hadTools: boolean;
  beganAt: number;
  updatedAt: number;
}

/** All of the message is null if the page has none. */
interface PageRow extends ConversationFields, Omit<Message, "id" | "parts"> {
  id: string | null;
  text: string;
  /** Of the page, and one more if there are older ones. */
  following: number;
}

// One statement, so that all of it is of one moment. Of a text that is left out, only the length is read. One more than
// the page shows whether there are older ones; the first always fits, however long it is.
const selectPage = `SELECT c.companion_id AS "companionId", c.session_id AS "sessionId", c.visitor_id AS "visitorId",
    c.sealed_visitor AS "sealedVisitor", c.message_count::float8 AS "messageCount", c.created_at::float8 AS "beganAt", c.updated_at::float8 AS "updatedAt",
    companions.had_tools AS "hadTools", page.following::float8 AS following, ${messageColumns.select("page")}
  FROM conversations c JOIN companions ON companions.id = c.companion_id
    LEFT JOIN LATERAL (
      SELECT m.*, count(*) OVER () AS following, row_number() OVER newest AS place,
        sum(octet_length(m.text)) OVER newest - octet_length(m.text) AS newer_bytes
      FROM (
        SELECT * FROM messages WHERE conversation_number = c.number AND (created_at, number) < ($3, coalesce(
          (SELECT number FROM messages WHERE conversation_number = c.number AND created_at = $3 AND id = $4), 0))
        ORDER BY created_at DESC, number DESC LIMIT $5::int + 1
      ) AS m
      WINDOW newest AS (ORDER BY m.created_at DESC, m.number DESC ROWS UNBOUNDED PRECEDING)
    ) AS page ON page.newer_bytes < ${messagePageBytes} AND page.place <= $5::int
  WHERE c.id = $1 AND c.account_id = $2
  ORDER BY page.created_at, page.number`;

export function createMessagePages(engine: PostgresEngine) {
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
      return { conversation, mayHaveCalls: oldest.hadTools, messages: found, nextBefore };
    },
  };
}

function toMessage(row: PageRow): Message | null {
  const { id, role, channel, complete, inputTokens, outputTokens, tokensEstimated, createdAt, text } = row;
  const { finishReason, model, provider } = row;
  if (id === null) return null;
  const tokens = { inputTokens, outputTokens, tokensEstimated };
  return { id, role, channel, complete, ...tokens, finishReason, model, provider, createdAt, parts: textParts(text) };
}
