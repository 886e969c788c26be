/** The receivers of tool calls, run as their README says: who may call, once each, and the whole path from a chat. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { JsonObject } from "../../src/domain/json.ts";
import { signWebhook } from "../../src/lib/standard-webhooks.ts";
import { apiClient } from "../support/api-client.ts";
import { startTestServer, type TestServer } from "../support/app.ts";
import { sendChat } from "../support/chat.ts";

const directory = join(import.meta.dir, "../../examples/tools");
const receivers: readonly [name: string, command: string[]][] = [
  ["node", ["node", join(directory, "server.mjs")]],
  ["python", ["python3", join(directory, "server.py")]],
];
const secrets = ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_dGhlIG90aGVyIHNlY3JldCBvZiB0aGUgdGVzdA=="] as const;

interface Receiver extends AsyncDisposable {
  readonly url: string;
}

async function start(command: readonly string[], given: readonly string[] = secrets): Promise<Receiver> {
  const child = Bun.spawn([...command], {
    env: { PATH: process.env.PATH ?? "", TOOL_SECRETS: given.join(" "), PORT: "0" },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  });
  const { value } = await child.stdout.getReader().read();
  return {
    url: new TextDecoder().decode(value).trim(),
    async [Symbol.asyncDispose]() {
      child.kill();
      await child.exited;
    },
  };
}

describe.each(receivers)("the receiver in %s", (_, command) => {
  let receiver: Receiver;
  beforeAll(async () => {
    receiver = await start(command);
  });
  afterAll(() => receiver[Symbol.asyncDispose]());

  interface Sent {
    id?: string;
    secret?: string;
    ageMs?: number;
    change?: (headers: Record<string, string>) => Record<string, string>;
    suffix?: string;
  }
  const customer = { sub: "user-42", verified: true, attributes: {} };

  async function send(tool: string, given: JsonObject, visitor: JsonObject = customer, sent: Sent = {}) {
    const {
      id = crypto.randomUUID(),
      secret = secrets[0],
      ageMs = 0,
      change = (headers) => headers,
      suffix = "",
    } = sent;
    const data = {
      tool,
      arguments: given,
      call_id: id,
      companion: { id: "c", metadata: {} },
      session_id: null,
      visitor,
    };
    const body = JSON.stringify({ type: "tool.call", timestamp: new Date().toISOString(), data });
    const headers = change(signWebhook(secret, { id, sentAtMs: Date.now() - ageMs, body }));
    const response = await fetch(receiver.url, { method: "POST", headers, body: body + suffix });
    return { status: response.status, result: await response.json() };
  }

  test("answers a signed call, with either of two secrets", async () => {
    for (const secret of secrets) {
      const sent = await send("find_order", { number: "471100" }, customer, { secret });
      expect(sent).toMatchObject({ status: 200, result: { found: true } });
    }
    expect(await send("find_order", { number: "9" })).toEqual({ status: 200, result: { found: false } });
    expect((await send("toString", {})).status).toBe(404);
  });

  test("takes no call that is not signed, is signed by another, was changed, or is old", async () => {
    const refused = async (sent: Sent) => {
      expect((await send("find_order", { number: "471100" }, customer, sent)).status).toBe(401);
    };
    await refused({ secret: "whsec_c29tZWJvZHkgZWxzZSdzIHNlY3JldCBrZXk=" });
    await refused({ suffix: " " });
    await refused({ ageMs: 301_000 });
    await refused({ ageMs: -310_000 });
    await refused({ change: (headers) => ({ ...headers, "webhook-signature": "v1,", "webhook-id": "x" }) });
    await refused({ change: (headers) => ({ ...headers, "webhook-id": "another" }) });
    await refused({ change: (headers) => ({ ...headers, "webhook-timestamp": "soon" }) });
    await refused({ change: () => ({}) });
  });

  test("cancels an order of the visitor's own alone, whatever the arguments say", async () => {
    const number = "471101";
    const refusal = { status: 200, result: { cancelled: false, why: "No such order of yours." } };
    const anonymous = { sub: null, verified: false, attributes: {} };
    expect(await send("cancel_order", { number }, anonymous)).toEqual(refusal);
    expect(await send("cancel_order", { number, sub: "user-7", verified: true }, customer)).toEqual(refusal);
    expect(await send("cancel_order", { number: "none" })).toEqual(refusal);
  });

  test("carries a call out once, however often it comes", async () => {
    const id = crypto.randomUUID();
    const cancelled = { status: 200, result: { cancelled: true } };
    for (let times = 0; times < 3; times++) {
      expect(await send("cancel_order", { number: "471100" }, customer, { id })).toEqual(cancelled);
    }
  });
});

describe("from a chat", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ environment: { COMPANIOND_PRIVATE_TARGETS: "127.0.0.1" } });
  });
  afterAll(() => server.close());

  test.each(receivers)("a tool that was added over the API reaches the receiver in %s", async (_, command) => {
    const account = await server.createAccount();
    const companion = await server.createCompanion({}, account);
    const { call } = apiClient(server.url, (await server.createKey(account)).key);
    const path = `/api/companions/${companion.id}/tools`;
    const parameters = { type: "object", properties: { number: { type: "string" } }, required: ["number"] };
    // Its port is known once it runs, and it runs with the secret.
    const tool = { name: "find_order", parameters, url: "http://127.0.0.1:8090/" };
    const made = await call("POST", path, tool);
    expect(made.status).toBe(201);
    await using receiver = await start(command, [String(made.json.secret)]);
    await call("PATCH", `${path}/${made.json.id}`, { url: `${receiver.url}/` });
    const message = '[[call:find_order {"number":"471101"}]]';
    const stream = await (await sendChat(server.url, companion.embedToken, { message })).text();
    const text = stream.split("\n").filter((line) => line.startsWith("data: {"));
    const said = text.map((line): string => JSON.parse(line.slice("data: ".length)).text).join("");
    expect(said).toMatch(/^The tools said: \{"found": ?true, ?"state": ?"sent"\}$/);
  });
});
