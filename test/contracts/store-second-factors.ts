/** What every storage engine must do with second factors and the server's sealed values. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Account } from "../../src/domain/account.ts";
import { ownIdentity } from "../../src/domain/member.ts";
import { systemIds } from "../../src/lib/ids.ts";
import { firstPage, type OpenStore, openWorld, type StoreWorld } from "../support/store-world.ts";

export function secondFactorStoreContract(open: OpenStore): void {
  describe("second factors", () => {
    let world: StoreWorld;
    let account: Account;
    beforeEach(async () => {
      world = await openWorld(open);
      account = await world.createAccount();
    });
    afterEach(() => world.close());

    const confirmation = { sealedSecret: "sealed", step: 7, recoveryHashes: ["c1", "c2"], keptSessionId: "none" };

    async function enable(): Promise<void> {
      const { secondFactors } = world.store;
      expect(await secondFactors.begin(ownIdentity(account.id), "sealed", world.context())).toBe(true);
      expect(await secondFactors.confirm(ownIdentity(account.id), confirmation, world.context())).toBe(true);
    }

    test("count once their secret is confirmed", async () => {
      const { accounts, secondFactors } = world.store;
      expect(await secondFactors.find(ownIdentity(account.id))).toBeNull();
      await secondFactors.begin(ownIdentity(account.id), "first", world.context());
      await secondFactors.begin(ownIdentity(account.id), "sealed", world.context());
      const waiting = { sealedSecret: "sealed", confirmedAt: null, lastStep: null, recoveryCodesLeft: 0 };
      expect(await secondFactors.find(ownIdentity(account.id))).toEqual(waiting);
      expect((await accounts.findById(account.id))?.totpConfirmedAt).toBeNull();
      const ofTheFirst = { ...confirmation, sealedSecret: "first" };
      expect(await secondFactors.confirm(ownIdentity(account.id), ofTheFirst, world.context())).toBe(false);

      const context = world.context();
      expect(await secondFactors.confirm(ownIdentity(account.id), confirmation, context)).toBe(true);
      expect(await secondFactors.find(ownIdentity(account.id))).toEqual({
        sealedSecret: "sealed",
        confirmedAt: context.nowMs,
        lastStep: 7,
        recoveryCodesLeft: 2,
      });
      expect((await accounts.findById(account.id))?.totpConfirmedAt).toBe(context.nowMs);
      expect(await secondFactors.confirm(ownIdentity(account.id), confirmation, world.context())).toBe(false);
      expect(await secondFactors.begin(ownIdentity(account.id), "other", world.context())).toBe(false);
    });

    test("end the sessions that were opened without them", async () => {
      const { secondFactors, sessions } = world.store;
      const times = { createdAt: 1, lastUsedAt: 1, expiresAt: 9e15 };
      for (const id of ["here", "elsewhere"]) {
        await sessions.create(
          { id, accountId: account.id, memberId: null, userAgent: null, ipPrefix: null, ...times },
          id,
          world.context(),
        );
      }
      await secondFactors.begin(ownIdentity(account.id), "sealed", world.context());
      expect((await sessions.list(ownIdentity(account.id))).length).toBe(2);
      await secondFactors.confirm(ownIdentity(account.id), { ...confirmation, keptSessionId: "here" }, world.context());
      expect((await sessions.list(ownIdentity(account.id))).map(({ id }) => id)).toEqual(["here"]);
    });

    test("take no step twice, none before it, and none while unconfirmed", async () => {
      const { secondFactors } = world.store;
      expect(await secondFactors.takeStep(ownIdentity(account.id), 8)).toBe(false);
      await enable();
      const taken = await Promise.all([8, 8, 8].map((step) => secondFactors.takeStep(ownIdentity(account.id), step)));
      expect(taken.filter(Boolean)).toHaveLength(1);
      expect(await secondFactors.takeStep(ownIdentity(account.id), 7)).toBe(false);
      expect(await secondFactors.takeStep(ownIdentity(account.id), 9)).toBe(true);
    });

    test("take each recovery code once, for its own account", async () => {
      const { secondFactors } = world.store;
      const other = await world.createAccount();
      await enable();
      const take = (id: string, hash: string) => secondFactors.takeRecoveryCode(ownIdentity(id), hash, world.context());
      expect(await take(other.id, "c1")).toBe(false);
      expect(await take(account.id, "c3")).toBe(false);
      expect((await Promise.all([take(account.id, "c1"), take(account.id, "c1")])).filter(Boolean)).toHaveLength(1);
      expect((await secondFactors.find(ownIdentity(account.id)))?.recoveryCodesLeft).toBe(1);
    });

    test("go with all that belongs to them, and every change is in the trail without a secret", async () => {
      const { audit, secondFactors } = world.store;
      await enable();
      await secondFactors.takeRecoveryCode(ownIdentity(account.id), "c1", world.context());
      expect(await secondFactors.listHolders(5)).toEqual([account.email]);
      expect(await secondFactors.remove(ownIdentity(account.id), world.context())).toBe(true);
      expect(await secondFactors.remove(ownIdentity(account.id), world.context())).toBe(false);
      expect(await secondFactors.find(ownIdentity(account.id))).toBeNull();
      expect(await secondFactors.listHolders(5)).toEqual([]);
      expect(await secondFactors.takeRecoveryCode(ownIdentity(account.id), "c2", world.context())).toBe(false);
      const trail = await audit.list(account.id, { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER }, firstPage);
      expect(trail.items.map(({ action, details }) => [action, details])).toEqual([
        ["totp.disable", {}],
        ["totp.recover", { left: 1 }],
        ["totp.enable", { sessions_ended: 0 }],
        ["totp.begin", {}],
        ["account.create", { plan: "free", role: "owner" }],
      ]);
      expect(JSON.stringify(trail)).not.toMatch(/sealed"|"c1"/);
    });

    test("leave with their account", async () => {
      await enable();
      await world.store.accounts.delete(account.id, world.context());
      expect(await world.store.secondFactors.find(ownIdentity(account.id))).toBeNull();
      expect(await world.store.secondFactors.listHolders(5)).toEqual([]);
      expect(await world.store.secondFactors.begin(ownIdentity(systemIds.uuid()), "sealed", world.context())).toBe(
        false,
      );
    });
  });

  describe("sealed values of the server", () => {
    let world: StoreWorld;
    beforeEach(async () => {
      world = await openWorld(open);
    });
    afterEach(() => world.close());

    test("are the first that anybody kept, until they are replaced", async () => {
      const { serverSecrets } = world.store;
      expect(await serverSecrets.find("proof")).toBeNull();
      const kept = await Promise.all(["one", "two"].map((sealed) => serverSecrets.keep("proof", sealed)));
      expect(new Set(kept).size).toBe(1);
      expect(await serverSecrets.find("proof")).toBe(kept[0] ?? null);
      await serverSecrets.replace("proof", "three");
      expect(await serverSecrets.keep("proof", "four")).toBe("three");
    });
  });
}
