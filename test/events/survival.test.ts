/** Events outlive the server that stored them, and servers that share a database deliver each once. */
import { expect, test } from "bun:test";
import { systemClock } from "../../src/lib/clock.ts";
import { apiClient } from "../support/api-client.ts";
import { startTestServer } from "../support/app.ts";
import { chat } from "../support/chat.ts";
import { runJson } from "../support/cli.ts";
import { dropEngineDatabase, engineEnvironment, isOnPostgres } from "../support/engine.ts";
import { eventually } from "../support/eventually.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { startWebhookReceiver } from "../support/webhook-receiver.ts";

const environment = { COMPANIOND_PRIVATE_TARGETS: "127.0.0.1" };
const count = 20;

test("what a killed server had stored is delivered by the next, and nothing that was acknowledged is lost", async () => {
  using directory = temporaryDirectory();
  const receiver = startWebhookReceiver();
  const options = { environment: { COMPANIOND_DATA_DIR: directory.path } };
  await runJson(["account", "create", "--email", "a@example.com"], options);
  const words = ["key", "create", "--account", "a@example.com", "--name", "k"];
  const scopes = ["--scopes", "companions:read,companions:write,webhooks:read,webhooks:write"];
  const { key } = (await runJson([...words, ...scopes], options)) as { key: string };

  // Nothing is confirmed: attempts are under way when it is killed.
  receiver.respond(() => new Promise(() => {}));
  const child = Bun.spawn([process.execPath, "test/support/server-process.ts"], {
    env: {
      ...{ COMPANIOND_DATA_DIR: directory.path, COMPANIOND_RATE_PER_KEY: "100000", COMPANIOND_LOG: "error" },
      ...environment,
      ...(await engineEnvironment(directory.path)),
    },
    ...{ stdin: "pipe", stdout: "pipe", stderr: "inherit" },
  });
  const { value } = await child.stdout.getReader().read();
  const api = apiClient(new TextDecoder().decode(value).trim(), key);
  const { json: webhook } = await api.call("POST", "/api/webhooks", { url: receiver.url, events: ["*"] });
  const acknowledged: string[] = [];
  const sent = Array.from({ length: count }, async (_, at) => {
    const response = await api.call("POST", "/api/companions", { name: `c${at}` }).catch(() => null);
    if (response?.status === 201) acknowledged.push(response.json.id);
  });
  await Promise.all([eventually(() => acknowledged.length > count / 2), receiver.have(4)]);
  child.kill("SIGKILL");
  await child.exited;
  await Promise.all(sent);

  receiver.respond(null);
  receiver.forget();
  // After the lease of what the dead server had taken.
  const clock = { ...systemClock, nowMs: () => Date.now() + 61_000 };
  const server = await startTestServer({ dataDir: directory.path, clock, environment });
  const told = () => new Set(receiver.events.map(({ data }) => data["companion_id"]));
  await eventually(() => acknowledged.every((id) => told().has(id)), { what: "the events of the killed server" });
  for (const event of receiver.events) receiver.verify(event, String(webhook["secret"]));
  expect(acknowledged.length).toBeGreaterThan(count / 2);
  await server.close();
  await receiver.close();
  await dropEngineDatabase(directory.path);
});

// One process has nobody to share with.
if (isOnPostgres) {
  test("of servers that share a database one delivers each event, in the conversation's order, whoever has stored it", async () => {
    using directory = temporaryDirectory();
    const receiver = startWebhookReceiver();
    const options = { dataDir: directory.path, isShared: true, environment };
    const servers = [await startTestServer(options), await startTestServer(options)];
    const [here] = servers;
    if (here === undefined) throw new Error("no server");
    const account = await here.createAccount();
    const companion = await here.createCompanion({}, account);
    const api = apiClient(here.url, (await here.createKey(account)).key);
    await api.call("POST", "/api/webhooks", { url: receiver.url, events: ["message.completed"] });
    const sessions = Array.from({ length: 6 }, () => crypto.randomUUID());
    for (let turn = 0; turn < 4; turn++) {
      await Promise.all(
        sessions.map((session_id, at) =>
          chat(servers[(at + turn) % 2]?.url ?? "", companion.embedToken, { message: `turn ${turn}`, session_id }),
        ),
      );
    }
    await receiver.have(24);
    for (const { services } of servers) services.events.wake();
    await Promise.all(servers.map(({ services }) => services.events.whenIdle()));
    expect(receiver.events).toHaveLength(24);
    expect(new Set(receiver.events.map(({ id }) => id)).size).toBe(24);
    for (const session of sessions) {
      const questions = receiver.events.filter(({ data }) => data["session_id"] === session);
      const ids = questions.map(({ data }) => String(data["question_id"]));
      expect(ids).toEqual(ids.toSorted());
    }
    for (const server of servers.toReversed()) await server.close();
    await receiver.close();
    await dropEngineDatabase(directory.path);
  });
}
