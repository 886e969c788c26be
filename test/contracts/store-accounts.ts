/** What every storage engine must do with accounts. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { ownIdentity } from "../../src/domain/member.ts";
import { systemIds } from "../../src/lib/ids.ts";
import { firstPage, newApiKey, type OpenStore, openWorld, type StoreWorld } from "../support/store-world.ts";

export function accountStoreContract(open: OpenStore): void {
  describe("accounts", () => {
    let world: StoreWorld;
    beforeEach(async () => {
      world = await openWorld(open);
    });
    afterEach(() => world.close());

    test("are found by id and address, and never with their password's hash", async () => {
      const { store } = world;
      const account = await world.createAccount({ email: "ada@shop.example", passwordHash: "$argon2id$x" });
      expect(account).toEqual({
        id: account.id,
        email: "ada@shop.example",
        plan: "free",
        role: "owner",
        suspendedAt: null,
        totpConfirmedAt: null,
        createdAt: world.clock.nowMs(),
      });
      expect(await store.accounts.findById(account.id)).toEqual(account);
      expect(await store.accounts.findByEmail("ada@shop.example")).toEqual(account);
      const access = { account, member: null, passwordHash: "$argon2id$x" };
      expect(await store.sessions.findAccess("ada@shop.example")).toEqual(access);
      expect(await store.accounts.findById(systemIds.uuid())).toBeNull();
      expect(await store.accounts.findByEmail("eve@shop.example")).toBeNull();
      expect(await store.sessions.findAccess("eve@shop.example")).toBeNull();
    });

    test("share no address: the second is refused on its field, and leaves nothing", async () => {
      await world.createAccount({ email: "ada@shop.example" });
      const second = world.createAccount({ email: "ada@shop.example" });
      await expect(second).rejects.toMatchObject({ code: "invalid_request", errors: [{ param: "email" }] });
      expect(await world.store.accounts.list()).toHaveLength(1);
    });

    test("are listed oldest first", async () => {
      const first = await world.createAccount();
      const second = await world.createAccount();
      expect(await world.store.accounts.list()).toEqual([first, second]);
    });

    test("report whether any has a password", async () => {
      const { accounts } = world.store;
      const account = await world.createAccount();
      expect(await accounts.hasAnyPassword()).toBe(false);
      await accounts.setPassword(ownIdentity(account.id), "$argon2id$x", null, world.context());
      expect(await accounts.hasAnyPassword()).toBe(true);
    });

    test("change only what the patch names, and the trail names it", async () => {
      const { accounts, audit } = world.store;
      const account = await world.createAccount();
      const patch = { plan: "paid", suspendedAt: 5 } as const;
      const updated = await accounts.update(account.id, patch, world.context());
      expect(updated).toEqual({ ...account, plan: "paid", suspendedAt: 5 });
      expect(await accounts.findById(account.id)).toEqual(updated);
      expect(await accounts.update(systemIds.uuid(), patch, world.context())).toBeNull();
      const trail = await audit.list(account.id, { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER }, firstPage);
      expect(trail.items.map((entry) => entry.action)).toEqual(["account.update", "account.create"]);
      expect(trail.items[0]?.details).toEqual({ changed: ["plan", "suspendedAt"] });
    });

    test("a new password ends the account's reset links and its sessions but one, and the trail has not the hash", async () => {
      const { accounts, sessions, audit } = world.store;
      const [account, other] = [await world.createAccount(), await world.createAccount()];
      const session = (accountId: string) => {
        const times = { createdAt: 1, lastUsedAt: 1, expiresAt: 9e15 };
        return { id: systemIds.uuid(), accountId, memberId: null, userAgent: null, ipPrefix: null, ...times };
      };
      const [kept, ended, others] = [session(account.id), session(account.id), session(other.id)];
      for (const one of [kept, ended, others]) await sessions.create(one, one.id, world.context());
      for (const { id } of [account, other]) {
        const link = { hash: `link of ${id}`, kind: "reset", accountId: id, memberId: null, expiresAt: 9e15 } as const;
        await sessions.createLink(link, world.context());
      }
      const changed = await accounts.setPassword(ownIdentity(account.id), "$argon2id$secret", kept.id, world.context());
      expect(changed).toBe(true);
      expect((await sessions.findAccess(account.email))?.passwordHash).toBe("$argon2id$secret");
      expect(await sessions.list(ownIdentity(account.id))).toEqual([kept]);
      expect(await sessions.list(ownIdentity(other.id))).toEqual([others]);
      expect(await sessions.findLink(`link of ${account.id}`, 0)).toBeNull();
      expect(await sessions.findLink(`link of ${other.id}`, 0)).not.toBeNull();
      expect(await accounts.setPassword(ownIdentity(systemIds.uuid()), "$argon2id$x", null, world.context())).toBe(
        false,
      );
      const trail = await audit.list(account.id, { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER }, firstPage);
      expect(trail.items[0]).toMatchObject({
        action: "account.update",
        details: { changed: ["password"], sessions_ended: 1 },
      });
      expect(JSON.stringify(trail)).not.toContain("secret");
    });

    test("are deleted with all they own, at once for every caller, and free their address", async () => {
      const { store } = world;
      const account = await world.createAccount({ email: "ada@shop.example" });
      const other = await world.createAccount();
      const companion = await world.createCompanion(account, { metadata: { plan: "pro" } });
      const kept = await world.createCompanion(other, { metadata: { plan: "pro" } });
      await store.turns.settle(world.turnOf(companion));
      const key = newApiKey();
      await store.apiKeys.create(account.id, key, world.context());

      expect(await store.accounts.delete(account.id, world.context())).toBe(true);
      expect(await store.accounts.delete(account.id, world.context())).toBe(false);
      expect(await store.accounts.findById(account.id)).toBeNull();
      expect(await store.apiKeys.findByHash(key.hash)).toBeNull();
      expect(await store.companions.findByEmbedToken(companion.embedToken)).toBeNull();
      expect(await store.companions.findByEmbedToken(kept.embedToken)).not.toBeNull();
      await world.createAccount({ email: "ada@shop.example" });

      const usage = { fromDay: "2026-01-01", toDay: "2026-01-31", groupBy: [], companionId: null, metadata: [] };
      expect(await store.usage.query(account.id, usage)).toMatchObject([{ messages: 1 }]);
    });
  });
}
