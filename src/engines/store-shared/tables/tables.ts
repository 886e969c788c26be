/** All tables that both databases have, none before those that it refers to. */
import { accountTables } from "./accounts.ts";
import { companionTables } from "./companions.ts";
import { conversationTables } from "./conversations.ts";
import type { Dialect } from "./dialect.ts";
import { knowledgeTables } from "./knowledge.ts";
import { mailTables } from "./mails.ts";
import { memberTables } from "./members.ts";
import { peopleTables } from "./people.ts";
import { spendingTables } from "./spending.ts";
import { toolTables } from "./tools.ts";
import { usageTables } from "./usage.ts";
import { versionTables } from "./versions.ts";
import { webhookTables } from "./webhooks.ts";

export function tablesOf(dialect: Dialect) {
  const accounts = accountTables(dialect);
  const companions = companionTables(dialect);
  const conversations = conversationTables(dialect);
  return {
    ...accounts,
    ...memberTables(dialect, accounts),
    ...companions,
    ...conversations,
    ...knowledgeTables(dialect),
    ...usageTables(dialect),
    ...spendingTables(dialect, accounts),
    ...toolTables(dialect, companions),
    ...versionTables(dialect, companions),
    ...webhookTables(dialect, accounts),
    ...peopleTables(dialect, { ...accounts, ...conversations }),
    ...mailTables(dialect, { ...accounts, ...companions, ...conversations }),
  };
}
