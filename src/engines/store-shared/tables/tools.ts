/** Tables of tools, and of what became of their calls. */
import { sql } from "drizzle-orm";
import type { JsonObject } from "../../../domain/json.ts";
import type { ToolCallState, ToolTarget } from "../../../domain/tool.ts";
import type { companionTables } from "./companions.ts";
import type { Dialect } from "./dialect.ts";

export function toolTables(dialect: Dialect, { companions }: ReturnType<typeof companionTables>) {
  const { table, number, text, whole, small, boolean, json, index, uniqueIndex } = dialect;

  /** Triggers count `bytes` in `account_holdings`, by hand in the initial migrations. */
  const tools = table(
    "tools",
    () => ({
      id: text("id").primaryKey(),
      accountId: text("account_id").notNull(),
      companionId: text("companion_id")
        .notNull()
        .references(() => companions.id, { onDelete: "cascade" }),
      name: text("name").notNull(),
      title: text("title").notNull(),
      type: text<ToolTarget["type"]>("type").notNull(),
      url: text("url").notNull(),
      /** These two of HTTP, the third of MCP. */
      description: text("description"),
      parameters: json<JsonObject>("parameters"),
      offered: json<string[]>("offered"),
      sealedHeaders: text("sealed_headers"),
      headerNames: json<string[]>("header_names").notNull(),
      sealedSecret: text("sealed_secret").notNull(),
      timeoutMs: small("timeout_ms").notNull(),
      confirm: boolean("confirm").notNull(),
      requiresVisitor: boolean("requires_visitor").notNull(),
      /** Of what the owner has written, in UTF-8. */
      bytes: small("bytes").notNull(),
      createdAt: whole("created_at").notNull(),
      updatedAt: whole("updated_at").notNull(),
    }),
    (row) => [uniqueIndex("tools_name").on(row.companionId, row.name), index("tools_account").on(row.accountId)],
  );

  // No foreign keys: calls of a deleted tool stay in transcripts, and those of a conversation are deleted in chunks.
  const toolCalls = table(
    "tool_calls",
    () => ({
      number: number(),
      id: text("id").notNull().unique(),
      toolId: text("tool_id").notNull(),
      companionId: text("companion_id").notNull(),
      sessionId: text("session_id").notNull(),
      /** Empty for no visitor, as in conversations. */
      visitorId: text("visitor_id").notNull(),
      /**
       * Null while no one has checked whether the reply was stored: a turn that is stored does not write here. From then on
       * the conversation's key counts, and that of the row does not.
       */
      conversationNumber: whole("conversation_number"),
      replyId: text("reply_id").notNull(),
      messageId: text("message_id"),
      tool: text("tool").notNull(),
      state: text<ToolCallState>("state").notNull(),
      /** Whether a visitor was asked. */
      isAsked: boolean("is_asked").notNull(),
      durationMs: whole("duration_ms"),
      createdAt: whole("created_at").notNull(),
    }),
    (row) => [
      index("tool_calls_tool").on(row.toolId, row.id),
      index("tool_calls_waiting").on(row.toolId).where(sql`state = 'waiting'`),
      index("tool_calls_reply").on(row.replyId),
      index("tool_calls_conversation")
        .on(row.conversationNumber, row.messageId)
        .where(sql`conversation_number IS NOT NULL`),
      index("tool_calls_open_key")
        .on(row.companionId, row.visitorId, row.sessionId, row.messageId)
        .where(sql`conversation_number IS NULL`),
      // The time is always more: without it PostgreSQL takes this index for the one before.
      index("tool_calls_open").on(row.createdAt).where(sql`conversation_number IS NULL AND created_at > 0`),
    ],
  );

  /** Their words, apart from what changes: in SQLite such rows are only added, and erased in place. */
  const toolCallTexts = table(
    "tool_call_texts",
    () => ({
      number: number(),
      /** In SQLite negative if it was erased, as in messages. */
      callNumber: whole("call_number").notNull(),
      isResult: boolean("is_result").notNull(),
      text: text("text").notNull(),
    }),
    (row) => [index("tool_call_texts_call").on(row.callNumber)],
  );

  return { tools, toolCalls, toolCallTexts };
}
