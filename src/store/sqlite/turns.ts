/** Turns in SQLite: the hot path of the program. */
import type { HistoryMessage, MessageRole } from "../../domain/conversation.ts";
import type { SettledTurn, TurnStore } from "../contract/turns.ts";
import type { SqliteEngine } from "./engine.ts";
import type { UsageWriter } from "./usage-writer.ts";

/** How many messages the first read of a history takes; each further one takes as many as were read so far. */
const firstHistoryRead = 32;

/** Adds a conversation or counts what is added to it; null where the companion is gone. Shared with voice transcripts. */
export function createConversationWriter(engine: SqliteEngine) {
  const upsert = engine.query<{ number: number }, [string, string, string, number, number, number, string]>(
    `INSERT INTO conversations (id, account_id, companion_id, session_id, visitor_id, message_count, created_at, updated_at)
     SELECT ?, account_id, id, ?, ?, ?, ?, ? FROM companions WHERE id = ?
     ON CONFLICT (companion_id, session_id, visitor_id) DO UPDATE SET
       message_count = message_count + excluded.message_count, updated_at = max(updated_at, excluded.updated_at)
     RETURNING number`,
  );
  const insertMessage = engine.query<
    null,
    [number, string, string, string, number, number | null, number | null, number, number, string]
  >(
    `INSERT INTO messages
       (conversation_number, id, role, channel, complete, input_tokens, output_tokens, tokens_estimated, created_at, text)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  return { upsert, insertMessage };
}

export type ConversationWriter = ReturnType<typeof createConversationWriter>;

export function createTurnStore(
  engine: SqliteEngine,
  conversations: ConversationWriter,
  usage: UsageWriter,
): TurnStore {
  const selectHistory = engine.query<{ role: MessageRole; text: string }, [string, string, string, number, number]>(
    `SELECT role, text FROM messages
     WHERE conversation_number =
       (SELECT number FROM conversations WHERE companion_id = ? AND session_id = ? AND visitor_id = ?)
     ORDER BY created_at DESC, number DESC LIMIT ? OFFSET ?`,
  );
  const countTowardsQuota = engine.query<{ messages: number }, [string, string]>(
    `INSERT INTO quota_daily (companion_id, day, messages) VALUES (?, ?, 1)
     ON CONFLICT DO UPDATE SET messages = messages + 1 RETURNING messages`,
  );
  // A turn admitted before midnight may settle after it, so yesterday's count stays.
  const forgetQuota = engine.query<null, [string, string]>(
    "DELETE FROM quota_daily WHERE companion_id = ? AND day < date(?, '-1 day')",
  );
  const selectQuota = engine.query<{ messages: number }, [string, string]>(
    "SELECT messages FROM quota_daily WHERE companion_id = ? AND day = ?",
  );

  function keep(turn: SettledTurn): boolean {
    const { key, userMessage, reply } = turn;
    const added = reply === null ? 1 : 2;
    const updatedAt = reply?.createdAt ?? userMessage.createdAt;
    const conversation = conversations.upsert.get(
      ...([turn.conversationId, key.sessionId, key.visitorId ?? "", added, userMessage.createdAt] as const),
      updatedAt,
      key.companionId,
    );
    if (conversation === null) return false;
    const { number } = conversation;
    const insert = conversations.insertMessage;
    insert.run(number, userMessage.id, "user", "text", 1, null, null, 0, userMessage.createdAt, userMessage.text);
    if (reply === null) return true;
    const { inputTokens, outputTokens, estimated } = turn.usage;
    insert.run(
      ...([number, reply.id, "assistant", "text", reply.complete ? 1 : 0, inputTokens, outputTokens] as const),
      ...([estimated ? 1 : 0, reply.createdAt, reply.text] as const),
    );
    return true;
  }

  return {
    listHistory: (key, maxBytes) =>
      engine.read(() => {
        const history: HistoryMessage[] = [];
        let leftBytes = maxBytes;
        for (;;) {
          const limit = Math.max(firstHistoryRead, history.length);
          const rows = selectHistory.all(key.companionId, key.sessionId, key.visitorId ?? "", limit, history.length);
          for (const row of rows) {
            history.push(row);
            leftBytes -= Buffer.byteLength(row.text, "utf8");
            if (leftBytes < 0) return history;
          }
          if (rows.length < limit) return history;
        }
      }),

    settle: (turn) =>
      engine.write(() => {
        const { accountId, key, keyId, day } = turn;
        const isKept = keep(turn);
        usage.add(
          { accountId, companionId: key.companionId, keyId, day },
          {
            messages: 1,
            inputTokens: turn.usage.inputTokens,
            outputTokens: turn.usage.outputTokens,
            errors: turn.isUpstreamError ? 1 : 0,
          },
        );
        if (!isKept) return;
        const quota = countTowardsQuota.get(key.companionId, day);
        if (quota?.messages === 1) forgetQuota.run(key.companionId, day);
      }),

    settleUnkept: ({ accountId, companionId, keyId, day, usage: { inputTokens, outputTokens }, isUpstreamError }) =>
      engine.write(() => {
        const errors = isUpstreamError ? 1 : 0;
        usage.add({ accountId, companionId, keyId, day }, { messages: 1, inputTokens, outputTokens, errors });
      }),

    countDay: (companionId, day) => engine.read(() => selectQuota.get(companionId, day)?.messages ?? 0),
  };
}
