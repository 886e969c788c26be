/** Turns in SQLite: the hot path of the program. */
import type { SettledTurn, TurnStore, UnkeptTurn } from "../../contracts/store/turns.ts";
import { type HistoryMessage, type MessageRole, textParts } from "../../domain/conversation.ts";
import { costCounts } from "../../domain/usage.ts";
import { pause } from "../../lib/pause.ts";
import { authorOf } from "../store-shared/rows/handoff.ts";
import type { UsageKey } from "../store-shared/rows/usage-counters.ts";
import type { SqliteEngine } from "./engine.ts";
import type { StoreParts } from "./parts.ts";

/**
 * How many messages the first read of a history takes; each further one takes as many as were read so far, or fewer where
 * they are long.
 */
const firstHistoryRead = 32;
const bytesPerRead = 1024 * 1024;

interface HistoryRow {
  number: number;
  createdAt: number;
  role: MessageRole;
  text: string;
  /** Left out where it is not asked for. */
  author?: string | null;
}

const historyQuery = (condition = "", author = "") => `SELECT number, created_at AS createdAt, role, text ${author}
  FROM messages WHERE conversation_number =
    (SELECT number FROM conversations WHERE companion_id = ? AND session_id = ? AND visitor_id = ?)
    AND (created_at, number) < (?, ?) ${condition}
  ORDER BY created_at DESC, number DESC LIMIT ?`;
const selectAuthor = `, (SELECT a.author FROM message_authors a
    WHERE a.conversation_number = messages.conversation_number AND a.seq = messages.seq) AS author`;
const isOther = "AND client_id IS NOT ?";

export const turnQueries = { history: historyQuery(), historyOfPeople: historyQuery(isOther, selectAuthor) };

export function createTurnStore(
  engine: SqliteEngine,
  { conversations, events, exchanges, usage, quota, visitorDays, erasures, spending }: StoreParts,
): TurnStore {
  const selectHistory = engine.query<HistoryRow, [string, string, string, number, number, number]>(turnQueries.history);
  type Except = [string, string, string, number, number, string, number];
  const selectHistoryExcept = engine.query<HistoryRow, Except>(historyQuery(isOther));
  const selectOfPeople = engine.query<HistoryRow, Except>(turnQueries.historyOfPeople);

  const sumMonth = engine.query<{ tokens: number | null }, [string, string, string]>(
    `SELECT sum(input_tokens + output_tokens) AS tokens FROM usage_monthly
     WHERE account_id = ? AND companion_id = ? AND month = ?`,
  );

  function count(key: UsageKey, messages: 0 | 1, turn: SettledTurn | UnkeptTurn): void {
    const { failure } = turn;
    const { inputTokens, outputTokens, cachedTokens, cacheWriteTokens, reasoningTokens } = turn.usage;
    const tokens = { inputTokens, outputTokens, cachedTokens, cacheWriteTokens, reasoningTokens };
    usage.add(key, { ...tokens, messages, errors: failure === null ? 0 : 1, ...costCounts(turn.cost) });
    if (failure !== null) usage.addFailure(key, failure);
  }

  /** The visitor's own day is part of what an erasure takes. */
  function keep(turn: SettledTurn): void {
    const { key, visitor, messageId } = turn;
    if (messageId !== null) exchanges.add(turn, messageId);
    else {
      const facts = { clientId: null, endCode: turn.endCode, sealedVisitor: visitor?.sealed ?? null };
      conversations.add(key, turn.conversationId, turn.messages, facts);
    }
    if (turn.events !== null) {
      const lastId = turn.messages.at(-1)?.id ?? null;
      events.emitTurn(turn.events, key, { newId: turn.conversationId, lastId });
    }
    if (visitor === null || !visitor.isLimited || !turn.isCounted || key.visitorId === null) return;
    visitorDays.add(key.companionId, key.visitorId, turn.day);
  }

  return {
    async listHistory({ companionId, sessionId, visitorId }, maxBytes, { exceptMessageId, withAuthors = false } = {}) {
      const selectSome = withAuthors ? selectOfPeople : selectHistoryExcept;
      const visitor = visitorId ?? "";
      const history: HistoryMessage[] = [];
      let leftBytes = maxBytes;
      let aboveMs = Number.MAX_SAFE_INTEGER;
      let aboveNumber = Number.MAX_SAFE_INTEGER;
      for (let limit = firstHistoryRead; ; ) {
        const parameters = [companionId, sessionId, visitor, aboveMs, aboveNumber] as const;
        const rows = await engine.read(() =>
          exceptMessageId === undefined && !withAuthors
            ? selectHistory.all(...parameters, limit)
            : selectSome.all(...parameters, exceptMessageId ?? "", limit),
        );
        let bytes = 0;
        for (const { role, text, author } of rows) {
          history.push({ role, parts: textParts(text), ...authorOf(author) });
          bytes += Buffer.byteLength(text, "utf8");
          if (bytes > leftBytes) return history;
        }
        const last = rows.at(-1);
        if (last === undefined || rows.length < limit) return history;
        leftBytes -= bytes;
        aboveMs = last.createdAt;
        aboveNumber = last.number;
        limit = Math.max(1, Math.min(history.length, Math.floor((bytesPerRead * rows.length) / Math.max(1, bytes))));
        if (bytes > bytesPerRead / 2) await pause();
      }
    },

    settle: (turn) =>
      engine.append(() => {
        const { accountId, key, keyId, day, isCounted, answeredBy } = turn;
        const { companionId } = key;
        if (!erasures.cover(key, turn.arrivalMark)) keep(turn);
        count({ accountId, companionId, keyId, day, answeredBy }, isCounted ? 1 : 0, turn);
        if (isCounted) quota.add("messages", companionId, day);
        return turn.spend === null ? [] : spending.settle({ accountId, day }, turn.cost, turn.spend);
      }),

    settleUnkept: (turn) =>
      engine.append(() => {
        count(turn, turn.isCounted ? 1 : 0, turn);
        if (turn.isCounted) quota.add("messages", turn.companionId, turn.day);
        return turn.spend === null ? [] : spending.settle(turn, turn.cost, turn.spend);
      }),

    recordCall: ({ usage: tokens, cost, spend, ...key }) =>
      engine.append(() => {
        usage.add(key, { ...tokens, ...costCounts(cost) });
        return spend === null ? [] : spending.settle(key, cost, spend);
      }),

    countDay: (companionId, day) => engine.read(() => quota.count("messages", companionId, day)),

    countMonthTokens: (accountId, companionId, month) =>
      engine.read(() => sumMonth.get(accountId, companionId, month)?.tokens ?? 0),

    findExchange: (key, messageId) => engine.read(() => exchanges.find(key, messageId)),

    countVisitorDay: (companionId, visitorId, day) => engine.read(() => visitorDays.count(companionId, visitorId, day)),
  };
}
