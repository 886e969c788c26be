/** The migrations in order, embedded in the executable; the database's `user_version` is the number applied. */
import initial from "../../../drizzle/sqlite/0000_initial.sql" with { type: "text" };
import clustered from "../../../drizzle/sqlite/0001_clustered.sql" with { type: "text" };
import narrowKeys from "../../../drizzle/sqlite/0002_narrow_keys.sql" with { type: "text" };
import secondFactor from "../../../drizzle/sqlite/0003_second_factor.sql" with { type: "text" };
import keyLineage from "../../../drizzle/sqlite/0004_key_lineage.sql" with { type: "text" };
import accountHoldings from "../../../drizzle/sqlite/0005_account_holdings.sql" with { type: "text" };
import resumeAndVisitors from "../../../drizzle/sqlite/0006_resume_and_visitors.sql" with { type: "text" };
import money from "../../../drizzle/sqlite/0007_money.sql" with { type: "text" };
import knowledge from "../../../drizzle/sqlite/0008_knowledge.sql" with { type: "text" };

export interface Migration {
  name: string;
  sql: string;
}

export const migrations: readonly Migration[] = [
  { name: "0000_initial", sql: initial },
  { name: "0001_clustered", sql: clustered },
  { name: "0002_narrow_keys", sql: narrowKeys },
  { name: "0003_second_factor", sql: secondFactor },
  { name: "0004_key_lineage", sql: keyLineage },
  { name: "0005_account_holdings", sql: accountHoldings },
  { name: "0006_resume_and_visitors", sql: resumeAndVisitors },
  { name: "0007_money", sql: money },
  { name: "0008_knowledge", sql: knowledge },
];
