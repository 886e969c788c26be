/** Tables for the generator of migrations: all but those WITHOUT ROWID, which are by hand in the initial migration. */
import { sqlite, tables } from "../tables.ts";

export const { accounts, audit, members, mailDays, mails, oneTimeLinks, recoveryCodes, serverSecrets } = tables;
export const { sessions, visitorKeys, voiceAgentGrants, webhookDeliveries, webhooks } = tables;
export const { companionAvatars, companions, voiceAgentLocks, voiceAgents, voiceOutbox, voiceSessions } = tables;
export const { conversations, messages, removals } = tables;
export const { knowledgeDocuments, knowledgeEditions, knowledgeParts, knowledgeSources, knowledgeTurns } = tables;
export const { knowledgeUploads, knowledgeVectors } = tables;
export const { handoffs, handoffChanges, handoffEvents, handoffSpans, messageAuthors, conversationNotes } = tables;
export const { readMarks, presence, contacts, ratings } = tables;
export const { budgetPeriods, budgets, spendingReservations, spendingStops, spentChallenges, usageLabels } = tables;
export const { toolCallTexts, toolCalls, tools } = tables;
export const { appliedCompanions, companionDrafts, companionTexts, companionVersions } = tables;

/** Stretches of numbers whose rows are all erased, including removed ones; see `row-eraser.ts`. */
const erasedRangesTable = (name: string) =>
  sqlite.table(name, () => ({
    first: sqlite.whole("first").primaryKey(),
    last: sqlite.whole("last").notNull(),
    /** Minimum size of the erased rows that still exist, in the pages that they share with others. */
    bytes: sqlite.whole("bytes").notNull(),
  }));

export const erasedRanges = erasedRangesTable("erased_ranges");
export const erasedCallRanges = erasedRangesTable("erased_call_ranges");
