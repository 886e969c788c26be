/** Embed tokens are remembered between commits, and never a moment longer. */
import { expect, test } from "bun:test";
import { Cache } from "../../src/engines/sqlite/companions.ts";
import { openStoreAt, openTemporaryStore } from "../support/sqlite-store.ts";
import { openWorld } from "../support/store-world.ts";
import { turnsOfTheLoop } from "../support/turns-of-the-loop.ts";

test("asks for the row once while nothing changes", async () => {
  const statements: string[] = [];
  const observer = { onStatement: (sql: string) => void statements.push(sql) };
  const { store, createAccount, createCompanion, close } = await openWorld(() => openTemporaryStore({ observer }));
  const companion = await createCompanion(await createAccount());
  await store.companions.findByEmbedToken(companion.embedToken);
  await turnsOfTheLoop(1);
  statements.length = 0;
  const found = await store.companions.findByEmbedToken(companion.embedToken);
  expect(found?.companion.id).toBe(companion.id);
  expect(statements).toEqual(["PRAGMA data_version"]);
  await store.companions.findByEmbedToken(companion.embedToken);
  // Once in a turn of the event loop.
  expect(statements).toHaveLength(1);
  await close();
});

test("queries again for every request that is sent after another's response", async () => {
  let asked = 0;
  const observer = { onStatement: (sql: string) => void (sql === "PRAGMA data_version" && asked++) };
  const { store, createAccount, createCompanion, close } = await openWorld(() => openTemporaryStore({ observer }));
  const { embedToken } = await createCompanion(await createAccount());
  await using server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async () => new Response((await store.companions.findByEmbedToken(embedToken))?.companion.name),
  });
  asked = 0;
  const visits = 200;
  for (let visit = 1; visit <= visits; visit++) {
    const responses = await Promise.all([fetch(server.url), fetch(server.url)]);
    expect(await Promise.all(responses.map((response) => response.text()))).toEqual(["Ada", "Ada"]);
    expect(asked).toBeGreaterThanOrEqual(visit);
  }
  expect(asked).toBeLessThanOrEqual(2 * visits);
  await close();
});

test("sees at once what this process or another has changed", async () => {
  const opened = await openTemporaryStore();
  const other = await openStoreAt(opened.dataDir);
  const { store, createAccount, createCompanion, context, close } = await openWorld(async () => opened);
  const account = await createAccount();
  const { id, embedToken } = await createCompanion(account);
  const findName = async () => (await store.companions.findByEmbedToken(embedToken))?.companion.name;
  for (const [name, writer] of [
    ["Here", store],
    ["There", other],
    ["Here again", store],
  ] as const) {
    await findName();
    await writer.companions.update(account.id, id, { name }, context());
    expect(await findName()).toBe(name);
  }
  await other.companions.delete(account.id, id, context());
  expect(await findName()).toBeUndefined();
  await other.close();
  await close();
});

test("keeps no more than its bytes, whatever their number, and nothing that would take up most of them", () => {
  let reads = 0;
  const remembered = new Cache<{ key: string }>({ readChangeMark: () => 1 }, { count: 100, bytes: 1600 });
  const ask = (key: string, bytes: number) => {
    const value = remembered.get(key, () => {
      reads++;
      return { value: { key }, bytes };
    });
    expect(value).toEqual({ key });
  };
  for (let key = 0; key < 16; key++) ask(String(key), 100);
  for (let key = 0; key < 16; key++) ask(String(key), 100);
  expect(reads).toBe(16);
  // Makes room by forgetting the others.
  ask("one more", 1);
  ask("0", 100);
  expect(reads).toBe(18);
  ask("large", 101);
  ask("large", 101);
  expect(reads).toBe(20);
  ask("0", 100);
  expect(reads).toBe(20);
});

test("keeps no companion whose lists of before there was a limit are huge, and finds it all the same", async () => {
  const statements: string[] = [];
  const observer = { onStatement: (sql: string) => void statements.push(sql) };
  const { store, createAccount, createCompanion, close } = await openWorld(() => openTemporaryStore({ observer }));
  const allowedOrigins = Array.from({ length: 50 }, (_, at) => `https://${"a.".repeat(10_000)}s${at}.example`);
  const { embedToken } = await createCompanion(await createAccount(), { allowedOrigins });
  await store.companions.findByEmbedToken(embedToken);
  statements.length = 0;
  const found = await store.companions.findByEmbedToken(embedToken);
  expect(found?.companion.allowedOrigins).toEqual(allowedOrigins);
  expect(statements.some((sql) => sql.includes("FROM companions"))).toBe(true);
  await close();
});
