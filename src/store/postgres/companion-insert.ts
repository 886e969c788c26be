/** Writes new companions: their rows, first embed tokens and index rows. */
import type { JsonObject } from "../../domain/companion.ts";
import type { NewCompanion } from "../contract/companions.ts";
import { foldName } from "../rows/companion.ts";
import type { StoreParts } from "./parts.ts";
import { mapColumns } from "./rows/columns.ts";
import { companionColumns } from "./rows/companion.ts";
import { embedTokens } from "./schema/companions.ts";
import type { Transaction } from "./transaction.ts";

/** Companions written by one statement. */
const mostAtOnce = 1_000;

const tokenColumns = mapColumns(embedTokens);

/** Call it inside a change of the account. */
export function createCompanionInsert({ metadata, voiceAgents }: StoreParts) {
  async function insertSome(
    transaction: Transaction,
    accountId: string,
    companions: readonly NewCompanion[],
    nowMs: number,
  ): Promise<{ number: number }[]> {
    const made = { accountId, hasSources: false, createdAt: nowMs, updatedAt: nowMs };
    const rows = companions.map((companion) => {
      return { ...companion, ...made, nameFolded: foldName(companion.name), embedToken: companion.embedToken.token };
    });
    const numbers = await companionColumns.insertMany<{ number: number }>(
      transaction,
      rows,
      "RETURNING number::float8 AS number",
    );
    const tokens = companions.map(({ id, embedToken }) => {
      return { ...embedToken, companionId: id, name: null, createdAt: nowMs, lastUsedAt: null };
    });
    await tokenColumns.insertMany(transaction, tokens);
    return numbers;
  }

  return {
    /** Only the rows, in order; `index` adds what is to stay to the metadata index. */
    async insert(
      transaction: Transaction,
      accountId: string,
      companions: readonly NewCompanion[],
      nowMs: number,
    ): Promise<InsertedCompanion[]> {
      await voiceAgents.check(transaction, accountId, companions, null);
      const inserted: InsertedCompanion[] = [];
      for (let at = 0; at < companions.length; at += mostAtOnce) {
        const some = companions.slice(at, at + mostAtOnce);
        const rows = await insertSome(transaction, accountId, some, nowMs);
        for (const [index, { number }] of rows.entries()) {
          const companion = some[index];
          if (companion !== undefined) inserted.push({ number, id: companion.id, metadata: companion.metadata });
        }
      }
      return inserted;
    },
    async index(
      transaction: Transaction,
      accountNumber: number,
      inserted: readonly InsertedCompanion[],
    ): Promise<void> {
      for (let at = 0; at < inserted.length; at += mostAtOnce) {
        await metadata.add(transaction, accountNumber, inserted.slice(at, at + mostAtOnce));
      }
    },
  };
}

export interface InsertedCompanion {
  number: number;
  id: string;
  metadata: JsonObject;
}
