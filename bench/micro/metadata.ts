/**
 * Metadata filters with many companions in one account: first pages by any field, and what the index costs on creation.
 */
import { Database } from "bun:sqlite";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { NewCompanion, Store, WriteContext } from "../../src/contracts/store/store.ts";
import { type JsonObject, newCompanionSettings } from "../../src/domain/companion.ts";
import { makeEmbedToken } from "../../src/domain/credentials.ts";
import { createErasureMarks } from "../../src/engines/memory/coordination/erasure-marks.ts";
import { openSqliteStore } from "../../src/engines/sqlite/open.ts";
import { systemIds } from "../../src/lib/ids.ts";
import { processLog } from "../../src/lib/log.ts";

export interface QueryFigures {
  name: string;
  /** Companions on the first page. */
  found: number;
  p50Ms: number;
  p99Ms: number;
  maxMs: number;
}

export interface MetadataFigures {
  companions: number;
  buildSeconds: number;
  indexMiB: number;
  /** Everything but the index of metadata. */
  restMiB: number;
  queries: QueryFigures[];
  creation: { name: string; plainMicros: number; withMetadataMicros: number }[];
}

const plans = ["free", "pro", "team"];

/** Six fields as a platform sets them: an id of its own, few-valued ones, a nested one and a list. */
function metadataOf(index: number): JsonObject {
  return {
    customer_id: `c_${index}`,
    plan: plans[index % 3] ?? "free",
    region: `r${index % 20}`,
    user: { id: Math.floor(index / 4), is_admin: index % 4 === 0 },
    tags: [`t${index % 50}`, `t${(index * 7) % 50}`],
    half: index % 2 === 0 ? "even" : "odd",
  };
}

function companionOf(metadata: JsonObject): NewCompanion {
  return {
    ...newCompanionSettings("Ada"),
    systemPrompt: "You help the customers of a shop.",
    metadata,
    id: systemIds.uuid(),
    createdByKeyId: null,
    embedToken: { id: systemIds.uuid(), token: makeEmbedToken(systemIds.secret) },
  };
}

const context = (): WriteContext => ({
  actor: { kind: "system", id: null, ipPrefix: null, requestId: null },
  nowMs: Date.now(),
  auditId: systemIds.uuid(),
});

/** Megabytes of the index of metadata, and of everything else. */
type Sizes = Pick<MetadataFigures, "indexMiB" | "restMiB">;

export async function measureMetadata(): Promise<MetadataFigures> {
  const dataDir = mkdtempSync(join(tmpdir(), "companiond-metadata-"));
  const store = await openSqliteStore({ dataDir, log: processLog(), erasures: createErasureMarks() });
  try {
    return await measureMetadataOf(store, async () => readSizes(join(dataDir, "companiond.db")));
  } finally {
    await store.close();
    rmSync(dataDir, { recursive: true });
  }
}

export async function measureMetadataOf(
  store: Store,
  readSizes: () => Promise<Sizes>,
  companions = 1_000_000,
  calls = 2_000,
): Promise<MetadataFigures> {
  const accountId = await createAccount(store, "platform@example.com");
  const startedMs = performance.now();
  for (let done = 0; done < companions; done += 1_000) {
    const batch = Array.from({ length: 1_000 }, (_, index) => companionOf(metadataOf(done + index)));
    await store.companions.createMany(accountId, batch, context());
  }
  const buildSeconds = (performance.now() - startedMs) / 1000;

  const sizes = await readSizes();
  const at = (call: number) => (call * 7919) % companions;
  const queries: QueryFigures[] = [];
  for (const [name, filters] of Object.entries<(call: number) => [string, string][]>({
    "one field, one match": (call) => [["customer_id", `c_${at(call)}`]],
    "one field, nested, four matches": (call) => [["user.id", String(Math.floor(at(call) / 4))]],
    "one field, a third of all": (call) => [["plan", plans[call % 3] ?? ""]],
    "one field, element of a list": (call) => [["tags", `t${call % 50}`]],
    "two fields, rare and frequent": (call) => [
      ["plan", plans[at(call) % 3] ?? ""],
      ["customer_id", `c_${at(call)}`],
    ],
    "two fields, both frequent": (call) => [
      ["plan", plans[call % 3] ?? ""],
      ["half", "even"],
    ],
    "two frequent fields that never meet": (call) => [
      ["region", `r${(call % 10) * 2}`],
      ["half", "odd"],
    ],
    "no match: unknown value": (call) => [["plan", `none ${call}`]],
    "no match: unknown field": (call) => [[`field_${call}`, "x"]],
  })) {
    queries.push(await measureQuery(name, store, accountId, filters, calls));
  }
  const creation = await measureCreation(store, accountId, companions);
  return { companions, buildSeconds, ...sizes, queries, creation };
}

async function measureQuery(
  name: string,
  store: Store,
  accountId: string,
  filtersOf: (call: number) => [string, string][],
  calls: number,
): Promise<QueryFigures> {
  const times: number[] = [];
  let found = 0;
  const warmUp = 20;
  for (let call = 0; call < calls + warmUp; call++) {
    const metadata = filtersOf(call).map(([path, value]) => ({ path, value }));
    const startedMs = performance.now();
    const page = await store.companions.list(accountId, { metadata, q: null }, { limit: 20, afterId: null });
    if (call >= warmUp) times.push(performance.now() - startedMs);
    found = page.items.length;
  }
  times.sort((one, other) => one - other);
  const quantile = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? Number.NaN;
  return { name, found, p50Ms: quantile(0.5), p99Ms: quantile(0.99), maxMs: quantile(1) };
}

/** In the account that is full already; alternating, so that a noisy moment falls on both. */
async function measureCreation(store: Store, accountId: string, from: number): Promise<MetadataFigures["creation"]> {
  let index = from;
  const spent = { plain: 0, tagged: 0 };
  const single = 500;
  for (let round = 0; round < single; round++) {
    spent.plain += await timed(() => store.companions.create(accountId, companionOf({}), context()));
    spent.tagged += await timed(() => store.companions.create(accountId, companionOf(metadataOf(index++)), context()));
  }
  const one = toMicros("each in its own commit", spent, single);
  spent.plain = 0;
  spent.tagged = 0;
  const batches = 40;
  for (let round = 0; round < batches; round++) {
    const plain = Array.from({ length: 250 }, () => companionOf({}));
    const tagged = Array.from({ length: 250 }, () => companionOf(metadataOf(index++)));
    spent.plain += await timed(() => store.companions.createMany(accountId, plain, context()));
    spent.tagged += await timed(() => store.companions.createMany(accountId, tagged, context()));
  }
  return [one, toMicros("250 in a commit", spent, batches * 250)];
}

function readSizes(path: string): Sizes {
  using database = new Database(path, { readonly: true });
  const read = (condition: string) => {
    const query = `SELECT sum(pgsize) / 1048576.0 AS size FROM dbstat WHERE ${condition}`;
    return database.query<{ size: number | null }, []>(query).get()?.size ?? 0;
  };
  return { indexMiB: read("name = 'companion_metadata'"), restMiB: read("name <> 'companion_metadata'") };
}

async function timed(run: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await run();
  return performance.now() - startedMs;
}

function toMicros(name: string, spentMs: { plain: number; tagged: number }, count: number) {
  return { name, plainMicros: (spentMs.plain / count) * 1000, withMetadataMicros: (spentMs.tagged / count) * 1000 };
}

async function createAccount(store: Store, email: string): Promise<string> {
  const fields = { id: systemIds.uuid(), email, plan: "free", role: "owner", passwordHash: null } as const;
  return (await store.accounts.create(fields, context())).id;
}
