/** Turns in SQLite: the hot path of the program. */
import { type HistoryMessage, type MessageRole, textParts } from "../../domain/conversation.ts";
import type { FailureKind } from "../../domain/reply-failure.ts";
import type { TokenUsage } from "../../domain/usage.ts";
import type { TurnStore } from "../contract/turns.ts";
import type { UsagePlace } from "../rows/usage-counters.ts";
import type { SqliteEngine } from "./engine.ts";
import type { StoreParts } from "./parts.ts";

/** How many messages the first read of a history takes; each further one takes as many as were read so far. */
const firstHistoryRead = 32;

export function createTurnStore(
  engine: SqliteEngine,
  { conversations, usage, quota, erasures }: StoreParts,
): TurnStore {
  const selectHistory = engine.query<{ role: MessageRole; text: string }, [string, string, string, number, number]>(
    `SELECT role, text FROM messages
     WHERE conversation_number =
       (SELECT number FROM conversations WHERE companion_id = ? AND session_id = ? AND visitor_id = ?)
     ORDER BY created_at DESC, number DESC LIMIT ? OFFSET ?`,
  );

  function count(place: UsagePlace, { inputTokens, outputTokens }: TokenUsage, failure: FailureKind | null): void {
    usage.add(place, { messages: 1, inputTokens, outputTokens, errors: failure === null ? 0 : 1 });
    if (failure !== null) usage.addFailure(place, failure);
  }

  return {
    listHistory: (key, maxBytes) =>
      engine.read(() => {
        const history: HistoryMessage[] = [];
        let leftBytes = maxBytes;
        for (;;) {
          const limit = Math.max(firstHistoryRead, history.length);
          const rows = selectHistory.all(key.companionId, key.sessionId, key.visitorId ?? "", limit, history.length);
          for (const { role, text } of rows) {
            history.push({ role, parts: textParts(text) });
            leftBytes -= Buffer.byteLength(text, "utf8");
            if (leftBytes < 0) return history;
          }
          if (rows.length < limit) return history;
        }
      }),

    settle: (turn) =>
      engine.append(() => {
        const { accountId, key, keyId, day, failure } = turn;
        const place = { accountId, companionId: key.companionId, keyId, day };
        if (!erasures.cover(key, turn.arrivalMark)) conversations.add(key, turn.conversationId, turn.messages);
        count(place, turn.usage, failure);
        quota.add("messages", key.companionId, day);
      }),

    settleUnkept: ({ usage: tokens, failure, ...place }) =>
      engine.append(() => {
        count(place, tokens, failure);
        quota.add("messages", place.companionId, place.day);
      }),

    recordFailure: ({ kind, ...place }) =>
      engine.append(() => {
        usage.add(place, { errors: 1 });
        usage.addFailure(place, kind);
      }),

    countDay: (companionId, day) => engine.read(() => quota.count("messages", companionId, day)),
  };
}
