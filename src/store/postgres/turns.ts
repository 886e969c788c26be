/** Turns in PostgreSQL: the hot path of the program. */
import type { ArrivalMark } from "../../coordination/coordination.ts";
import { type ConversationKey, type HistoryMessage, type MessageRole, textParts } from "../../domain/conversation.ts";
import type { SettledTurn, TurnStore } from "../contract/turns.ts";
import { isArrivalMark } from "./arrival-marks.ts";
import type { ConversationAddition } from "./conversation-writer.ts";
import type { PostgresEngine } from "./engine.ts";
import type { QuotaCounts } from "./quota.ts";
import type { Settling } from "./settling.ts";

const readHistory = `SELECT role, "text" FROM read_history($1, $2, $3, $4)`;

export interface TurnParts {
  quota: QuotaCounts;
  settling: Settling;
}

export function createTurnStore(engine: PostgresEngine, { quota, settling }: TurnParts): TurnStore {
  return {
    async listHistory({ companionId, sessionId, visitorId }: ConversationKey, maxBytes): Promise<HistoryMessage[]> {
      const parameters = [companionId, sessionId, visitorId ?? "", maxBytes];
      const rows = await engine.quick.all<{ role: MessageRole; text: string }>(readHistory, parameters);
      return rows.map(({ role, text }) => ({ role, parts: textParts(text) }));
    },

    settle(turn) {
      const { accountId, key, keyId, day, failure, ticketId } = turn;
      const { inputTokens, outputTokens } = turn.usage;
      return settling.add({
        kept: toAddition(turn),
        usage: {
          ...{ accountId, companionId: key.companionId, keyId, day },
          ...{ messages: 1, inputTokens, outputTokens, errors: failure === null ? 0 : 1 },
        },
        failure,
        isCounted: true,
        ticketId,
      });
    },

    settleUnkept({ ticketId, failure, usage: { inputTokens, outputTokens }, accountId, companionId, keyId, day }) {
      const usage = { accountId, companionId, keyId, day, messages: 1, inputTokens, outputTokens };
      const errors = failure === null ? 0 : 1;
      return settling.add({ kept: null, usage: { ...usage, errors }, failure, isCounted: true, ticketId });
    },

    recordFailure({ kind, accountId, companionId, keyId, day }) {
      const usage = { accountId, companionId, keyId, day, errors: 1 };
      return settling.add({ kept: null, usage, failure: kind, isCounted: false, ticketId: null });
    },

    countDay: (companionId, day) => quota.count(engine.quick, "messages", companionId, day),
  };
}

function toAddition({ key, conversationId, messages, arrivalMark }: SettledTurn): ConversationAddition | null {
  const [first, ...others] = messages;
  if (first === undefined || !isKnown(arrivalMark)) return null;
  return { key, conversationId, messages: [first, ...others], arrivalMark };
}

/** If nobody knows when it arrived, it may have been erased since: better to lose a turn than to keep an erased one. */
function isKnown(mark: ArrivalMark): mark is string {
  return typeof mark === "string" && isArrivalMark(mark);
}
