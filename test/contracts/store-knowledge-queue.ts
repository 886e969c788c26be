/** What every storage engine must do with the queue of sources that are to be read. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { SourceCheck } from "../../src/contracts/store/store.ts";
import type { Account } from "../../src/domain/account.ts";
import type { Companion } from "../../src/domain/companion.ts";
import { AppError } from "../../src/domain/errors.ts";
import type { Source } from "../../src/domain/knowledge.ts";
import { systemIds } from "../../src/lib/ids.ts";
import { eventually } from "../support/eventually.ts";
import {
  claimNext,
  indexSource,
  makeSource,
  newFacts,
  newFailure,
  newUpload,
  publishNext,
  readUpload,
  writeEdition,
} from "../support/indexed-source.ts";
import { type OpenStore, openWorld, type StoreWorld } from "../support/store-world.ts";

export function sourceQueueContract(open: OpenStore): void {
  describe("the queue of sources", () => {
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
      expect(await knowledge.fail(claimed, newFailure({}), nowMs)).toBe(false);
      expect(await knowledge.confirm(claimed, { notice: null, refreshAt: null, validators: [] }, nowMs)).toBe(false);
    });

    test("answers on where what was published is published again, or is said to have failed", async () => {
      const { knowledge } = world.store;
      await makeSource(world, companion);
      const claimed = await claimNext(world);
      const edition = await writeEdition(world, claimed, ["kept"]);
      const publish = () => knowledge.publish(claimed, edition, newFacts(), world.clock.nowMs());
      expect([await publish(), await publish()]).toEqual(["published", "outdated"]);
      expect(await knowledge.fail(claimed, newFailure({ edition }), world.clock.nowMs())).toBe(false);
      expect(await knowledge.readPassages(companion.id, [{ edition, ordinal: 0 }])).toMatchObject([{ text: "kept" }]);
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
      await eventually(async () => (await readUpload(world, early.id)) === null);
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

    test("tells its versions apart, of one moment too, and not as it is read; a change is checked where it is made", async () => {
      const { knowledge } = world.store;
      const { source } = await indexSource(world, companion, ["words"]);
      const change = (text: string, check?: SourceCheck) =>
        knowledge.replace(account.id, companion.id, source.id, { upload: newUpload(text) }, world.context(), check);
      const first = await change("one");
      const second = await change("two");
      expect(second?.updatedAt).toBeGreaterThan(first?.updatedAt ?? 0);
      world.clock.advance(5_000);
      const { id } = source;
      const nowMs = world.clock.nowMs();
      await knowledge.refresh(account.id, companion.id, id, world.context());
      await knowledge.release(await claimNext(world), nowMs);
      await knowledge.fail(await claimNext(world), newFailure({ again: true, dueAt: nowMs }), nowMs);
      await publishNext(world, ["two"]);
      await knowledge.refresh(account.id, companion.id, id, world.context());
      await knowledge.confirm(await claimNext(world), { notice: null, refreshAt: null, validators: [] }, nowMs);
      expect((await find(id))?.updatedAt).toBe(second?.updatedAt ?? 0);

      const refuse = (current: Source) => {
        expect(current.updatedAt).toBe(second?.updatedAt ?? 0);
        throw new AppError("precondition_failed", "Another one.");
      };
      await expect(change("three", refuse)).rejects.toMatchObject({ code: "precondition_failed" });
      const removal = knowledge.delete(account.id, companion.id, id, world.context(), refuse);
      await expect(removal).rejects.toMatchObject({ code: "precondition_failed" });
      expect(await find(id)).toMatchObject({ status: "ready", updatedAt: second?.updatedAt });
      const { uploadId } = (await knowledge.findText(account.id, companion.id, id)) ?? { uploadId: "" };
      expect(await readUpload(world, uploadId)).toBe("two");
      expect(await change("three", () => {})).toMatchObject({ updatedAt: nowMs });
      expect(await knowledge.delete(account.id, companion.id, id, world.context(), () => {})).toBe(true);
    });

    test("a text keeps what was written last, whether it was read, said nothing new or failed, and other types do not", async () => {
      const { knowledge } = world.store;
      const [first, second, third] = [newUpload("# One\r\n"), newUpload("# Two"), newUpload("# Three")];
      const nowMs = world.clock.nowMs();
      const { source } = await indexSource(world, companion, ["One"], { upload: first });
      const findText = (id = source.id) => knowledge.findText(account.id, companion.id, id);
      const expectKept = async (upload: typeof first) => {
        expect(await findText()).toEqual({ uploadId: upload.id, bytes: upload.bytes.length });
        expect(await readUpload(world, upload.id)).toBe(new TextDecoder().decode(upload.bytes));
      };
      await expectKept(first);
      const replace = (upload: typeof first) =>
        knowledge.replace(account.id, companion.id, source.id, { upload }, world.context());
      await replace(second);
      await expectKept(second);
      await eventually(async () => (await readUpload(world, first.id)) === null);
      await knowledge.confirm(await claimNext(world), { notice: null, refreshAt: null, validators: [] }, nowMs);
      await replace(third);
      await knowledge.fail(await claimNext(world), newFailure({}), nowMs);
      await eventually(async () => (await readUpload(world, second.id)) === null);
      expect(await knowledge.purge(nowMs + 7_200_000, 10)).toBe(0);
      await expectKept(third);
      const file = await indexSource(world, companion, ["words"], { type: "file" });
      expect(await findText(file.source.id)).toBeNull();
      expect(await knowledge.findText(systemIds.uuid(), companion.id, source.id)).toBeNull();
    });

    test("failing, keeps what answers and its upload while it is tried again, and says why", async () => {
      const { knowledge } = world.store;
      const upload = newUpload("words");
      const { id } = await makeSource(world, companion, { type: "file", upload });
      const nowMs = world.clock.nowMs();
      const first = await claimNext(world);
      const edition = await writeEdition(world, first, ["half"]);
      expect(await knowledge.fail(first, newFailure({ again: true, dueAt: nowMs + 500, edition }), nowMs)).toBe(true);
      expect(await find(id)).toMatchObject({ status: "queued", error: "It did not work.", refreshAt: null });
      expect(await knowledge.findNextDue()).toBe(nowMs + 500);
      expect(await readUpload(world, upload.id)).toBe("words");
      await eventually(async () => (await knowledge.readEdition(edition, 0)).length === 0);
      world.clock.advance(500);
      const second = await claimNext(world);
      expect(second.failures).toBe(1);
      expect(await knowledge.fail(second, newFailure({}), nowMs)).toBe(true);
      expect(await find(id)).toMatchObject({ status: "failed", error: "It did not work.", chunks: 0, refreshAt: null });
      expect(await knowledge.findNextDue()).toBeNull();
      await eventually(async () => (await readUpload(world, upload.id)) === null);

      const again = { upload: newUpload("words") };
      expect(await knowledge.replace(account.id, companion.id, id, again, world.context())).toMatchObject({
        status: "queued",
        error: null,
      });
      await publishNext(world, ["words"]);
      await knowledge.refresh(account.id, companion.id, id, world.context());
      const third = await claimNext(world);
      expect(third.failures).toBe(0);
      expect(await knowledge.fail(third, newFailure({ dueAt: nowMs + 9_000 }), nowMs)).toBe(true);
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
      const validators = [{ place: 0, etag: '"2"', lastModified: "Mon, 23 Nov 2026 06:00:00 GMT" }];
      expect(await knowledge.confirm(claimed, { ...times, validators }, world.clock.nowMs())).toBe(true);
      expect(await knowledge.listDocuments(edition)).toMatchObject(validators);
      const told = { status: "ready", title: "Named anew", indexedAt: world.clock.nowMs(), refreshAt: times.refreshAt };
      expect(await find(source.id)).toMatchObject(told);
      expect(await knowledge.listEditions(companion.id)).toMatchObject([{ edition }]);
    });
  });
}
