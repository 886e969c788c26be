/** What every storage engine must do with dashboard sessions and one-time links. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Account } from "../../src/domain/account.ts";
import { systemIds } from "../../src/lib/ids.ts";
import type { OneTimeLink, Session } from "../../src/store/store.ts";
import { type OpenStore, openWorld, type StoreWorld } from "../support/store-world.ts";

export function sessionStoreContract(open: OpenStore): void {
  describe("dashboard sessions", () => {
    let world: StoreWorld;
    let account: Account;
    beforeEach(async () => {
      world = await openWorld(open);
      account = await world.createAccount();
    });
    afterEach(() => world.close());

    async function createSession(hash: string, fields: Partial<Session> = {}): Promise<Session> {
      world.clock.advance(1);
      const createdAt = world.clock.nowMs();
      const end = { createdAt, lastUsedAt: createdAt, expiresAt: createdAt + 1000 };
      const session = {
        id: systemIds.uuid(),
        accountId: account.id,
        userAgent: "Firefox",
        ipPrefix: null,
        ...end,
        ...fields,
      };
      await world.store.sessions.create(session, hash, world.context());
      return session;
    }

    test("are found by the hash of their cookie, with the account", async () => {
      const session = await createSession("h1");
      expect(await world.store.sessions.findByHash("h1")).toEqual({ session, account });
      expect(await world.store.sessions.findByHash("h2")).toBeNull();
    });

    test("are listed newest first, and revoked one by one or all but one", async () => {
      const { sessions } = world.store;
      const [first, second, third] = [await createSession("h1"), await createSession("h2"), await createSession("h3")];
      expect(await sessions.list(account.id)).toEqual([third, second, first]);
      const other = await world.createAccount();
      expect(await sessions.revoke(other.id, first.id, world.context())).toBe(false);
      expect(await sessions.revoke(account.id, first.id, world.context())).toBe(true);
      expect(await sessions.revoke(account.id, first.id, world.context())).toBe(false);
      expect(await sessions.findByHash("h1")).toBeNull();
      await sessions.revokeAll(account.id, third.id, world.context());
      expect(await sessions.list(account.id)).toEqual([third]);
      await sessions.revokeAll(account.id, null, world.context());
      expect(await sessions.list(account.id)).toEqual([]);
    });

    test("keep their last use, and are purged when past their end or idle", async () => {
      const { sessions } = world.store;
      const used = await createSession("h1", { lastUsedAt: 100, expiresAt: 10_000 });
      await createSession("h2", { lastUsedAt: 100, expiresAt: 10_000 });
      await createSession("h3", { lastUsedAt: 900, expiresAt: 5000 });
      await sessions.recordUses([
        { sessionId: used.id, lastUsedAt: 900 },
        { sessionId: systemIds.uuid(), lastUsedAt: 900 },
      ]);
      await sessions.recordUses([{ sessionId: used.id, lastUsedAt: 500 }]);
      await sessions.purge(6000, 800);
      expect(await sessions.list(account.id)).toEqual([{ ...used, lastUsedAt: 900 }]);
    });

    test("show a last use that is earlier, where it is so by more than a moment: the clock was ahead before", async () => {
      const { sessions } = world.store;
      const used = await createSession("h1", { lastUsedAt: 2_000_000, expiresAt: 9_000_000 });
      await sessions.recordUses([{ sessionId: used.id, lastUsedAt: 1_000_000 }]);
      expect(await sessions.list(account.id)).toEqual([{ ...used, lastUsedAt: 1_000_000 }]);
    });

    test("end with their account", async () => {
      await createSession("h1");
      await world.store.accounts.delete(account.id, world.context());
      expect(await world.store.sessions.findByHash("h1")).toBeNull();
    });
  });

  describe("one-time links", () => {
    let world: StoreWorld;
    beforeEach(async () => {
      world = await openWorld(open);
    });
    afterEach(() => world.close());

    const setup: OneTimeLink = { hash: "setup-1", kind: "setup", accountId: null, expiresAt: 1000 };

    test("are spent once, however many try at the same time", async () => {
      const { sessions } = world.store;
      await sessions.createLink(setup);
      const taken = await Promise.all(Array.from({ length: 5 }, () => sessions.takeLink("setup-1", 999)));
      expect(taken.filter((link) => link !== null)).toEqual([setup]);
      expect(await sessions.takeLink("setup-1", 999)).toBeNull();
    });

    test("are worth nothing after their time", async () => {
      const { sessions } = world.store;
      await sessions.createLink(setup);
      expect(await sessions.takeLink("setup-1", 1000)).toBeNull();
      expect(await sessions.takeLink("setup-1", 0)).toBeNull();
    });

    test("replace the earlier ones of their kind and account", async () => {
      const { sessions } = world.store;
      const [one, two] = [await world.createAccount(), await world.createAccount()];
      const reset = (hash: string, accountId: string): OneTimeLink => ({
        hash,
        kind: "reset",
        accountId,
        expiresAt: 1000,
      });
      for (const link of [setup, reset("r1", one.id), reset("r2", two.id)]) await sessions.createLink(link);
      await sessions.createLink({ ...setup, hash: "setup-2" });
      await sessions.createLink(reset("r3", one.id));
      expect(await sessions.takeLink("setup-1", 0)).toBeNull();
      expect(await sessions.takeLink("r1", 0)).toBeNull();
      for (const hash of ["setup-2", "r2", "r3"]) expect((await sessions.takeLink(hash, 0))?.hash).toBe(hash);
    });
  });
}
