/** What several parts of the store share; `open.ts` creates each once. */
import type { ErasureMarks } from "../../coordination/coordination.ts";
import type { changes } from "../shared/changes.ts";
import type { holdings } from "../shared/holdings.ts";
import type { voiceAgents } from "../shared/voice-agents.ts";
import type { ConversationWriter } from "./conversation-writer.ts";
import type { Exchanges } from "./exchanges.ts";
import type { KnowledgeRemover } from "./knowledge-removal.ts";
import type { MessageEraser } from "./message-eraser.ts";
import type { MetadataIndex } from "./metadata-index.ts";
import type { QuotaCounts } from "./quota.ts";
import type { Removals } from "./removals.ts";
import type { Bound, SqliteScripts } from "./scripts.ts";
import type { SpendingLedger } from "./spending-ledger.ts";
import type { UsageWriter } from "./usage-writer.ts";
import type { VisitorDays } from "./visitor-days.ts";

export type ChangeRecorder = Bound<typeof changes>;
export type HoldingsKeeper = Bound<typeof holdings>;
export type VoiceAgentKeeper = Bound<typeof voiceAgents>;

export interface StoreParts {
  changes: ChangeRecorder;
  conversations: ConversationWriter;
  eraser: MessageEraser;
  erasures: ErasureMarks;
  exchanges: Exchanges;
  holdings: HoldingsKeeper;
  knowledge: KnowledgeRemover;
  metadata: MetadataIndex;
  quota: QuotaCounts;
  removals: Removals;
  scripts: SqliteScripts;
  spending: SpendingLedger;
  usage: UsageWriter;
  visitorDays: VisitorDays;
  voiceAgents: VoiceAgentKeeper;
}
