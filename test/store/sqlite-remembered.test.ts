/** Embed tokens are remembered between commits, and never a moment longer. */
import { expect, test } from "bun:test";
import { openStoreAt, openTemporaryStore } from "../support/sqlite-store.ts";
import { openWorld } from "../support/store-world.ts";

test("asks for the row once while nothing changes", async () => {
  const statements: string[] = [];
  const observer = { onStatement: (sql: string) => void statements.push(sql) };
  const { store, createAccount, createCompanion, close } = await openWorld(() => openTemporaryStore({ observer }));
  const companion = await createCompanion(await createAccount());
  await store.companions.findByEmbedToken(companion.embedToken);
  statements.length = 0;
  const found = await store.companions.findByEmbedToken(companion.embedToken);
  expect(found?.companion.id).toBe(companion.id);
  expect(statements).toEqual(["PRAGMA data_version"]);
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
