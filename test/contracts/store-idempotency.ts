/** What every storage engine must do with retried calls. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { IdempotencySlot, IdempotentWrite } from "../../src/contracts/store/store.ts";
import type { Account } from "../../src/domain/account.ts";
import { firstPage, newCompanion, type OpenStore, openWorld, type StoreWorld } from "../support/store-world.ts";

const dayMs = 24 * 60 * 60_000;

export function idempotencyStoreContract(open: OpenStore): void {
  describe("recorded responses", () => {
    let world: StoreWorld;
    let account: Account;
    let slot: IdempotencySlot;
    beforeEach(async () => {
      world = await openWorld(open);
      account = await world.createAccount();
      slot = { accountId: account.id, method: "POST", path: "/api/companions", key: "k1" };
    });
    afterEach(() => world.close());

    function write(fields: Partial<IdempotentWrite> = {}): IdempotentWrite {
      return { slot, bodyHash: "b1", status: 201, body: '{"name":"Ada"}', ...fields };
    }

    test("are committed with the change that they report", async () => {
      const { companions, idempotency } = world.store;
      await companions.create(account.id, newCompanion(), world.context({ idempotent: write() }));
      const response = await idempotency.find(slot, world.clock.nowMs());
      expect(response).toEqual({ bodyHash: "b1", status: 201, body: '{"name":"Ada"}' });
      expect(await idempotency.find({ ...slot, key: "k2" }, world.clock.nowMs())).toBeNull();
      expect(await idempotency.find({ ...slot, path: "/api/keys" }, world.clock.nowMs())).toBeNull();
    });

    test("let only one of many calls at once make something", async () => {
      const { companions } = world.store;
      const calls = Array.from({ length: 10 }, () =>
        companions.create(account.id, newCompanion(), world.context({ idempotent: write() })),
      );
      const outcomes = await Promise.allSettled(calls);
      const failures = outcomes.filter((outcome) => outcome.status === "rejected");
      expect(failures).toHaveLength(9);
      for (const { reason } of failures) expect(reason).toMatchObject({ code: "conflict" });
      const { items } = await companions.list(account.id, { metadata: [], q: null }, firstPage);
      expect(items).toHaveLength(1);
    });

    test("are not recorded for a call that failed", async () => {
      const { accounts, idempotency } = world.store;
      const clash = { id: "x", email: account.email, plan: "free", role: "owner", passwordHash: null } as const;
      await expect(accounts.create(clash, world.context({ idempotent: write() }))).rejects.toThrow();
      expect(await idempotency.find(slot, world.clock.nowMs())).toBeNull();
    });

    test("are forgotten after 24 hours, and their slots free again", async () => {
      const { companions, idempotency } = world.store;
      await companions.create(account.id, newCompanion(), world.context({ idempotent: write() }));
      world.clock.advance(dayMs - 1);
      expect(await idempotency.find(slot, world.clock.nowMs())).not.toBeNull();
      expect(await idempotency.purge(world.clock.nowMs(), 100)).toBe(0);
      world.clock.advance(1);
      expect(await idempotency.find(slot, world.clock.nowMs())).toBeNull();
      const again = write({ bodyHash: "b2" });
      await companions.create(account.id, newCompanion(), world.context({ idempotent: again }));
      expect(await idempotency.find(slot, world.clock.nowMs())).toMatchObject({ bodyHash: "b2" });
      world.clock.advance(dayMs);
      expect(await idempotency.purge(world.clock.nowMs(), 100)).toBe(1);
    });
  });
}
