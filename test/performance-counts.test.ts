/** What a benchmark would show late and uncertainly, counted: statements, commits, writes, and requests left behind. */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import type { SettledTurn } from "../src/contracts/store/store.ts";
import type { Companion } from "../src/domain/companion.ts";
import { toVerifiedId } from "../src/domain/visitor.ts";
import { startTestServer, type TestServer } from "./support/app.ts";
import { chat } from "./support/chat.ts";
import { eventually } from "./support/eventually.ts";
import { keepTurn } from "./support/kept-turn.ts";
import { chunk, doneMark } from "./support/mock-llm-replies.ts";
import { startRawChat } from "./support/raw-visitor.ts";
import { openTemporaryStore } from "./support/sqlite-store.ts";
import { newTool } from "./support/stored-tool.ts";
import { testContext } from "./support/test-context.ts";

const prepared: string[] = [];
const statements: string[] = [];
const commits: number[] = [];
let server: TestServer;
let closeStore: () => Promise<void>;
let companion: Companion;
let token: string;
let key: string;
let checkpoints = 0;

beforeAll(async () => {
  const observer = {
    onPrepare: (sql: string) => void prepared.push(sql),
    onStatement: (sql: string) => void statements.push(sql),
    onCommit: (writes: number) => void commits.push(writes),
    onCheckpoint: () => void checkpoints++,
  };
  server = await startTestServer({
    async storage(erasures) {
      const { store, close } = await openTemporaryStore({ observer, erasures });
      closeStore = close;
      return { store, shared: null, certificateTexts: null };
    },
  });
  const account = await server.createAccount();
  const created = await server.createCompanion({}, account);
  [companion, token] = [created, created.embedToken];
  ({ key } = await server.createKey(account));
});
beforeEach(() => server.mockLlm.respond(null));
afterAll(async () => {
  await server.close();
  await closeStore();
});

async function settle(): Promise<void> {
  await server.services.uses.flush();
  await server.services.openTurns.whenEnded();
  for (const counted of [prepared, statements, commits]) counted.length = 0;
}

/** What a request asks of the database, once it has been made before. */
async function counting(request: () => Promise<unknown>) {
  await request();
  for (;;) {
    // A commit of another connection, after which what is remembered is read again.
    if (checkpoints > 0) await request();
    checkpoints = 0;
    await settle();
    await request();
    // Last uses are written once a second, and the log is emptied once after the start, outside of requests: where one
    // of them fell in between, it is counted again.
    if (checkpoints > 0 || statements.some((sql) => sql.includes("last_used_at = "))) continue;
    return { prepared: [...prepared], statements: [...statements], commits: [...commits] };
  }
}

const getConfig = async () => expect((await fetch(`${server.url}/api/embed/${token}`)).status).toBe(200);

test("a config request asks the database one thing: whether anything has changed", async () => {
  expect(await counting(getConfig)).toEqual({ prepared: [], statements: ["PRAGMA data_version"], commits: [] });
});

test("a key check is one statement, compiled once", async () => {
  const getUsage = async () => {
    const response = await fetch(`${server.url}/api/companions/none`, { headers: { authorization: `Bearer ${key}` } });
    expect(response.status).toBe(404);
  };
  const counted = await counting(getUsage);
  expect(counted.prepared).toEqual([]);
  expect(counted.commits).toEqual([]);
  // An id of that shape is none, and not looked up.
  expect(counted.statements.map((sql) => / FROM (\w+) k JOIN/.exec(sql)?.[1])).toEqual(["api_keys"]);
});

test("a turn is one commit and fourteen statements, none of them compiled anew, the last of which asks how long the log is", async () => {
  const counted = await counting(async () => {
    const response = await chat(server.url, token, { message: "hello there" });
    expect(response.isDone).toBe(true);
  });
  expect(counted.prepared).toEqual([]);
  expect(counted.commits).toEqual([1]);
  expect(counted.statements.length).toBeLessThanOrEqual(14);
  // SQLite itself would compile those with a bare parameter anew, which nothing here could count.
  expect(counted.statements.filter((sql) => /(^|[^+])\?/.test(sql))).toEqual([]);
});

test("storing a turn is one commit: a name costs it one statement more, a visitor's own day another, a plain one none", async () => {
  const kept = { sessionId: crypto.randomUUID(), visitorId: toVerifiedId("digest") };
  const count = async (more: () => Partial<SettledTurn>) => {
    const counted = await counting(() => keepTurn(server, companion, { ...kept, more: more() }));
    expect(counted.prepared).toEqual([]);
    expect(counted.commits).toEqual([1]);
    return counted.statements.length;
  };
  const plain = await count(() => ({}));
  const named = await count(() => ({ messageId: crypto.randomUUID() }));
  const known = await count(() => ({ visitor: { sealed: "sealed", isLimited: false } }));
  const limited = await count(() => ({ visitor: { sealed: "sealed", isLimited: true } }));
  expect([named, known, limited]).toEqual([plain + 1, plain, plain + 1]);
});

test("a transcript asks for calls of tools in one statement more, and only where the companion ever had a tool", async () => {
  const account = await server.createAccount();
  const headers = { authorization: `Bearer ${(await server.createKey(account)).key}` };
  const readOne = async (of: Companion) => {
    const id = await keepTurn(server, of);
    return counting(async () => {
      expect((await fetch(`${server.url}/api/conversations/${id}`, { headers })).status).toBe(200);
    });
  };
  const plain = await server.createCompanion({}, account);
  const handy = await server.createCompanion({}, account);
  await server.services.store.tools.create(account.id, newTool(handy.id, 1), testContext());
  const [without, withTool] = [await readOne(plain), await readOne(handy)];
  expect(without.statements.join()).not.toContain("tool_calls");
  expect(withTool.statements).toHaveLength(without.statements.length + 1);
  expect([...without.commits, ...withTool.commits]).toEqual([]);
});

test("what one read brings from the provider leaves in one write, however many events it holds", async () => {
  const rounds = 20;
  const released: (() => void)[] = [];
  server.mockLlm.respond(async (_, response) => {
    for (let round = 0; round < rounds; round++) {
      await response.write(["a", "b", "c"].map((name) => chunk({ content: `${name}${round} ` })).join(""));
      await new Promise<void>((resolve) => released.push(resolve));
    }
    await response.write(chunk({ finishReason: "stop" }) + doneMark);
    response.end();
  });
  const visitor = await startRawChat(server.url, token, "hello");
  for (let round = 0; round < rounds; round++) {
    // The next write waits until this one has come, so that the provider's never arrive together.
    await visitor.until((received) => received.includes(`c${round} `));
    await eventually(() => released.length === round + 1);
    released[round]?.();
  }
  const received = await visitor.until((text) => text.includes("[DONE]"));
  // Each write is a chunk of HTTP's chunked coding.
  const writes = received.split(/\r\n[0-9a-f]+\r\n/).filter((piece) => piece.includes('{"text":'));
  expect(writes).toHaveLength(rounds);
  for (const write of writes) expect(write.match(/data: /g)).toHaveLength(3);
  visitor.vanish();
});

test("no request stays open at the provider once all visitors have left", async () => {
  const { mockLlm } = server;
  const visitors = await Promise.all(
    Array.from({ length: 50 }, (_, index) => startRawChat(server.url, token, `[[words:500]] [[delay:20]] ${index}`)),
  );
  await Promise.all(visitors.map((visitor) => visitor.until((received) => received.includes('{"text":'))));
  expect(mockLlm.openRequests).toBe(50);
  for (const visitor of visitors) visitor.vanish();
  await mockLlm.until(() => mockLlm.openRequests === 0);
  await settle();
  expect(mockLlm.openRequests).toBe(0);
});

test("an account without webhooks asks nothing for them, beside what it asks anyway, whoever else has some", async () => {
  const other = await server.createAccount({ email: "listener@example.com" });
  await server.services.store.webhooks.create(
    other.id,
    {
      ...{ id: crypto.randomUUID(), url: "https://hooks.example/", events: ["*"], includeContent: false },
      ...{ metadata: null, enabled: true, sealedSecret: "v1.none" },
    },
    testContext(),
  );
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const rename = async () => {
    const body = JSON.stringify({ name: crypto.randomUUID() });
    const url = `${server.url}/api/companions/${companion.id}`;
    expect((await fetch(url, { method: "PATCH", headers, body })).status).toBe(200);
  };
  const talk = async () => expect((await chat(server.url, token, { message: "hello there" })).isDone).toBe(true);
  for (const request of [rename, talk]) {
    const { statements } = await counting(request);
    expect(statements.filter((sql) => /^\s*SELECT[^(]* FROM webhooks|webhook_deliveries/.test(sql))).toEqual([]);
  }
});
