/** Tables of what the servers of one database agree on: who runs, whose turn it is, what was erased meanwhile. */
import { sql } from "drizzle-orm";
import { customType } from "drizzle-orm/pg-core";
import { postgres } from "../tables.ts";

const { table, lastingNumber, text, whole, boolean, index } = postgres;

/** A transaction's number; compared with snapshots, never with times. */
const transactionColumn = customType<{ data: string; driverData: string }>({
  dataType: () => "xid8",
}) as unknown as typeof text;

/** By the database's clock, in milliseconds: servers compare each other's rows. */
const databaseTime = sql`(extract(epoch FROM clock_timestamp()) * 1000)::bigint`;

/** Running servers. Alive is the one that holds the advisory lock of its number, regardless of this table. */
export const instances = table("instances", () => ({
  number: lastingNumber(),
  id: text("id").notNull().unique(),
  /** Where others reach it; null if they cannot. */
  url: text("url"),
  version: text("version").notNull(),
  /** Whether it counts its windows in a Redis that others share. */
  sharesWindows: boolean("shares_windows").notNull(),
  startedAt: whole("started_at").notNull(),
}));

/** Tickets of turns, and reservations of voice sessions: who may run or waits, and what they use of the day's quota. */
export const openTurns = table(
  "open_turns",
  () => ({
    /** In the order in which they came. */
    number: lastingNumber(),
    id: text("id").notNull().unique(),
    instanceNumber: whole("instance_number").notNull(),
    companionId: text("companion_id").notNull(),
    /** Only messages and voice sessions take one of the day. */
    kind: text<"message" | "voice_session" | "uncounted">("kind").notNull(),
    /** Turns with the same key run one at a time; null: it does not queue. */
    queueKey: text("queue_key"),
    /** False while it waits: then nothing of the day is counted for it. */
    isRunning: boolean("is_running").notNull(),
    /** The UTC day that it counts towards. */
    day: text("day").notNull(),
    /** The client's name for the message. */
    messageId: text("message_id"),
    /** A verified visitor with a daily limit of their own, of which it takes one as well. */
    limitedVisitorId: text("limited_visitor_id"),
  }),
  (row) => [
    index("open_turns_companion").on(row.companionId, row.day),
    index("open_turns_queue").on(row.queueKey, row.number),
    index("open_turns_instance").on(row.instanceNumber),
  ],
);

/**
 * Erasures of the last hours: a turn that was running then must not bring its words back when it settles. One without a
 * companion stands for all that are forgotten.
 */
export const erasures = table(
  "erasures",
  () => ({
    number: lastingNumber(),
    companionId: text("companion_id").notNull(),
    /** Empty for a conversation without a visitor. */
    visitorId: text("visitor_id").notNull(),
    /** Null: all messages of this visitor. */
    sessionId: text("session_id"),
    transaction: transactionColumn("transaction").notNull(),
    erasedAt: whole("erased_at").notNull().default(databaseTime),
  }),
  (row) => [index("erasures_visitor").on(row.companionId, row.visitorId)],
);

/** The batches of turns that were settled in the last minutes: one whose answer was lost is sent again. */
export const settledBatches = table("settled_batches", () => ({
  id: text("id").primaryKey(),
  settledAt: whole("settled_at").notNull().default(databaseTime),
}));

/** The servers' certificate, the key of its account, and what is going on to renew it; sealed. */
export const certificateTexts = table("certificate_texts", () => ({
  name: text("name").primaryKey(),
  sealed: text("sealed").notNull(),
}));
