/** How long the store tries: at its end, and where connections are taken and closed again. */
import { expect, test } from "bun:test";
import { createServer } from "node:net";
import { createEngine, openPostgresStore } from "../../src/engines/postgres/open.ts";
import { createCapturedLog } from "../support/captured-log.ts";
import { inTime } from "../support/eventually.ts";
import { startFaultProxy } from "../support/fault-proxy.ts";
import { createMigratedDatabase } from "../support/postgres-store.ts";

test("closing does not wait for a deletion that gets no answer", async () => {
  const database = await createMigratedDatabase();
  const url = new URL(database.url);
  await using proxy = await startFaultProxy(Number(url.port));
  url.port = String(proxy.port);
  const { engine, parts, store } = await openPostgresStore({
    ...{ url: url.href, pool: 4, poolHeavy: 2, log: createCapturedLog() },
  });
  await Promise.all([1, 2].map(() => engine.heavy.get("SELECT pg_sleep(0.05)")));
  await proxy.set("swallow");
  parts.removals.start();
  await inTime(store.close(), { what: "the end of the store" });
  expect(proxy.swallowedBytes).toBeGreaterThan(0);
  await database.drop();
});

test("a write through a proxy without a server behind it is unavailable, and is not begun again and again", async () => {
  let connections = 0;
  const proxy = createServer((socket) => {
    connections++;
    socket.on("error", () => {});
    socket.end();
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const { port } = proxy.address() as { port: number };
  const engine = createEngine({
    ...{ url: `postgres://127.0.0.1:${port}/x`, pool: 1, poolHeavy: 1, log: createCapturedLog() },
  });
  const write = engine.writeHeavy(async () => {});
  await expect(inTime(write, { what: "the failure", withinMs: 15_000 })).rejects.toMatchObject({ code: "unavailable" });
  expect(connections).toBeGreaterThan(0);
  await engine.close();
  proxy.close();
});
