/** Finds labels of usage by metadata. New labels get into the index with a query, not while turns settle. */
import type { MetadataFilter } from "../../contracts/store/companions.ts";
import type { JsonObject } from "../../domain/companion.ts";
import { pause } from "../../lib/pause.ts";
import { cutSlice, maxLabelsPerSlice } from "../store-shared/rows/usage-labels.ts";
import type { UsageLabel } from "../store-shared/rows/usage-reader.ts";
import { createAccountNumberFinder, type SqliteEngine } from "./engine.ts";
import { createMetadataIndex } from "./metadata-index.ts";

export const labelQueries = {
  unindexed: `SELECT number, length(metadata) AS size FROM usage_labels
     WHERE account_id = ? AND is_indexed = 0 AND number <= ? ORDER BY number LIMIT ?`,
  newest: "SELECT max(number) AS number FROM usage_labels WHERE account_id = ? AND is_indexed = 0",
  companions:
    "SELECT l.number, l.companion_id AS companionId FROM json_each(?) n JOIN usage_labels l ON l.number = n.value",
  metadata: "SELECT l.number, l.metadata FROM json_each(?) n JOIN usage_labels l ON l.number = n.value",
};

export function createLabelIndex(engine: SqliteEngine) {
  const metadata = createMetadataIndex(engine, "usage_label_metadata");
  const findAccountNumber = createAccountNumberFinder(engine);
  const selectUnindexed = engine.query<{ number: number; size: number }, [string, number, number]>(
    labelQueries.unindexed,
  );
  const selectNewest = engine.query<{ number: number | null }, [string]>(labelQueries.newest);
  const selectCompanions = engine.query<UsageLabel, [string]>(labelQueries.companions);
  const selectMetadata = engine.query<{ number: number; metadata: string }, [string]>(labelQueries.metadata);
  const noteIndexed = engine.query<null, [string]>(
    "UPDATE usage_labels SET is_indexed = 1 WHERE number IN (SELECT value FROM json_each(?))",
  );

  const read = (numbers: readonly number[]) => selectMetadata.all(JSON.stringify(numbers));

  /** False if nothing is left. Another process may have been faster: what is left is read inside the write. */
  function indexSlice(accountId: string, upTo: number): boolean {
    const account = findAccountNumber(accountId);
    const numbers = cutSlice(selectUnindexed.all(accountId, upTo, maxLabelsPerSlice));
    if (account === null || numbers.length === 0) return false;
    const labels = read(numbers).map(({ number, metadata: text }) => {
      return { number, metadata: JSON.parse(text) as JsonObject };
    });
    metadata.add(account, labels);
    noteIndexed.run(JSON.stringify(numbers));
    return true;
  }

  /** All that there is now: what comes meanwhile would never end. */
  async function catchUp(accountId: string): Promise<void> {
    const newest = (await engine.read(() => selectNewest.get(accountId)))?.number ?? null;
    if (newest === null) return;
    while (await engine.write(() => indexSlice(accountId, newest))) await pause();
  }

  function readNext(accountId: string, filters: readonly MetadataFilter[], below: number) {
    const account = findAccountNumber(accountId);
    if (account === null) return null;
    for (const numbers of metadata.walk(account, filters, below)) {
      return { numbers, labels: selectCompanions.all(JSON.stringify(numbers)) };
    }
    return null;
  }

  return {
    read,

    async *walk(accountId: string, filters: readonly MetadataFilter[]): AsyncGenerator<UsageLabel[]> {
      await catchUp(accountId);
      for (let below = Number.MAX_SAFE_INTEGER; ; ) {
        const found = await engine.snapshot(() => readNext(accountId, filters, below));
        if (found === null) return;
        below = found.numbers.at(-1) ?? 0;
        yield found.labels;
        await pause();
      }
    },
  };
}
