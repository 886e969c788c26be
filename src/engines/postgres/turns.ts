/** Turns in PostgreSQL: the hot path of the program. */
import type { ArrivalMark } from "../../contracts/coordination.ts";
import type { SettledTurn, TurnStore, UnkeptTurn } from "../../contracts/store/turns.ts";
import { type ConversationKey, type HistoryMessage, type MessageRole, textParts } from "../../domain/conversation.ts";
import { costCounts } from "../../domain/usage.ts";
import { type ExchangeRow, toExchange } from "../store-shared/rows/conversation.ts";
import { authorOf } from "../store-shared/rows/handoff.ts";
import { isArrivalMark } from "./arrival-marks.ts";
import type { ConversationAddition } from "./conversation-writer.ts";
import type { PostgresEngine } from "./engine.ts";
import type { ReportedTurn } from "./events.ts";
import type { QuotaCounts } from "./quota.ts";
import type { Settling } from "./settling.ts";

export const turnQueries = {
  history: `SELECT role, "text" FROM read_history($1, $2, $3, $4, $5)`,
  historyOfPeople: `SELECT role, "text", author FROM read_people_history($1, $2, $3, $4, $5)`,
  // Sorted by what no index has: in their order, one would be read for the whole conversation.
  exchange: `SELECT m.id, (SELECT o.id FROM conversations o WHERE o.number = m.conversation_number) AS "conversationId",
    m.role, m."text", m.complete, m.end_code AS "endCode", m.created_at::float8 AS "createdAt", m.repeats
    FROM messages m WHERE m.conversation_number = (
      SELECT c.number FROM conversations c WHERE c.companion_id = $1 AND c.session_id = $2 AND c.visitor_id = $3
    ) AND m.client_id = $4 ORDER BY m.created_at + 0, m.number`,
  monthTokens: `SELECT sum(input_tokens + output_tokens)::float8 AS tokens FROM usage_monthly
    WHERE account_id = $1 AND companion_id = $2 AND month = $3`,
  visitorDay: `SELECT messages::float8 AS messages FROM visitor_daily
    WHERE companion_id = $1 AND visitor_id = $2 AND day = $3`,
};

export interface TurnParts {
  quota: QuotaCounts;
  settling: Settling;
}

export function createTurnStore(engine: PostgresEngine, { quota, settling }: TurnParts): TurnStore {
  return {
    async listHistory(key, maxBytes, { exceptMessageId, withAuthors = false } = {}): Promise<HistoryMessage[]> {
      type Row = { role: MessageRole; text: string; author?: string | null };
      const statement = withAuthors ? turnQueries.historyOfPeople : turnQueries.history;
      const rows = await engine.quick.all<Row>(statement, [...toColumns(key), maxBytes, exceptMessageId ?? null]);
      return rows.map(({ role, text, author }) => ({ role, parts: textParts(text), ...authorOf(author) }));
    },

    async findExchange(key, messageId) {
      return toExchange(await engine.quick.all<ExchangeRow>(turnQueries.exchange, [...toColumns(key), messageId]));
    },

    settle(turn) {
      const { accountId, key, keyId, day, failure, ticketId, isCounted, answeredBy } = turn;
      return settling.add({
        kept: toAddition(turn),
        again: toAgain(turn),
        usage: {
          ...{ accountId, companionId: key.companionId, keyId, day, answeredBy },
          ...countsOf(turn, isCounted ? 1 : 0),
        },
        failure,
        spent: toSpent(turn),
        isCounted,
        limited: toLimited(turn),
        ticketId,
        reported: toReported(turn),
      });
    },

    settleUnkept(turn) {
      const { ticketId, failure, accountId, companionId, keyId, day, answeredBy, isCounted } = turn;
      const usage = { accountId, companionId, keyId, day, answeredBy, ...countsOf(turn, isCounted ? 1 : 0) };
      return settling.add({ ...unkept, usage, failure, spent: toSpent(turn), isCounted, ticketId });
    },

    recordCall({ accountId, companionId, keyId, day, answeredBy, usage: tokens, cost, spend }) {
      const usage = { accountId, companionId, keyId, day, answeredBy, ...tokens, ...costCounts(cost) };
      const spent = spend === null ? null : { cost, spend };
      return settling.add({ ...unkept, usage, failure: null, spent, isCounted: false, ticketId: null });
    },

    countDay: (companionId, day) => quota.count(engine.quick, "messages", companionId, day),

    async countMonthTokens(accountId, companionId, month) {
      const parameters = [accountId, companionId, month];
      const row = await engine.quick.get<{ tokens: number | null }>(turnQueries.monthTokens, parameters);
      return row?.tokens ?? 0;
    },

    async countVisitorDay(companionId, visitorId, day) {
      const row = await engine.quick.get<{ messages: number }>(turnQueries.visitorDay, [companionId, visitorId, day]);
      return row?.messages ?? 0;
    },
  };
}

const unkept = { kept: null, again: null, limited: null, reported: null };

const toSpent = ({ cost, spend }: SettledTurn | UnkeptTurn) => (spend === null ? null : { cost, spend });

function countsOf({ usage, failure, cost }: SettledTurn | UnkeptTurn, messages: 0 | 1) {
  const { estimated: _, ...tokens } = usage;
  const errors = failure === null ? 0 : 1;
  return { messages, ...tokens, errors, ...costCounts(cost) };
}

const toColumns = ({ companionId, sessionId, visitorId }: ConversationKey) => [companionId, sessionId, visitorId ?? ""];

function toAddition(turn: SettledTurn): ConversationAddition | null {
  const { key, conversationId, messages, arrivalMark, messageId: clientId, endCode, visitor } = turn;
  const [first, ...others] = messages;
  if (first === undefined || !isKnown(arrivalMark)) return null;
  const sealedVisitor = visitor?.sealed ?? null;
  return { key, conversationId, messages: [first, ...others], arrivalMark, sealedVisitor, clientId, endCode };
}

function toLimited({ key, arrivalMark, visitor, isCounted }: SettledTurn) {
  return isCounted && visitor?.isLimited === true && isKnown(arrivalMark) ? { key, arrivalMark } : null;
}

function toAgain({ key, messages, messageId, endCode }: SettledTurn) {
  return messages.length === 0 && messageId !== null ? { key, clientId: messageId, endCode } : null;
}

function toReported({ key, events, conversationId: newId, messages, arrivalMark }: SettledTurn): ReportedTurn | null {
  if (events === null || !isKnown(arrivalMark)) return null;
  return { key, events, newId, lastId: messages.at(-1)?.id ?? null, arrivalMark };
}

/** If its arrival is unknown, it may have been erased since: better to lose a turn than to keep an erased one. */
function isKnown(mark: ArrivalMark): mark is string {
  return typeof mark === "string" && isArrivalMark(mark);
}
