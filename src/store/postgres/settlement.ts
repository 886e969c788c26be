/** What one turn leaves, and the statement that stores many of them. */
import type { TicketId } from "../../coordination/coordination.ts";
import type { ConversationKey } from "../../domain/conversation.ts";
import type { FailureKind } from "../../domain/reply-failure.ts";
import type { StreamErrorCode } from "../../domain/stream-end.ts";
import { systemIds } from "../../lib/ids.ts";
import { type ConversationAddition, messageTypes, toMessageArrays } from "./conversation-writer.ts";
import type { Parameter } from "./queries.ts";
import { quotaTypes, toQuotaArrays } from "./quota.ts";
import { places, toArrays } from "./rows/arrays.ts";
import { toUsageArrays, type UsageAddition, usageTypes } from "./usage-writer.ts";

export interface Settlement {
  /** Null if no message is kept. */
  kept: ConversationAddition | null;
  /** Of an exchange that was run again and left nothing this time either: why it ended. */
  again: { key: ConversationKey; clientId: string; endCode: StreamErrorCode | null } | null;
  usage: UsageAddition & { companionId: string };
  failure: FailureKind | null;
  /** Whether it takes one message of the companion's day. */
  isCounted: boolean;
  /** Whether it takes one of its visitor's own day, if what it leaves is kept. */
  isLimited: boolean;
  ticketId: TicketId;
}

const textArrays = (count: number): string[] => Array(count).fill("text[]");
const types = ["text", ...messageTypes, ...usageTypes, ...textArrays(4), ...quotaTypes, ...textArrays(11)];
export const settleTurns = `SELECT settle_turns(${places(types)})`;

/** Call it once for a batch, however often that is sent: the database knows it by the first of them. */
export function toParameters(batch: readonly Settlement[]): Parameter[] {
  const kept = batch.flatMap((turn) => turn.kept ?? []);
  const usage = batch.map((turn) => turn.usage);
  const failed = batch.flatMap((turn) => (turn.failure === null ? [] : [{ ...turn.usage, kind: turn.failure }]));
  const counted = batch.filter(({ isCounted }) => isCounted);
  const ticketIds = batch.flatMap(({ ticketId }) => ticketId ?? []);
  const again = batch.flatMap((turn) => turn.again ?? []);
  const limited = batch.filter(({ isLimited, kept }) => isLimited && kept !== null);
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
      ({ usage }) => usage.companionId,
      ({ kept }) => kept?.key.sessionId ?? null,
      ({ kept }) => kept?.key.visitorId ?? null,
      ({ kept }) => kept?.arrivalMark ?? null,
      ({ usage }) => usage.day,
    ]),
  ];
}

export function countCharacters(kept: ConversationAddition | null): number {
  let characters = 0;
  for (const { parts } of kept?.messages ?? []) for (const part of parts) characters += part.text.length;
  return characters;
}
