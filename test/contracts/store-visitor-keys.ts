/** What every storage engine must do with the keys that sign tokens for visitors. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { VisitorKey } from "../../src/contracts/store/store.ts";
import type { Account } from "../../src/domain/account.ts";
import { maxVisitorKeys, toVerifiedId, type VisitorKeyFilter, visitorFactsOf } from "../../src/domain/visitor.ts";
import { systemIds } from "../../src/lib/ids.ts";
import { testInFull } from "../support/full.ts";
import { day, firstPage, type OpenStore, openWorld, type StoreWorld } from "../support/store-world.ts";

const always = { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER };
const anything = { companionId: null, visitorId: null, fromMs: null, toMs: null, q: null };

export function visitorKeyStoreContract(open: OpenStore): void {
  describe("visitor keys", () => {
    let world: StoreWorld;
    let account: Account;
    beforeEach(async () => {
      world = await openWorld(open);
      account = await world.createAccount();
    });
    afterEach(() => world.close());

    function newKey(fields: Partial<VisitorKey> = {}): VisitorKey {
      world.clock.advance(1000);
      const key = { id: systemIds.uuid(), name: "Shop", algorithm: "HS256", metadata: null } as const;
      return { ...key, createdAt: world.clock.nowMs(), sealed: `v1.${systemIds.secret(16)}`, ...fields };
    }

    async function create(of = account, fields: Partial<VisitorKey> = {}): Promise<VisitorKey> {
      const key = newKey(fields);
      await world.store.visitorKeys.create(of.id, key, world.context());
      return key;
    }

    const list = async (of = account) => (await world.store.visitorKeys.list(of.id, firstPage)).items;
    const companionOf = (metadata: NonNullable<VisitorKeyFilter>) => ({ id: systemIds.uuid(), metadata });
    const findOnly = (metadata: NonNullable<VisitorKeyFilter>) =>
      world.store.visitorKeys.findOnly(account.id, visitorFactsOf(companionOf(metadata)));

    test("are listed newest first, to their own account, until they are revoked", async () => {
      const { visitorKeys } = world.store;
      const other = await world.createAccount();
      expect(await list()).toEqual([]);
      const first = await create();
      const second = await create(account, { algorithm: "EdDSA", name: "Next “key”" });
      const foreign = await create(other);
      expect(await list()).toEqual([second, first]);
      expect(await list(other)).toEqual([foreign]);
      expect(await visitorKeys.revoke(other.id, first.id, world.context())).toBe(false);
      expect(await visitorKeys.revoke(account.id, first.id, world.context())).toBe(true);
      expect(await visitorKeys.revoke(account.id, first.id, world.context())).toBe(false);
      expect(await visitorKeys.revoke(account.id, systemIds.uuid(), world.context())).toBe(false);
      expect(await list()).toEqual([second]);
    });

    test("are listed in pages, in either order", async () => {
      const { visitorKeys } = world.store;
      const made = [await create(), await create(), await create(account, { metadata: { tenant: "7" } })];
      const [first = "", second = "", third = ""] = made.map(({ id }) => id);
      const page = async (afterId: string | null, order?: "asc") => {
        const { items, nextAfterId } = await visitorKeys.list(account.id, {
          limit: 2,
          afterId,
          ...(order && { order }),
        });
        return [items.map(({ id }) => id), nextAfterId];
      };
      expect(await page(null)).toEqual([[third, second], second]);
      expect(await page(second)).toEqual([[first], null]);
      expect(await page(null, "asc")).toEqual([[first, second], second]);
      expect(await page(second, "asc")).toEqual([[third], null]);
    });

    test("are found by their id, live, in their own account", async () => {
      const { visitorKeys } = world.store;
      const other = await world.createAccount();
      const key = await create(account, { algorithm: "EdDSA", metadata: { "tenant.id": 7, "a b": null } });
      expect(await visitorKeys.find(account.id, key.id)).toEqual(key);
      for (const id of [
        `${key.id} `,
        ` ${key.id}`,
        `${key.id} x`,
        key.id.toUpperCase(),
        "",
        "a\0b",
        systemIds.uuid(),
      ]) {
        expect(await visitorKeys.find(account.id, id)).toBeNull();
      }
      expect(await visitorKeys.find(other.id, key.id)).toBeNull();
      await visitorKeys.revoke(account.id, key.id, world.context());
      expect(await visitorKeys.find(account.id, key.id)).toBeNull();
    });

    test("are found by a companion that exactly one of them covers", async () => {
      const { visitorKeys } = world.store;
      const seven = await create(account, { metadata: { "tenant.id": "7" } });
      const eight = await create(account, { metadata: { "tenant.id": "8", plan: "pro" } });
      await create(await world.createAccount(), { metadata: { "tenant.id": "9" } });
      for (const metadata of [{ tenant: { id: 7 } }, { "tenant.id": "7", plan: "pro" }, { tenant: [{ id: "7" }] }]) {
        expect(await findOnly(metadata)).toEqual(seven);
      }
      expect(await findOnly({ tenant: { id: 8 }, plan: ["free", "pro"] })).toEqual(eight);
      for (const metadata of [{}, { tenant: { id: 9 } }, { tenant: { id: 8 } }, { plan: "pro" }, { tenant: "7" }]) {
        expect(await findOnly(metadata)).toBeNull();
      }
      // Both cover it: there is something to choose.
      expect(await findOnly({ tenant: [{ id: 7 }, { id: 8 }], plan: "pro" })).toBeNull();
      const all = await create();
      expect(await findOnly({})).toEqual(all);
      expect(await findOnly({ tenant: { id: 7 } })).toBeNull();
      await visitorKeys.revoke(account.id, all.id, world.context());
      expect(await findOnly({ tenant: { id: 7 } })).toEqual(seven);
      expect(await findOnly({})).toBeNull();
    });

    test("may be two for each filter, in whatever order and form it is written", async () => {
      const { visitorKeys } = world.store;
      const filter = { "tenant.id": "7", plan: "pro", seats: 5 };
      const same = { seats: "5", plan: "pro", "tenant.id": 7 };
      const first = await create(account, { metadata: filter });
      await create(account, { metadata: same });
      for (const metadata of [filter, same]) {
        await expect(create(account, { metadata })).rejects.toMatchObject({ code: "conflict" });
      }
      for (const metadata of [null, { "tenant.id": "7" }, { "tenant.id": "8", plan: "pro", seats: 5 }]) {
        await create(account, { metadata });
      }
      await create(await world.createAccount(), { metadata: filter });
      await visitorKeys.revoke(account.id, first.id, world.context());
      expect((await create(account, { metadata: same })).metadata).toEqual(same);
      expect(await list()).toHaveLength(5);
    });

    testInFull(
      "may be ten thousand in an account, each found by its companion, also where all share a value",
      async () => {
        const { visitorKeys } = world.store;
        for (let at = 0; at < maxVisitorKeys; at++) {
          await create(account, { metadata: { env: "prod", tenant: String(at), zone: String(at % 3) } });
        }
        await expect(create()).rejects.toMatchObject({ code: "limit_reached" });
        for (const tenant of ["0", "1", "2", "4999", "9999"]) {
          const found = await findOnly({ env: "prod", tenant, zone: Number(tenant) % 3 });
          expect(found?.metadata).toMatchObject({ tenant });
        }
        expect(await findOnly({ env: "prod", tenant: "10000", zone: 0 })).toBeNull();
        const [newest] = await list();
        await visitorKeys.revoke(account.id, newest?.id ?? "", world.context());
        await create();
      },
      300_000,
    );

    test("are two at most that are live for all companions, however many are made at once", async () => {
      const { visitorKeys } = world.store;
      const made = await Promise.allSettled(Array.from({ length: 6 }, () => create()));
      expect(made.filter(({ status }) => status === "fulfilled")).toHaveLength(2);
      for (const one of made) {
        if (one.status === "rejected") expect(one.reason).toMatchObject({ code: "conflict" });
      }
      const [newest] = await list();
      await visitorKeys.revoke(account.id, newest?.id ?? "", world.context());
      await create();
      await expect(create()).rejects.toMatchObject({ code: "conflict" });
      expect(await list()).toHaveLength(2);
    });

    test("are audited without what was sealed, and refused for an account that is gone", async () => {
      const { accounts, audit, visitorKeys } = world.store;
      const key = await create();
      await visitorKeys.revoke(account.id, key.id, world.context());
      await visitorKeys.reset(account.id, world.context());
      const { items } = await audit.list(account.id, always, firstPage);
      const facts = { targetId: key.id, details: { name: "Shop", algorithm: "HS256" } };
      expect(items.slice(0, 3)).toMatchObject([
        { action: "visitor_key.reset", targetId: account.id },
        { action: "visitor_key.revoke", ...facts },
        { action: "visitor_key.create", ...facts },
      ]);
      expect(JSON.stringify(items)).not.toContain(key.sealed);
      await accounts.delete(account.id, world.context());
      await expect(create()).rejects.toMatchObject({ code: "not_found" });
    });

    test("answer a repeated request with what the first one made", async () => {
      const { idempotency, visitorKeys } = world.store;
      const slot = { accountId: account.id, key: "k", method: "POST", path: "/api/visitor-keys" };
      const write = { slot, bodyHash: "h", status: 201, body: "{}" };
      await visitorKeys.create(account.id, newKey(), world.context({ idempotent: write }));
      await expect(
        visitorKeys.create(account.id, newKey(), world.context({ idempotent: write })),
      ).rejects.toMatchObject({ code: "conflict" });
      expect(await list()).toHaveLength(1);
      expect(await idempotency.find(slot, world.clock.nowMs())).toMatchObject({ status: 201 });
    });

    test("tell who has or had one, so that a lost key of the server is noticed", async () => {
      const { accounts, visitorKeys } = world.store;
      const [second, third] = [await world.createAccount(), await world.createAccount()];
      expect(await visitorKeys.listHolders(5)).toEqual([]);
      const key = await create(third);
      await create(second);
      await create(second);
      await visitorKeys.revoke(third.id, key.id, world.context());
      expect((await visitorKeys.listHolders(5)).sort()).toEqual([second.email, third.email].sort());
      expect(await visitorKeys.listHolders(1)).toHaveLength(1);
      await visitorKeys.reset(third.id, world.context());
      expect(await visitorKeys.listHolders(5)).toEqual([second.email]);
      await accounts.delete(second.id, world.context());
      expect(await visitorKeys.listHolders(5)).toEqual([]);
    });

    test("that are reset take all with them that was sealed of the account's visitors, and of nobody else's", async () => {
      const { conversations, turns, visitorKeys, voice } = world.store;
      const others = await world.createAccount();
      const [own, foreign] = [await world.createCompanion(account), await world.createCompanion(others)];
      const visitorId = toVerifiedId("digest");
      for (const companion of [own, foreign]) {
        for (let at = 0; at < 3; at++) {
          const key = { companionId: companion.id, sessionId: systemIds.randomUuid(), visitorId };
          await turns.settle(world.turnOf(companion, { key, visitor: { sealed: `s${at}`, isLimited: false } }));
        }
        await create(companion === own ? account : others);
      }
      const sessionId = systemIds.randomUuid();
      const call = { ticketId: null, providerConversationId: "conv-1", sessionId, visitorId, sealedVisitor: "s" };
      const place = { accountId: account.id, companionId: own.id, keyId: null, day, reservationId: null, createdAt: 5 };
      await voice.startSession({ ...call, ...place });

      expect(await visitorKeys.reset(systemIds.uuid(), world.context())).toBe(false);
      expect(await visitorKeys.reset(account.id, world.context())).toBe(true);
      expect(await list()).toEqual([]);
      expect(await list(others)).toHaveLength(1);
      const spoken = { id: systemIds.uuid(), role: "user", text: "hello", complete: true, createdAt: 5 } as const;
      expect((await voice.addTranscript("conv-1", systemIds.uuid(), [spoken], null)).isAdded).toBe(true);
      const listSealed = async (of: Account) =>
        (await conversations.list(of.id, anything, firstPage)).items.map((item) => item.sealedVisitor);
      expect(await listSealed(account)).toEqual([null, null, null, null]);
      expect(await listSealed(others)).toEqual(["s2", "s1", "s0"]);
    });
  });
}
