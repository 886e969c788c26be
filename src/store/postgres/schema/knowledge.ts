/** Tables of sources, of what they say, of the index over it, and of what turns found there. */
import { sql } from "drizzle-orm";
import { boolean, customType, index, integer, pgTable, primaryKey } from "drizzle-orm/pg-core";
import type { DocumentKind, SourceStatus, SourceType } from "../../../domain/knowledge.ts";
import { numberColumn, textColumn, wholeColumn } from "./column-types.ts";

const bytesColumn = customType<{ data: Uint8Array; driverData: Uint8Array }>({ dataType: () => "bytea" });

// No foreign keys: what is left of a deleted source or companion is deleted in chunks, after it.
export const knowledgeSources = pgTable(
  "knowledge_sources",
  {
    number: numberColumn("number").primaryKey(),
    id: textColumn("id").notNull().unique(),
    accountId: textColumn("account_id").notNull(),
    companionId: textColumn("companion_id").notNull(),
    type: textColumn("type").$type<SourceType>().notNull(),
    title: textColumn("title").notNull(),
    url: textColumn("url"),
    refreshHours: integer("refresh_hours"),
    status: textColumn("status").$type<SourceStatus>().notNull(),
    error: textColumn("error"),
    /** Of the live edition: what `chunks`, `bytes` and the index's sums say. */
    chunks: integer("chunks").notNull().default(0),
    bytes: wholeColumn("bytes").notNull().default(0),
    tokens: wholeColumn("tokens").notNull().default(0),
    words: wholeColumn("words").notNull().default(0),
    contentHash: textColumn("content_hash"),
    /** The indexed state that answers; null before there is one. */
    edition: wholeColumn("edition"),
    /** Counts up with each PUT, refresh and claim: what was read for an earlier one is dropped. */
    revision: integer("revision").notNull().default(1),
    /** What the upload is; null for what is fetched. */
    kind: textColumn("kind").$type<DocumentKind>(),
    /** The upload that is to be read; null once it was, unless it is a text, which is kept as it was written. */
    uploadId: textColumn("upload_id"),
    /** Of that upload, for what the account holds: triggers count it, with `bytes`. */
    uploadBytes: wholeColumn("upload_bytes").notNull().default(0),
    pagesDone: integer("pages_done"),
    pagesTotal: integer("pages_total"),
    /** When it is to be read, or, while it is being read, when others may take it; null: only when asked to. */
    dueAt: wholeColumn("due_at"),
    /** Failed readings in a row. */
    failures: integer("failures").notNull().default(0),
    indexedAt: wholeColumn("indexed_at"),
    createdAt: wholeColumn("created_at").notNull(),
    updatedAt: wholeColumn("updated_at").notNull(),
  },
  (table) => [
    index("knowledge_sources_companion").on(table.companionId, table.number),
    index("knowledge_sources_due").on(table.dueAt, table.number).where(sql`due_at IS NOT NULL`),
    // Accounts take turns.
    index("knowledge_sources_turns").on(table.accountId, table.dueAt, table.number).where(sql`due_at IS NOT NULL`),
    index("knowledge_sources_upload").on(table.uploadId).where(sql`upload_id IS NOT NULL`),
  ],
);

/** Uploads in pieces: until they were read, and texts for as long as their source. */
export const knowledgeUploads = pgTable(
  "knowledge_uploads",
  {
    uploadId: textColumn("upload_id").notNull(),
    piece: integer("piece").notNull(),
    createdAt: wholeColumn("created_at").notNull(),
    bytes: bytesColumn("bytes").notNull(),
  },
  (table) => [primaryKey({ columns: [table.uploadId, table.piece] })],
);

/** Indexed states of sources. One that its source does not name is being made, or is to be deleted. */
export const knowledgeEditions = pgTable(
  "knowledge_editions",
  {
    number: numberColumn("number").primaryKey(),
    sourceNumber: wholeColumn("source_number").notNull(),
    /** The model of its vectors; null if it has none. */
    model: textColumn("model"),
    /** Whether all its passages have one. */
    isEmbedded: boolean("is_embedded").notNull().default(false),
    createdAt: wholeColumn("created_at").notNull(),
  },
  (table) => [
    index("knowledge_editions_source").on(table.sourceNumber),
    index("knowledge_editions_embedded").on(table.isEmbedded, table.model),
  ],
);

/** What an edition was made of: one row, or one for each page of a sitemap. */
export const knowledgeDocuments = pgTable(
  "knowledge_documents",
  {
    edition: wholeColumn("edition").notNull(),
    place: integer("place").notNull(),
    url: textColumn("url"),
    title: textColumn("title").notNull(),
    contentHash: textColumn("content_hash").notNull(),
    etag: textColumn("etag"),
    lastModified: textColumn("last_modified"),
    firstOrdinal: integer("first_ordinal").notNull(),
    chunks: integer("chunks").notNull(),
  },
  (table) => [primaryKey({ columns: [table.edition, table.place] })],
);

/** Passages, some dozens in a row. */
export const knowledgeParts = pgTable(
  "knowledge_parts",
  {
    edition: wholeColumn("edition").notNull(),
    firstOrdinal: integer("first_ordinal").notNull(),
    body: bytesColumn("body").notNull(),
  },
  (table) => [primaryKey({ columns: [table.edition, table.firstOrdinal] })],
);

export const knowledgeVectors = pgTable(
  "knowledge_vectors",
  {
    edition: wholeColumn("edition").notNull(),
    firstOrdinal: integer("first_ordinal").notNull(),
    vectors: bytesColumn("vectors").notNull(),
  },
  (table) => [primaryKey({ columns: [table.edition, table.firstOrdinal] })],
);

/** What a turn found, or did not, beside the message that asked or replied: it goes with that message. */
export const knowledgeTurns = pgTable(
  "knowledge_turns",
  {
    number: numberColumn("number").primaryKey(),
    conversationNumber: wholeColumn("conversation_number").notNull(),
    messageId: textColumn("message_id").notNull(),
    companionId: textColumn("companion_id").notNull(),
    /** Names the question among those that ask the same; null for a reply. */
    groupId: textColumn("group_id"),
    /** What the model saw, as JSON: see `rows/knowledge.ts`. Null for a question. */
    seen: textColumn("seen"),
    /** Of the message. */
    createdAt: wholeColumn("created_at").notNull(),
  },
  (table) => [
    index("knowledge_turns_conversation").on(table.conversationNumber, table.messageId),
    index("knowledge_turns_unanswered")
      .on(table.companionId, table.groupId, table.createdAt, table.conversationNumber)
      .where(sql`group_id IS NOT NULL`),
    index("knowledge_turns_oldest").on(table.companionId, table.number).where(sql`group_id IS NOT NULL`),
  ],
);

/** Which passages of an edition have a word: one row per block of passages. */
export const knowledgePostings = pgTable(
  "knowledge_postings",
  {
    edition: wholeColumn("edition").notNull(),
    block: integer("block").notNull(),
    /** The word as a number: the index holds no words. */
    term: wholeColumn("term").notNull(),
    entries: bytesColumn("entries").notNull(),
  },
  (table) => [primaryKey({ columns: [table.edition, table.term, table.block] })],
);
