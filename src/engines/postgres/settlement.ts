/** What turns leave: a settlement is one turn of a batch. */
import type { TicketId } from "../../contracts/coordination.ts";
import type { Spend } from "../../contracts/store/spending.ts";
import type { ConversationKey } from "../../domain/conversation.ts";
import type { Cost } from "../../domain/money.ts";
import type { FailureKind } from "../../domain/reply-failure.ts";
import type { StreamErrorCode } from "../../domain/stream-end.ts";
import type { ConversationAddition } from "./conversation-writer.ts";
import type { ReportedTurn } from "./events.ts";
import type { UsageAddition } from "./usage-writer.ts";

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
  reported: ReportedTurn | null;
}
