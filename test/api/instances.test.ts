/** Where instances reach one another: for everybody else there is nothing. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createCallProofs } from "../../src/core/instances/call-proofs.ts";
import { callPath, endedStatus, proofHeader } from "../../src/core/instances/instances.ts";
import { createHttpClient } from "../../src/lib/http/client.ts";
import { systemIds } from "../../src/lib/ids.ts";
import { createSealing } from "../../src/lib/sealing.ts";
import { startTestServer, type TestServer } from "../support/app.ts";
import { isOnPostgres } from "../support/engine.ts";
import { replyCall } from "../support/instance-pair.ts";

let server: TestServer;
let secretKey: Uint8Array<ArrayBuffer>;

beforeAll(async () => {
  secretKey = crypto.getRandomValues(new Uint8Array(32));
  server = await startTestServer({ environment: { COMPANIOND_SECRET_KEY: secretKey.toBase64() } });
});
afterAll(() => server.close());

/** What an instance with this key would send. */
async function prove({ key = secretKey, url = server.url, body = "{}", aheadMs = 0 } = {}): Promise<string> {
  const { clock } = server.services;
  const shifted = { nowMs: () => clock.nowMs() + aheadMs };
  const proofs = createCallProofs({ sealing: await createSealing(key), clock: shifted, ids: systemIds });
  return await proofs.make("POST", url + callPath, body);
}

/** The response without what differs from request to request. */
async function describe(response: Response): Promise<unknown> {
  const text = (await response.text()).replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "ID");
  const headers = Object.fromEntries(
    [...response.headers].filter(([name]) => name !== "date" && name !== "x-request-id"),
  );
  return { status: response.status, headers, text: text.replaceAll("/internal/nothing", callPath) };
}

async function send(proof: string | null, init: RequestInit = {}, path = callPath): Promise<unknown> {
  const headers = { "content-type": "application/json", ...(proof === null ? {} : { [proofHeader]: proof }) };
  return await describe(await fetch(server.url + path, { method: "POST", headers, body: "{}", ...init }));
}

test("nothing is there for whoever has no proof, another key, or an old or changed request", async () => {
  const nothing = await send(null, {}, "/internal/nothing");
  expect(nothing).toMatchObject({ status: 404 });
  const bodies = { body: '{"action":"cancel"}' };
  expect(await send(null)).toEqual(nothing);
  expect(await send("nonsense")).toEqual(nothing);
  expect(await send(await prove({ key: new Uint8Array(32) }))).toEqual(nothing);
  expect(await send(await prove({ aheadMs: -31_000 }))).toEqual(nothing);
  expect(await send(await prove({ aheadMs: 31_000 }))).toEqual(nothing);
  expect(await send(await prove({ url: "http://10.0.0.9:3000" }))).toEqual(nothing);
  expect(await send(await prove(), bodies)).toEqual(nothing);
  expect(
    await send(await prove(), { headers: { [proofHeader]: await prove(), "content-type": "text/plain" } }),
  ).toEqual(nothing);
});

test.each(["GET", "OPTIONS", "PUT", "DELETE"])("nothing is there for %s either", async (method) => {
  const nothing = await describe(await fetch(`${server.url}/internal/nothing`, { method }));
  expect(await describe(await fetch(server.url + callPath, { method }))).toEqual(nothing);
});

test("a body of any size changes nothing for whoever cannot prove anything", async () => {
  const body = "x".repeat(1024 * 1024);
  expect(await send("nonsense", { body })).toMatchObject({ status: 404 });
  expect(await send(await prove({ key: new Uint8Array(32), body }), { body })).toMatchObject({ status: 404 });
});

if (isOnPostgres) {
  test("an instance with the key is answered, once for each proof", async () => {
    const body = JSON.stringify(replyCall({ action: "follow" }));
    const proof = await prove({ body });
    // Not `fetch`, which checks in tests whether a response is documented.
    const http = createHttpClient();
    const headers: [string, string][] = [
      ["content-type", "application/json"],
      [proofHeader, proof],
    ];
    const target = http.prepare({ url: new URL(server.url + callPath), method: "POST", headers });
    const sent = () => http.send(target, body, new AbortController().signal);
    expect((await sent()).status).toBe(endedStatus);
    expect((await sent()).status).toBe(404);
    expect(await send(proof, { body })).toEqual(await send(null, {}, "/internal/nothing"));
    http.close();
  });
} else {
  test("where the database is this server's alone, nothing is there for the right key either", async () => {
    expect(await send(await prove())).toEqual(await send(null, {}, "/internal/nothing"));
  });
}
