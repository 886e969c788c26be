/** What a backup holds, for whoever wants to know that it is theirs, and whole. */
import { Database } from "bun:sqlite";
import type { BackupFacts } from "../../contracts/store/engine.ts";
import { AppError } from "../../domain/errors.ts";
import { verifySqlite } from "./verify.ts";

/** See `StorageEngine.examine`. */
export function examineSqlite(file: string): BackupFacts {
  const facts = verifySqlite(file, "full");
  const database = new Database(file, { readonly: true });
  try {
    const count = (table: string) => {
      const statement = database.prepare<{ rows: number }, []>(`SELECT count(*) AS rows FROM ${table}`);
      const row = statement.get();
      statement.finalize();
      return row?.rows ?? 0;
    };
    // Every schema has had these tables.
    return {
      ...facts,
      accounts: count("accounts"),
      companions: count("companions"),
      conversations: count("conversations"),
      messages: count("messages"),
    };
  } catch (error) {
    throw new AppError("invalid_request", `${file} lacks tables of companiond.`, { cause: error });
  } finally {
    database.close();
  }
}
