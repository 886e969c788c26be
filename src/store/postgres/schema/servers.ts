/** Tables of what the servers of one database agree on: who runs, whose turn it is, what was erased meanwhile. */
import { sql } from "drizzle-orm";
import { boolean, customType, index, pgTable } from "drizzle-orm/pg-core";
import { numberColumn, textColumn, wholeColumn } from "./column-types.ts";

/** A transaction's number; compared with snapshots, never with times. */
const transactionColumn = customType<{ data: string; driverData: string }>({ dataType: () => "xid8" });

/** By the database's clock, in milliseconds: servers compare each other's rows. */
const databaseTime = sql`(extract(epoch FROM clock_timestamp()) * 1000)::bigint`;

/** Running servers. Alive is who holds the advisory lock of its number, whatever this table says. */
export const instances = pgTable("instances", {
  number: numberColumn("number").primaryKey(),
  id: textColumn("id").notNull().unique(),
  /** Where others reach it; null if nobody can. */
  url: textColumn("url"),
  version: textColumn("version").notNull(),
  /** Whether it counts its windows in a Redis that others share. */
  sharesWindows: boolean("shares_windows").notNull(),
  startedAt: wholeColumn("started_at").notNull(),
});

/** Tickets of turns, and reservations of voice sessions: who may run or waits, and what is taken of the day's quota. */
export const openTurns = pgTable(
  "open_turns",
  {
    /** In the order in which they came. */
    number: numberColumn("number").primaryKey(),
    id: textColumn("id").notNull().unique(),
    instanceNumber: wholeColumn("instance_number").notNull(),
    companionId: textColumn("companion_id").notNull(),
    /** Only messages and voice sessions take one of the day. */
    kind: textColumn("kind").$type<"message" | "voice_session" | "uncounted">().notNull(),
    /** Turns with the same key run one at a time; null: it does not queue. */
    queueKey: textColumn("queue_key"),
    /** False while it waits: then nothing of the day is taken for it. */
    isRunning: boolean("is_running").notNull(),
    /** The UTC day that it counts towards. */
    day: textColumn("day").notNull(),
    /** The client's name for the message. */
    messageId: textColumn("message_id"),
    /** A verified visitor with a daily limit of their own, of which it takes one as well. */
    limitedVisitorId: textColumn("limited_visitor_id"),
  },
  (table) => [
    index("open_turns_companion").on(table.companionId, table.day),
    index("open_turns_queue").on(table.queueKey, table.number),
    index("open_turns_instance").on(table.instanceNumber),
  ],
);

/**
 * Erasures of the last hours: a turn that was running then must not bring its words back when it settles. One without a
 * companion stands for all that are forgotten.
 */
export const erasures = pgTable(
  "erasures",
  {
    number: numberColumn("number").primaryKey(),
    companionId: textColumn("companion_id").notNull(),
    /** Empty for a conversation without a visitor. */
    visitorId: textColumn("visitor_id").notNull(),
    /** Null: all that this visitor said. */
    sessionId: textColumn("session_id"),
    transaction: transactionColumn("transaction").notNull(),
    erasedAt: wholeColumn("erased_at").notNull().default(databaseTime),
  },
  (table) => [index("erasures_visitor").on(table.companionId, table.visitorId)],
);

/** The batches of turns that were settled in the last minutes: one whose answer was lost is sent again. */
export const settledBatches = pgTable("settled_batches", {
  id: textColumn("id").primaryKey(),
  settledAt: wholeColumn("settled_at").notNull().default(databaseTime),
});

/** The servers' certificate, the key of its account, and what is going on to renew it; sealed. */
export const certificateTexts = pgTable("certificate_texts", {
  name: textColumn("name").primaryKey(),
  sealed: textColumn("sealed").notNull(),
});
