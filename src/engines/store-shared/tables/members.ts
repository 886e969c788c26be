/** Table of the people who sign in to an account beside its own sign-in. */
import { sql } from "drizzle-orm";
import type { MemberRole } from "../../../domain/member.ts";
import type { AccountTables } from "./accounts.ts";
import type { Dialect } from "./dialect.ts";

export function memberTables(dialect: Dialect, { accounts }: Pick<AccountTables, "accounts">) {
  const { table, text, whole, boolean, json, index, uniqueIndex } = dialect;

  const members = table(
    "members",
    () => ({
      id: text("id").primaryKey(),
      accountId: text("account_id")
        .notNull()
        .references(() => accounts.id, { onDelete: "cascade" }),
      email: text("email").notNull(),
      name: text("name").notNull(),
      role: text<MemberRole>("role").notNull(),
      /** Null: all of the account. */
      companionIds: json<readonly string[]>("companion_ids"),
      notifyMail: boolean("notify_mail").notNull().default(true),
      notifyWords: boolean("notify_words").notNull().default(false),
      /** Null until the member has joined. The second factor is described in `accounts`. */
      passwordHash: text("password_hash"),
      totpSecret: text("totp_secret"),
      totpConfirmedAt: whole("totp_confirmed_at"),
      totpLastStep: whole("totp_last_step"),
      joinedAt: whole("joined_at"),
      createdAt: whole("created_at").notNull(),
    }),
    (row) => [
      index("members_account").on(row.accountId, row.id),
      // An address may be invited several times, and signs in once.
      uniqueIndex("members_joined").on(row.email).where(sql`joined_at IS NOT NULL`),
    ],
  );

  return { members };
}
