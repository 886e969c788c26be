/** The steps of applying a set are in different turns of the event loop: each takes many milliseconds of a large one. */
import { expect, test } from "bun:test";
import { applyBodyReader } from "../../src/api/companions/apply/index.ts";
import { prepareApply } from "../../src/api/companions/apply/service.ts";
import { uploadBodyLimits } from "../../src/contracts/limiter/rules.ts";
import type { CompanionSetStore } from "../../src/contracts/store/companion-sets.ts";
import { createBodyBudget } from "../../src/http/body-budget.ts";
import { systemIds } from "../../src/lib/ids.ts";
import { countTurns } from "../support/turns-of-the-loop.ts";

const body = { companions: [{ slug: "support", name: "Ada", system_prompt: "You help." }] };

test("decoding the body, parsing it, and what is done with it", async () => {
  const headers = { "content-type": "application/json" };
  const request = new Request("http://localhost/", { method: "POST", body: JSON.stringify(body), headers });
  const bodies = createBodyBudget(uploadBodyLimits);
  const arrived = await applyBodyReader.take?.({ request, bodies, accountId: "a" });
  let value: unknown;
  const turns = await countTurns(async () => {
    value = await arrived?.parse();
  });
  expect(value).toEqual(body);
  expect(turns).toBeGreaterThanOrEqual(2);
});

test("reading what is there, checking what was sent, planning, and what is done with the plan", async () => {
  const companionSets = { read: async () => ({ companions: [] }) } as unknown as CompanionSetStore;
  const services = { ids: systemIds, store: { companionSets } } as unknown as Parameters<typeof prepareApply>[0];
  const rules = {
    findUrlFault: async () => null,
    requirePrices: async () => {},
  } as unknown as Parameters<typeof prepareApply>[1]["rules"];
  const applier = { account: { id: "account" }, keyId: null, rules };
  let actions: unknown;
  const turns = await countTurns(async () => {
    const { result } = await prepareApply(services, applier, { ...body, dry_run: true }, 0);
    actions = result.plan.map(({ action }) => action);
  });
  expect(actions).toEqual(["create"]);
  expect(turns).toBeGreaterThanOrEqual(3);
});
