/** API keys and recorded uses while two servers change them on one PostgreSQL database. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import type { Store, WriteContext } from "../../src/contracts/store/store.ts";
import type { Account } from "../../src/domain/account.ts";
import { ownIdentity } from "../../src/domain/member.ts";
import { systemIds } from "../../src/lib/ids.ts";
import { sha256 } from "../../src/lib/sha256.ts";
import { day, newApiKey, type StoreWorld } from "../support/store-world.ts";
import { openTwoServers, type TwoServers } from "../support/two-postgres-servers.ts";

let servers: TwoServers;
let world: StoreWorld;
let here: Store;
let there: Store;
beforeEach(async () => {
  servers = await openTwoServers();
  ({ world, here, there } = servers);
});
afterEach(() => world.close());

test("lookups of one turn of the event loop are one query, and give each caller an object of its own", async () => {
  const account = await world.createAccount();
  const keys = [newApiKey(), newApiKey(), newApiKey()];
  for (const key of keys) await here.apiKeys.create(account.id, key, world.context());
  servers.statements.length = 0;
  const found = await Promise.all([...keys, ...keys].map(({ hash }) => here.apiKeys.findByHash(hash)));
  expect(found.map((one) => one?.keyId)).toEqual([...keys, ...keys].map(({ id }) => id));
  expect(found[0]).not.toBe(found[3]);
  expect(servers.statements).toHaveLength(1);
});

test("keys made at both servers at once stay within the limit", async () => {
  const account = await world.createAccount();
  const plan = { companions: 10, keys: 10, tokensPerCompanion: 10, members: 10, bytes: 1e9 };
  const context = (): WriteContext => world.context({ holdings: { free: plan, paid: plan } });
  const { results, reasons } = await servers.race(50, (store) =>
    store.apiKeys.create(account.id, newApiKey(), context()),
  );
  expect(results).toHaveLength(10);
  for (const reason of reasons) expect(reason).toMatchObject({ code: "limit_reached" });
  expect(await there.apiKeys.list(account.id)).toHaveLength(10);
  expect(await there.accounts.findHeld(account.id)).toMatchObject({ keys: 10 });
});

test("of one call that comes to both servers, one makes something and the other gets a conflict", async () => {
  const account = await world.createAccount();
  const slot = { accountId: account.id, method: "POST", path: "/api/keys", key: "k1" };
  const idempotent = { slot, bodyHash: "b1", status: 201, body: '{"id":1}' };
  const { results, reasons } = await servers.race(8, (store) =>
    store.apiKeys.create(account.id, newApiKey(), world.context({ idempotent })),
  );
  expect(results).toHaveLength(1);
  for (const reason of reasons) expect(reason).toMatchObject({ code: "conflict" });
  expect(await there.apiKeys.list(account.id)).toEqual(results);
  const kept = { bodyHash: "b1", status: 201, body: '{"id":1}' };
  expect(await there.idempotency.find(slot, world.clock.nowMs())).toEqual(kept);
});

test("no key outlives its maker, which another server revokes at the same moment", async () => {
  const account = await world.createAccount();
  for (let round = 0; round < 10; round++) {
    const maker = await here.apiKeys.create(account.id, newApiKey(), world.context());
    const making = servers.race(4, (_, number) => {
      const key = newApiKey({ id: `${maker.id} ${number}`, createdByKeyId: maker.id });
      return there.apiKeys.create(account.id, key, world.context());
    });
    await here.apiKeys.revoke(account.id, maker.id, world.context(), systemIds.uuid);
    for (const reason of (await making).reasons) expect(reason).toMatchObject({ code: "conflict" });
    expect(await here.apiKeys.list(account.id)).toEqual([]);
    expect(await there.apiKeys.findByHash(sha256(`${maker.id} 0`))).toBeNull();
  }
});

async function makeLine(account: Account, length: number): Promise<string[]> {
  const root = await here.apiKeys.create(account.id, newApiKey(), world.context());
  const ids = [root.id];
  while (ids.length < length) {
    const made = await here.apiKeys.create(account.id, newApiKey({ createdByKeyId: root.id }), world.context());
    ids.push(made.id);
  }
  return ids;
}

test("uses that both servers write in any order, beside changes of the same rows, are all counted and collide with none", async () => {
  const accounts = [await world.createAccount(), await world.createAccount()];
  const [first = [], second = []] = await Promise.all(accounts.map((account) => makeLine(account, 12)));
  const ids = [...first, ...second];
  for (const account of accounts) {
    for (let made = 0; made < 6; made++) {
      const times = { createdAt: 1, lastUsedAt: 1, expiresAt: 9e15 };
      const session = {
        id: systemIds.uuid(),
        accountId: account.id,
        memberId: null,
        userAgent: null,
        ipPrefix: null,
        ...times,
      };
      await here.sessions.create(session, session.id, world.context());
    }
  }
  const open = (await Promise.all(accounts.map(({ id }) => here.sessions.list(ownIdentity(id))))).flat();
  servers.statements.length = 0;
  const writes = servers.race(40, async (store, number) => {
    const usedAt = world.clock.nowMs() + number;
    const shuffled = ids.toSorted(() => Math.random() - 0.5);
    const uses = shuffled.map((keyId) => ({ keyId, requests: 1, lastUsedAt: usedAt }));
    const sessionUses = open
      .toSorted(() => Math.random() - 0.5)
      .map(({ id }) => ({ sessionId: id, lastUsedAt: usedAt }));
    await Promise.all([store.apiKeys.recordUses(uses, day), store.sessions.recordUses(sessionUses)]);
  });
  await here.apiKeys.revoke(accounts[0]?.id ?? "", first[0] ?? "", world.context(), systemIds.uuid);
  const { reasons } = await writes;
  expect(reasons).toEqual([]);
  expect(servers.countBegun()).toBe(40 * 2 + 1);
  const counts = "SELECT DISTINCT requests::float8 AS requests, last_used_at::float8 AS used FROM api_keys";
  expect(await servers.engine.quick.all<object>(counts)).toEqual([{ requests: 40, used: world.clock.nowMs() + 39 }]);
  const summed = `SELECT sum(requests)::float8 AS sum FROM usage_account_daily WHERE day = $1`;
  expect(await servers.engine.quick.get<object>(summed, [day])).toEqual({ sum: 40 * ids.length });
});
