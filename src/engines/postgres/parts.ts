/** What several parts of the store share; `open.ts` creates each once. */
import type { Log } from "../../lib/log.ts";
import type { DeliveryBell } from "../store-shared/scripts/event-deliveries.ts";
import type { RemovalKind } from "../store-shared/scripts/removals.ts";
import type { ScriptRunner } from "../store-shared/scripts/script.ts";
import type { ArrivalMarks } from "./arrival-marks.ts";
import type { ConversationWriter } from "./conversation-writer.ts";
import type { Erasures } from "./erasures.ts";
import type { EventWriter } from "./events.ts";
import type { KnowledgeRemover } from "./knowledge-removal.ts";
import type { MetadataIndex } from "./metadata-index.ts";
import type { OpenTickets } from "./open-tickets.ts";
import type { Queries } from "./queries.ts";
import type { QuotaCounts } from "./quota.ts";
import type { ChangeRecorder } from "./scripts.ts";
import type { Settling } from "./settling.ts";
import type { SpendingLedger } from "./spending-ledger.ts";
import type { UsageWriter } from "./usage-writer.ts";

/** Deletes the remains of what was deleted in chunks, in the background. */
export interface Removals {
  /** Leaves the remains of what was deleted to the chunks; call it inside a write, and `start` after it. */
  add(transaction: Queries, kind: RemovalKind, targetId: string, targetNumber: number, nowMs: number): Promise<void>;
  /** Starts unless it is already running; returns immediately. */
  start(): void;
  /** Resolves when nothing is left of conversations that were deleted before. */
  finishConversations(): Promise<void>;
  /** Stops after the current chunk; the next start, or another server, does the rest. */
  stop(): Promise<void>;
}

export interface StoreParts {
  log: Log;
  arrivals: ArrivalMarks;
  bell: DeliveryBell;
  changes: ChangeRecorder;
  conversations: ConversationWriter;
  erasures: Erasures;
  events: EventWriter;
  knowledge: KnowledgeRemover;
  metadata: MetadataIndex;
  quota: QuotaCounts;
  removals: Removals;
  scripts: ScriptRunner;
  settling: Settling;
  spending: SpendingLedger;
  tickets: OpenTickets;
  usage: UsageWriter;
}
