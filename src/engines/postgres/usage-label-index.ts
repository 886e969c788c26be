/** Finds labels of usage by metadata. New labels get into the index with a query, not while turns settle. */
import type { MetadataFilter } from "../../contracts/store/companions.ts";
import type { JsonObject } from "../../domain/companion.ts";
import { cutSlice } from "../store-shared/rows/usage-labels.ts";
import type { UsageLabel } from "../store-shared/rows/usage-reader.ts";
import type { PostgresEngine } from "./engine.ts";
import { createMetadataIndex } from "./metadata-index.ts";
import type { Queries } from "./queries.ts";
import type { ChangeRecorder } from "./scripts.ts";
import type { Transaction } from "./transaction.ts";

const labelsPerWalk = 500;
const labelsPerSlice = 400;

export const labelQueries = {
  // Compared and sorted as rows: only one index has them so.
  unindexed: `SELECT l.number::float8 AS number, length(l.metadata) AS size FROM usage_labels l
    WHERE (l.account_id, l.is_indexed, l.number) > ($1, false, $2::float8::bigint)
      AND (l.account_id, l.is_indexed, l.number) <= ($1, false, $3::float8::bigint)
    ORDER BY l.account_id, l.is_indexed, l.number LIMIT ${labelsPerSlice}`,
  newest: `SELECT l.number::float8 AS number FROM usage_labels l
    WHERE (l.account_id, l.is_indexed, l.number) >= ($1, false, 0) AND (l.account_id, l.is_indexed, l.number) < ($1, true, 0)
    ORDER BY l.account_id DESC, l.is_indexed DESC, l.number DESC LIMIT 1`,
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

  /**
   * Returns the last one that is in the index now, or null if nothing is left. Holds the account's lock: so do other
   * servers, and those that delete the account.
   */
  async function indexSlice(
    transaction: Transaction,
    accountId: string,
    [above, upTo]: [number, number],
  ): Promise<number | null> {
    const account = await changes.findAccountNumber(transaction, accountId);
    if (account === null) return null;
    const parameters = [accountId, above, upTo];
    const left = await transaction.all<{ number: number; size: number }>(labelQueries.unindexed, parameters);
    const numbers = cutSlice(left);
    const last = numbers.at(-1);
    if (last === undefined) return null;
    const labels = (await read(transaction, numbers)).map(({ number, metadata: text }) => {
      return { number, metadata: JSON.parse(text) as JsonObject };
    });
    await metadata.add(transaction, account, labels);
    await transaction.run(noteIndexed, [numbers]);
    return last;
  }

  /** All that there is now: what comes meanwhile would never end. */
  async function catchUp(accountId: string): Promise<void> {
    const newest = await heavy.get<{ number: number }>(labelQueries.newest, [accountId]);
    if (newest === null) return;
    for (let above: number | null = 0; above !== null; ) {
      const range: [number, number] = [above, newest.number];
      above = await engine.changeHeavy(accountId, (transaction) => indexSlice(transaction, accountId, range));
    }
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
