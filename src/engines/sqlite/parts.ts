/** What several parts of the store share; `open.ts` creates each once. */
import type { ErasureMarks } from "../../contracts/coordination.ts";
import type { ConversationWriter } from "./conversation-writer.ts";
import type { CallRemovals, MessageEraser } from "./erasers.ts";
import type { EventWriter } from "./events.ts";
import type { Exchanges } from "./exchanges.ts";
import type { KnowledgeRemover } from "./knowledge-removal.ts";
import type { MetadataIndex } from "./metadata-index.ts";
import type { QuotaCounts, VisitorDays } from "./quota.ts";
import type { Removals } from "./removals.ts";
import type { ChangeRecorder, SqliteScripts } from "./scripts.ts";
import type { SpendingLedger } from "./spending-ledger.ts";
import type { UsageWriter } from "./usage-writer.ts";

export interface StoreParts {
  calls: CallRemovals;
  changes: ChangeRecorder;
  conversations: ConversationWriter;
  eraser: MessageEraser;
  erasures: ErasureMarks;
  events: EventWriter;
  exchanges: Exchanges;
  knowledge: KnowledgeRemover;
  metadata: MetadataIndex;
  quota: QuotaCounts;
  removals: Removals;
  scripts: SqliteScripts;
  spending: SpendingLedger;
  usage: UsageWriter;
  visitorDays: VisitorDays;
}
