/** What every storage engine must do with sources, their queue and their index. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Account } from "../../src/domain/account.ts";
import type { Companion } from "../../src/domain/companion.ts";
import { maxChunks, maxSources } from "../../src/domain/knowledge.ts";
import { systemIds } from "../../src/lib/ids.ts";
import { eventually } from "../support/eventually.ts";
import {
  claimNext,
  indexSource,
  makeSource,
  newFacts,
  newSource,
  newUpload,
  publishNext,
  writeEdition,
} from "../support/indexed-source.ts";
import { firstPage, type OpenStore, openWorld, type StoreWorld } from "../support/store-world.ts";

export function knowledgeStoreContract(open: OpenStore): void {
  describe("knowledge", () => {
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

    async function readUpload(id: string): Promise<string | null> {
      const pieces: Uint8Array[] = [];
      for (let piece = 0; ; piece++) {
        const bytes = await world.store.knowledge.readUpload(id, piece);
        if (bytes === null) break;
        expect(bytes.byteLength).toBeLessThanOrEqual(1024 * 1024);
        pieces.push(bytes);
      }
      return pieces.length === 0 ? null : Buffer.concat(pieces).toString();
    }

    test("is queued as it was made, with its upload whole, its audit entry and its answer in the same commit", async () => {
      const { knowledge, audit, idempotency } = world.store;
      const slot = { accountId: account.id, method: "POST", path: "/sources", key: "k" };
      const idempotent = { slot, bodyHash: "h", status: 202, body: "{}" };
      const words = `${"é".repeat(600_000)} end`;
      const source = newSource({ title: "Prices", url: "https://shop.example/p", upload: newUpload(words) });
      const made = await knowledge.create(account.id, companion.id, source, world.context({ idempotent }));
      const { upload, ...named } = source;
      expect(made).toEqual({
        ...named,
        ...{ companionId: companion.id, status: "queued", error: null, chunks: 0, bytes: 0, contentHash: null },
        ...{ indexedAt: null, refreshAt: null, progress: null, createdAt: world.clock.nowMs() },
      });
      expect(await find(source.id)).toEqual(made);
      expect(await readUpload(upload?.id ?? "")).toBe(words);
      expect(await idempotency.find(slot, world.clock.nowMs())).toMatchObject({ status: 202 });
      const trail = await audit.list(account.id, { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER }, firstPage);
      expect(trail.items[0]).toMatchObject({ action: "source.create", targetId: source.id });
      expect(JSON.stringify(trail)).not.toMatch(/Prices|shop\.example/);
    });

    test("is out of reach for other accounts and companions", async () => {
      const { knowledge } = world.store;
      const stranger = await world.createAccount();
      const neighbour = await world.createCompanion(account);
      const { source, edition } = await indexSource(world, companion, ["words"]);
      for (const [owner, place] of [
        [stranger.id, companion.id],
        [account.id, neighbour.id],
      ] as const) {
        expect(await knowledge.find(owner, place, source.id)).toBeNull();
        expect(await knowledge.replace(owner, place, source.id, { title: "x" }, world.context())).toBeNull();
        expect(await knowledge.refresh(owner, place, source.id, world.context())).toBeNull();
        expect(await knowledge.delete(owner, place, source.id, world.context())).toBe(false);
        const range = { firstOrdinal: 0, limit: 5 };
        expect(await knowledge.listPassages(owner, place, source.id, range)).toBeNull();
      }
      expect(await knowledge.create(stranger.id, companion.id, newSource(), world.context())).toBeNull();
      expect(await knowledge.list(stranger.id, companion.id, firstPage)).toBeNull();
      expect(await knowledge.readPassages(neighbour.id, [{ edition, ordinal: 0 }])).toEqual([]);
      expect(await find(source.id)).toMatchObject({ status: "ready", title: "Terms" });
    });

    test("is listed by creation in pages that deletions do not shift", async () => {
      const { knowledge } = world.store;
      const ids: string[] = [];
      for (let at = 0; at < 5; at++) ids.push((await makeSource(world, companion)).id);
      const first = await knowledge.list(account.id, companion.id, { limit: 2, afterId: null });
      expect(first?.items.map(({ id }) => id)).toEqual([ids[4], ids[3]] as string[]);
      await knowledge.delete(account.id, companion.id, ids[3] ?? "", world.context());
      const page = { limit: 9, afterId: first?.nextAfterId ?? null };
      const second = await knowledge.list(account.id, companion.id, page);
      expect(second).toMatchObject({ items: [{ id: ids[2] }, { id: ids[1] }, { id: ids[0] }], nextAfterId: null });
      const oldest = await knowledge.list(account.id, companion.id, { limit: 1, afterId: null, order: "asc" });
      expect(oldest?.items.map(({ id }) => id)).toEqual([ids[0]] as string[]);
    });

    test("is refused beyond the most that a companion has, however many come at once, and leaves no upload", async () => {
      const { knowledge } = world.store;
      const fetched = { type: "url", url: "https://shop.example", upload: null } as const;
      const many = Array.from({ length: maxSources - 1 }, () => makeSource(world, companion, fetched));
      await Promise.all(many);
      const uploads = [newUpload("one"), newUpload("two"), newUpload("three")];
      const outcomes = await Promise.allSettled(uploads.map((upload) => makeSource(world, companion, { upload })));
      expect(outcomes.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected", "rejected"]);
      for (const [at, outcome] of outcomes.entries()) {
        if (outcome.status === "fulfilled") continue;
        expect(outcome.reason).toMatchObject({ code: "conflict" });
        await eventually(async () => (await readUpload(uploads[at]?.id ?? "")) === null);
      }
      const page = await knowledge.list(account.id, companion.id, { limit: 1000, afterId: null });
      expect(page?.items).toHaveLength(maxSources);
    });

    test("makes its companion one with sources from the first to the last, at once behind its token", async () => {
      const { companions, knowledge } = world.store;
      const seen = async () => (await companions.findByEmbedToken(companion.embedToken))?.companion.hasSources;
      expect(await seen()).toBe(false);
      const one = await makeSource(world, companion);
      expect(await seen()).toBe(true);
      const other = await makeSource(world, companion);
      await knowledge.delete(account.id, companion.id, one.id, world.context());
      expect(await seen()).toBe(true);
      await knowledge.delete(account.id, companion.id, other.id, world.context());
      expect(await seen()).toBe(false);
      expect(await companions.find(account.id, companion.id)).toMatchObject({ hasSources: false });
    });

    test("is claimed by one reader alone, until its lease is over, which counts as a failure", async () => {
      const { knowledge } = world.store;
      expect(await knowledge.findNextDue()).toBeNull();
      const { id } = await makeSource(world, companion, { upload: newUpload("hello") });
      const nowMs = world.clock.nowMs();
      expect(await knowledge.findNextDue()).toBe(nowMs);
      const claim = { nowMs, leaseMs: 60_000, afterAccountId: null, exceptAccountIds: [] };
      const claims = await Promise.all([knowledge.claim(claim), knowledge.claim(claim)]);
      const [claimed] = claims.filter((one) => one !== null);
      expect(claims.filter((one) => one === null)).toHaveLength(1);
      if (claimed === undefined) throw new Error("nobody has it");
      expect(claimed).toMatchObject({ accountId: account.id, kind: "text", edition: null, failures: 0, keyId: null });
      expect(claimed.source).toMatchObject({ id, status: "indexing", progress: null });
      expect(await knowledge.findNextDue()).toBe(nowMs + 60_000);
      expect(await knowledge.renew(claimed, nowMs + 90_000, { done: 2, total: 5 })).toBe(true);
      expect(await find(id)).toMatchObject({ status: "indexing", progress: { done: 2, total: 5 } });
      expect(await knowledge.claim({ ...claim, nowMs: nowMs + 60_001 })).toBeNull();

      const begun = await writeEdition(world, claimed, ["lost"]);
      const second = await knowledge.claim({ ...claim, nowMs: nowMs + 90_000 });
      expect(second).toMatchObject({ source: { id, progress: null }, failures: 1 });
      expect(await knowledge.renew(claimed, nowMs + 99_000, null)).toBe(false);
      expect(await knowledge.append(begun, { vectors: [] })).toBe(false);
      expect(await knowledge.openEdition(claimed, null, nowMs)).toBeNull();
      expect(await knowledge.publish(claimed, begun, newFacts(), nowMs)).toBe("outdated");
      expect(await knowledge.fail(claimed, failureOf({}), nowMs)).toBe(false);
      expect(await knowledge.confirm(claimed, { notice: null, refreshAt: null }, nowMs)).toBe(false);
    });

    test("given back is due again at once, and counts no failure", async () => {
      const { knowledge } = world.store;
      const { id } = await makeSource(world, companion);
      const claimed = await claimNext(world);
      const begun = await writeEdition(world, claimed, ["lost"]);
      expect(await knowledge.release(claimed, world.clock.nowMs())).toBe(true);
      expect(await knowledge.release(claimed, world.clock.nowMs())).toBe(false);
      expect(await knowledge.append(begun, {})).toBe(false);
      expect(await find(id)).toMatchObject({ status: "queued" });
      expect(await claimNext(world)).toMatchObject({ source: { id }, failures: 0, uploadId: claimed.uploadId });
    });

    test("is read in turns of the accounts, whoever has many, and the oldest of each first", async () => {
      const { knowledge } = world.store;
      const others = [await world.createAccount(), await world.createAccount()];
      const [second, third] = await Promise.all(others.map((other) => world.createCompanion(other)));
      if (second === undefined || third === undefined) throw new Error("two were made");
      const fetched = { type: "url", url: "https://shop.example", upload: null } as const;
      const made: string[] = [];
      for (let at = 0; at < 4; at++) made.push((await makeSource(world, companion, fetched)).id);
      await makeSource(world, second, fetched);
      await makeSource(world, third, fetched);
      const served: string[] = [];
      let own = 0;
      for (let at = 0; at < 6; at++) {
        const last = served.at(-1);
        const claimed = await claimNext(world, last === undefined ? {} : { afterAccountId: last });
        if (claimed.accountId === account.id) expect(claimed.source.id).toBe(made[own++] ?? "");
        served.push(claimed.accountId);
      }
      expect(new Set(served.slice(0, 3)).size).toBe(3);
      expect(served.slice(3)).toEqual([account.id, account.id, account.id]);
      await makeSource(world, second, fetched);
      const claim = { nowMs: world.clock.nowMs(), leaseMs: 1, afterAccountId: null };
      expect(await knowledge.claim({ ...claim, exceptAccountIds: others.map(({ id }) => id) })).toBeNull();
      expect(await knowledge.claim({ ...claim, exceptAccountIds: [account.id] })).not.toBeNull();
    });

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
        { ...document, place: 1, url: null, title: "", firstOrdinal: 3, chunks: 1 },
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
        { edition, ordinal: 3, sourceId: id, title: "Shop", url: "https://shop.example", ...last.chunks[0] } as never,
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
      await eventually(async () => (await readUpload(claimed.uploadId ?? "")) === null);
    });

    test("replaced, answers as before until it was read anew; what was read for an earlier state is dropped", async () => {
      const { knowledge } = world.store;
      const { source, edition } = await indexSource(world, companion, ["old"]);
      const early = newUpload("early");
      await knowledge.replace(account.id, companion.id, source.id, { upload: early }, world.context());
      const outdated = await claimNext(world);
      const begun = await writeEdition(world, outdated, ["early"]);
      const late = newUpload("late");
      const change = { title: "New", url: "https://new.example", refreshHours: 3, upload: late };
      const replaced = await knowledge.replace(account.id, companion.id, source.id, change, world.context());
      const named = { title: "New", url: "https://new.example", refreshHours: 3, createdAt: source.createdAt };
      expect(replaced).toMatchObject({ ...named, status: "queued", error: null, chunks: 1, progress: null });
      expect(await knowledge.publish(outdated, begun, newFacts(), 1)).toBe("outdated");
      expect(await knowledge.append(begun, {})).toBe(false);
      await eventually(async () => (await readUpload(early.id)) === null);
      const ref = { edition, ordinal: 0 };
      expect(await knowledge.readPassages(companion.id, [ref])).toMatchObject([{ text: "old" }]);

      const anew = await publishNext(world, ["late"]);
      expect(await knowledge.readPassages(companion.id, [ref, { edition: anew, ordinal: 0 }])).toMatchObject([
        { text: "late", title: "New" },
      ]);
      expect(await knowledge.listEditions(companion.id)).toMatchObject([{ edition: anew }]);
      await eventually(async () => (await knowledge.readEdition(edition, 0)).length === 0);
      await eventually(async () => (await knowledge.findPostings([edition], [7])).length === 0);
      expect((await knowledge.findPostings([anew], [7])).length).toBe(1);
    });

    test("failing, keeps what answers and its upload while it is tried again, and says why", async () => {
      const { knowledge } = world.store;
      const upload = newUpload("words");
      const { id } = await makeSource(world, companion, { upload });
      const nowMs = world.clock.nowMs();
      const first = await claimNext(world);
      const edition = await writeEdition(world, first, ["half"]);
      expect(await knowledge.fail(first, failureOf({ again: true, dueAt: nowMs + 500, edition }), nowMs)).toBe(true);
      expect(await find(id)).toMatchObject({ status: "queued", error: "It did not work.", refreshAt: null });
      expect(await knowledge.findNextDue()).toBe(nowMs + 500);
      expect(await readUpload(upload.id)).toBe("words");
      await eventually(async () => (await knowledge.readEdition(edition, 0)).length === 0);
      world.clock.advance(500);
      const second = await claimNext(world);
      expect(second.failures).toBe(1);
      expect(await knowledge.fail(second, failureOf({}), nowMs)).toBe(true);
      expect(await find(id)).toMatchObject({ status: "failed", error: "It did not work.", chunks: 0, refreshAt: null });
      expect(await knowledge.findNextDue()).toBeNull();
      await eventually(async () => (await readUpload(upload.id)) === null);

      const again = { upload: newUpload("words") };
      expect(await knowledge.replace(account.id, companion.id, id, again, world.context())).toMatchObject({
        status: "queued",
        error: null,
      });
      await publishNext(world, ["words"]);
      await knowledge.refresh(account.id, companion.id, id, world.context());
      const third = await claimNext(world);
      expect(third.failures).toBe(0);
      expect(await knowledge.fail(third, failureOf({ dueAt: nowMs + 9_000 }), nowMs)).toBe(true);
      const kept = { status: "ready", error: "It did not work.", chunks: 1, refreshAt: nowMs + 9_000 };
      expect(await find(id)).toMatchObject(kept);
      expect(await knowledge.listEditions(companion.id)).toHaveLength(1);
    });

    test("unchanged, is ready again without a new edition", async () => {
      const { knowledge } = world.store;
      const { source, edition } = await indexSource(world, companion, ["same"]);
      await knowledge.replace(account.id, companion.id, source.id, { title: "Named anew" }, world.context());
      const claimed = await claimNext(world);
      expect(claimed).toMatchObject({ edition });
      world.clock.advance(5);
      const times = { notice: null, refreshAt: world.clock.nowMs() + 1_000 };
      expect(await knowledge.confirm(claimed, times, world.clock.nowMs())).toBe(true);
      const told = { status: "ready", title: "Named anew", indexedAt: world.clock.nowMs(), refreshAt: times.refreshAt };
      expect(await find(source.id)).toMatchObject(told);
      expect(await knowledge.readPassages(companion.id, [{ edition, ordinal: 0 }])).toMatchObject([
        { text: "same", title: "Named anew" },
      ]);
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
      expect(await knowledge.fail(claimed, failureOf({ edition }), 1)).toBe(true);
      await knowledge.refresh(account.id, companion.id, made[0]?.id ?? "", world.context());
      await publishNext(world, ["one"], { chunks: half });
      expect(await knowledge.listEditions(companion.id)).toHaveLength(2);
    });

    test("deleted, or with its companion or account, answers no more, and nothing of it is left", async () => {
      const { accounts, companions, knowledge } = world.store;
      const pending = newUpload("to be read");
      const { source, edition } = await indexSource(world, companion, ["gone"]);
      const other = await indexSource(world, companion, ["too"]);
      const neighbour = await world.createCompanion(account);
      const kept = await indexSource(world, neighbour, ["kept"]);
      await makeSource(world, companion, { upload: pending });
      expect(await knowledge.delete(account.id, companion.id, source.id, world.context())).toBe(true);
      expect(await knowledge.delete(account.id, companion.id, source.id, world.context())).toBe(false);
      expect(await find(source.id)).toBeNull();
      expect(await knowledge.readPassages(companion.id, [{ edition, ordinal: 0 }])).toEqual([]);
      expect(await knowledge.listEditions(companion.id)).toMatchObject([{ edition: other.edition }]);
      const isGone = async (number: number) =>
        (await knowledge.readEdition(number, 0)).length === 0 &&
        (await knowledge.listDocuments(number)).length === 0 &&
        (await knowledge.findPostings([number], [7])).length === 0;
      await eventually(() => isGone(edition));
      expect(await knowledge.readEdition(other.edition, 0)).toHaveLength(1);

      await companions.delete(account.id, companion.id, world.context());
      const claim = { nowMs: world.clock.nowMs(), leaseMs: 1, afterAccountId: null, exceptAccountIds: [] };
      expect(await knowledge.claim(claim)).toBeNull();
      await eventually(() => isGone(other.edition));
      await eventually(async () => (await readUpload(pending.id)) === null);
      expect(await knowledge.findNextDue()).toBeNull();
      expect(await knowledge.listEditions(neighbour.id)).toHaveLength(1);
      await accounts.delete(account.id, world.context());
      await eventually(() => isGone(kept.edition));
    });

    test("an upload that came to nothing is removed after an hour, and none that a source refers to", async () => {
      const { knowledge } = world.store;
      const kept = newUpload("kept");
      await makeSource(world, companion, { upload: kept });
      const missing = newSource({ upload: newUpload("lost") });
      expect(await knowledge.create(account.id, systemIds.uuid(), missing, world.context())).toBeNull();
      await eventually(async () => (await readUpload(missing.upload?.id ?? "")) === null);
      expect(await knowledge.purge(world.clock.nowMs() + 7_200_000, 10)).toBe(0);
      expect(await readUpload(kept.id)).toBe("kept");
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

function failureOf(fields: { again?: boolean; dueAt?: number | null; edition?: number | null }) {
  return { sentence: "It did not work.", again: false, dueAt: null, edition: null, ...fields };
}
