/** The migrations in order, embedded in the executable; the database counts how many were applied. */
import initial from "../../../drizzle/postgres/0000_initial.sql" with { type: "text" };
import holdings from "../../../drizzle/postgres/0001_holdings.sql" with { type: "text" };
import functions from "../../../drizzle/postgres/0002_functions.sql" with { type: "text" };
import resumeAndVisitors from "../../../drizzle/postgres/0003_resume_and_visitors.sql" with { type: "text" };
import namedTurns from "../../../drizzle/postgres/0004_named_turns_and_visitors.sql" with { type: "text" };
import money from "../../../drizzle/postgres/0005_money.sql" with { type: "text" };
import moneyFunctions from "../../../drizzle/postgres/0006_money_functions.sql" with { type: "text" };
import knowledge from "../../../drizzle/postgres/0007_knowledge.sql" with { type: "text" };
import certificates from "../../../drizzle/postgres/0008_certificates.sql" with { type: "text" };

export interface Migration {
  name: string;
  sql: string;
}

export const migrations: readonly Migration[] = [
  { name: "0000_initial", sql: initial },
  { name: "0001_holdings", sql: holdings },
  { name: "0002_functions", sql: functions },
  { name: "0003_resume_and_visitors", sql: resumeAndVisitors },
  { name: "0004_named_turns_and_visitors", sql: namedTurns },
  { name: "0005_money", sql: money },
  { name: "0006_money_functions", sql: moneyFunctions },
  { name: "0007_knowledge", sql: knowledge },
  { name: "0008_certificates", sql: certificates },
];

/**
 * Programs that know fewer migrations than this cannot work with the schema as it is now. Migrations only add, so that
 * servers of the version before go on while others are replaced; raise this with the first one that does not.
 */
export const oldestReader = 3;
