/** How many may listen, and how often: windows and streams of their own. */
import { afterAll, expect, test } from "bun:test";
import { renderMetrics } from "../../src/api/metrics/service.ts";
import { startTestServer, type TestServer } from "../support/app.ts";
import { openEvents } from "../support/event-frames.ts";
import { eventually } from "../support/eventually.ts";
import { createLiveWorld } from "../support/live-world.ts";
import { readMetrics } from "../support/metrics.ts";

const servers: TestServer[] = [];
afterAll(async () => {
  for (const server of servers) await server.close();
});

async function start(environment: Record<string, string>): Promise<TestServer> {
  const server = await startTestServer({ environment: { COMPANIOND_TRUST_PROXY: "1", ...environment } });
  servers.push(server);
  return server;
}

const from = (address: string) => ({ "x-forwarded-for": address });

test("listening counts in a window of its own by address, whatever those of address and token say", async () => {
  const server = await start({
    ...{ COMPANIOND_LIVE_RATE_PER_IP: "3", COMPANIOND_RATE_PER_IP: "5", COMPANIOND_RATE_PER_TOKEN: "1000" },
  });
  const world = await createLiveWorld(server);
  const conversation = await world.begin(from("9.9.9.9"));
  await conversation.take();
  const statuses = [];
  for (let request = 0; request < 4; request++) {
    const stream = await conversation.listen("", from("1.1.1.1"));
    if (stream.status === 429) expect(Number(stream.headers.get("retry-after"))).toBeGreaterThan(0);
    statuses.push(stream.status);
    stream.close();
  }
  expect(statuses).toEqual([200, 200, 200, 429]);
  expect((await conversation.listen("", from("2.2.2.2"))).status).toBe(200);
  // The address's own window is untouched.
  const config = await fetch(`${server.url}/api/embed/${world.companion.embedToken}`, { headers: from("1.1.1.1") });
  expect(config.headers.get("ratelimit")).toContain('"ip";r=4;');
});

test("an unknown token counts in the ordinary window as well", async () => {
  const server = await start({ COMPANIOND_LIVE_RATE_PER_IP: "100", COMPANIOND_RATE_PER_IP: "2" });
  const statuses = [];
  for (let request = 0; request < 3; request++) {
    const token = `emb_${"0".repeat(31)}${request}`;
    statuses.push((await fetch(`${server.url}/api/embed/${token}/live`, { headers: from("3.3.3.3") })).status);
  }
  expect(statuses).toEqual([404, 404, 429]);
});

test("an address has so many streams and an instance so many, and a poll beyond them answers at once", async () => {
  const server = await start({ COMPANIOND_LIVE_PER_IP: "2", COMPANIOND_LIVE_STREAMS: "3" });
  const conversation = await (await createLiveWorld(server)).begin(from("9.9.9.9"));
  await conversation.take();
  const open = [];
  for (const address of ["1.1.1.1", "1.1.1.1", "2.2.2.2"]) {
    const stream = await conversation.listen("", from(address));
    await stream.until(1);
    open.push(stream);
  }
  const scraped = await renderMetrics(server.services);
  expect(readMetrics(scraped.text).value("companiond_live_streams")).toBe(3);
  const full = await conversation.listen("", from("1.1.1.1"));
  expect([full.status, full.headers.get("retry-after")]).toEqual([429, "5"]);
  const everywhere = await conversation.listen("", from("2.2.2.2"));
  expect([everywhere.status, everywhere.headers.get("retry-after")]).toEqual([503, "5"]);
  expect((await conversation.poll("&after=2&wait=25")).status).toBe(200);
  for (const stream of open) stream.close();
  await eventually(() => server.services.live.size === 0);
  const again = await conversation.listen("", from("1.1.1.1"));
  expect(again.status).toBe(200);
  again.close();
});

test("streams of the inbox are so many for each key", async () => {
  const server = await start({ COMPANIOND_LIVE_PER_IP: "2" });
  const [world, other] = [await createLiveWorld(server), await createLiveWorld(server)];
  const open = (key: string) => openEvents(`${server.url}/api/inbox/events`, { authorization: `Bearer ${key}` });
  const streams = [await open(world.key), await open(world.key), await open(world.key), await open(other.key)];
  expect(streams.map(({ status }) => status)).toEqual([200, 200, 429, 200]);
  for (const stream of streams) stream.close();
});
