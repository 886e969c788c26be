/** Knowledge at several servers of one PostgreSQL database: who reads what, what counts, and what is left behind. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { maxSources } from "../../src/domain/knowledge.ts";
import { eventually } from "../support/eventually.ts";
import { claimNext, indexSource, makeSource, newFacts, newUpload, writeEdition } from "../support/indexed-source.ts";
import { settleNotedTurn } from "../support/noted-turn.ts";
import { openPostgresServers, type PostgresServers } from "../support/postgres-servers.ts";

let servers: PostgresServers;
beforeEach(async () => {
  servers = await openPostgresServers();
});
afterEach(() => servers.close());

const fetched = { type: "url", url: "https://shop.example", upload: null } as const;

/** Rows of all tables that hold anything of an edition or an upload. */
async function countRemains(): Promise<number> {
  const [row] =
    await servers.sql`SELECT (SELECT count(*) FROM knowledge_parts) + (SELECT count(*) FROM knowledge_postings)
    + (SELECT count(*) FROM knowledge_documents) + (SELECT count(*) FROM knowledge_uploads)
    + (SELECT count(*) FROM knowledge_editions) + (SELECT count(*) FROM removals) AS count`;
  return Number(row.count);
}

test("sources that are due are taken by one server each, also where all of them ask at once", async () => {
  const { worlds, companion } = servers;
  const made = await Promise.all(Array.from({ length: 30 }, () => makeSource(worlds[0], companion, fetched)));
  const claim = { nowMs: worlds[0].clock.nowMs(), leaseMs: 60_000, afterAccountId: null, exceptAccountIds: [] };
  const taken: string[] = [];
  const readers = worlds.flatMap(({ store }) => [store, store, store]);
  await Promise.all(
    readers.map(async ({ knowledge }) => {
      for (let misses = 0; misses < 3; ) {
        const claimed = await knowledge.claim(claim);
        if (claimed === null) misses++;
        else taken.push(claimed.source.id);
      }
    }),
  );
  expect(taken.sort()).toEqual(made.map(({ id }) => id).sort());
});

test("when a server is killed over a source, another takes it once the lease is over, and nothing is left of the first", async () => {
  const [killed, other] = servers.worlds;
  await makeSource(killed, servers.companion, { upload: newUpload("words") });
  const claimed = await claimNext(killed);
  const begun = await writeEdition(killed, claimed, ["half"]);
  other.clock.advance(60_000);
  const taken = await claimNext(other);
  expect(taken).toMatchObject({ source: { id: claimed.source.id }, failures: 1, uploadId: claimed.uploadId });
  expect(await killed.store.knowledge.append(begun, {})).toBe(false);
  const edition = await writeEdition(other, taken, ["whole"]);
  expect(await other.store.knowledge.publish(taken, edition, newFacts(), 1)).toBe("published");
  expect(await killed.store.knowledge.publish(claimed, begun, newFacts(), 1)).toBe("outdated");
  expect(await killed.store.knowledge.listEditions(servers.companion.id)).toMatchObject([{ edition }]);
  await eventually(async () => {
    const rows = await servers.sql`SELECT number::int FROM knowledge_editions`;
    return rows.length === 1 && rows[0].number === edition;
  });
});

test("the most sources and passages of a companion hold for all servers together", async () => {
  const { worlds, companion, sql } = servers;
  const sources = [await makeSource(worlds[0], companion, fetched), await makeSource(worlds[0], companion, fetched)];
  const claims = [await claimNext(worlds[0]), await claimNext(worlds[1])] as const;
  const editions = await Promise.all(claims.map((claimed, at) => writeEdition(worlds[at % 2 ? 1 : 0], claimed, ["x"])));
  const facts = newFacts({ chunks: 12_000 });
  const verdicts = await Promise.all(
    claims.map((claimed, at) => worlds[at % 2 ? 1 : 0].store.knowledge.publish(claimed, editions[at] ?? 0, facts, 1)),
  );
  expect(verdicts.sort()).toEqual(["published", "too_many_chunks"]);

  await sql`INSERT INTO knowledge_sources (id, account_id, companion_id, type, title, status, created_at, updated_at)
    SELECT 'filler ' || i, ${companion.accountId}, ${companion.id}, 'url', 't', 'ready', 1, 1
    FROM generate_series(1, ${maxSources - sources.length - 1}) AS i`;
  const outcomes = await Promise.allSettled(
    [...worlds, ...worlds].map((world) => makeSource(world, companion, fetched)),
  );
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
});

test("what is deleted at one server answers at no other, whose next message knows that nothing is left", async () => {
  const [one, other] = servers.worlds;
  const { companion } = servers;
  const read = async () => (await other.store.companions.find(companion.accountId, companion.id))?.hasSources;
  expect(await read()).toBe(false);
  const { source, edition } = await indexSource(one, companion, ["words"]);
  expect(await read()).toBe(true);
  expect(await other.store.knowledge.listEditions(companion.id)).toHaveLength(1);
  await one.store.knowledge.delete(companion.accountId, companion.id, source.id, one.context());
  expect(await read()).toBe(false);
  expect(await other.store.knowledge.listEditions(companion.id)).toEqual([]);
  expect(await other.store.knowledge.readPassages(companion.id, [{ edition, ordinal: 0 }])).toEqual([]);
  await eventually(async () => (await countRemains()) === 0);
});

test("of what turns found, nothing is left of conversations that are deleted, erased or too old", async () => {
  const { account, companion, sql, worlds } = servers;
  const [world] = worlds;
  const { conversations } = world.store;
  const shortly = await world.createCompanion(account, { retentionDays: 1 });
  const deleted = await settleNotedTurn(world, companion);
  const erased = await settleNotedTurn(world, companion);
  const kept = await settleNotedTurn(world, companion);
  await settleNotedTurn(world, shortly);
  const listNoted = async () => {
    const rows: { id: string }[] = await sql`SELECT message_id AS id FROM knowledge_turns`;
    return rows.map(({ id }) => id);
  };
  expect(await listNoted()).toHaveLength(8);
  await conversations.delete(account.id, deleted.conversationId, world.context());
  const visitors = [erased.key.visitorId ?? ""];
  await conversations.eraseVisitors(account.id, companion.id, visitors, world.context());
  await conversations.deleteExpired(world.clock.nowMs() + 3 * 86_400_000, 100);
  await eventually(async () => (await listNoted()).length === 2);
  expect((await listNoted()).toSorted()).toEqual(kept.messages.map(({ id }) => id).toSorted());
});
