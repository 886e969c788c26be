/** Turns in SQLite: the hot path of the program. */
import type { HistoryMessage, Message, MessageRole } from "../../domain/conversation.ts";
import type { SettledTurn, TurnStore } from "../contract/turns.ts";
import type { ConversationWriter } from "./conversation-writer.ts";
import type { SqliteEngine } from "./engine.ts";
import type { Erasures } from "./erasures.ts";
import type { QuotaCounts } from "./quota.ts";
import type { UsageWriter } from "./usage-writer.ts";

/** How many messages the first read of a history takes; each further one takes as many as were read so far. */
const firstHistoryRead = 32;

export interface TurnParts {
  conversations: ConversationWriter;
  usage: UsageWriter;
  quota: QuotaCounts;
  erasures: Erasures;
}

export function createTurnStore(engine: SqliteEngine, { conversations, usage, quota, erasures }: TurnParts): TurnStore {
  const selectHistory = engine.query<{ role: MessageRole; text: string }, [string, string, string, number, number]>(
    `SELECT role, text FROM messages
     WHERE conversation_number =
       (SELECT number FROM conversations WHERE companion_id = ? AND session_id = ? AND visitor_id = ?)
     ORDER BY created_at DESC, number DESC LIMIT ? OFFSET ?`,
  );

  function toMessages({ userMessage, reply, usage: { inputTokens, outputTokens, estimated } }: SettledTurn): Message[] {
    const uncounted = { channel: "text", inputTokens: null, outputTokens: null, tokensEstimated: false } as const;
    const question: Message = { ...userMessage, ...uncounted, role: "user", complete: true };
    if (reply === null) return [question];
    const counted = { inputTokens, outputTokens, tokensEstimated: estimated };
    return [question, { ...reply, ...counted, role: "assistant", channel: "text" }];
  }

  return {
    markArrival: () => erasures.mark(),

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
      engine.append(() => {
        const { accountId, key, keyId, day } = turn;
        if (!erasures.cover(key, turn.arrivalMark)) conversations.add(key, turn.conversationId, toMessages(turn));
        usage.add(
          { accountId, companionId: key.companionId, keyId, day },
          {
            messages: 1,
            inputTokens: turn.usage.inputTokens,
            outputTokens: turn.usage.outputTokens,
            errors: turn.isUpstreamError ? 1 : 0,
          },
        );
        quota.add("messages", key.companionId, day);
      }),

    settleUnkept: ({ accountId, companionId, keyId, day, usage: { inputTokens, outputTokens }, isUpstreamError }) =>
      engine.append(() => {
        const errors = isUpstreamError ? 1 : 0;
        usage.add({ accountId, companionId, keyId, day }, { messages: 1, inputTokens, outputTokens, errors });
        quota.add("messages", companionId, day);
      }),

    countDay: (companionId, day) => engine.read(() => quota.count("messages", companionId, day)),
  };
}
