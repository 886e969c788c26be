/** All that is measured of knowledge: in memory, in a database, at the server. */
import { startPostgresServer } from "../../test/support/postgres-server.ts";
import { useAllCores } from "../shared.ts";
import { type KnowledgeFigures, measureKnowledge } from "./measure.ts";
import { renderKnowledge } from "./render.ts";
import { renderServed, renderStored } from "./render-stored.ts";
import { measureServed, type ServedFigures } from "./served.ts";
import { measureStored, type StoredFigures } from "./stored.ts";
import { onPostgres, onSqlite } from "./stores.ts";
import { type HoldFigures, measureHolds } from "./whole-path.ts";

export interface KnowledgeReport {
  readonly inMemory: KnowledgeFigures;
  readonly stored: readonly StoredFigures[];
  readonly holds: readonly HoldFigures[];
  /** Null if it could not be measured. */
  readonly served: ServedFigures | null;
}

export async function reportKnowledge(say: (sentence: string) => void): Promise<KnowledgeReport> {
  say("what words find");
  const inMemory = measureKnowledge();
  const served = await measureServed(say).catch((error) => {
    say(`left out: streams while documents are read: ${error}`);
    return null;
  });
  // SQLite and all that it does on one core; PostgreSQL beside it on the other.
  const stored = [await measureStored("SQLite", onSqlite, say)];
  const holds = await measureHolds("SQLite", onSqlite, say);
  useAllCores();
  try {
    await using server = await startPostgresServer({ isDurable: true });
    stored.push(await measureStored("PostgreSQL", onPostgres(server), say));
    holds.push(...(await measureHolds("PostgreSQL", onPostgres(server), say)));
  } catch (error) {
    say(`left out: PostgreSQL: ${error}`);
  }
  return { inMemory, stored, holds, served };
}

export function renderKnowledgeReport(report: KnowledgeReport | null): string {
  if (report === null) return "";
  const { inMemory, stored, holds, served } = report;
  return [renderKnowledge(inMemory), renderStored(stored, holds), served === null ? "" : renderServed(served)]
    .filter((section) => section !== "")
    .join("\n\n");
}
