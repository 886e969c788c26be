/** What proxies see of a server that is about to stop: not ready for a moment, while it still accepts requests. */
import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openServices } from "../../src/app/services.ts";
import { loadConfig } from "../../src/config/config.ts";
import { startServer } from "../../src/server/server.ts";
import { createCapturedLog } from "../support/captured-log.ts";
import { eventually } from "../support/eventually.ts";

test("says so on /readyz and still answers, before it accepts nothing more", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "companiond-test-"));
  const config = loadConfig({
    environment: { COMPANIOND_DATA_DIR: dataDir, PORT: "0", OPENAI_BASE_URL: "http://127.0.0.1:9/v1" },
  });
  const log = createCapturedLog();
  const services = await openServices(config, { log });
  const noticed = Promise.withResolvers<void>();
  const sleep = (durationMs: number) => (durationMs === 300 ? noticed.promise : Bun.sleep(durationMs));
  const server = startServer(services, { host: "127.0.0.1", port: 0, sleep });
  // A new connection each time, as a proxy's.
  const ask = (path: string) => fetch(`${server.url}${path}`, { keepalive: false });
  expect((await ask("/readyz")).status).toBe(200);

  const drained = server.drain(30_000, 300);
  for (let probe = 0; probe < 3; probe++) expect((await ask("/readyz")).status).toBe(503);
  expect((await ask("/healthz")).status).toBe(200);
  noticed.resolve();
  await drained;
  await eventually(() =>
    ask("/healthz").then(
      () => false,
      () => true,
    ),
  );
  const requests = log.events.filter(({ event }) => event === "request").map(({ fields }) => fields);
  expect(requests).toMatchObject([{ route: "/healthz", status: 200 }]);
  expect(log.events.filter(({ level }) => level === "warn" || level === "error")).toEqual([]);
  rmSync(dataDir, { recursive: true, force: true });
});
