/** Budgets in PostgreSQL, where a server dies and others go on. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { spendingFactsOf } from "../../src/domain/budget.ts";
import { systemIds } from "../../src/lib/ids.ts";
import { answeredBy } from "../support/answered.ts";
import { day } from "../support/store-world.ts";
import { openTwoServers, type TwoServers } from "../support/two-postgres-servers.ts";

let servers: TwoServers;
beforeEach(async () => {
  servers = await openTwoServers();
});
afterEach(() => servers.world.close());

test("200 calls at two servers never reserve more than a budget has, and what a dead server held is settled at its worst case", async () => {
  const { world, here, there, engine } = servers;
  const account = await world.createAccount();
  const companion = await world.createCompanion(account);
  const nowMs = world.clock.nowMs();
  const subject = { account: true } as const;
  const budget = { id: systemIds.uuid(), subject, limitMicros: 1_050, period: "day", action: "stop" } as const;
  await here.spending.createBudget(account.id, budget, world.context());
  const facts = spendingFactsOf({ companionId: companion.id, keyId: null, metadata: {} });
  const call = {
    ...{ accountId: account.id, companionId: companion.id, keyId: null, ticketId: null, facts, day, nowMs },
    ...{ answerer: answeredBy, micros: 100, isVoice: false, dueAtMs: nowMs + 60_000 },
  };
  const reserve = (at: number) => (at % 2 === 0 ? here : there).spending.reserve({ ...call, id: systemIds.uuid() });
  const verdicts = await Promise.all(Array.from({ length: 200 }, (_, at) => reserve(at)));
  expect(verdicts.filter(({ isAdmitted }) => isAdmitted)).toHaveLength(10);

  await engine.quickPool.once.run(`UPDATE spending_reservations SET instance_number = 4711
    WHERE id IN (SELECT id FROM spending_reservations ORDER BY id LIMIT 4)`);
  await engine.quickPool.once.run("SELECT reap_instances(ARRAY[4711]::bigint[])");
  const found = await there.spending.findBudget(account.id, budget.id, nowMs);
  expect(found).toMatchObject({ spent: { micros: 400, picos: 0 }, reservedMicros: 600 });
  // That day's usage is final by now: what comes late counts for the first day that is not, which is open for 14 minutes more.
  expect(await there.spending.sumSpent(account.id, subject, "day", Date.now() - 14 * 60_000)).toEqual({
    micros: 400,
    picos: 0,
  });
});
