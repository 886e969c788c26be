/** What every storage engine must do with the keys that an API key made, and with rotations. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { NewApiKey } from "../../src/contracts/store/store.ts";
import type { Account, ApiKey } from "../../src/domain/account.ts";
import { systemIds } from "../../src/lib/ids.ts";
import { sha256 } from "../../src/lib/sha256.ts";
import { newApiKey, type OpenStore, openWorld, type StoreWorld } from "../support/store-world.ts";

export function keyLineStoreContract(open: OpenStore): void {
  describe("the line of an API key", () => {
    let world: StoreWorld;
    let account: Account;
    beforeEach(async () => {
      world = await openWorld(open);
      account = await world.createAccount();
    });
    afterEach(() => world.close());

    const make = (fields: Partial<NewApiKey> = {}) =>
      world.store.apiKeys.create(account.id, newApiKey(fields), world.context());
    const makeBy = (maker: ApiKey, fields: Partial<NewApiKey> = {}) => make({ createdByKeyId: maker.id, ...fields });
    const askedBy = ({ id }: ApiKey) => {
      const context = world.context();
      return { ...context, actor: { ...context.actor, id } };
    };
    const revoke = ({ id }: ApiKey, by?: ApiKey) =>
      world.store.apiKeys.revoke(account.id, id, by === undefined ? world.context() : askedBy(by), systemIds.uuid);
    const replace = (old: ApiKey, graceMs: number, fields: Partial<NewApiKey> = {}, of = account) => {
      const replacement = { keyId: old.id, endsAt: world.clock.nowMs() + graceMs };
      return world.store.apiKeys.replace(of.id, replacement, newApiKey(fields), world.context(), systemIds.uuid);
    };
    const listIds = async () => (await world.store.apiKeys.list(account.id)).map(({ id }) => id).sort();
    const find = async ({ id }: ApiKey) =>
      (await world.store.apiKeys.list(account.id)).find((key) => key.id === id) ?? null;
    const isFound = async ({ id }: ApiKey) => (await world.store.apiKeys.findByHash(sha256(id))) !== null;

    /** Entries of one key, oldest first. */
    async function trailOf({ id }: ApiKey): Promise<Record<string, unknown>[]> {
      const range = { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER };
      const { items } = await world.store.audit.list(account.id, range, { limit: 100, afterId: null });
      return items
        .filter(({ targetId }) => targetId === id)
        .reverse()
        .map(({ action, details }) => ({ action, ...details }));
    }

    test("ends as a whole when the key is revoked, each with its own audit entry, and no other key with it", async () => {
      const root = await make({ name: "root" });
      const child = await makeBy(root, { name: "child" });
      const grandchild = await makeBy(child, { name: "grandchild" });
      const second = await makeBy(root, { name: "second child" });
      const other = await make({ name: "other" });
      const ofOther = await makeBy(other);
      expect(await find(grandchild)).toMatchObject({ createdByKeyId: child.id });

      const revoked = await revoke(root);
      expect(revoked[0]).toEqual({ id: root.id, name: "root", start: root.start, lastFour: root.lastFour });
      expect(revoked.map(({ name }) => name).sort()).toEqual(["child", "grandchild", "root", "second child"]);
      for (const key of [root, child, grandchild, second]) expect(await isFound(key)).toBe(false);
      expect(await listIds()).toEqual([other.id, ofOther.id].sort());
      expect(await isFound(ofOther)).toBe(true);

      const shown = { start: root.start, last_four: root.lastFour };
      expect((await trailOf(root)).at(-1)).toEqual({ action: "key.revoke", name: "root", ...shown });
      for (const key of [child, grandchild, second]) {
        expect((await trailOf(key)).map(({ action }) => action)).toEqual(["key.create", "key.revoke"]);
        expect((await trailOf(key)).at(-1)).toMatchObject({ name: key.name, ...shown, revoked_with: root.id });
      }
      expect(await revoke(child)).toEqual([]);
    });

    test("ends in the order in which it was created, the key itself first, whichever of them was used last", async () => {
      const { apiKeys, audit } = world.store;
      const middle = await make({ name: "middle" });
      const names = ["a", "b", "c", "d", "e", "f"];
      const line: ApiKey[] = [];
      for (const name of names) line.push(await makeBy(line.at(-3) ?? middle, { name }));
      const use = ({ id }: ApiKey) => ({ keyId: id, requests: 1, lastUsedAt: world.clock.nowMs() });
      for (const key of [middle, ...line.toReversed()]) await apiKeys.recordUses([use(key)], "2026-01-15");

      const inOrder = ["middle", ...names];
      expect((await revoke(middle)).map(({ name }) => name)).toEqual(inOrder);
      const range = { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER };
      const { items } = await audit.list(account.id, range, { limit: names.length + 1, afterId: null });
      expect(items.map(({ details }) => details["name"])).toEqual(inOrder.toReversed());
    });

    test("ends from the middle down", async () => {
      const root = await make();
      const child = await makeBy(root);
      await makeBy(child);
      expect(await revoke(child)).toHaveLength(2);
      expect(await listIds()).toEqual([root.id]);
    });

    test("takes in no key of a maker that is revoked, expired, ends sooner, or is another account's", async () => {
      const { clock } = world;
      const [revoked, ending, foreign] = [await make(), await make({ expiresAt: clock.nowMs() + 1000 }), await make()];
      await revoke(revoked);
      const refusal = { code: "conflict" };
      await expect(makeBy(revoked)).rejects.toMatchObject(refusal);
      await expect(makeBy(ending)).rejects.toMatchObject(refusal);
      await expect(makeBy(ending, { expiresAt: clock.nowMs() + 1001 })).rejects.toMatchObject(refusal);
      const kept = await makeBy(ending, { expiresAt: clock.nowMs() + 1000 });
      clock.advance(1000);
      await expect(makeBy(ending, { expiresAt: clock.nowMs() })).rejects.toMatchObject(refusal);

      const other = await world.createAccount();
      const stolen = newApiKey({ createdByKeyId: foreign.id });
      await expect(world.store.apiKeys.create(other.id, stolen, world.context())).rejects.toMatchObject(refusal);
      expect(await listIds()).toEqual([ending.id, foreign.id, kept.id].sort());
    });

    test("never keeps a key whose maker was revoked in the same moment, whichever came first", async () => {
      const root = await make();
      const outcomes = await Promise.allSettled([makeBy(root), revoke(root), makeBy(root)]);
      expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected"]);
      expect(await listIds()).toEqual([]);
    });

    test("a rotation with grace marks the old key, and gives its line the end that was chosen", async () => {
      const { clock } = world;
      const old = await make({ name: "old" });
      const lasting = await makeBy(old, { name: "lasting" });
      const brief = await makeBy(old, { name: "brief", expiresAt: clock.nowMs() + 10 });
      const endsAt = clock.nowMs() + 3_600_000;
      const made = await replace(old, 3_600_000, { name: "new" });
      expect(made).toMatchObject({ name: "new", expiresAt: null, createdByKeyId: null, replacedByKeyId: null });

      expect(await find(old)).toEqual({
        ...old,
        expiresAt: endsAt,
        replacedByKeyId: made.id,
        replacedAt: clock.nowMs(),
      });
      expect(await find(lasting)).toEqual({ ...lasting, expiresAt: endsAt });
      expect(await find(brief)).toEqual(brief);
      expect((await world.store.apiKeys.findByHash(sha256(old.id)))?.expiresAt).toBe(endsAt);

      const expires_at = new Date(endsAt).toISOString();
      expect((await trailOf(made))[0]).toMatchObject({ action: "key.create", replaces: old.id });
      expect((await trailOf(old)).at(-1)).toMatchObject({ action: "key.replace", replaced_by: made.id, expires_at });
      expect((await trailOf(lasting)).at(-1)).toMatchObject({ action: "key.expire", expires_with: old.id, expires_at });
      expect((await trailOf(brief)).map(({ action }) => action)).toEqual(["key.create"]);
    });

    test("a rotation without grace revokes the old line at once", async () => {
      const old = await make();
      const child = await makeBy(old);
      const made = await replace(old, 0);
      expect(await listIds()).toEqual([made.id]);
      for (const key of [old, child]) expect(await isFound(key)).toBe(false);
      expect((await trailOf(old)).at(-1)).toMatchObject({ action: "key.revoke", replaced_by: made.id });
      expect((await trailOf(child)).at(-1)).toMatchObject({ action: "key.revoke", revoked_with: old.id });
    });

    test("a rotation never gives more time, and may be repeated: the last one is reported", async () => {
      const { clock } = world;
      const endsAt = clock.nowMs() + 1000;
      const old = await make({ expiresAt: endsAt });
      await replace(old, 60_000);
      const second = await replace(old, 500_000);
      expect(await find(old)).toMatchObject({ expiresAt: endsAt, replacedByKeyId: second.id });
      expect((await trailOf(old)).map(({ action }) => action)).toEqual(["key.create", "key.replace", "key.replace"]);
    });

    test("a rotation creates nothing if there is nothing to replace", async () => {
      const root = await make();
      const revoked = await make();
      await revoke(revoked);
      const before = await listIds();
      const other = await world.createAccount();
      const refusal = { code: "invalid_request", errors: [{ param: "replaces" }] };
      await expect(replace(revoked, 0)).rejects.toMatchObject(refusal);
      await expect(replace(root, 0, {}, other)).rejects.toMatchObject(refusal);
      expect(await listIds()).toEqual(before);
      expect(await find(root)).toEqual(root);
    });

    const bySelf = (key: ApiKey, graceMs: number, fields: Partial<NewApiKey> = {}) =>
      replace(key, graceMs, { createdByKeyId: key.id, ...fields });
    const hourMs = 3_600_000;

    test("a key that replaces itself has a successor that goes on when the old one has ended, with all else that it made", async () => {
      const { clock } = world;
      const root = await make();
      const old = await makeBy(root);
      const child = await makeBy(old);
      const endsAt = clock.nowMs() + hourMs;
      const next = await bySelf(old, hourMs);
      expect(next).toMatchObject({ createdByKeyId: old.id, expiresAt: null });
      expect(await find(old)).toMatchObject({ replacedByKeyId: next.id, expiresAt: endsAt });
      expect(await find(child)).toEqual({ ...child, expiresAt: endsAt });
      expect(await find(next)).toEqual(next);
      expect((await trailOf(next)).map(({ action }) => action)).toEqual(["key.create"]);
      expect((await trailOf(old)).at(-1)).toMatchObject({ action: "key.replace", replaced_by: next.id });

      clock.advance(hourMs);
      await makeBy(next);
      // What has ended is tidied away.
      expect(await revoke(old)).toHaveLength(2);
      expect(await isFound(next)).toBe(true);
      expect(await revoke(root)).toHaveLength(3);
      expect(await isFound(next)).toBe(false);
    });

    test("a key that replaces itself without grace ends at once, with all but its successor", async () => {
      const old = await make();
      const child = await makeBy(old);
      const next = await bySelf(old, 0);
      expect(await listIds()).toEqual([next.id]);
      expect((await trailOf(child)).at(-1)).toMatchObject({ action: "key.revoke", revoked_with: old.id });
    });

    test("a key may replace one above it, by a successor that has no more time than itself", async () => {
      const { clock } = world;
      const root = await make();
      const middle = await makeBy(root);
      const low = await makeBy(middle, { expiresAt: clock.nowMs() + 2 * hourMs });
      await expect(replace(middle, hourMs, { createdByKeyId: low.id })).rejects.toMatchObject({ code: "conflict" });
      const next = await replace(middle, hourMs, { createdByKeyId: low.id, expiresAt: low.expiresAt });
      expect(await find(low)).toMatchObject({ expiresAt: clock.nowMs() + hourMs, replacedByKeyId: null });
      expect(await find(next)).toMatchObject({ expiresAt: low.expiresAt, createdByKeyId: low.id });
      expect(await revoke(root)).toHaveLength(4);
    });

    test("who revokes a key in its grace revokes its successor too, unless a key of the line asks for it", async () => {
      for (const [asker, isSpared] of [
        [null, false],
        ["stranger", false],
        ["root", false],
        ["next", true],
        ["afterNext", true],
        ["old", true],
        ["child", true],
      ] as const) {
        const root = await make();
        const old = await makeBy(root);
        const keys = { stranger: await make(), root, old, child: await makeBy(old), next: await bySelf(old, hourMs) };
        const afterNext = await makeBy(keys.next);
        await revoke(old, asker === null ? undefined : { ...keys, afterNext }[asker]);
        const left = [
          await isFound(old),
          await isFound(keys.child),
          await isFound(keys.next),
          await isFound(afterNext),
        ];
        expect({ asker, left }).toEqual({ asker, left: [false, false, isSpared, isSpared] });
      }
    });

    test("in its grace, a key has no more time to give, and takes none from its successor", async () => {
      const { clock } = world;
      const old = await make();
      const first = await bySelf(old, hourMs);
      await expect(bySelf(old, hourMs)).rejects.toMatchObject({ code: "conflict" });
      const endsAt = clock.nowMs() + hourMs;
      const second = await bySelf(old, 60_000, { expiresAt: endsAt });
      expect([(await find(first))?.expiresAt, (await find(second))?.expiresAt]).toEqual([null, endsAt]);
      // A person who rotates it ends what it has made of itself, too.
      await replace(old, 30_000);
      expect((await find(first))?.expiresAt).toBe(clock.nowMs() + 30_000);
    });
  });
}
