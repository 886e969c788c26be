/** Tables that SQLite has too, for the generator of migrations. */
import { tables } from "../tables.ts";

export const { accountHoldings, accounts, apiKeys, audit, mailDays, mails, idempotency, members } = tables;
export const { oneTimeLinks, recoveryCodes, serverSecrets, sessions, visitorKeys, webhookDeliveries } = tables;
export const { webhooks } = tables;
export const { companionAvatars, companionMetadata, companions, embedTokens, voiceAgentGrants } = tables;
export const { voiceAgentLocks, voiceAgents, voiceOutbox, voiceSessions } = tables;
export const { conversations, messages, removals } = tables;
export const { knowledgeDocuments, knowledgeEditions, knowledgeParts, knowledgePostings, knowledgeSources } = tables;
export const { knowledgeTurns, knowledgeUploads, knowledgeVectors } = tables;
export const { handoffs, handoffChanges, handoffEvents, handoffSpans, messageAuthors, conversationNotes } = tables;
export const { readMarks, presence, contacts, ratings } = tables;
export const { budgetPeriods, budgets, spendingReservations, spendingStops, spentChallenges } = tables;
export const { usageLabelMetadata, usageLabels } = tables;
export const { toolCallTexts, toolCalls, tools } = tables;
export const { failedReplies, quotaDaily, usageAccountDaily, usageDaily, usageMonthly, visitorDaily } = tables;
export const { appliedCompanions, companionDrafts, companionTexts, companionVersions } = tables;
