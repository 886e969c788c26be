/** The ledger of the cluster's tests finds what it is there to find: here it watches one server, and is lied to. */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { type ApiClient, apiClient } from "./api-client.ts";
import { startTestServer, type TestServer } from "./app.ts";
import { ClusterLedger } from "./cluster-ledger.ts";
import { type ClusterModel, clusterMessage, startClusterModel } from "./cluster-model.ts";
import { eventually } from "./eventually.ts";

let model: ClusterModel;
let server: TestServer;
let api: ApiClient;
let ledger: ClusterLedger;

beforeAll(async () => {
  model = await startClusterModel();
  server = await startTestServer({ environment: { OPENAI_BASE_URL: model.baseUrl("a") } });
});
beforeEach(async () => {
  model.wordMs = 0;
  const account = await server.createAccount({ email: `${crypto.randomUUID()}@shop.example` });
  const { id, embedToken } = await server.createCompanion({}, account);
  api = apiClient(server.url, (await server.createKey(account)).key);
  ledger = new ClusterLedger(model, { id, token: embedToken });
});
afterAll(async () => {
  await server.close();
  await model[Symbol.asyncDispose]();
});

const session = () => crypto.randomUUID();

async function findFaults(): Promise<string[]> {
  return (await ledger.findFaults(api)).map(({ what, example }) => `${what}: ${example}`);
}

test("finds nothing where visitors talk at the same time and one after the other", async () => {
  const sessions = Array.from({ length: 5 }, session);
  await Promise.all(sessions.map((one) => ledger.converse(server.url, one, () => ledger.sent.length >= 40)));
  expect(ledger.count("done")).toBeGreaterThanOrEqual(40);
  expect(await findFaults()).toEqual([]);
});

test("finds a reply that was acknowledged and is not stored", async () => {
  const { text, sessionId } = await ledger.send(server.url, session());
  await ledger.send(server.url, session());
  const { json } = await api.call("GET", `/api/companions/${await companionId()}/conversations?limit=10`);
  const lost = json.data.find((one) => one["session_id"] === sessionId)?.id;
  expect((await api.call("DELETE", `/api/conversations/${lost}`)).status).toBe(204);
  expect(await findFaults()).toEqual([
    `acknowledged replies not stored: ${text}`,
    "differences between usage and what is stored: 2 messages in usage, 1 stored",
  ]);
});

test("finds a turn that nobody sent, and a whole reply of which the model knows nothing", async () => {
  const { text } = await ledger.send(server.url, session());
  ledger.sent.length = 0;
  expect(await findFaults()).toEqual([`turns stored that no one sent: ${text}`]);
  const call = model.calls.find((one) => one.text === text);
  if (call !== undefined) call.isWhole = false;
  expect(await findFaults()).toContain(`turns stored as complete that never were: ${text}`);
});

test("finds a reply that came with other words, and an answer that never ended", async () => {
  const sent = await ledger.send(server.url, session());
  sent.reply = "other words";
  expect(await findFaults()).toEqual([`replies with other words: ${sent.text}: other words`]);
  sent.fate = "hung";
  expect(await findFaults()).toEqual([`requests without an end: ${sent.text}`]);
});

test("finds two turns of one conversation at the same time, except beside one that was excused", async () => {
  model.wordMs = 20;
  const ask = (instance: string, text: string) =>
    fetch(`${model.baseUrl(instance)}/chat/completions`, {
      method: "POST",
      body: JSON.stringify({ messages: [{ role: "user", content: text }] }),
    });
  const conversation = session();
  const [one, other] = [clusterMessage(conversation, 1), clusterMessage(conversation, 2)];
  const first = await ask("b", one);
  await eventually(() => model.calls.some((call) => call.text === one));
  const second = await ask("c", other);
  expect(await findFaults()).toEqual([
    `turns beside another of their conversation: ${other} (c) began beside ${one} (b)`,
  ]);
  ledger.excuseOpenCalls("c");
  expect(await findFaults()).toEqual([]);
  await Promise.all([first.text(), second.text()]);
  expect(model.calls.filter((call) => call.sessionId === conversation && call.isOpen)).toEqual([]);
});

async function companionId(): Promise<string> {
  return (await api.call("GET", "/api/companions")).json.data[0]?.id ?? "";
}
