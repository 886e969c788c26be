/** How PostgreSQL answers the queries of hot paths, on tables of which it knows nothing yet: by index, never by scan. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { companionListQueries } from "../../src/engines/postgres/companion-lists.ts";
import { companionWalkQueries } from "../../src/engines/postgres/companion-reader.ts";
import { companionQueries } from "../../src/engines/postgres/companions.ts";
import { conversationWalkQueries } from "../../src/engines/postgres/conversation-lists.ts";
import { elsewhereStatement } from "../../src/engines/postgres/coordination/tickets.ts";
import { editionQueries } from "../../src/engines/postgres/knowledge-editions.ts";
import { queueQueries } from "../../src/engines/postgres/knowledge-queue.ts";
import { vectorQueries } from "../../src/engines/postgres/knowledge-vectors.ts";
import { metadataQueriesOf } from "../../src/engines/postgres/metadata-index.ts";
import { turnQueries } from "../../src/engines/postgres/turns.ts";
import { unansweredQueries } from "../../src/engines/postgres/unanswered.ts";
import { usageQueries } from "../../src/engines/postgres/usage.ts";
import { labelQueries } from "../../src/engines/postgres/usage-label-index.ts";
import { visitorKeyLookupQueries } from "../../src/engines/postgres/visitor-keys.ts";
import { auditQueries } from "../../src/engines/store-shared/scripts/changes.ts";
import { faceQueries } from "../../src/engines/store-shared/scripts/companion-faces.ts";
import { setQueries } from "../../src/engines/store-shared/scripts/companion-sets.ts";
import { stateQueries } from "../../src/engines/store-shared/scripts/companion-states.ts";
import { selectOwned } from "../../src/engines/store-shared/scripts/companions.ts";
import { excerptQueries } from "../../src/engines/store-shared/scripts/conversation-excerpts.ts";
import { draftQueries } from "../../src/engines/store-shared/scripts/drafts.ts";
import { emptyDeliveries } from "../../src/engines/store-shared/scripts/event-deliveries.ts";
import { feedbackQueries } from "../../src/engines/store-shared/scripts/feedback.ts";
import { handoffQueries } from "../../src/engines/store-shared/scripts/handoffs.ts";
import { insightQueries } from "../../src/engines/store-shared/scripts/insights.ts";
import { sourceQueries } from "../../src/engines/store-shared/scripts/knowledge-sources.ts";
import { uploadQueries } from "../../src/engines/store-shared/scripts/knowledge-uploads.ts";
import { knownMessageQueries } from "../../src/engines/store-shared/scripts/known-messages.ts";
import { liveQueries } from "../../src/engines/store-shared/scripts/live-messages.ts";
import { mailQueries } from "../../src/engines/store-shared/scripts/mails.ts";
import { peopleQueries } from "../../src/engines/store-shared/scripts/people.ts";
import { peopleListQueries } from "../../src/engines/store-shared/scripts/people-lists.ts";
import { presenceQueries } from "../../src/engines/store-shared/scripts/presence.ts";
import { toolCallQueries } from "../../src/engines/store-shared/scripts/tool-calls.ts";
import { toolQueries } from "../../src/engines/store-shared/scripts/tools.ts";
import { selectSeen } from "../../src/engines/store-shared/scripts/unanswered.ts";
import { roomQueries } from "../../src/engines/store-shared/scripts/version-room.ts";
import { versionQueries } from "../../src/engines/store-shared/scripts/version-store.ts";
import { visitorKeyQueries } from "../../src/engines/store-shared/scripts/visitor-keys.ts";
import { watchedQueries } from "../../src/engines/store-shared/scripts/watched-handoffs.ts";
import { outboxQueries } from "../../src/engines/store-shared/scripts/webhook-deliveries.ts";
import { openTemporaryPostgresStore, type TemporaryPostgresStore } from "../support/postgres-store.ts";

let opened: TemporaryPostgresStore;
beforeAll(async () => {
  opened = await openTemporaryPostgresStore();
});
afterAll(() => opened.close());

async function explain(text: string): Promise<string> {
  const connection = await opened.engine.quickPool.reserve();
  try {
    await connection.send(`PREPARE asked AS ${text}`);
    const parameters = new Set(text.match(/\$\d/g)).size;
    const nothing = parameters === 0 ? "" : `(${Array(parameters).fill("NULL").join(", ")})`;
    const rows = await connection.send(`EXPLAIN EXECUTE asked ${nothing}`);
    await connection.send("DEALLOCATE asked");
    return rows.map((row) => (row as Record<string, string>)["QUERY PLAN"]).join("\n");
  } finally {
    connection.release();
  }
}

const newest = "Index Scan Backward using companions_account";
const metadataQueries = metadataQueriesOf("companion_metadata");
const blocks = "using companion_metadata_account_number_path_value_block_pk";
const cases: [name: string, text: string, index: string][] = [
  ["a companion by its token", companionQueries.byToken, "embed_tokens_pkey"],
  ["whether a token holds", companionQueries.checkToken, "embed_tokens_pkey"],
  ["whether a companion is owned", companionQueries.checkOwner, "companions_id_unique"],
  ["a companion by its id", companionQueries.byId, "companions_id_unique"],
  ["a companion to change", selectOwned, "companions_id_unique"],
  ["the newest companions", companionListQueries.newest, newest],
  ["companions by name", companionListQueries.names, newest],
  ["where a page starts", companionListQueries.start, "Index Scan Backward using companions_id_unique"],
  ["whether a search is an id", companionListQueries.exact, "companions_id_unique"],
  ["companions by number", companionListQueries.byNumbers, "companions_pkey"],
  ["names by number", companionListQueries.namesOf, "companions_pkey"],
  ["the oldest companions", companionWalkQueries.made.asc, "companions_account"],
  // On an empty table the index of all companions is as good.
  ["enabled companions, oldest first", companionWalkQueries.enabled.asc, "Index Scan using companions_"],
  ["enabled companions, newest first", companionWalkQueries.enabled.desc, "Index Scan Backward using companions_"],
  ["companions by last change, oldest first", companionWalkQueries.updated.asc, "companions_updated"],
  ["companions by last change, newest first", companionWalkQueries.updated.desc, "companions_updated"],
  ["how many are enabled", companionWalkQueries.countEnabled, "companions_enabled"],
  ["what decides whether companions are listed", companionWalkQueries.facts, "companions_pkey"],
  ["ten minutes with conversations", conversationWalkQueries.nextPeriod, "conversations_period"],
  ["ten minutes with conversations before", conversationWalkQueries.lastPeriod, "conversations_period"],
  ["conversations of ten minutes", conversationWalkQueries.ofPeriod, "conversations_period"],
  ["conversations by number", conversationWalkQueries.live, "conversations_pkey"],
  ["how frequent values are", metadataQueries.countBlocks, blocks],
  ["the blocks of values", metadataQueries.walkBlocks, `Index Scan Backward ${blocks}`],
  ["blocks to change", metadataQueries.readBlocks, blocks],
  ["blocks that are empty", metadataQueries.deleteBlocks, blocks],
  ["an exchange by its name", turnQueries.exchange, "messages_client"],
  ["a visitor's own day", turnQueries.visitorDay, "visitor_daily_companion_id_day_visitor_id_pk"],
  ["where a turn runs", elsewhereStatement, "open_turns_queue"],
  // Of a table without rows, both indexes are as good.
  ["usage of companions", usageQueries.companions, "Index Scan using usage_daily_"],
  ["usage under labels", usageQueries.labels, "Index Scan using usage_daily_"],
  ["usage of the account", usageQueries.account, "usage_account_daily_place"],
  ["the next companions with usage", usageQueries.nextCompanions, "usage_daily_place"],
  ["the companions with usage on a day", usageQueries.companionsOfDay, "usage_daily_day"],
  ["the next day with usage", usageQueries.nextDay, "usage_account_daily_place"],
  ["the labels of a companion", usageQueries.labelsOf, "usage_labels_companion"],
  ["labels that are not in the index", labelQueries.unindexed, "usage_labels_account"],
  ["the newest label that is not in the index", labelQueries.newest, "Scan Backward using usage_labels_account"],
  ["whose labels they are", labelQueries.companions, "usage_labels_pkey"],
  ["what labels say", labelQueries.metadata, "usage_labels_pkey"],
  ["a source", sourceQueries.one, "knowledge_sources_id_unique"],
  ["the sources of a companion", sourceQueries.pages.desc, "knowledge_sources_companion"],
  ["the sources of an account", sourceQueries.ofAccount.desc, "knowledge_sources_"],
  ["the source whose turn it is", queueQueries.claim, "Index Scan using knowledge_sources_turns"],
  ["when a source is due", queueQueries.nextDue, "Index Scan using knowledge_sources_due"],
  ["an avatar by its name", faceQueries.avatar, "companion_avatars_hash"],
  ["where a companion was seen", faceQueries.seen, "companions_id_unique"],
  ["a piece of an upload", uploadQueries.piece, "knowledge_uploads_upload_id_piece_pk"],
  ["what answers", editionQueries.live, "knowledge_sources_companion"],
  ["the postings of words", editionQueries.postings, "knowledge_postings_edition_term_block_pk"],
  ["where passages come from", editionQueries.origins, "knowledge_sources_pkey"],
  ["passages by name", editionQueries.bodies, "Index Scan Backward using knowledge_parts_edition_first_ordinal_pk"],
  ["passages in order", editionQueries.parts, "knowledge_parts_edition_first_ordinal_pk"],
  ["what an edition was made of", editionQueries.documents, "knowledge_documents_edition_place_pk"],
  ["vectors", vectorQueries.read, "knowledge_vectors_edition_first_ordinal_pk"],
  ["what turns found", selectSeen, "knowledge_turns_conversation"],
  ["an unanswered question", unansweredQueries.one, "knowledge_turns_unanswered"],
  ["the account's unanswered questions", unansweredQueries.ofAccount.desc, "knowledge_turns_unanswered"],
  ["the first message of each in a list", excerptQueries.first, "messages_conversation"],
  ["the last message of each in a list", excerptQueries.last, "Scan Backward using messages_conversation"],
  ["which of a list are unanswered", excerptQueries.unanswered, "knowledge_turns_"],
  ["which of a list have failed", excerptQueries.failed, "messages_conversation"],
  ["which of a list were spoken", excerptQueries.voice, "messages_conversation"],
  ["what a search reads", excerptQueries.texts, "messages_conversation"],
  ["names in the audit trail", auditQueries.names, "audit_"],
  ["the key of a visitor's token", visitorKeyLookupQueries.find, "visitor_keys_pkey"],
  ["the keys that may cover a companion", visitorKeyLookupQueries.candidates, "visitor_keys_fact"],
  // On an empty table every index that begins with the account is as good.
  ["a companion by its slug", companionQueries.bySlug, "Index Scan using companions_"],
  ["companions that are changed", stateQueries.lock, "companions_id_unique"],
  ["tools of companions", stateQueries.tools, "tools_name"],
  ["sources of companions", stateQueries.sources, "knowledge_sources_companion"],
  ["versions of a companion", versionQueries.pages.desc, "Index Scan Backward using companion_versions_"],
  ["a version", versionQueries.one, "companion_texts_"],
  ["versions since a set was applied", versionQueries.since, "companion_versions_"],
  ["a draft", draftQueries.one, "companion_drafts_pkey"],
  ["companions of a set by slug", setQueries.bySlug, "Index Scan using companions_"],
  ["members of a set", setQueries.members, "applied_companions_set"],
  ["what a set has applied", setQueries.applied, "applied_companions_pkey"],
  ["texts that no version has", roomQueries.unused, "companion_versions_system_prompt"],
  ["the oldest versions of an account", roomQueries.oldest, "Index Scan using companion_versions_account"],
  ["whether a message names a version", roomQueries.beyond, "conversations_companion"],
  ["conversations that may name versions", roomQueries.conversations, "conversations_companion"],
  ["versions that messages name", roomQueries.named, "conversations_companion"],
  ["the messages that name them", roomQueries.named, "messages_conversation"],
  ["versions beyond the newest", roomQueries.beyond, "companion_versions_companion_id_number_pk"],
  ["versions of a deleted companion", roomQueries.deleteSome, "companion_versions_companion_id_number_pk"],
  ["a tool", toolQueries.one, "tools_pkey"],
  ["the tools of a companion", toolQueries.pages.asc, "tools_name"],
  ["the tools of a turn", toolQueries.all, "tools_name"],
  ["calls of replies", toolCallQueries.ofReplies, "tool_calls_reply"],
  ["calls of a message", toolCallQueries.ofMessage, "tool_calls_open_key"],
  ["calls of a message that is stored", toolCallQueries.ofMessage, "tool_calls_conversation"],
  ["the last calls of a tool", toolCallQueries.pages.desc, "Index Scan Backward using tool_calls_tool"],
  ["calls whose reply may be stored by now", toolCallQueries.open, "tool_calls_open on"],
  ["whether it is", toolCallQueries.open, "messages_conversation"],
  ["the conversations that they are in", toolCallQueries.holdConversations, "conversations_pkey"],
  ["calls of a visitor without a conversation", toolCallQueries.openOfVisitors, "tool_calls_open_key"],
  ["calls of a companion without a conversation", toolCallQueries.openOfCompanion, "tool_calls_open"],
  ["calls of conversations", toolCallQueries.ofConversations, "tool_calls_conversation"],
  ["the call that a visitor decides on", toolCallQueries.decided, "tool_calls_id_unique"],
  ["visitors of people who went away", watchedQueries.absent, "handoffs_owed"],
  ["conversations of a state", watchedQueries.countState, "Scan using handoffs_"],
  ["mail that is due", mailQueries.due, "Index Scan using mails_due"],
  ["when the next mail is due", mailQueries.nextDue, "Index Only Scan using mails_due"],
  ["a conversation's contact", feedbackQueries.contact, "contacts_pkey"],
  ["the newest contacts", feedbackQueries.ofAccount.desc, "Index Scan Backward using contacts_account"],
  ["the oldest contacts of a companion", feedbackQueries.ofCompanion.asc, "Index Scan using contacts_companion"],
  ["a reply that is rated", feedbackQueries.reply, "messages_client"],
  ["ratings of a conversation", feedbackQueries.ratings, "ratings_"],
  ["records of which mail is due", feedbackQueries.mailDue, "Index Scan using handoffs_mail"],
  ["when the next mail about a record is due", feedbackQueries.nextMail, "Index Scan using handoffs_mail"],
  ["how many conversations began", insightQueries.counts["conversations"] ?? "", "conversations_account"],
  ["how many of a companion began", insightQueries.counts["ofCompanion"] ?? "", "conversations_companion"],
  ["how many ratings there are", insightQueries.counts["ratings"] ?? "", "Index Only Scan using ratings_account"],
  ["what people did", insightQueries.counts["events"] ?? "", "Index Only Scan using handoff_events_account"],
  ["how many contacts there are", insightQueries.counts["contacts"] ?? "", "Index Only Scan using contacts_account"],
  ["what visitors call resolved", insightQueries.counts["resolved"] ?? "", "handoffs_resolved"],
  ["how long answers took", insightQueries.counts["answers"] ?? "", "Index Only Scan using handoff_spans_account"],
  [
    "how long people had conversations",
    insightQueries.counts["people"] ?? "",
    "Index Only Scan using handoff_spans_account",
  ],
  [
    "where a slice of conversations ends",
    insightQueries.cuts["conversations"] ?? "",
    "Index Only Scan using conversations_account",
  ],
  [
    "where a slice of what people did ends",
    insightQueries.cuts["events"] ?? "",
    "Index Only Scan using handoff_events_account",
  ],
  ["conversations that people have now", insightQueries.heldNow, "handoffs_state"],
  ["questions without an answer", insightQueries.unanswered, "knowledge_turns_unanswered"],
  ["replies of conversations", insightQueries.replies, "messages_conversation"],
  ["conversations by last change, of all periods", conversationWalkQueries.updated, "conversations_period"],
  ["who answers a conversation", handoffQueries.find, "handoffs_pkey"],
  ["who answers a conversation, by the conversation's key", handoffQueries.find, "conversations_key"],
  ["who answers a conversation of an account", handoffQueries.findOf, "conversations_id_unique"],
  ["a conversation that is decided on", handoffQueries.lockOfKey, "conversations_key"],
  ["a conversation that the team decides on", handoffQueries.lockOfAccount, "conversations_id_unique"],
  ["a record that is decided on", handoffQueries.lockRecord, "handoffs_pkey"],
  ["a message by the visitor's name for it", knownMessageQueries.ofVisitor, "messages_client"],
  ["a message by a person's name for it", knownMessageQueries.ofPerson, "message_authors_client"],
  ["records that are due", handoffQueries.due, "handoffs_until"],
  ["when the next record is due", handoffQueries.nextDue, "handoffs_until"],
  ["conversations that a companion's people have", handoffQueries.heldOfCompanion, "handoffs_held"],
  ["conversations that somebody has", handoffQueries.heldOfPerson, "handoffs_person"],
  ["conversations that a key's people have", handoffQueries.heldOfKey, "handoffs_person"],
  ["the first messages' positions", liveQueries.oldest, "Index Scan using messages_conversation"],
  ["the last messages' positions", liveQueries.newest, "Index Scan Backward using messages_conversation"],
  ["messages at these positions", liveQueries.messages, "messages_conversation"],
  ["who wrote messages at these positions", liveQueries.messages, "message_authors_"],
  ["what a visitor has seen", liveQueries.seen, "handoffs_pkey"],
  ["what somebody has read", liveQueries.read, "read_marks_"],
  ["what listeners may have missed", peopleQueries.state, "handoffs_pkey"],
  ["records since a change", peopleQueries.since, "Index Scan using handoffs_change"],
  ["the newest lines of a history", peopleQueries.events.desc[0] ?? "", "Index Scan Backward using handoff_events_"],
  ["whether people have to do with an account", peopleQueries.used, "companions_people"],
  ["notes", peopleQueries.notes, "conversation_notes_conversation"],
  ["what is unread", peopleQueries.marks, "read_marks_"],
  ["how much is unread", peopleQueries.unread, "Index Scan Backward using messages_conversation"],
  ["who is present", presenceQueries.present, "presence_account"],
  ["whether somebody is present", presenceQueries.presence, "presence_pkey"],
  ["the newest in a state", peopleListQueries.state.desc, "Index Scan Backward using handoffs_state"],
  ["the oldest with a status", peopleListQueries.status.asc, "Index Scan using handoffs_status"],
  ["the newest records", peopleListQueries.all.desc, "Index Scan Backward using handoffs_account"],
  ["the newest that were rated", peopleListQueries.rating.desc, "ratings_rating"],
  ["records of a list", peopleListQueries.records, "handoffs_pkey"],
  ["which of a list were rated", peopleListQueries.rated, "ratings_"],
  ["who wrote messages of a transcript", peopleListQueries.authors, "message_authors_"],
  ["deliveries that are due", outboxQueries.due, "Index Scan using webhook_deliveries_due"],
  ["when the next delivery is due", outboxQueries.nextDue, "Index Scan using webhook_deliveries_due"],
  ["the newest deliveries of a webhook", outboxQueries.page, "Index Scan Backward using webhook_deliveries_webhook"],
  ["deliveries that a disabled webhook drops", outboxQueries.drop, "webhook_deliveries_waiting"],
  ["the conversation's next delivery", outboxQueries.releaseNext, "using webhook_deliveries_waiting"],
  [
    "deliveries of a conversation that is deleted",
    emptyDeliveries("conversation_id = $1"),
    "webhook_deliveries_conversation",
  ],
  [
    "deliveries of a visitor who is erased",
    emptyDeliveries("companion_id = $1 AND visitor_id = $2"),
    "webhook_deliveries_visitor",
  ],
  ["the newest visitor keys", visitorKeyQueries.pages.desc, "Index Scan Backward using visitor_keys_account"],
];

test.each(cases)("%s", async (_, text, index) => {
  const plan = await explain(text);
  expect(plan).toContain(index);
  expect(plan).not.toContain("Seq Scan");
  expect(plan).not.toMatch(/(Hash|Merge) Join/);
});
