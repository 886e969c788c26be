/** What every storage engine must do with API keys. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { type Account, scopes } from "../../src/domain/account.ts";
import { systemIds } from "../../src/lib/ids.ts";
import { sha256 } from "../../src/lib/sha256.ts";
import { day, firstPage, newApiKey, type OpenStore, openWorld, type StoreWorld } from "../support/store-world.ts";

const [h1, h2] = [sha256("first"), sha256("second")];

export function apiKeyStoreContract(open: OpenStore): void {
  describe("API keys", () => {
    let world: StoreWorld;
    let account: Account;
    beforeEach(async () => {
      world = await openWorld(open);
      account = await world.createAccount();
    });
    afterEach(() => world.close());

    const revoke = (keyId: string) => world.store.apiKeys.revoke(account.id, keyId, world.context(), systemIds.uuid);

    test("are found by their hash with their account", async () => {
      const { apiKeys } = world.store;
      const made = await apiKeys.create(account.id, newApiKey({ hash: h1, expiresAt: 9 }), world.context());
      expect(made).toEqual({
        id: made.id,
        accountId: account.id,
        name: "Server",
        start: "cmp_live_abcd",
        lastFour: "wxyz",
        scopes: ["keys:read"],
        expiresAt: 9,
        lastUsedAt: null,
        requests: 0,
        createdByKeyId: null,
        replacedByKeyId: null,
        replacedAt: null,
        createdAt: world.clock.nowMs(),
      });
      expect(await apiKeys.findByHash(h1)).toEqual({
        keyId: made.id,
        scopes: ["keys:read"],
        expiresAt: 9,
        account: { id: account.id, plan: account.plan },
        suspendedAt: null,
        hasWebhooks: false,
      });
      expect(await apiKeys.findByHash(h2)).toBeNull();
    });

    test("are refused and no longer listed from the next call after their revocation", async () => {
      const { apiKeys, audit } = world.store;
      const first = await apiKeys.create(account.id, newApiKey({ hash: h1 }), world.context());
      const second = await apiKeys.create(account.id, newApiKey(), world.context());
      expect(await apiKeys.list(account.id)).toEqual([second, first]);
      const { id, name, start, lastFour } = first;
      expect(await revoke(first.id)).toEqual([{ id, name, start, lastFour }]);
      expect(await apiKeys.findByHash(h1)).toBeNull();
      expect(await apiKeys.list(account.id)).toEqual([second]);
      expect(await revoke(first.id)).toEqual([]);
      const trail = await audit.list(account.id, { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER }, firstPage);
      expect(trail.items[0]).toMatchObject({ action: "key.revoke", targetId: first.id });
      expect(JSON.stringify(trail)).not.toContain(Buffer.from(h1).toString("hex"));
    });

    test("keep every scope there is, in the order given", async () => {
      const { apiKeys } = world.store;
      const granted = [...scopes].reverse();
      await apiKeys.create(account.id, newApiKey({ hash: h1, scopes: granted }), world.context());
      expect((await apiKeys.findByHash(h1))?.scopes).toEqual(granted);
      expect((await apiKeys.list(account.id))[0]?.scopes).toEqual(granted);
    });

    test("report their account's present suspension and plan", async () => {
      const { apiKeys, accounts } = world.store;
      await apiKeys.create(account.id, newApiKey({ hash: h1 }), world.context());
      await accounts.update(account.id, { suspendedAt: 5, plan: "paid" }, world.context());
      expect(await apiKeys.findByHash(h1)).toMatchObject({ suspendedAt: 5, account: { plan: "paid" } });
    });

    test("are out of reach for another account", async () => {
      const { apiKeys } = world.store;
      const other = await world.createAccount();
      const key = await apiKeys.create(account.id, newApiKey(), world.context());
      expect(await apiKeys.revoke(other.id, key.id, world.context(), systemIds.uuid)).toEqual([]);
      expect(await apiKeys.list(other.id)).toEqual([]);
      expect(await apiKeys.list(account.id)).toHaveLength(1);
    });

    test("cannot be created for an account that no longer exists", async () => {
      const missing = world.store.apiKeys.create(systemIds.uuid(), newApiKey(), world.context());
      await expect(missing).rejects.toMatchObject({ code: "not_found" });
    });

    test("show a last use that is earlier, where it is so by more than a moment: the clock was ahead before", async () => {
      const { apiKeys } = world.store;
      const key = await apiKeys.create(account.id, newApiKey({ hash: h1 }), world.context());
      for (const lastUsedAt of [2_000_000, 1_000_000, 999_000]) {
        await apiKeys.recordUses([{ keyId: key.id, requests: 1, lastUsedAt }], day);
      }
      expect((await apiKeys.list(account.id))[0]?.lastUsedAt).toBe(1_000_000);
    });

    test("are listed newest first by creation, also where the clock was set back between two ids", async () => {
      const { apiKeys } = world.store;
      const [smaller = "", greater = ""] = [systemIds.uuid(), systemIds.uuid()].sort();
      await apiKeys.create(account.id, newApiKey({ id: greater, hash: h1 }), world.context());
      world.clock.advance(1000);
      await apiKeys.create(account.id, newApiKey({ id: smaller, hash: h2 }), world.context());
      expect((await apiKeys.list(account.id)).map(({ id }) => id)).toEqual([smaller, greater]);
    });

    test("may speak for the enabled companions of their account, until they are revoked or the account is suspended", async () => {
      const { apiKeys, companions, accounts } = world.store;
      const { id } = await apiKeys.create(account.id, newApiKey({ hash: h1, expiresAt: 9 }), world.context());
      const own = await world.createCompanion(account);
      const foreign = await world.createCompanion(await world.createAccount());
      const spending = { isStopped: false, hasBudgets: false, hasWebhooks: false };
      expect(await apiKeys.checkCaller(id, own.id)).toEqual({ expiresAt: 9, hasCompanion: true, spending });
      for (const other of [foreign.id, systemIds.uuid()]) {
        expect(await apiKeys.checkCaller(id, other)).toEqual({ expiresAt: 9, hasCompanion: false, spending });
      }
      await companions.update(account.id, own.id, { enabled: false }, world.context());
      expect(await apiKeys.checkCaller(id, own.id)).toMatchObject({ hasCompanion: false });
      await accounts.update(account.id, { suspendedAt: 1 }, world.context());
      expect(await apiKeys.checkCaller(id, own.id)).toBeNull();
      await accounts.update(account.id, { suspendedAt: null }, world.context());
      expect(await apiKeys.checkCaller(id, own.id)).not.toBeNull();
      await revoke(id);
      expect(await apiKeys.checkCaller(id, own.id)).toBeNull();
      expect(await apiKeys.checkCaller(systemIds.uuid(), own.id)).toBeNull();
    });

    test("remember a use that was no request, and count nothing for it", async () => {
      const { apiKeys, usage } = world.store;
      const key = await apiKeys.create(account.id, newApiKey({ hash: h1 }), world.context());
      await apiKeys.recordUses([{ keyId: key.id, requests: 0, lastUsedAt: 2000 }], day);
      expect(await apiKeys.list(account.id)).toEqual([{ ...key, requests: 0, lastUsedAt: 2000 }]);
      const query = { fromDay: day, toDay: day, groupBy: ["key"], companionId: null, metadata: [] } as const;
      expect(await usage.query(account.id, query)).toEqual([]);
    });

    test("count their uses, and as requests in the day's usage", async () => {
      const { apiKeys, usage } = world.store;
      const key = await apiKeys.create(account.id, newApiKey({ hash: h1 }), world.context());
      await apiKeys.recordUses(
        [
          { keyId: key.id, requests: 3, lastUsedAt: 2000 },
          { keyId: systemIds.uuid(), requests: 1, lastUsedAt: 2000 },
        ],
        day,
      );
      // A report that was held back must not set the clock back.
      await apiKeys.recordUses([{ keyId: key.id, requests: 2, lastUsedAt: 1000 }], day);
      expect(await apiKeys.list(account.id)).toEqual([{ ...key, requests: 5, lastUsedAt: 2000 }]);
      const query = { fromDay: day, toDay: day, groupBy: ["key"], companionId: null, metadata: [] } as const;
      expect(await usage.query(account.id, query)).toMatchObject([{ keyId: key.id, requests: 5, messages: 0 }]);
    });
  });
}
