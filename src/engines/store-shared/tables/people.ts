/** Tables of people who step into conversations, and of what visitors leave for them. */
import { sql } from "drizzle-orm";
import type {
  ConversationState,
  ConversationStatus,
  HandoffActor,
  HandoffEventType,
  Person,
  StateReason,
} from "../../../domain/handoff.ts";
import type { AccountTables } from "./accounts.ts";
import type { conversationTables } from "./conversations.ts";
import type { Dialect } from "./dialect.ts";

type Owners = Pick<AccountTables, "accounts"> & Pick<ReturnType<typeof conversationTables>, "conversations">;

export function peopleTables(dialect: Dialect, { accounts, conversations }: Owners) {
  const { table, number, text, whole, small, boolean, json, primaryKey, index, uniqueIndex, inPostgres } = dialect;

  // Foreign keys, unlike messages: few rows, which no deletion may leave behind.
  const conversationNumber = () =>
    whole("conversation_number").references(() => conversations.number, { onDelete: "cascade" });
  const ownerId = () => text("account_id").references(() => accounts.id, { onDelete: "cascade" });

  /** One for each conversation that has left plain talk. */
  const handoffs = table(
    "handoffs",
    () => ({
      conversationNumber: conversationNumber().primaryKey(),
      accountId: text("account_id").notNull(),
      companionId: text("companion_id").notNull(),
      state: text<ConversationState>("state").notNull(),
      reason: text<StateReason>("reason"),
      person: json<Person>("person"),
      /** Of who has it, or is about to: for those who are gone. */
      personId: text("person_id"),
      reserved: json<Person>("reserved"),
      sinceMs: whole("since_ms"),
      untilMs: whole("until_ms"),
      owedSinceMs: whole("owed_since_ms"),
      wasPresent: boolean("was_present").notNull().default(false),
      isAsked: boolean("is_asked").notNull().default(false),
      isOffered: boolean("is_offered").notNull().default(false),
      status: text<ConversationStatus>("status"),
      assigneeId: text("assignee_id"),
      tags: json<string[]>("tags").notNull(),
      reachSeq: whole("reach_seq").notNull().default(0),
      returnedAtMs: whole("returned_at_ms"),
      plainSeq: whole("plain_seq").notNull().default(0),
      seenSeq: whole("seen_seq").notNull().default(0),
      missedAtMs: whole("missed_at_ms"),
      isResolved: boolean("is_resolved"),
      resolvedSeq: whole("resolved_seq"),
      resolvedAtMs: whole("resolved_at_ms"),
      hasContact: boolean("has_contact").notNull().default(false),
      noticeSinceMs: whole("notice_since_ms"),
      noticeAtMs: whole("notice_at_ms"),
      noticedAtMs: whole("noticed_at_ms"),
      answerMailAtMs: whole("answer_mail_at_ms"),
      /** The earlier of both. */
      mailAtMs: whole("mail_at_ms"),
      day: text("day").notNull().default(""),
      dayMessages: small("day_messages").notNull().default(0),
      change: whole("change").notNull(),
    }),
    (row) => [
      index("handoffs_change").on(row.accountId, row.change),
      index("handoffs_until").on(row.untilMs).where(sql`until_ms IS NOT NULL`),
      index("handoffs_mail").on(row.mailAtMs).where(sql`mail_at_ms IS NOT NULL`),
      index("handoffs_resolved")
        .on(row.accountId, row.resolvedAtMs, row.companionId)
        .where(sql`resolved_at_ms IS NOT NULL`),
      index("handoffs_owed").on(row.owedSinceMs).where(sql`state = 'person' AND owed_since_ms IS NOT NULL`),
      index("handoffs_held").on(row.companionId).where(sql`state <> 'companion'`),
      index("handoffs_person").on(row.personId).where(sql`person_id IS NOT NULL`),
      index("handoffs_account").on(row.accountId, ...inPostgres(row.conversationNumber)),
      index("handoffs_state")
        .on(row.accountId, row.state, ...inPostgres(row.conversationNumber))
        .where(sql`state <> 'companion'`),
      index("handoffs_status")
        .on(row.accountId, row.status, ...inPostgres(row.conversationNumber))
        .where(sql`status IS NOT NULL`),
    ],
  );

  /** The last `change` of an account's records: taken under its lock, so that they are in the order of commits. */
  const handoffChanges = table("handoff_changes", () => ({
    accountId: ownerId().primaryKey(),
    change: whole("change").notNull(),
  }));

  const handoffEvents = table(
    "handoff_events",
    () => ({
      number: number(),
      id: text("id").notNull().unique(),
      conversationNumber: conversationNumber().notNull(),
      accountId: text("account_id").notNull(),
      companionId: text("companion_id").notNull(),
      type: text<HandoffEventType>("type").notNull(),
      by: json<HandoffActor>("by").notNull(),
      sealedReason: text("sealed_reason"),
      atMs: whole("at_ms").notNull(),
    }),
    (row) => [
      index("handoff_events_conversation").on(row.conversationNumber, ...inPostgres(row.number)),
      // All that they are counted by, as in those of contacts, ratings and spans.
      index("handoff_events_account").on(row.accountId, row.atMs, row.type, row.companionId),
    ],
  );

  /** Who wrote the messages of people; their words are in `messages`, with the role `assistant`. */
  const messageAuthors = table(
    "message_authors",
    () => ({
      conversationNumber: conversationNumber().notNull(),
      seq: small("seq").notNull(),
      messageId: text("message_id").notNull(),
      author: json<Person>("author").notNull(),
      clientId: text("client_id").notNull(),
    }),
    (row) => [
      primaryKey({ columns: [row.conversationNumber, row.seq] }),
      uniqueIndex("message_authors_client").on(row.conversationNumber, row.clientId),
    ],
  );

  const conversationNotes = table(
    "conversation_notes",
    () => ({
      id: text("id").primaryKey(),
      conversationNumber: conversationNumber().notNull(),
      author: json<Person>("author").notNull(),
      sealedText: text("sealed_text").notNull(),
      createdAt: whole("created_at").notNull(),
    }),
    (row) => [index("conversation_notes_conversation").on(row.conversationNumber)],
  );

  /** How far each of the team has read. */
  const readMarks = table(
    "read_marks",
    () => ({
      conversationNumber: conversationNumber().notNull(),
      personId: text("person_id").notNull(),
      seq: whole("seq").notNull(),
    }),
    (row) => [primaryKey({ columns: [row.conversationNumber, row.personId] })],
  );

  const presence = table(
    "presence",
    () => ({
      personId: text("person_id").primaryKey(),
      accountId: ownerId().notNull(),
      person: json<Person>("person").notNull(),
      isAvailable: boolean("is_available").notNull(),
      seenAtMs: whole("seen_at_ms"),
      untilMs: whole("until_ms"),
    }),
    (row) => [index("presence_account").on(row.accountId)],
  );

  /** The newest contact that a visitor has left. */
  const contacts = table(
    "contacts",
    () => ({
      conversationNumber: conversationNumber().primaryKey(),
      accountId: text("account_id").notNull(),
      companionId: text("companion_id").notNull(),
      /** JSON of `email`, `name` and `message`. */
      sealedContact: text("sealed_contact").notNull(),
      consentText: text("consent_text").notNull(),
      consentedAt: whole("consented_at").notNull(),
      /** Mails that brought the visitor what people wrote. */
      mails: small("mails").notNull().default(0),
      mailedAt: whole("mailed_at"),
      mailedSeq: whole("mailed_seq").notNull().default(0),
    }),
    (row) => [
      index("contacts_account").on(row.accountId, row.consentedAt, row.conversationNumber, row.companionId),
      index("contacts_companion").on(row.companionId, row.consentedAt, row.conversationNumber),
    ],
  );

  const ratings = table(
    "ratings",
    () => ({
      conversationNumber: conversationNumber().notNull(),
      /** The client's name of the exchange. */
      clientId: text("client_id").notNull(),
      accountId: text("account_id").notNull(),
      companionId: text("companion_id").notNull(),
      rating: text<"up" | "down">("rating").notNull(),
      reasons: json<string[]>("reasons").notNull(),
      sealedComment: text("sealed_comment"),
      createdAt: whole("created_at").notNull(),
    }),
    (row) => [
      primaryKey({ columns: [row.conversationNumber, row.clientId] }),
      index("ratings_account").on(row.accountId, row.createdAt, row.rating, row.companionId),
      index("ratings_rating").on(row.accountId, row.rating, row.conversationNumber),
    ],
  );

  /** How long visitors waited for a person's answer, and how long people had conversations. */
  const handoffSpans = table(
    "handoff_spans",
    () => ({
      number: number(),
      conversationNumber: conversationNumber().notNull(),
      accountId: text("account_id").notNull(),
      companionId: text("companion_id").notNull(),
      kind: text<"answer" | "person">("kind").notNull(),
      /** When it ended. */
      atMs: whole("at_ms").notNull(),
      durationMs: whole("duration_ms").notNull(),
    }),
    (row) => [
      index("handoff_spans_conversation").on(row.conversationNumber),
      index("handoff_spans_account").on(row.accountId, row.kind, row.atMs, row.companionId, row.durationMs),
    ],
  );

  return {
    handoffs,
    handoffChanges,
    handoffEvents,
    messageAuthors,
    conversationNotes,
    readMarks,
    presence,
    contacts,
    ratings,
    handoffSpans,
  };
}
