/** Announcements through PostgreSQL: the contract, and what becomes of them where the connection is lost. */
import { afterAll, expect, test } from "bun:test";
import { begins, testAnnouncementsContract } from "../contracts/announcements.ts";
import { eventually } from "../support/eventually.ts";
import { openPostgresInstance } from "../support/postgres-instance.ts";
import { reuseDatabases } from "../support/postgres-store.ts";

const databases = reuseDatabases();
afterAll(() => databases[Symbol.asyncDispose]());

async function openInstances(count: number) {
  const database = await databases.make();
  const instances = await Promise.all(Array.from({ length: count }, () => openPostgresInstance(database.url)));
  async function close() {
    await Promise.all(instances.map((instance) => instance.close()));
    await database.drop();
  }
  return { instances, close };
}

testAnnouncementsContract("PostgreSQL", async () => {
  const { instances, close } = await openInstances(3);
  const [here, ...others] = instances.map(({ coordination }) => coordination.announcements);
  if (here === undefined) throw new Error("there is no instance");
  await Promise.all(others.map(hearsFrom(here)));
  return { here, others, close };
});

/** Resolves when `other` listens: what was sent before is lost, by the contract. */
function hearsFrom(here: { send(text: string): void }) {
  return async (other: { onReceived(listener: (received: unknown) => void): void }) => {
    let isHeard = false;
    other.onReceived(() => {
      isHeard = true;
    });
    await eventually(() => {
      if (!isHeard) here.send(begins);
      return isHeard;
    });
  };
}

test("says that something may have been missed once it hears again", async () => {
  const { instances, close } = await openInstances(2);
  const [here, there] = instances;
  if (here === undefined || there === undefined) throw new Error("there is no instance");
  const heard: string[] = [];
  there.coordination.announcements.onReceived((received) => {
    heard.push(received === "may_have_missed" ? received : received.text);
  });
  await eventually(() => {
    here.coordination.announcements.send("ready");
    return heard.includes("ready");
  });
  const losses = () => heard.filter((text) => text === "may_have_missed").length;
  const before = losses();
  const endListeners = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND query LIKE 'LISTEN%'`;
  await here.engine.quick.all(endListeners);
  await eventually(() => losses() > before);
  await eventually(() => {
    here.coordination.announcements.send("again");
    return heard.includes("again");
  });
  expect(losses()).toBe(before + 1);
  await close();
});
