/** What every storage engine must do with the audit trail. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { AuditEntry } from "../../src/contracts/store/store.ts";
import { systemIds } from "../../src/lib/ids.ts";
import { firstPage, type OpenStore, openWorld, type StoreWorld } from "../support/store-world.ts";

const always = { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER };

function newEntry(accountId: string, createdAt: number): AuditEntry {
  return {
    id: systemIds.uuid(),
    accountId,
    actor: { kind: "session", id: "s1", ipPrefix: "2001:db8::/48", requestId: "r1" },
    action: "session.fail",
    targetId: null,
    details: { attempts: 3, reason: "password", isLocked: false, fields: ["a", "b"], none: null },
    createdAt,
  };
}

export function auditStoreContract(open: OpenStore): void {
  describe("the audit trail", () => {
    let world: StoreWorld;
    beforeEach(async () => {
      world = await openWorld(open);
    });
    afterEach(() => world.close());

    test("gives entries back as they were, for their own account only", async () => {
      const { audit } = world.store;
      const account = await world.createAccount();
      const other = await world.createAccount();
      const entry = newEntry(account.id, world.clock.nowMs() + 1);
      await audit.record(entry);
      const { items } = await audit.list(account.id, always, firstPage);
      expect(items[0]).toEqual(entry);
      expect(items[1]).toMatchObject({ action: "account.create", actor: world.context().actor });
      expect((await audit.list(other.id, always, firstPage)).items).toHaveLength(1);
    });

    test("is read in pages, newest first, between two instants", async () => {
      const { audit } = world.store;
      const accountId = systemIds.uuid();
      const entries = [1000, 2000, 2000, 3000, 4000].map((createdAt) => newEntry(accountId, createdAt));
      for (const entry of entries) await audit.record(entry);
      const range = { fromMs: 1000, toMs: 4000 };
      const expected = entries.slice(0, 4).reverse();
      const first = await audit.list(accountId, range, { limit: 2, afterId: null });
      expect(first.items).toEqual(expected.slice(0, 2));
      const second = await audit.list(accountId, range, { limit: 2, afterId: first.nextAfterId });
      expect(second).toEqual({ items: expected.slice(2), nextAfterId: null });
    });

    test("has nothing after an entry that nobody has, or another account", async () => {
      const { audit } = world.store;
      const [own, foreign] = [newEntry(systemIds.uuid(), 1000), newEntry(systemIds.uuid(), 2000)];
      await audit.record(own);
      await audit.record(foreign);
      for (const afterId of [foreign.id, systemIds.uuid()]) {
        const page = await audit.list(own.accountId, always, { limit: 2, afterId });
        expect(page).toEqual({ items: [], nextAfterId: null });
      }
    });

    test("holds nothing of a change that failed", async () => {
      const { audit } = world.store;
      await world.createAccount({ email: "ada@shop.example" });
      const refused = world.context();
      const account = {
        id: systemIds.uuid(),
        email: "ada@shop.example",
        plan: "free",
        role: "owner",
        passwordHash: null,
      } as const;
      await expect(world.store.accounts.create(account, refused)).rejects.toThrow();
      expect((await audit.list(account.id, always, firstPage)).items).toEqual([]);
    });
  });
}
