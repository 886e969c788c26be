/** What every storage engine must do with sources. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Account } from "../../src/domain/account.ts";
import type { Companion } from "../../src/domain/companion.ts";
import { maxSources } from "../../src/domain/knowledge.ts";
import { systemIds } from "../../src/lib/ids.ts";
import { sha256Hex } from "../../src/lib/sha256.ts";
import { eventually } from "../support/eventually.ts";
import { indexSource, makeSource, newSource, newUpload, readUpload } from "../support/indexed-source.ts";
import { firstPage, type OpenStore, openWorld, type StoreWorld } from "../support/store-world.ts";

export function sourceContract(open: OpenStore): void {
  describe("sources", () => {
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
        ...{
          companionId: companion.id,
          slug: null,
          status: "queued",
          error: null,
          chunks: 0,
          bytes: 0,
          contentHash: null,
        },
        uploadHash: sha256Hex(words),
        ...{ indexedAt: null, refreshAt: null, progress: null, createdAt: world.clock.nowMs() },
        updatedAt: world.clock.nowMs(),
      });
      expect(await find(source.id)).toEqual(made);
      expect(await readUpload(world, upload?.id ?? "")).toBe(words);
      expect(await idempotency.find(slot, world.clock.nowMs())).toMatchObject({ status: 202 });
      const trail = await audit.list(account.id, { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER }, firstPage);
      expect(trail.items[0]).toMatchObject({ action: "source.create", targetId: source.id });
      expect(JSON.stringify(trail)).not.toMatch(/Prices|shop\.example/);
    });

    test("has the hash that its upload came with: to hash 20 MB would hold up all writes", async () => {
      const { knowledge } = world.store;
      const one = { ...newUpload("words"), hash: "1".repeat(64) };
      const { id } = await makeSource(world, companion, { upload: one });
      expect(await find(id)).toMatchObject({ uploadHash: one.hash });
      const other = { ...newUpload("other words"), hash: "2".repeat(64) };
      await knowledge.replace(account.id, companion.id, id, { upload: other }, world.context());
      expect(await find(id)).toMatchObject({ uploadHash: other.hash });
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

    test("is listed for the whole account too, by status where that is asked for", async () => {
      const { knowledge } = world.store;
      const second = await world.createCompanion(account);
      const stranger = await world.createCompanion(await world.createAccount());
      const ids: string[] = [];
      for (const of of [companion, second, companion]) ids.push((await makeSource(world, of)).id);
      await makeSource(world, stranger);
      const first = await knowledge.listOfAccount(account.id, null, { limit: 2, afterId: null });
      expect(first.items).toMatchObject([
        { id: ids[2], companionId: companion.id },
        { id: ids[1], companionId: second.id },
      ]);
      const page = { limit: 2, afterId: first.nextAfterId };
      expect(await knowledge.listOfAccount(account.id, "queued", page)).toMatchObject({
        items: [{ id: ids[0] }],
        nextAfterId: null,
      });
      expect((await knowledge.listOfAccount(account.id, "failed", firstPage)).items).toEqual([]);
    });

    test("is refused beyond the most that a companion has, however many come at once, and leaves no upload", async () => {
      const { knowledge } = world.store;
      const fetched = { type: "url", url: "https://shop.example", upload: null } as const;
      // Changes of an account wait for each other, and not for long: hundreds at once would be a test of the machine.
      for (let missing = maxSources - 1; missing > 0; missing -= 25) {
        const some = Array.from({ length: Math.min(missing, 25) }, () => makeSource(world, companion, fetched));
        await Promise.all(some);
      }
      const uploads = [newUpload("one"), newUpload("two"), newUpload("three")];
      const outcomes = await Promise.allSettled(uploads.map((upload) => makeSource(world, companion, { upload })));
      expect(outcomes.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected", "rejected"]);
      for (const [at, outcome] of outcomes.entries()) {
        if (outcome.status === "fulfilled") continue;
        expect(outcome.reason).toMatchObject({ code: "conflict" });
        await eventually(async () => (await readUpload(world, uploads[at]?.id ?? "")) === null);
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

    test("deleted, or with its companion or account, answers no more, and nothing of it is left", async () => {
      const { accounts, companions, knowledge } = world.store;
      const pending = newUpload("to be read");
      const written = newUpload("as it was written");
      const { source, edition } = await indexSource(world, companion, ["gone"], { upload: written });
      expect(await readUpload(world, written.id)).toBe("as it was written");
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
      await eventually(async () => (await readUpload(world, written.id)) === null);
      expect(await knowledge.readEdition(other.edition, 0)).toHaveLength(1);

      await companions.delete(account.id, companion.id, world.context());
      const claim = { nowMs: world.clock.nowMs(), leaseMs: 1, afterAccountId: null, exceptAccountIds: [] };
      expect(await knowledge.claim(claim)).toBeNull();
      await eventually(() => isGone(other.edition));
      await eventually(async () => (await readUpload(world, pending.id)) === null);
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
      await eventually(async () => (await readUpload(world, missing.upload?.id ?? "")) === null);
      expect(await knowledge.purge(world.clock.nowMs() + 7_200_000, 10)).toBe(0);
      expect(await readUpload(world, kept.id)).toBe("kept");
    });
  });
}
