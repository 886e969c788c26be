/** Finds labels of usage by metadata. What is new gets into the index when somebody asks, not while turns settle. */
import type { JsonObject } from "../../domain/companion.ts";
import type { MetadataFilter } from "../contract/companions.ts";
import { cutSlice, mostLabelsPerSlice } from "../rows/label-slices.ts";
import type { UsageLabel } from "../rows/usage-reader.ts";
import type { ChangeRecorder } from "./changes.ts";
import type { PostgresEngine } from "./engine.ts";
import { createMetadataIndex } from "./metadata-index.ts";
import type { Queries } from "./queries.ts";
import type { Transaction } from "./transaction.ts";

const labelsPerWalk = 500;

export const labelQueries = {
  unindexed: `SELECT number::float8 AS number, length(metadata) AS size FROM usage_labels
    WHERE account_id = $1 AND NOT is_indexed AND number <= $2::float8::bigint ORDER BY number LIMIT ${mostLabelsPerSlice}`,
  newest: `SELECT number::float8 AS number FROM usage_labels
    WHERE account_id = $1 AND NOT is_indexed ORDER BY number DESC LIMIT 1`,
  companions: `SELECT number::float8 AS number, companion_id AS "companionId" FROM usage_labels
    WHERE number = ANY ($1::bigint[])`,
  metadata: "SELECT number::float8 AS number, metadata FROM usage_labels WHERE number = ANY ($1::bigint[])",
};
const noteIndexed = "UPDATE usage_labels SET is_indexed = true WHERE number = ANY ($1::bigint[])";

export function createLabelIndex(engine: PostgresEngine, changes: Pick<ChangeRecorder, "findAccountNumber">) {
  const { heavy } = engine;
  const metadata = createMetadataIndex("usage_label_metadata");

  const read = (queries: Queries, numbers: readonly number[]) =>
    queries.all<{ number: number; metadata: string }>(labelQueries.metadata, [numbers]);

  /** False if nothing is left. Holds the account's lock: so do other servers, and whoever deletes the account. */
  async function indexSlice(transaction: Transaction, accountId: string, upTo: number): Promise<boolean> {
    const account = await changes.findAccountNumber(transaction, accountId);
    if (account === null) return false;
    const left = await transaction.all<{ number: number; size: number }>(labelQueries.unindexed, [accountId, upTo]);
    const numbers = cutSlice(left);
    if (numbers.length === 0) return false;
    const labels = (await read(transaction, numbers)).map(({ number, metadata: text }) => {
      return { number, metadata: JSON.parse(text) as JsonObject };
    });
    await metadata.add(transaction, account, labels);
    await transaction.run(noteIndexed, [numbers]);
    return true;
  }

  /** All that there is now: what comes meanwhile would never end. */
  async function catchUp(accountId: string): Promise<void> {
    const newest = await heavy.get<{ number: number }>(labelQueries.newest, [accountId]);
    if (newest === null) return;
    const index = (transaction: Transaction) => indexSlice(transaction, accountId, newest.number);
    while (await engine.changeHeavy(accountId, index));
  }

  return {
    read: (numbers: readonly number[]) => read(heavy, numbers),

    async *walk(accountId: string, filters: readonly MetadataFilter[]): AsyncGenerator<UsageLabel[]> {
      await catchUp(accountId);
      const account = await changes.findAccountNumber(heavy, accountId);
      if (account === null) return;
      for await (const numbers of metadata.walk(heavy, account, filters, Number.MAX_SAFE_INTEGER, labelsPerWalk)) {
        yield heavy.all<UsageLabel>(labelQueries.companions, [numbers]);
      }
    },
  };
}
