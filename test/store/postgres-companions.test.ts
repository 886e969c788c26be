/** Companions of several servers on one PostgreSQL database: what one commits, the others know. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import type { Account } from "../../src/domain/account.ts";
import type { OpenedPostgres } from "../../src/engines/postgres/open.ts";
import { systemIds } from "../../src/lib/ids.ts";
import { day, newCompanion, type StoreWorld } from "../support/store-world.ts";
import { openTwoServers, type TwoServers } from "../support/two-postgres-servers.ts";

let servers: TwoServers;
let world: StoreWorld;
let account: Account;
let a: OpenedPostgres;
let b: OpenedPostgres;
const provider = "elevenlabs-convai";

beforeEach(async () => {
  servers = await openTwoServers();
  world = servers.world;
  a = servers.opened.here;
  b = servers.opened.there;
  account = await world.createAccount();
});
afterEach(() => world.close());

async function listIds(of: OpenedPostgres, limit = 100): Promise<string[]> {
  const ids: string[] = [];
  for (let afterId: string | null = null; ; ) {
    const page = await of.store.companions.list(account.id, { metadata: [], q: null }, { limit, afterId });
    ids.push(...page.items.map(({ id }) => id));
    afterId = page.nextAfterId;
    if (afterId === null) return ids;
  }
}

test("what is revoked, disabled, suspended or deleted at one is so at the next call of another", async () => {
  const { companions } = b.store;
  const { id, embedToken } = await world.createCompanion(account);
  const second = { id: systemIds.uuid(), token: "emb_second", name: null };
  await a.store.embedTokens.create(account.id, id, second, world.context());
  const expectAtB = async (token: string, isRight: boolean, isOwned: boolean) => {
    expect((await companions.findByEmbedToken(token)) !== null).toBe(isRight);
    expect((await companions.checkEmbedToken(token)) !== null).toBe(isRight);
    expect((await companions.checkOwned(account.id, id)) !== null).toBe(isOwned);
  };
  await expectAtB(embedToken, true, true);
  const [first] = (await a.store.embedTokens.list(account.id, id)) ?? [];
  await a.store.embedTokens.revoke(account.id, id, first?.id ?? "", world.context());
  await expectAtB(embedToken, false, true);
  await expectAtB(second.token, true, true);
  await a.store.companions.update(account.id, id, { enabled: false }, world.context());
  await expectAtB(second.token, false, true);
  await a.store.companions.update(account.id, id, { enabled: true }, world.context());
  await a.store.accounts.update(account.id, { suspendedAt: 1 }, world.context());
  await expectAtB(second.token, false, false);
  await a.store.accounts.update(account.id, { suspendedAt: null }, world.context());
  await expectAtB(second.token, true, true);
  await a.store.companions.delete(account.id, id, world.context());
  await expectAtB(second.token, false, false);
});

test("the tokens of one turn of the event loop are one query, and a token that cannot exist spoils none", async () => {
  const made = await Promise.all([world.createCompanion(account), world.createCompanion(account)]);
  const tokens = made.map(({ embedToken }) => embedToken);
  servers.statements.length = 0;
  const asked = [...tokens, "emb_unknown", 'emb_"{,}\\', "emb_\0", tokens[0] ?? ""];
  const found = await Promise.all(asked.map((token) => b.store.companions.findByEmbedToken(token)));
  expect(found.map((target) => target?.companion.id ?? null)).toEqual(
    [made[0]?.id, made[1]?.id, null, null, null, made[0]?.id].map((id) => id ?? null),
  );
  expect(servers.statements).toHaveLength(1);
  expect(found.every((target) => target === null || Object.isFrozen(target.companion))).toBe(true);
});

test("a lookup of a token brings along what was committed before it", async () => {
  const { embedToken } = await world.createCompanion(account);
  const committed = await a.engine.write(async (transaction) => {
    const row = await transaction.get<{ id: string }>("SELECT pg_current_xact_id()::text AS id");
    return row?.id ?? "";
  });
  const isKnownToB = async () => {
    const row = await a.engine.quick.get<{ isKnown: boolean }>(
      `SELECT pg_visible_in_snapshot($1::text::xid8, $2::text::pg_snapshot) AS "isKnown"`,
      [committed, b.parts.arrivals.mark()],
    );
    return row?.isKnown;
  };
  expect(await isKnownToB()).toBe(false);
  await b.store.companions.findByEmbedToken(embedToken);
  expect(await isKnownToB()).toBe(true);
});

test("companions made at two servers at once never appear behind one that was there before", async () => {
  const everything = { limit: 5_000, afterId: null };
  const list = async () => (await a.store.companions.list(account.id, { metadata: [], q: null }, everything)).items;
  let isMade = false;
  // The rows of an import get their numbers long before the others can see them.
  const importing = async () => {
    const many = () => Array.from({ length: 300 }, () => newCompanion());
    for (let at = 0; at < 5; at++) await a.store.companions.createMany(account.id, many(), world.context());
    isMade = true;
  };
  const creating = async () => {
    while (!isMade) await b.store.companions.create(account.id, newCompanion(), world.context());
  };
  const made = Promise.all([importing(), creating()]);
  let before: string[] = [];
  let looks = 0;
  for (let isLast = false; !isLast; looks++) {
    isLast = isMade;
    const now = (await list()).map(({ id }) => id);
    expect(now.slice(now.length - before.length)).toEqual(before);
    before = now;
  }
  expect(looks).toBeGreaterThan(2);
  await made;
  const listed = await listIds(b, 97);
  expect(listed).toEqual((await list()).map(({ id }) => id));
  expect(new Set(listed).size).toBe(listed.length);
  expect(listed.length).toBeGreaterThan(1_500);
});

test("updates of the same block of the metadata index from two servers lose nothing", async () => {
  const many = Array.from({ length: 40 }, (_, at) => newCompanion({ name: `C${at}`, metadata: { plan: "one" } }));
  await a.store.companions.createMany(account.id, many, world.context());
  // Values of the same length: nothing but the order of changes keeps these apart.
  const updateAll = (planOf: (at: number) => string) =>
    servers.race(many.length, ({ companions }, at) =>
      companions.update(account.id, many[at]?.id ?? "", { metadata: { plan: planOf(at) } }, world.context()),
    );
  const find = async (of: OpenedPostgres, plan: string) => {
    const query = { metadata: [{ path: "plan", value: plan }], q: null };
    return (await of.store.companions.list(account.id, query, { limit: 100, afterId: null })).items.length;
  };
  expect((await updateAll(() => "two")).reasons).toEqual([]);
  expect([await find(a, "two"), await find(b, "two"), await find(b, "one")]).toEqual([40, 40, 0]);
  expect((await updateAll((at) => (at < 20 ? "one" : "two"))).reasons).toEqual([]);
  expect([await find(a, "two"), await find(b, "one")]).toEqual([20, 20]);
});

test("a grant revoked at one takes the voice at another, and nobody names the agent any more", async () => {
  await world.grantAgent(account, "agent-1");
  const { id, embedToken } = await world.createCompanion(account, { voiceAgentId: "agent-1" });
  const other = await world.createCompanion(account);
  const voiceAtB = async () => (await b.store.companions.findByEmbedToken(embedToken))?.companion.voiceAgentId;
  expect(await voiceAtB()).toBe("agent-1");
  await a.store.voiceAgentGrants.revoke(account.id, "agent-1", world.context());
  expect(await voiceAtB()).toBeNull();
  const patch = { voiceAgentId: "agent-1" };
  const naming = b.store.companions.update(account.id, other.id, patch, world.context());
  await expect(naming).rejects.toMatchObject({ code: "invalid_request" });
  expect(await b.store.companions.find(account.id, id)).toMatchObject(patch);
});

test("an agent's lock has one owner, and an agent whose companion loses its voice meanwhile is never forgotten", async () => {
  const { id } = await world.createCompanion(account, { voiceId: "v1" });
  const { results: taken } = await servers.race(20, ({ voice }, at) => voice.lockAgent(id, `owner-${at}`, 0, 1000));
  expect(taken.filter((isTaken) => isTaken)).toHaveLength(1);
  const owner = `owner-${taken.indexOf(true)}`;

  const agent = { companionId: id, provider, agentId: "agent-1", settingsHash: "s" };
  await Promise.all([
    a.store.voice.saveAgent(agent, owner, 500),
    b.store.companions.update(account.id, id, { voiceId: null }, world.context()),
  ]);
  expect(await a.store.voice.findAgent(id)).toBeNull();
  const nowMs = world.clock.nowMs();
  expect(await b.store.voice.takeDueOutbox(nowMs, nowMs + 1, 10)).toMatchObject([{ agentId: "agent-1" }]);
});

test("each agent in the outbox is taken by one server", async () => {
  const { id } = await world.createCompanion(account, { voiceId: "v1" });
  const agentIds = Array.from({ length: 30 }, (_, at) => `agent-${String(at).padStart(2, "0")}`);
  for (const agentId of agentIds) {
    await a.store.voice.saveAgent({ companionId: id, provider, agentId, settingsHash: "s" }, "nobody", 1);
  }
  const taking = await servers.race(12, ({ voice }) => voice.takeDueOutbox(10, 100, 5));
  // Those that were passed over because another was just taking them.
  const left = await b.store.voice.takeDueOutbox(10, 100, 30);
  const taken = [...taking.results.flat(), ...left];
  expect(taken.map(({ agentId }) => agentId).sort()).toEqual(agentIds);
  expect(taken.every(({ attempts }) => attempts === 1)).toBe(true);
});

test("a session takes the place of its ticket in one commit, and its transcript is added by one server", async () => {
  const companion = await world.createCompanion(account);
  const ticketId = systemIds.uuid();
  a.parts.tickets.hold(ticketId);
  await a.engine.write((transaction) =>
    transaction.run(
      `INSERT INTO open_turns (id, instance_number, companion_id, kind, queue_key, is_running, day)
       VALUES ($1, 0, $2, 'voice_session', NULL, true, $3)`,
      [ticketId, companion.id, day],
    ),
  );
  const session = {
    providerConversationId: "conv-1",
    sessionId: systemIds.randomUuid(),
    visitorId: null,
    sealedVisitor: null,
  };
  const owner = { accountId: account.id, companionId: companion.id };
  await a.store.voice.startSession({
    ...session,
    ...owner,
    keyId: null,
    ticketId,
    day,
    reservationId: null,
    createdAt: world.clock.nowMs(),
  });
  expect(await b.store.voice.countDay(companion.id, day)).toBe(1);
  expect(await b.engine.quick.get("SELECT FROM open_turns")).toBeNull();
  expect(a.parts.tickets.takeEnded(ticketId)).toBe(true);

  const spoken = { role: "user" as const, text: "hello", complete: true, createdAt: 5 };
  const { results } = await servers.race(10, ({ voice }) =>
    voice.addTranscript("conv-1", systemIds.uuid(), [{ ...spoken, id: systemIds.uuid() }], null),
  );
  expect(results).toHaveLength(10);
  expect(results.filter(({ isAdded }) => isAdded)).toHaveLength(1);
  const stored = await b.engine.quick.get<{ count: number }>("SELECT count(*)::int AS count FROM messages");
  expect(stored?.count).toBe(1);
});
