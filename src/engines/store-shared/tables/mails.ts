/** Tables of the mail that is to be sent, and of how much an account has had. */
import { sql } from "drizzle-orm";
import type { MailKind } from "../../../domain/mail.ts";
import type { AccountTables } from "./accounts.ts";
import type { companionTables } from "./companions.ts";
import type { conversationTables } from "./conversations.ts";
import type { Dialect } from "./dialect.ts";

type Owners = Pick<AccountTables, "accounts"> &
  Pick<ReturnType<typeof companionTables>, "companions"> &
  Pick<ReturnType<typeof conversationTables>, "conversations">;

export function mailTables(dialect: Dialect, { accounts, companions, conversations }: Owners) {
  const { table, number, text, whole, small, index, inPostgres } = dialect;
  const accountId = () => text("account_id").references(() => accounts.id, { onDelete: "cascade" });

  /** Foreign keys, unlike what else belongs to conversations: few rows, which no deletion may leave behind. */
  const mails = table(
    "mails",
    () => ({
      number: number(),
      id: text("id").notNull().unique(),
      accountId: accountId().notNull(),
      companionId: text("companion_id").references(() => companions.id, { onDelete: "cascade" }),
      conversationId: text("conversation_id").references(() => conversations.id, { onDelete: "cascade" }),
      memberId: text("member_id"),
      kind: text<MailKind>("kind").notNull(),
      sealed: text("sealed"),
      tries: small("tries").notNull().default(0),
      dueAt: whole("due_at").notNull(),
      expiresAt: whole("expires_at"),
      /** Null unless it has failed for good. */
      problem: text("problem"),
      createdAt: whole("created_at").notNull(),
    }),
    (row) => [
      index("mails_due")
        .on(row.dueAt, ...inPostgres(row.number))
        .where(sql`problem IS NULL`),
      index("mails_account").on(row.accountId, row.memberId),
      index("mails_companion").on(row.companionId).where(sql`companion_id IS NOT NULL`),
      index("mails_conversation").on(row.conversationId).where(sql`conversation_id IS NOT NULL`),
    ],
  );

  /** Of the last day on which an account had any. */
  const mailDays = table("mail_days", () => ({
    accountId: accountId().primaryKey(),
    day: text("day").notNull(),
    mails: small("mails").notNull(),
  }));

  return { mails, mailDays };
}
