/** The receivers of events, run as their README says. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { makeWebhookSecret, signWebhook } from "../../src/lib/standard-webhooks.ts";
import { type ApiClient, apiClient } from "../support/api-client.ts";
import { startTestServer, type TestServer } from "../support/app.ts";
import { chat } from "../support/chat.ts";
import { readLines } from "../support/line-process.ts";

const folder = join(import.meta.dir, "../../examples/webhooks");
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ environment: { COMPANIOND_PRIVATE_TARGETS: "127.0.0.1" } });
});
afterAll(() => server.close());

describe.each([
  ["Node.js", "node", "receiver.mjs"],
  ["Python", "python3", "receiver.py"],
])("in %s", (_, program, file) => {
  let receiver: Bun.Subprocess<"ignore", "pipe", "inherit">;
  let lines: AsyncIterator<string>;
  let address: string;
  let secret: string;
  let api: ApiClient;
  let id: string;
  let token: string;
  beforeAll(async () => {
    const account = await server.createAccount();
    ({ embedToken: token } = await server.createCompanion({}, account));
    api = apiClient(server.url, (await server.createKey(account)).key);
    const webhook = { url: "https://hooks.example/", events: ["message.completed"], enabled: false };
    const { json } = await api.call("POST", "/api/webhooks", webhook);
    secret = String(json["secret"]);
    id = json.id;
    receiver = Bun.spawn([program, join(folder, file)], {
      env: { PATH: process.env.PATH ?? "", WEBHOOK_SECRET: secret, PORT: "0" },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "inherit",
    });
    lines = readLines(receiver.stdout)[Symbol.asyncIterator]();
    address = await nextLine();
    await api.call("PATCH", `/api/webhooks/${id}`, { url: address, enabled: true });
  });
  afterAll(async () => {
    receiver.kill();
    await receiver.exited;
  });
  const nextLine = async () => String((await lines.next()).value).trim();

  test("takes what companiond has signed, once", async () => {
    expect((await api.call("POST", `/api/webhooks/${id}/test`)).json).toMatchObject({ ok: true, status_code: 204 });
    expect(await nextLine()).toBe("webhook.test");
    await chat(server.url, token, { message: "Hello" });
    const [conversation] = (await api.call("GET", "/api/conversations")).json.data;
    expect(await nextLine()).toBe(`message.completed ${conversation?.id}`);
    const [delivery] = (await api.call("GET", `/api/webhooks/${id}/deliveries`)).json.data;
    await api.call("POST", `/api/webhooks/${id}/deliveries/${delivery?.id}/retry`);
    await api.call("POST", `/api/webhooks/${id}/test`);
    expect(await nextLine()).toBe("webhook.test");
  });

  test("refuses what somebody else has signed, what was changed, and what is old", async () => {
    const body = JSON.stringify({ type: "message.completed", data: {} });
    const send = async (text: string, headers: Record<string, string>) =>
      (await fetch(address, { method: "POST", body: text, headers })).status;
    const sign = (by: string, sentAtMs = Date.now()) => signWebhook(by, { id: "msg_1", sentAtMs, body });
    expect(await send(body, sign(secret))).toBe(204);
    expect(await send(body, sign(makeWebhookSecret((length) => crypto.getRandomValues(new Uint8Array(length)))))).toBe(
      401,
    );
    expect(await send(`${body} `, sign(secret))).toBe(401);
    expect(await send(body, sign(secret, Date.now() - 10 * 60_000))).toBe(401);
    expect(await send(body, {})).toBe(401);
  });
});
