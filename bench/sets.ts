/**
 * How long the largest set of companions takes, and how long others wait meanwhile: `bun bench/sets.ts`, and with
 * `COMPANIOND_TEST_ENGINE=postgres` on a PostgreSQL of its own.
 */
import type { SetScope, SetState, SetWrites } from "../src/contracts/store/companion-sets.ts";
import { systemIds } from "../src/lib/ids.ts";
import { startTestServer } from "../test/support/app.ts";
import { startPostgresServer } from "../test/support/postgres-server.ts";
import { newCompanion } from "../test/support/store-world.ts";
import { newTool } from "../test/support/stored-tool.ts";

const companions = 250;
const promptBytes = 30_000;
const entriesOfEach = 80;

const isPostgres = process.env["COMPANIOND_TEST_ENGINE"] === "postgres";
await using postgres = isPostgres ? await startPostgresServer() : null;
if (postgres !== null) process.env["COMPANIOND_TEST_POSTGRES"] = postgres.serverUrl;
const server = await startTestServer();
const { companionSets } = server.services.store;
const account = await server.createAccount();
const actor = { kind: "cli", id: null, ipPrefix: null, requestId: null } as const;

const metadataOf = (round: number, at: number) =>
  Object.fromEntries(Array.from({ length: entriesOfEach }, (_, entry) => [`field${entry}`, `${round}-${at % 7}`]));
const promptOf = (round: number, at: number) =>
  `${round} ${at} `.padEnd(promptBytes, "You answer questions of a shop. ");
const appliedOf = (round: number, at: number) => ({
  ...{ set: "default", fields: { system_prompt: promptOf(round, at), metadata: metadataOf(round, at) } },
  ...{ tools: {}, sources: {}, isPruned: false, appliedAt: Date.now() },
});

const none = { creates: [], updates: [], deletes: [], idempotent: null, result: null };
const rounds: Record<string, (state: SetState) => SetWrites<null>> = {
  create: () => ({
    ...none,
    creates: Array.from({ length: companions }, (_, at) => {
      const companion = newCompanion({ slug: `c${at}`, systemPrompt: promptOf(0, at), metadata: metadataOf(0, at) });
      const tools = [newTool(companion.id, Date.now(), { name: "orders" })];
      return { auditId: systemIds.uuid(), companion, tools, sources: [], applied: appliedOf(0, at) };
    }),
  }),
  unchanged: () => none,
  "change prompts": (state) => update(state, 1, (at) => ({ systemPrompt: promptOf(1, at) })),
  "change metadata": (state) => update(state, 2, (at) => ({ metadata: metadataOf(2, at) })),
};

function update({ companions: members }: SetState, round: number, patchOf: (at: number) => object): SetWrites<null> {
  const updates = members.map(({ companion: { id } }, at) => {
    return { id, auditId: systemIds.uuid(), patch: patchOf(at), applied: appliedOf(round, at) };
  });
  return { ...none, updates };
}

const scope: SetScope = { set: "default", slugs: [], adoptIds: [], isWholeSet: true };
for (const [name, decide] of Object.entries(rounds)) {
  await Bun.sleep(500);
  let last = performance.now();
  let heldMs = 0;
  const watch = setInterval(() => {
    const now = performance.now();
    heldMs = Math.max(heldMs, now - last);
    last = now;
  }, 1);
  const before = process.cpuUsage();
  const began = performance.now();
  await companionSets.apply(account.id, scope, decide, {
    actor,
    nowMs: Date.now(),
    auditId: systemIds.uuid(),
    hasWebhooks: false,
  });
  const tookMs = performance.now() - began;
  const { user, system } = process.cpuUsage(before);
  const cpuMs = (user + system) / 1000;
  await Bun.sleep(5);
  clearInterval(watch);
  const [took, held, cpu] = [tookMs, heldMs, cpuMs].map(Math.round);
  process.stdout.write(`${name}: ${took} ms, the loop held for ${held} ms, ${cpu} ms of processor time\n`);
}
await server.close();
