/** What turns leave, as the statement that settles a batch of them takes it. */
import type { TicketId } from "../../contracts/coordination.ts";
import type { Spend } from "../../contracts/store/spending.ts";
import type { ConversationKey } from "../../domain/conversation.ts";
import type { Cost } from "../../domain/money.ts";
import type { FailureKind } from "../../domain/reply-failure.ts";
import type { StreamErrorCode } from "../../domain/stream-end.ts";
import { systemIds } from "../../lib/ids.ts";
import { type ConversationAddition, messageTypes, toMessageArrays } from "./conversation-writer.ts";
import { type ToldTurn, toToldParameter } from "./events.ts";
import type { Parameter } from "./queries.ts";
import { quotaTypes, toQuotaArrays } from "./quota.ts";
import { places, toArrays } from "./rows/arrays.ts";
import { spendingTypes, toSpendingArrays } from "./spending-ledger.ts";
import { toUsageArrays, type UsageAddition, usageTypes } from "./usage-writer.ts";

/** What one turn leaves. */
export interface Settlement {
  /** Null if no message is kept. */
  kept: ConversationAddition | null;
  /** Of an exchange that was run again and left nothing this time either: why it ended. */
  again: { key: ConversationKey; clientId: string; endCode: StreamErrorCode | null } | null;
  usage: UsageAddition & { companionId: string };
  failure: FailureKind | null;
  spent: { cost: Cost | null; spend: Spend } | null;
  /** Whether it takes one message of the companion's day. */
  isCounted: boolean;
  /** Null unless it takes one of its visitor's own day: whose, and an erasure since then takes it away. */
  limited: { key: ConversationKey; arrivalMark: string } | null;
  ticketId: TicketId;
  /** Null for an account without webhooks. */
  told: ToldTurn | null;
}

const textArrays = (count: number): string[] => Array(count).fill("text[]");
const types = [
  "text",
  ...messageTypes,
  ...usageTypes,
  ...textArrays(4),
  ...quotaTypes,
  ...textArrays(11),
  ...spendingTypes,
  "text",
];
export const settleTurns = `SELECT settle_turns(${places(types)})::text AS reached`;

/** Call it once for a batch, however often that is sent: the database knows it by the first of them. */
export function toParameters(batch: readonly Settlement[]): Parameter[] {
  const kept = batch.flatMap((turn) => turn.kept ?? []);
  const usage = batch.map((turn) => turn.usage);
  const failed = batch.flatMap((turn) => (turn.failure === null ? [] : [{ ...turn.usage, kind: turn.failure }]));
  const counted = batch.filter(({ isCounted }) => isCounted);
  const ticketIds = batch.flatMap(({ ticketId }) => ticketId ?? []);
  const again = batch.flatMap((turn) => turn.again ?? []);
  const spent = batch.flatMap(({ usage, spent }) => (spent === null ? [] : [{ usage, ...spent }]));
  const limited = batch.flatMap(({ limited, usage }) => (limited === null ? [] : [{ ...limited, ...usage }]));
  return [
    systemIds.uuid(),
    ...toMessageArrays(kept),
    ...toUsageArrays(usage),
    ...toArrays(failed, [
      ({ accountId }) => accountId,
      ({ companionId }) => companionId,
      ({ day }) => day,
      ({ kind }) => kind,
    ]),
    ...toQuotaArrays(counted.map(({ usage: { companionId, day } }) => ({ kind: "messages", companionId, day }))),
    ticketIds,
    ...toArrays(again, [
      ({ key }) => key.companionId,
      ({ key }) => key.sessionId,
      ({ key }) => key.visitorId ?? "",
      ({ clientId }) => clientId,
      ({ endCode }) => endCode,
    ]),
    ...toArrays(limited, [
      ({ key }) => key.companionId,
      ({ key }) => key.sessionId,
      ({ key }) => key.visitorId,
      ({ arrivalMark }) => arrivalMark,
      ({ day }) => day,
    ]),
    ...toSpendingArrays(spent),
    toToldParameter(batch.flatMap(({ told }) => told ?? [])),
  ];
}
