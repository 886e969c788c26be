/** Whose sources are read while others wait for slow websites. */
import { expect, test } from "bun:test";
import type { Claim, ClaimedSource } from "../../src/contracts/store/store.ts";
import { createIndexer } from "../../src/core/knowledge/indexing/indexer.ts";
import type { IndexerParts } from "../../src/core/knowledge/indexing/parts.ts";
import { eventually } from "../support/eventually.ts";

test("websites that take long leave room for others' sources", async () => {
  let nowMs = 1_000_000;
  const claimed: string[] = [];
  const knowledge = {
    async claim({ exceptAccountIds }: Claim) {
      const accountId = `account-${exceptAccountIds.length}`;
      claimed.push(accountId);
      return {
        accountId,
        source: { id: accountId, type: "sitemap", url: "https://a.example" },
        edition: null,
      } as ClaimedSource;
    },
    ...{ findNextDue: async () => nowMs, purge: async () => 0, renew: async () => true, release: async () => true },
  };
  const waitForever = (_: unknown, signal: AbortSignal) =>
    new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  const indexer = createIndexer({
    store: { knowledge } as unknown as IndexerParts["store"],
    reader: { close: async () => {} } as IndexerParts["reader"],
    fetcher: { fetch: waitForever as never, listPages: waitForever },
    ...{ isShared: false, embedding: null, clock: { nowMs: () => nowMs } },
    log: { info() {}, warn() {}, error() {} },
  });
  /** As the timer does after a while. */
  const pass = async (timeMs: number, count: number) => {
    nowMs += timeMs;
    indexer.wake();
    await eventually(() => claimed.length >= count);
    // Whatever it would take beyond these is taken by now.
    await new Promise((resolve) => setImmediate(resolve));
    expect(claimed).toHaveLength(count);
  };
  await pass(0, 3);
  await pass(9_000, 3);
  await pass(1_000, 6);
  for (const count of [9, 12, 15, 16, 16]) await pass(10_000, count);
  await indexer.close();
  expect(new Set(claimed).size).toBe(16);
});

test("a source that is taken while the server stops is given back before it has stopped", async () => {
  const taken = Promise.withResolvers<ClaimedSource>();
  const isAsked = Promise.withResolvers<void>();
  const happened: string[] = [];
  const claims: Promise<ClaimedSource | null>[] = [taken.promise];
  const knowledge = {
    claim() {
      isAsked.resolve();
      return claims.shift() ?? Promise.resolve(null);
    },
    async release() {
      // As long as a database takes.
      await new Promise((resolve) => setImmediate(resolve));
      happened.push("released");
      return true;
    },
    ...{ findNextDue: async () => null, purge: async () => 0, renew: async () => true },
  };
  const refuse = (_: unknown, signal: AbortSignal) => Promise.reject(signal.reason);
  const indexer = createIndexer({
    store: { knowledge } as unknown as IndexerParts["store"],
    reader: { close: async () => void happened.push("closed") } as IndexerParts["reader"],
    fetcher: { fetch: refuse as never, listPages: refuse },
    ...{ isShared: false, embedding: null, clock: { nowMs: () => 1 } },
    log: { info() {}, warn() {}, error() {} },
  });
  indexer.wake();
  await isAsked.promise;
  const closed = indexer.close();
  const source = { id: "source", type: "sitemap", url: "https://a.example" };
  taken.resolve({ accountId: "account", source, edition: null } as ClaimedSource);
  await closed;
  expect(happened).toEqual(["released", "closed"]);
});
