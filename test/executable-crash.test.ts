/**
 * The end of the process: drained with a hundred streams open, or killed at any moment; what ended in [DONE] is there
 * afterwards.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { createErasureMarks } from "../src/engines/memory/coordination/erasure-marks.ts";
import { openSqliteStore } from "../src/engines/sqlite/open.ts";
import { processLog } from "../src/lib/log.ts";
import { chat, sendChat } from "./support/chat.ts";
import { eventually } from "./support/eventually.ts";
import { runExecutable, startExecutable } from "./support/executable.ts";
import { isFull } from "./support/full.ts";
import { type MockLlm, startMockLlm } from "./support/mock-llm.ts";
import { chunk, doneMark } from "./support/mock-llm-replies.ts";
import { createRandom } from "./support/random.ts";
import { startRawChat } from "./support/raw-visitor.ts";
import { follow, newMessage, readAll } from "./support/resumed-chat.ts";
import { temporaryDirectory } from "./support/temporary.ts";
import { withText } from "./support/turn-messages.ts";

let mock: MockLlm;
beforeAll(async () => {
  mock = await startMockLlm();
});
beforeEach(() => mock.respond(null));
afterAll(() => mock.close());

/** Each kills the server at a moment of its own; `bun run faults` kills it hundreds of times. */
const rounds = isFull ? 12 : 4;

const environment = (extra: Record<string, string> = {}) => ({
  OPENAI_BASE_URL: `${mock.url}/v1`,
  COMPANIOND_RATE_PER_IP: "1000000",
  COMPANIOND_STREAMS_PER_IP: "1000000",
  COMPANIOND_RATE_PER_TOKEN: "1000000",
  COMPANIOND_DAILY_FREE: "1000000",
  ...extra,
});

async function makeCompanion(dataDir: string): Promise<{ id: string; accountId: string; token: string }> {
  const run = async (...args: string[]) => {
    const { exitCode, stdout, stderr } = await runExecutable([...args, "--data-dir", dataDir, "--json"]);
    if (exitCode !== 0) throw new Error(stderr);
    return JSON.parse(stdout);
  };
  const account = await run("account", "create", "--email", "crash@example.com");
  const companion = await run("companion", "create", "--account", "crash@example.com", "--name", "Ada");
  return { id: companion.id, accountId: account.id, token: companion.embed_token };
}

test("a hundred open streams end with [DONE] when SIGTERM comes, nothing accepted is answered 5xx, and the exit code is 0", async () => {
  const release = Promise.withResolvers<void>();
  mock.respond(async (_, response) => {
    await response.write(chunk({ content: "before " }));
    await release.promise;
    await response.write(chunk({ content: "after" }) + chunk({ finishReason: "stop" }) + doneMark);
    response.end();
  });
  await using server = await startExecutable({ args: ["--demo"], env: environment() });
  const [token] = await server.printed(/emb_[0-9A-Za-z]{32}/);
  const visitors = await Promise.all(Array.from({ length: 100 }, () => startRawChat(server.url, token, "hello")));
  await Promise.all(visitors.map((visitor) => visitor.until((received) => received.includes("before"))));
  const exit = server.stop("SIGTERM");
  await server.logged("stopping");
  release.resolve();
  for (const received of await Promise.all(visitors.map((visitor) => visitor.closed))) {
    expect(received).toStartWith("HTTP/1.1 200");
    expect(received).toContain("after");
    expect(received).toContain("data: [DONE]");
  }
  expect(await exit).toBe(0);
});

test("every reply that ended in [DONE] outlives a kill -9 at a random moment, with its usage, and the day's count holds them all", async () => {
  const random = createRandom(20_261_121);
  using data = temporaryDirectory();
  const dataDir = data.file("data");
  const companion = await makeCompanion(dataDir);
  const acknowledged = new Set<string>();
  for (let round = 0; round < rounds; round++) {
    const server = await startExecutable({ dataDir, env: environment() });
    let sent = 0;
    const isOver = { yes: false };
    const visitor = async () => {
      while (!isOver.yes) {
        const message = `[[say:reply ${round} ${sent++} of many words]]`;
        // A connection that the kill broke is what this test is about.
        const response = await chat(server.url, companion.token, { message }).catch(() => null);
        if (response?.isDone) acknowledged.add(message);
      }
    };
    const visitors = Array.from({ length: 20 }, visitor);
    const enough = acknowledged.size + 20 + random.below(100);
    await eventually(() => acknowledged.size >= enough, { everyMs: 1 });
    await server.kill();
    isOver.yes = true;
    await Promise.all(visitors);
  }
  await expectAllKept(dataDir, companion, acknowledged);
}, 300_000);

test("a reply that ended in [DONE] is there for who comes back after a kill -9, and one under way runs anew under its name", async () => {
  using data = temporaryDirectory();
  const dataDir = data.file("data");
  const { token } = await makeCompanion(dataDir);
  const [whole, cut] = [newMessage({ message: "[[say:Hello 😀]]" }), newMessage({ message: "[[silence:1]]one two" })];
  const first = await startExecutable({ dataDir, env: environment() });
  expect((await chat(first.url, token, whole)).isDone).toBe(true);
  const lost = await sendChat(first.url, token, cut);
  await first.kill();
  await lost.text().catch(() => null);
  const asked = mock.requests.length;

  await using second = await startExecutable({ dataDir, env: environment() });
  expect(await readAll(await follow(second.url, token, whole, 6))).toMatchObject({ text: "😀", isDone: true });
  expect((await follow(second.url, token, whole, 8)).status).toBe(204);
  expect(await chat(second.url, token, whole)).toMatchObject({ text: "Hello 😀", isDone: true });
  expect((await follow(second.url, token, cut)).status).toBe(404);
  expect(mock.requests.length).toBe(asked);
  mock.respond(async (_, response) => {
    await response.write(chunk({ content: "All of it." }) + chunk({ finishReason: "stop" }) + doneMark);
    response.end();
  });
  expect(await chat(second.url, token, cut)).toMatchObject({ text: "All of it.", isDone: true });
});

async function expectAllKept(
  dataDir: string,
  { id, accountId }: { id: string; accountId: string },
  acknowledged: ReadonlySet<string>,
): Promise<void> {
  const store = await openSqliteStore({ dataDir, log: processLog(), erasures: createErasureMarks() });
  const missing = new Set(acknowledged);
  let turns = 0;
  let afterId: string | null = null;
  do {
    const query = { companionId: id, visitorId: null, fromMs: null, toMs: null, q: null };
    const page = await store.conversations.list(accountId, query, { limit: 100, afterId });
    for (const { id: conversationId } of page.items) {
      const found = await store.conversations.find(accountId, conversationId);
      const [message, reply] = (found?.messages ?? []).map(withText);
      turns++;
      if (reply?.complete && message?.text === `[[say:${reply.text}]]`) missing.delete(message.text);
    }
    afterId = page.nextAfterId;
  } while (afterId !== null);
  expect([...missing]).toEqual([]);

  const today = new Date().toISOString().slice(0, 10);
  const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
  // The test may run over midnight.
  const counts = await Promise.all([today, yesterday].map((day) => store.turns.countDay(id, day)));
  const usage = await store.usage.query(accountId, {
    fromDay: yesterday,
    toDay: today,
    groupBy: ["companion"],
    companionId: id,
    metadata: [],
  });
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(turns);
  expect(usage[0]?.messages).toBe(turns);
  expect(turns).toBeGreaterThanOrEqual(acknowledged.size);
  await store.close();
}
