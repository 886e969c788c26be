/** What every storage engine must do with companions that are made together, and with changes that depend on what is there. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Account } from "../../src/domain/account.ts";
import { firstPage, newCompanion, type OpenStore, openWorld, type StoreWorld } from "../support/store-world.ts";

const most = { companions: 3, keys: 10, tokensPerCompanion: 10, members: 10, bytes: 1_000_000 };
const holdings = { free: most, paid: most };

export function companionBatchContract(open: OpenStore): void {
  describe("companions made together", () => {
    let world: StoreWorld;
    let account: Account;
    beforeEach(async () => {
      world = await openWorld(open);
      account = await world.createAccount();
    });
    afterEach(() => world.close());

    test("are those that there is room for, recorded with the answer in one commit", async () => {
      const { companions, idempotency, audit } = world.store;
      const made = ["a", "b", "c", "d"].map((name) => newCompanion({ name, metadata: { name } }));
      made[1] = { ...newCompanion({ name: "b" }), systemPrompt: "x".repeat(1_100_000) };
      const slot = { accountId: account.id, method: "POST", path: "/batch#0", key: "k" };
      const context = world.context({ holdings });
      const refusals = await companions.createFitting(account.id, made, context, (refused) => {
        return { slot, bodyHash: "h", status: 200, body: [...refused.keys()].join() };
      });
      expect([...refusals].map(([id, { code }]) => [id, code])).toEqual([[made[1].id, "limit_reached"]]);
      expect((await idempotency.find(slot, context.nowMs))?.body).toBe(made[1].id);
      const { items } = await companions.list(account.id, { metadata: [], q: null }, firstPage);
      expect(items.map(({ name }) => name)).toEqual(["d", "c", "a"]);
      const found = await companions.list(account.id, { metadata: [{ path: "name", value: "d" }], q: null }, firstPage);
      expect(found.items).toHaveLength(1);
      // None fits any more: the answer is recorded, and nobody made anything.
      const none = { slot: { ...slot, path: "/batch#1" }, bodyHash: "h", status: 200, body: "none" };
      const full = await companions.createFitting(
        account.id,
        [newCompanion()],
        world.context({ holdings }),
        () => none,
      );
      expect(full.size).toBe(1);
      expect((await idempotency.find(none.slot, context.nowMs))?.body).toBe("none");
      const entries = (await audit.list(account.id, { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER }, firstPage)).items;
      const imports = entries.filter(({ action }) => action === "companion.import");
      expect(imports.map(({ details }) => details)).toEqual([{ count: 3 }]);
    });

    test("change by what they are at that moment, or stay as they are", async () => {
      const { companions } = world.store;
      const { id } = await world.createCompanion(account, { metadata: { count: 0 } });
      const increment = () =>
        companions.update(
          account.id,
          id,
          ({ metadata }) => ({ metadata: { count: Number(metadata["count"]) + 1 } }),
          world.context(),
        );
      await Promise.all([increment(), increment(), increment()]);
      expect((await companions.find(account.id, id))?.metadata).toEqual({ count: 3 });
      const refuse = () => {
        throw new Error("no");
      };
      await expect(companions.update(account.id, id, refuse, world.context())).rejects.toThrow();
      await expect(companions.delete(account.id, id, world.context(), refuse)).rejects.toThrow();
      expect((await companions.update(account.id, id, () => ({}), world.context()))?.metadata).toEqual({ count: 3 });
    });
  });
}
