/** What becomes of reservations when the server that made them is gone. */
import { expect } from "bun:test";
import { join } from "node:path";
import { spendingFactsOf } from "../../src/domain/budget.ts";
import { toUtcDay } from "../../src/lib/clock.ts";
import { systemIds } from "../../src/lib/ids.ts";
import { startTestServer, testContext } from "../support/app.ts";
import { sendChat } from "../support/chat.ts";
import { onlyOnSqlite } from "../support/engine.ts";
import { startMockLlm } from "../support/mock-llm.ts";
import { chunk } from "../support/mock-llm-replies.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const testAlone = onlyOnSqlite("with PostgreSQL another server may still be at work on what was reserved");

const answerer = { provider: "default", model: "test-model" };

testAlone("a call under way when the process died is settled at its worst case; voice goes on", async () => {
  using directory = temporaryDirectory();
  const dataDir = directory.file("data");
  const before = await startTestServer({ dataDir });
  const companion = await before.createCompanion();
  const { spending } = before.services.store;
  const nowMs = Date.now();
  const subject = { account: true } as const;
  const budget = { id: systemIds.uuid(), subject, limitMicros: 500, period: "month", action: "stop" } as const;
  const { accountId, id: companionId } = companion;
  await spending.createBudget(accountId, budget, testContext());
  const facts = spendingFactsOf({ companionId, keyId: null, metadata: {} });
  const call = {
    ...{ accountId, companionId, keyId: null, ticketId: null, facts, day: toUtcDay(nowMs), answerer, nowMs },
    ...{ micros: 200, dueAtMs: nowMs + 7_200_000 },
  };
  await spending.reserve({ ...call, id: systemIds.uuid(), isVoice: false });
  await spending.reserve({ ...call, id: systemIds.uuid(), isVoice: true });
  // Nothing ends them: a server that is closed has none left, and one that was killed had no time to.
  await before.close();

  const after = await startTestServer({ dataDir });
  const found = await after.services.store.spending.findBudget(accountId, budget.id, nowMs);
  expect(found).toMatchObject({ spent: { micros: 200, picos: 0 }, reservedMicros: 200 });
  expect(await after.services.store.spending.sumSpent(accountId, subject, "month", nowMs)).toEqual({
    ...{ micros: 200, picos: 0 },
  });
  await after.close();
});

testAlone(
  "a server that is killed in mid reply leaves nothing reserved: the next one counts the worst case",
  async () => {
    using directory = temporaryDirectory();
    const dataDir = directory.file("data");
    const environment = {
      COMPANIOND_MAX_OUTPUT_TOKENS: "100",
      COMPANIOND_PRICES: JSON.stringify({ "test-model": { input: 1, output: 1 } }),
    };
    const before = await startTestServer({ dataDir, environment });
    const { accountId, embedToken } = await before.createCompanion();
    const subject = { account: true } as const;
    const budget = { id: systemIds.uuid(), subject, limitMicros: 500, period: "day", action: "stop" } as const;
    await before.services.store.spending.createBudget(accountId, budget, testContext());
    await before.close();

    const mock = await startMockLlm();
    mock.respond(async (_, response) => {
      await response.write(chunk({ content: "Hel" }));
      await response.closed;
    });
    const child = Bun.spawn([process.execPath, join(import.meta.dir, "../support/server-process.ts")], {
      env: {
        ...{ COMPANIOND_DATA_DIR: dataDir, COMPANIOND_MODEL: "test-model", OPENAI_BASE_URL: `${mock.url}/v1` },
        ...environment,
      },
      stdin: "pipe",
      stdout: "pipe",
      stderr: "ignore",
    });
    const reader = child.stdout.getReader();
    const url = new TextDecoder().decode((await reader.read()).value).trim();
    const response = await sendChat(url, embedToken, { message: "Hello" });
    expect(response.status).toBe(200);
    child.kill("SIGKILL");
    await child.exited;
    await response.text().catch(() => "");
    await mock.close();

    const after = await startTestServer({ dataDir, environment });
    const found = await after.services.store.spending.findBudget(accountId, budget.id, Date.now());
    // The bytes of "Hello", the framing of one message, and the longest reply.
    expect(found).toMatchObject({ spent: { micros: 5 + 64 + 100, picos: 0 }, reservedMicros: 0 });
    await after.close();
  },
);
