/** What every storage engine must do with what was read of sources, and its index. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Account } from "../../src/domain/account.ts";
import type { Companion } from "../../src/domain/companion.ts";
import { maxChunks } from "../../src/domain/knowledge.ts";
import { eventually } from "../support/eventually.ts";
import {
  claimNext,
  indexSource,
  makeSource,
  newFacts,
  newFailure,
  publishNext,
  readUpload,
  writeEdition,
} from "../support/indexed-source.ts";
import { type OpenStore, openWorld, type StoreWorld } from "../support/store-world.ts";

export function knowledgeIndexContract(open: OpenStore): void {
  describe("what was read of a source", () => {
    let world: StoreWorld;
    let account: Account;
    let companion: Companion & { embedToken: string };
    beforeEach(async () => {
      world = await openWorld(open);
      account = await world.createAccount();
      companion = await world.createCompanion(account);
    });
    afterEach(() => world.close());

    const find = (id: string) => world.store.knowledge.find(account.id, companion.id, id);

    test("answers as it was read: sums, passages with where they come from, postings", async () => {
      const { knowledge } = world.store;
      const { id } = await makeSource(world, companion, {
        title: "Site",
        url: "https://shop.example",
        type: "sitemap",
      });
      const claimed = await claimNext(world);
      const nowMs = world.clock.nowMs();
      const edition = (await knowledge.openEdition(claimed, "small", nowMs)) ?? -1;
      const document = { contentHash: "h", etag: "e", lastModified: "l" };
      const documents = [
        { ...document, place: 0, url: "https://shop.example/a", title: "A", firstOrdinal: 0, chunks: 3 },
        { ...document, place: 1, url: null, title: "B", firstOrdinal: 3, chunks: 1 },
      ];
      const first = [1, 2].map((page) => ({ page, heading: `A > ${page}`, text: `page ${page} \u0000 "🧵"` }));
      const parts = [
        { firstOrdinal: 0, chunks: first },
        { firstOrdinal: 2, chunks: [{ page: 3, heading: null, text: "three" }] },
      ];
      const last = { firstOrdinal: 3, chunks: [{ page: null, heading: null, text: "x".repeat(20_000) }] };
      const posting = { block: 0, term: 2 ** 53 - 1, entries: new Uint8Array([0, 255]) };
      expect(await knowledge.append(edition, { documents, parts, postings: [posting] })).toBe(true);
      const vectors = [{ firstOrdinal: 0, vectors: new Uint8Array([7, 0]) }];
      const postings = [
        { ...posting, block: 1 },
        { ...posting, term: 0 },
      ];
      expect(await knowledge.append(edition, { parts: [last], postings, vectors })).toBe(true);
      expect(await knowledge.listEditions(companion.id)).toEqual([]);
      const refs = [3, 1, 0, 2, 4].map((ordinal) => ({ edition, ordinal }));
      expect(await knowledge.readPassages(companion.id, refs)).toEqual([]);

      const facts = newFacts({ title: "Shop", chunks: 4, words: 9, tokens: 8, notice: "It was cut.", refreshAt: 99 });
      expect(await knowledge.publish(claimed, edition, facts, nowMs)).toBe("published");
      const sums = { chunks: 4, tokens: 8, words: 9, model: "small" };
      expect(await knowledge.listEditions(companion.id)).toEqual([{ edition, sourceId: id, ...sums }]);
      const told = { status: "ready", error: "It was cut.", refreshAt: 99, indexedAt: nowMs, contentHash: "hash" };
      expect(await find(id)).toMatchObject({ ...told, title: "Shop", chunks: 4, bytes: 5, progress: null });
      expect(await knowledge.readPassages(companion.id, refs)).toEqual([
        { edition, ordinal: 3, sourceId: id, title: "B", url: "https://shop.example", ...last.chunks[0] } as never,
        { edition, ordinal: 1, sourceId: id, title: "A", url: "https://shop.example/a", ...first[1] } as never,
        { edition, ordinal: 0, sourceId: id, title: "A", url: "https://shop.example/a", ...first[0] } as never,
        {
          edition,
          ordinal: 2,
          sourceId: id,
          title: "A",
          url: "https://shop.example/a",
          ...parts[1]?.chunks[0],
        } as never,
      ]);
      const listed = await knowledge.listPassages(account.id, companion.id, id, { firstOrdinal: 1, limit: 2 });
      expect(listed?.map(({ ordinal }) => ordinal)).toEqual([1, 2]);
      expect(await knowledge.listDocuments(edition)).toEqual(documents);
      expect(await knowledge.readEdition(edition, 0)).toEqual([...parts, last]);
      expect(await knowledge.readEdition(edition, 4)).toEqual([]);
      expect((await knowledge.readEdition(edition, 1))[0]).toEqual(parts[0] as never);
      expect(await knowledge.readVectors(edition, 0)).toEqual(vectors);
      const found = await knowledge.findPostings([edition, 999], [0, 5, 2 ** 53 - 1]);
      const inOrder = found.toSorted((one, other) => one.term - other.term || one.block - other.block);
      expect(inOrder).toEqual([
        { ...posting, term: 0, edition },
        { ...posting, edition },
        { ...posting, block: 1, edition },
      ]);
      expect(found[0]?.entries.at(-1)).toBe(255);
      expect(await knowledge.readUpload(claimed.uploadId ?? "", 99)).toBeNull();
      await eventually(async () => (await readUpload(world, claimed.uploadId ?? "")) === null);
    });

    test("is refused beyond the most passages of a companion, its own earlier ones not counted", async () => {
      const { knowledge } = world.store;
      const half = maxChunks / 2;
      const made = [await makeSource(world, companion), await makeSource(world, companion)];
      await publishNext(world, ["one"], { chunks: half });
      await publishNext(world, ["two"], { chunks: half });
      await makeSource(world, companion);
      const claimed = await claimNext(world);
      const edition = await writeEdition(world, claimed, ["too many"]);
      expect(await knowledge.publish(claimed, edition, newFacts(), 1)).toBe("too_many_chunks");
      expect(await knowledge.append(edition, {})).toBe(false);
      expect(await knowledge.fail(claimed, newFailure({ edition }), 1)).toBe(true);
      await knowledge.refresh(account.id, companion.id, made[0]?.id ?? "", world.context());
      await publishNext(world, ["one"], { chunks: half });
      expect(await knowledge.listEditions(companion.id)).toHaveLength(2);
    });

    test("vectors of another model are replaced in slices, until then there are none", async () => {
      const { knowledge } = world.store;
      const { edition, source } = await indexSource(world, companion, ["one", "two"]);
      const place = { edition, chunks: 2, accountId: account.id, companionId: companion.id, keyId: null };
      const block = (firstOrdinal: number, value: number) => ({ firstOrdinal, vectors: new Uint8Array([value]) });
      expect(await knowledge.listUnembedded("small", 0, 10)).toEqual([{ ...place, model: null }]);
      expect(await knowledge.replaceVectors(edition, "small", [block(0, 1)], false)).toBe(true);
      expect(await knowledge.listUnembedded("small", 0, 10)).toEqual([{ ...place, model: "small" }]);
      expect(await knowledge.replaceVectors(edition, "small", [block(1, 2)], true)).toBe(true);
      expect(await knowledge.listUnembedded("small", 0, 10)).toEqual([]);
      expect(await knowledge.readVectors(edition, 1)).toEqual([block(1, 2)]);
      expect(await knowledge.listUnembedded("large", edition, 10)).toEqual([]);
      for (const model of ["large", "tiny"]) {
        expect(await knowledge.listUnembedded(model, 0, 10)).toEqual([{ ...place, model: "small" }]);
      }
      expect(await knowledge.replaceVectors(edition, "large", [block(0, 9)], true)).toBe(true);
      expect(await knowledge.readVectors(edition, 0)).toEqual([block(0, 9)]);
      expect(await knowledge.listEditions(companion.id)).toMatchObject([{ model: "large" }]);
      await knowledge.delete(account.id, companion.id, source.id, world.context());
      expect(await knowledge.replaceVectors(edition, "large", [block(0, 9)], true)).toBe(false);
      expect(await knowledge.listUnembedded("small", 0, 10)).toEqual([]);
    });
  });
}
