/** What every storage engine must do with dashboard sessions and one-time links. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { NewAccount, OneTimeLink, Session } from "../../src/contracts/store/store.ts";
import type { Account } from "../../src/domain/account.ts";
import { ownIdentity } from "../../src/domain/member.ts";
import { systemIds } from "../../src/lib/ids.ts";
import { firstPage, type OpenStore, openWorld, type StoreWorld } from "../support/store-world.ts";

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
        memberId: null,
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
      expect(await world.store.sessions.findByHash("h1")).toEqual({ session, account, member: null });
      expect(await world.store.sessions.findByHash("h2")).toBeNull();
    });

    test("are listed newest first, and revoked one by one", async () => {
      const { sessions } = world.store;
      const [first, second, third] = [await createSession("h1"), await createSession("h2"), await createSession("h3")];
      expect(await sessions.list(ownIdentity(account.id))).toEqual([third, second, first]);
      const other = await world.createAccount();
      expect(await sessions.revoke(ownIdentity(other.id), first.id, world.context())).toBe(false);
      expect(await sessions.revoke(ownIdentity(account.id), first.id, world.context())).toBe(true);
      expect(await sessions.revoke(ownIdentity(account.id), first.id, world.context())).toBe(false);
      expect(await sessions.findByHash("h1")).toBeNull();
      expect(await sessions.list(ownIdentity(account.id))).toEqual([third, second]);
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
      expect(await sessions.list(ownIdentity(account.id))).toEqual([{ ...used, lastUsedAt: 900 }]);
    });

    test("show a last use that is earlier, where it is so by more than a moment: the clock was ahead before", async () => {
      const { sessions } = world.store;
      const used = await createSession("h1", { lastUsedAt: 2_000_000, expiresAt: 9_000_000 });
      await sessions.recordUses([{ sessionId: used.id, lastUsedAt: 1_000_000 }]);
      expect(await sessions.list(ownIdentity(account.id))).toEqual([{ ...used, lastUsedAt: 1_000_000 }]);
    });

    test("do not begin if password or second factor have changed since they were checked", async () => {
      const { accounts, secondFactors, sessions } = world.store;
      await accounts.setPassword(ownIdentity(account.id), "hash", null, world.context());
      const end = { createdAt: 1, lastUsedAt: 1, expiresAt: 9e15 };
      const begin = (id: string, passwordHash: string, totpConfirmedAt: number | null) =>
        sessions.create(
          { id, accountId: account.id, memberId: null, userAgent: null, ipPrefix: null, ...end },
          id,
          world.context(),
          {
            passwordHash,
            totpConfirmedAt,
          },
        );
      expect(await begin("right", "hash", null)).toBe(true);
      expect(await begin("other password", "hash before", null)).toBe(false);
      await secondFactors.begin(ownIdentity(account.id), "sealed", world.context());
      const confirmed = world.context();
      const confirmation = { sealedSecret: "sealed", step: 7, recoveryHashes: ["code"], keptSessionId: "right" };
      await secondFactors.confirm(ownIdentity(account.id), confirmation, confirmed);
      expect(await begin("without the factor", "hash", null)).toBe(false);
      expect(await begin("with the factor", "hash", confirmed.nowMs)).toBe(true);
      const ids = (await sessions.list(ownIdentity(account.id))).map(({ id }) => id);
      expect(ids.toSorted()).toEqual(["right", "with the factor"]);
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

    const setup: OneTimeLink = { hash: "setup-1", kind: "setup", accountId: null, memberId: null, expiresAt: 1000 };

    function operator(email = "op@shop.example"): NewAccount {
      return { id: systemIds.uuid(), email, plan: "free", role: "operator", passwordHash: "$argon2id$x" };
    }
    const reset = (hash: string, accountId: string): OneTimeLink => ({
      hash,
      kind: "reset",
      accountId,
      memberId: null,
      expiresAt: 1000,
    });
    const at = (nowMs: number) => world.context({ nowMs });

    test("are spent once, however many try at the same time", async () => {
      const { accounts, sessions } = world.store;
      await sessions.createLink(setup, at(0));
      const made = await Promise.all(
        Array.from({ length: 5 }, (_, index) => sessions.spendSetUpLink("setup-1", operator(`${index}@b`), at(999))),
      );
      expect(made.filter((account) => account !== null)).toHaveLength(1);
      expect(await accounts.list()).toEqual(made.filter((account) => account !== null));

      const [account] = await accounts.list();
      await sessions.createLink(reset("r1", account?.id ?? ""), at(0));
      const spent = await Promise.all([1, 2, 3].map((n) => sessions.spendResetLink("r1", `$argon2id$${n}`, at(999))));
      expect(spent.filter((one) => one !== null)).toEqual([account as Account]);
    });

    test("are worth nothing after their time, or as links of another kind", async () => {
      const { accounts, sessions } = world.store;
      const account = await world.createAccount();
      await sessions.createLink(setup, at(0));
      await sessions.createLink(reset("r1", account.id), at(0));
      expect(await sessions.findLink("setup-1", 1000)).toBeNull();
      expect(await sessions.findLink("setup-1", 999)).toEqual(setup);
      expect(await sessions.spendSetUpLink("setup-1", operator(), at(1000))).toBeNull();
      expect(await sessions.spendResetLink("r1", "$argon2id$x", at(1000))).toBeNull();
      expect(await sessions.spendSetUpLink("r1", operator(), at(0))).toBeNull();
      expect(await sessions.spendResetLink("setup-1", "$argon2id$x", at(0))).toBeNull();
      expect(await accounts.hasAnyPassword()).toBe(false);
      expect(await sessions.findLink("r1", 0)).not.toBeNull();
    });

    test("that set the server up are worth nothing once anybody has a password, and stay where the address is taken", async () => {
      const { accounts, sessions } = world.store;
      const owner = await world.createAccount({ email: "taken@shop.example" });
      await sessions.createLink(setup, at(0));
      const taken = sessions.spendSetUpLink("setup-1", operator("taken@shop.example"), at(0));
      await expect(taken).rejects.toMatchObject({ code: "invalid_request", errors: [{ param: "email" }] });
      expect(await sessions.findLink("setup-1", 0)).toEqual(setup);
      await accounts.setPassword(ownIdentity(owner.id), "$argon2id$x", null, world.context());
      expect(await sessions.spendSetUpLink("setup-1", operator(), at(0))).toBeNull();
      expect(await accounts.findByEmail("op@shop.example")).toBeNull();
    });

    test("that reset a password end all sessions and links of the account", async () => {
      const { sessions } = world.store;
      const account = await world.createAccount();
      const times = { createdAt: 1, lastUsedAt: 1, expiresAt: 9e15 };
      const session = {
        id: systemIds.uuid(),
        accountId: account.id,
        memberId: null,
        userAgent: null,
        ipPrefix: null,
        ...times,
      };
      await sessions.create(session, "h1", world.context());
      await sessions.createLink(reset("r1", account.id), at(0));
      expect(await sessions.spendResetLink("r1", "$argon2id$new", at(0))).toEqual(account);
      expect((await sessions.findAccess(account.email))?.passwordHash).toBe("$argon2id$new");
      expect(await sessions.list(ownIdentity(account.id))).toEqual([]);
      expect(await sessions.findLink("r1", 0)).toBeNull();
    });

    test("replace the earlier ones of their kind and account", async () => {
      const { sessions } = world.store;
      const [one, two] = [await world.createAccount(), await world.createAccount()];
      for (const link of [setup, reset("r1", one.id), reset("r2", two.id)]) await sessions.createLink(link, at(0));
      await sessions.createLink({ ...setup, hash: "setup-2" }, at(0));
      await sessions.createLink(reset("r3", one.id), at(0));
      expect(await sessions.findLink("setup-1", 0)).toBeNull();
      expect(await sessions.findLink("r1", 0)).toBeNull();
      for (const hash of ["setup-2", "r2", "r3"]) expect((await sessions.findLink(hash, 0))?.hash).toBe(hash);
    });

    test("are in the audit trail: of the account, or of the operator that a set-up link makes", async () => {
      const { audit, sessions } = world.store;
      const everything = { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER };
      const actions = async ({ id }: { id: string }) =>
        (await audit.list(id, everything, firstPage)).items.map(({ action, details }) => [action, details.kind]);
      const account = await world.createAccount();
      await sessions.createLink(reset("r1", account.id), world.context());
      expect(await actions(account)).toEqual([
        ["link.create", "reset"],
        ["account.create", undefined],
      ]);
      await sessions.createLink(setup, at(0));
      const made = operator();
      await sessions.spendSetUpLink("setup-1", made, at(0));
      expect(await actions(made)).toEqual([
        ["account.create", undefined],
        ["link.create", "setup"],
      ]);
      expect(JSON.stringify(await audit.list(made.id, everything, firstPage))).not.toContain("setup-1");
    });
  });
}
