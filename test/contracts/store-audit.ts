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

    test("is narrowed to actions and to who acted, and names what is still there", async () => {
      const { audit, companions, accounts } = world.store;
      const account = await world.createAccount();
      const ada = await world.createCompanion(account, { name: "Ada" });
      const gone = await world.createCompanion(account, { name: "Gone" });
      await companions.delete(account.id, gone.id, world.context());
      const nowMs = world.clock.nowMs() + 1000;
      const of = (action: string, actor: Partial<AuditEntry["actor"]>, targetId: string | null = null) => {
        const entry = newEntry(account.id, nowMs);
        return { ...entry, action, targetId, actor: { ...entry.actor, ...actor } };
      };
      const own = { accountId: account.id, id: "own" };
      const entries = [
        of("companion.update", { kind: "key", id: "k1" }, ada.id),
        of("companion.updated_otherwise", { member: { id: "m1", name: "Grace" } }, ada.id),
        of("companion.delete", own, gone.id),
        of("account.update", { id: "s2", accountId: systemIds.uuid() }, account.id),
      ];
      for (const entry of entries) await audit.record(entry);
      const list = async (action: string | null, actor: string | null, limit = 10) => {
        const page = await audit.list(
          account.id,
          { ...always, fromMs: nowMs },
          { limit, afterId: null },
          { action, actor },
        );
        return page.items.map((entry) => entries.findIndex(({ id }) => id === entry.id));
      };
      expect(await list("companion", null)).toEqual([2, 1, 0]);
      expect(await list("companion", null, 2)).toEqual([2, 1]);
      expect(await list("companion.update", null)).toEqual([0]);
      expect([await list(null, "k1"), await list(null, "m1"), await list(null, account.id)]).toEqual([[0], [1], [2]]);
      expect([await list(null, "operator"), await list("companion", "operator")]).toEqual([[3], []]);

      const names = await audit.readNames(account.id, [...entries.map(({ id }) => id)]);
      const email = (await accounts.findById(account.id))?.email;
      expect(entries.map(({ id }) => names.get(id))).toEqual([
        { actor: null, target: "Ada" },
        { actor: "Grace", target: "Ada" },
        { actor: email ?? "", target: null },
        { actor: null, target: email ?? "" },
      ]);
      const [deleted] = (
        await audit.list(account.id, always, firstPage, { action: "companion.delete", actor: null })
      ).items.filter(({ targetId, id }) => targetId === gone.id && !names.has(id));
      const ids = [deleted?.id ?? ""];
      expect((await audit.readNames(account.id, ids)).get(deleted?.id ?? "")?.target).toBe("Gone");
      expect((await audit.readNames(systemIds.uuid(), ids)).size).toBe(0);
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
