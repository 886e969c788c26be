/** Accounts, links and sessions while two servers change them on one PostgreSQL database. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import type { NewAccount, Session, Store } from "../../src/contracts/store/store.ts";
import { ownIdentity } from "../../src/domain/member.ts";
import { systemIds } from "../../src/lib/ids.ts";
import { firstPage, newApiKey, type StoreWorld } from "../support/store-world.ts";
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

const everything = { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER };
const reset = (hash: string, accountId: string) =>
  ({ hash, kind: "reset", accountId, memberId: null, expiresAt: 9e15 }) as const;
const setUp = (hash: string) => ({ hash, kind: "setup", accountId: null, memberId: null, expiresAt: 9e15 }) as const;

function newAccount(email: string): NewAccount {
  return { id: systemIds.uuid(), email, plan: "free", role: "operator", passwordHash: "$argon2id$x" };
}

function newSession(accountId: string): Session {
  const times = { createdAt: 1, lastUsedAt: 1, expiresAt: 9e15 };
  return { id: systemIds.uuid(), accountId, memberId: null, userAgent: null, ipPrefix: null, ...times };
}

test("an address is given to one of many accounts, and nothing of the others stays", async () => {
  const { results, reasons } = await servers.race(12, (store) =>
    store.accounts.create(newAccount("ada@shop.example"), world.context()),
  );
  expect(results).toHaveLength(1);
  expect(reasons).toHaveLength(11);
  for (const reason of reasons) expect(reason).toMatchObject({ code: "invalid_request", errors: [{ param: "email" }] });
  expect(await there.accounts.list()).toEqual(results);
  const entries = await servers.engine.quick.get<{ count: number }>("SELECT count(*)::int AS count FROM audit");
  expect(entries?.count).toBe(1);
});

test("of set-up links that are made at once one stays, and a server is set up once", async () => {
  const links = Array.from({ length: 8 }, (_, number) => setUp(`link ${number}`));
  await servers.race(8, (store, number) => store.sessions.createLink(links[number] ?? setUp("none"), world.context()));
  const alive = await Promise.all(links.map(({ hash }) => here.sessions.findLink(hash, 0)));
  const [link, ...more] = alive.filter((one) => one !== null);
  expect(more).toEqual([]);
  // Were there two of them, it would still be so.
  await servers.engine.write((transaction) =>
    transaction.run("INSERT INTO one_time_links (hash, kind, expires_at) VALUES ('other', 'setup', 9e15)"),
  );
  const { results } = await servers.race(8, (store, number) => {
    const hash = number % 4 < 2 ? "other" : (link?.hash ?? "");
    return store.sessions.spendSetUpLink(hash, newAccount(`${number}@shop.example`), world.context());
  });
  const made = results.filter((account) => account !== null);
  expect(made).toHaveLength(1);
  expect(results).toHaveLength(8);
  expect(await there.accounts.list()).toEqual(made);
  const trail = await there.audit.list(made[0]?.id ?? "", everything, firstPage);
  expect(trail.items).toHaveLength(9);
});

test("a reset link, a code's step and a recovery code work once", async () => {
  const account = await world.createAccount();
  await here.sessions.createLink(reset("r1", account.id), world.context());
  const spent = await servers.race(6, (store, number) =>
    store.sessions.spendResetLink("r1", `hash ${number}`, world.context()),
  );
  expect(spent.results.filter((one) => one !== null)).toEqual([account]);

  await here.secondFactors.begin(ownIdentity(account.id), "sealed", world.context());
  const confirmation = { sealedSecret: "sealed", step: 7, recoveryHashes: ["c1", "c2"], keptSessionId: "none" };
  const confirmed = await servers.race(6, (store) =>
    store.secondFactors.confirm(ownIdentity(account.id), confirmation, world.context()),
  );
  expect(confirmed.results.filter(Boolean)).toHaveLength(1);
  const stepped = await servers.race(6, (store) => store.secondFactors.takeStep(ownIdentity(account.id), 8));
  expect(stepped.results.filter(Boolean)).toHaveLength(1);
  const taken = await servers.race(6, (store) =>
    store.secondFactors.takeRecoveryCode(ownIdentity(account.id), "c1", world.context()),
  );
  expect(taken.results.filter(Boolean)).toHaveLength(1);
  expect((await there.secondFactors.find(ownIdentity(account.id)))?.recoveryCodesLeft).toBe(1);
});

test("what one server revokes, the other refuses from its next lookup", async () => {
  const account = await world.createAccount();
  const key = newApiKey();
  await here.apiKeys.create(account.id, key, world.context());
  const session = newSession(account.id);
  await here.sessions.create(session, "h1", world.context());
  expect(await there.apiKeys.findByHash(key.hash)).toMatchObject({ keyId: key.id, suspendedAt: null });
  expect(await there.sessions.findByHash("h1")).toEqual({ session, account, member: null });

  await here.accounts.update(account.id, { suspendedAt: 5 }, world.context());
  expect(await there.apiKeys.findByHash(key.hash)).toMatchObject({ suspendedAt: 5 });
  expect((await there.sessions.findByHash("h1"))?.account.suspendedAt).toBe(5);
  await here.apiKeys.revoke(account.id, key.id, world.context(), systemIds.uuid);
  expect(await there.apiKeys.findByHash(key.hash)).toBeNull();
  await here.accounts.setPassword(ownIdentity(account.id), "hash", null, world.context());
  expect(await there.sessions.findByHash("h1")).toBeNull();
});

test("old credentials open no session beside the write that replaces them", async () => {
  const account = await world.createAccount({ passwordHash: "hash 0" });
  const answers: boolean[] = [];
  for (let round = 0; round < 15; round++) {
    const shown = { passwordHash: `hash ${round}`, totpConfirmedAt: null };
    const changing = here.accounts.setPassword(ownIdentity(account.id), `hash ${round + 1}`, null, world.context());
    const opening = servers.race(4, (_, number) =>
      there.sessions.create(newSession(account.id), `${round} ${number}`, world.context(), shown),
    );
    await changing;
    answers.push(...(await opening).results);
    expect(await here.sessions.list(ownIdentity(account.id))).toEqual([]);
  }
  expect(answers).toHaveLength(60);
});

test("purges of both servers at once delete each response once, collide with none, and free the room", async () => {
  await servers.engine.write(async (transaction) => {
    await transaction.run(`INSERT INTO accounts (id, email, plan, role, created_at)
      SELECT n::text, n::text, 'free', 'owner', 1 FROM generate_series(1, 40) AS n`);
    await transaction.run(`INSERT INTO idempotency SELECT a.id, 'POST', '/', n::text, 'b', 201, 'body', random() * 1e6
      FROM accounts a, generate_series(1, 20) AS n`);
  });
  servers.statements.length = 0;
  const later = 30 * 60 * 60_000;
  const purged: number[] = [];
  const { reasons } = await servers.race(12, async (store) => {
    for (let count = 1; count > 0; purged.push(count)) count = await store.idempotency.purge(later, 60);
  });
  expect(reasons).toEqual([]);
  expect(purged.reduce((sum, count) => sum + count, 0)).toBe(800);
  expect(servers.countBegun()).toBe(purged.length);
  const held = "SELECT DISTINCT answer_bytes::float8 AS bytes FROM account_holdings";
  expect(await servers.engine.quick.all<object>(held)).toEqual([{ bytes: 0 }]);
});

test("sessions and links past their end go, whichever servers clear them away", async () => {
  const account = await world.createAccount();
  for (let made = 0; made < 10; made++) {
    const session = { ...newSession(account.id), expiresAt: made };
    await here.sessions.create(session, session.id, world.context());
  }
  await here.sessions.createLink({ ...reset("r1", account.id), expiresAt: 3 }, world.context());
  const { reasons } = await servers.race(6, (store) => store.sessions.purge(4, 0));
  expect(reasons).toEqual([]);
  expect((await there.sessions.list(ownIdentity(account.id))).map(({ expiresAt }) => expiresAt).sort()).toEqual([
    5, 6, 7, 8, 9,
  ]);
  expect(await there.sessions.findLink("r1", 0)).toBeNull();
});

test("an account that one server deletes takes its keys and sessions along, also those that are made meanwhile", async () => {
  const account = await world.createAccount();
  const making = servers.race(10, async (_, number) => {
    if (number % 2 === 0) await there.apiKeys.create(account.id, newApiKey(), world.context());
    else await there.sessions.create(newSession(account.id), `h${number}`, world.context());
  });
  await here.accounts.delete(account.id, world.context());
  for (const reason of (await making).reasons) expect(reason).toMatchObject({ code: "not_found" });
  const left = "SELECT (SELECT count(*) FROM api_keys)::int AS keys, (SELECT count(*) FROM sessions)::int AS sessions";
  expect(await servers.engine.quick.get<object>(left)).toEqual({ keys: 0, sessions: 0 });
});
