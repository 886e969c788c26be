/** Tables of sources, of what they say, and of what turns found in them; the index itself is in the migration. */
import { sql } from "drizzle-orm";
import { blob, index, integer, primaryKey, text } from "drizzle-orm/sqlite-core";
import type { DocumentKind, SourceStatus, SourceType } from "../../../domain/knowledge.ts";
import { lazyTable } from "./lazy-table.ts";

// No foreign keys: what is left of a deleted source or companion is deleted in chunks, after it.
// Titles and addresses are overwritten with their rows, as names of companions are; passages and uploads are kept so that no
// stale copy of them can remain either: see `toPaddedBlob`.
export const knowledgeSources = lazyTable(
  "knowledge_sources",
  () => ({
    number: integer("number").primaryKey({ autoIncrement: true }),
    id: text("id").notNull().unique(),
    accountId: text("account_id").notNull(),
    companionId: text("companion_id").notNull(),
    type: text("type").$type<SourceType>().notNull(),
    title: text("title").notNull(),
    url: text("url"),
    refreshHours: integer("refresh_hours"),
    status: text("status").$type<SourceStatus>().notNull(),
    error: text("error"),
    /** Of the live edition: what `chunks`, `bytes` and the index's sums say. */
    chunks: integer("chunks").notNull().default(0),
    bytes: integer("bytes").notNull().default(0),
    tokens: integer("tokens").notNull().default(0),
    words: integer("words").notNull().default(0),
    contentHash: text("content_hash"),
    /** The indexed state that answers; null before there is one. */
    edition: integer("edition"),
    /** Counts up with each PUT, refresh and claim: what was read for an earlier one is dropped. */
    revision: integer("revision").notNull().default(1),
    /** What the upload is; null for what is fetched. */
    kind: text("kind").$type<DocumentKind>(),
    /** The upload that is to be read; null once it was, unless it is a text, which is kept as it was written. */
    uploadId: text("upload_id"),
    /** Of that upload, for what the account holds: triggers count it, with `bytes`. */
    uploadBytes: integer("upload_bytes").notNull().default(0),
    pagesDone: integer("pages_done"),
    pagesTotal: integer("pages_total"),
    /** When it is to be read, or, while it is being read, when others may take it; null: only when asked to. */
    dueAt: integer("due_at"),
    /** Failed readings in a row. */
    failures: integer("failures").notNull().default(0),
    indexedAt: integer("indexed_at"),
    createdAt: integer("created_at").notNull(),
    updatedAt: integer("updated_at").notNull(),
  }),
  (table) => [
    index("knowledge_sources_companion").on(table.companionId, table.number),
    index("knowledge_sources_due").on(table.dueAt, table.number).where(sql`due_at IS NOT NULL`),
    // Accounts take turns.
    index("knowledge_sources_turns").on(table.accountId, table.dueAt, table.number).where(sql`due_at IS NOT NULL`),
    index("knowledge_sources_upload").on(table.uploadId).where(sql`upload_id IS NOT NULL`),
  ],
);

/** Uploads in pieces: until they were read, and texts for as long as their source. */
export const knowledgeUploads = lazyTable(
  "knowledge_uploads",
  () => ({
    uploadId: text("upload_id").notNull(),
    piece: integer("piece").notNull(),
    createdAt: integer("created_at").notNull(),
    bytes: blob("bytes", { mode: "buffer" }).$type<Uint8Array>().notNull(),
  }),
  (table) => [primaryKey({ columns: [table.uploadId, table.piece] })],
);

/** Indexed states of sources. One that its source does not name is being made, or is to be deleted. */
export const knowledgeEditions = lazyTable(
  "knowledge_editions",
  () => ({
    number: integer("number").primaryKey({ autoIncrement: true }),
    sourceNumber: integer("source_number").notNull(),
    /** The model of its vectors; null if it has none. */
    model: text("model"),
    /** Whether all its passages have one. */
    isEmbedded: integer("is_embedded", { mode: "boolean" }).notNull().default(false),
    createdAt: integer("created_at").notNull(),
  }),
  (table) => [
    index("knowledge_editions_source").on(table.sourceNumber),
    index("knowledge_editions_embedded").on(table.isEmbedded, table.model),
  ],
);

/** What an edition was made of: one row, or one for each page of a sitemap. */
export const knowledgeDocuments = lazyTable(
  "knowledge_documents",
  () => ({
    edition: integer("edition").notNull(),
    place: integer("place").notNull(),
    url: text("url"),
    title: text("title").notNull(),
    contentHash: text("content_hash").notNull(),
    etag: text("etag"),
    lastModified: text("last_modified"),
    firstOrdinal: integer("first_ordinal").notNull(),
    chunks: integer("chunks").notNull(),
  }),
  (table) => [primaryKey({ columns: [table.edition, table.place] })],
);

/** Passages, some dozens in a row. */
export const knowledgeParts = lazyTable(
  "knowledge_parts",
  () => ({
    edition: integer("edition").notNull(),
    firstOrdinal: integer("first_ordinal").notNull(),
    body: blob("body", { mode: "buffer" }).$type<Uint8Array>().notNull(),
  }),
  (table) => [primaryKey({ columns: [table.edition, table.firstOrdinal] })],
);

export const knowledgeVectors = lazyTable(
  "knowledge_vectors",
  () => ({
    edition: integer("edition").notNull(),
    firstOrdinal: integer("first_ordinal").notNull(),
    vectors: blob("vectors", { mode: "buffer" }).$type<Uint8Array>().notNull(),
  }),
  (table) => [primaryKey({ columns: [table.edition, table.firstOrdinal] })],
);

/** What a turn found, or did not, beside the message that asked or replied: it goes with that message. */
export const knowledgeTurns = lazyTable(
  "knowledge_turns",
  () => ({
    number: integer("number").primaryKey({ autoIncrement: true }),
    conversationNumber: integer("conversation_number").notNull(),
    messageId: text("message_id").notNull(),
    companionId: text("companion_id").notNull(),
    /** Names the question among those that ask the same; null for a reply. */
    groupId: text("group_id"),
    /** What the model saw, as JSON: see `rows/knowledge.ts`. Null for a question. */
    seen: text("seen"),
    /** Of the message. */
    createdAt: integer("created_at").notNull(),
  }),
  (table) => [
    index("knowledge_turns_conversation").on(table.conversationNumber, table.messageId),
    index("knowledge_turns_unanswered")
      .on(table.companionId, table.groupId, table.createdAt, table.conversationNumber)
      .where(sql`group_id IS NOT NULL`),
    index("knowledge_turns_oldest").on(table.companionId, table.number).where(sql`group_id IS NOT NULL`),
  ],
);
