/** What becomes of a set: drift, moves between sets and pruning, from what is there and what was sent. */
import { expect, test } from "bun:test";
import { makePlan, type PlanRequest } from "../../src/api/companions/apply/plan.ts";
import { type Existing, readItems } from "../../src/api/companions/apply/read-items.ts";
import type { SetMember } from "../../src/contracts/store/store.ts";
import { type CompanionSettings, newCompanionSettings } from "../../src/domain/companion.ts";
import { AppError } from "../../src/domain/errors.ts";
import type { JsonObject } from "../../src/domain/json.ts";
import type { Source } from "../../src/domain/knowledge.ts";
import type { Tool } from "../../src/domain/tool.ts";
import type { AppliedRecord, VersionFacts } from "../../src/domain/version.ts";
import { sha256Hex } from "../../src/lib/sha256.ts";

const url = "https://shop.example/orders";

function tool(name: string, changes: Partial<Tool> = {}): Tool {
  const target = { type: "http", url, description: "", parameters: { type: "object", properties: {} } } as const;
  return {
    id: `tool-${name}`,
    name,
    title: name,
    target,
    timeoutMs: 10_000,
    confirm: false,
    requiresVisitor: false,
    ...changes,
  } as Tool;
}

function text(slug: string, content: string): Source {
  return {
    id: `source-${slug}`,
    slug,
    type: "text",
    title: slug,
    url: null,
    refreshHours: null,
    uploadHash: sha256Hex(content),
  } as Source;
}

function record(fields: JsonObject, changes: Partial<AppliedRecord> = {}): AppliedRecord {
  return { set: "default", fields, tools: null, sources: null, isPruned: false, version: 1, appliedAt: 0, ...changes };
}

const ada: VersionFacts = {
  ...{ number: 3, createdAt: 0, via: "dashboard", note: null, changed: ["greeting", "tools", "sources"] },
  actor: { type: "session", id: "s", name: "ada@shop.example" },
};

function member(slug: string | null, settings: Partial<CompanionSettings>, rest: Partial<SetMember> = {}): SetMember {
  const companion = { ...newCompanionSettings("Ada"), slug, ...settings, id: `id-${slug}` } as SetMember["companion"];
  return { companion, tools: [], sources: [], applied: null, changes: [ada], ...rest };
}

async function plan(entries: readonly unknown[], members: readonly SetMember[], options: Partial<PlanRequest> = {}) {
  const bySlug = (slug: string) => members.find(({ companion }) => companion.slug === slug) ?? null;
  const byId = (id: string | undefined) => members.find(({ companion }) => companion.id === id) ?? null;
  const find = ({ slug, adopt }: { slug: string; adopt?: string }): Existing | null => bySlug(slug) ?? byId(adopt);
  const rules = {
    ...{
      models: ["gpt-6-luna"],
      maxOutputTokens: 4096,
      maxContextTokens: 200_000,
      dailyMessages: 1000,
      accountId: "a",
    },
    ...{ voice: {} as never, findUrlFault: () => null, requirePrices: async () => {} },
  };
  const items = await readItems(entries, find, rules);
  const defaults = { set: "default", prune: "off", pruneMax: 5, overwrite: false, isDryRun: true } as const;
  return makePlan({ companions: members }, { ...defaults, items, ...options });
}

const actions = (made: Awaited<ReturnType<typeof plan>>) => made.plan.map(({ action, slug }) => `${action} ${slug}`);

async function refusal(work: Promise<unknown>): Promise<AppError> {
  const error = await work.catch((thrown: unknown) => thrown);
  if (!(error instanceof AppError)) throw new Error("nothing was refused");
  return error;
}

test("named fields change, others stay; what is so already is unchanged, and defaults are what null means", async () => {
  const now = member(
    "a",
    { greeting: "Hi", systemPrompt: "Own", themeColor: "#0f766e" },
    { applied: record({ greeting: "Hi" }) },
  );
  const { plan: items, writes } = await plan(
    [
      { slug: "a", name: "Ada", greeting: null, theme_color: "#0F766E", context_tokens: null, metadata: {} },
      { slug: "b", name: "Bo" },
    ],
    [now],
  );
  expect(items).toEqual([
    { action: "update", slug: "a", id: "id-a", changes: [{ field: "greeting", from: "Hi", to: null }], drift: [] },
    { action: "create", slug: "b", id: null, changes: [{ field: "name", from: null, to: "Bo" }], drift: [] },
  ]);
  expect(writes.map(({ record: made }) => made.fields["theme_color"])).toEqual(["#0f766e", undefined]);
});

test("a named field that someone else changed is drift; one named for the first time, or as the file has it, is none", async () => {
  const applied = record({ greeting: "Hi", system_prompt: "Help." });
  const now = member("a", { greeting: "Hello!", systemPrompt: "Help more.", noAnswerText: "No." }, { applied });
  const entry = { slug: "a", greeting: "Hi", system_prompt: "Help more.", no_answer_text: "Nothing." };
  const drifted = { field: "greeting", applied: "Hi", now: "Hello!", by: ada.actor, at: "1970-01-01T00:00:00.000Z" };
  const { plan: items } = await plan([entry], [now]);
  expect(items[0]).toMatchObject({ action: "drift", drift: [drifted] });
  const error = await refusal(plan([entry], [now], { isDryRun: false }));
  expect([error.code, error.message]).toEqual([
    "conflict",
    expect.stringContaining("a.greeting by ada@shop.example at 1970"),
  ]);
  expect(error.members).toMatchObject({ drift: [{ slug: "a", field: "greeting", by: ada.actor }] });
  const overwritten = await plan([entry], [now], { isDryRun: false, overwrite: true });
  expect(overwritten.plan[0]).toMatchObject({ action: "update", drift: [drifted] });
  expect([...(overwritten.writes[0]?.changed ?? [])].sort()).toEqual(["greeting", "no_answer_text"]);
  // What someone made as the file has it is recorded, so that the next change of it is drift.
  const same = await plan([{ slug: "a", system_prompt: "Help more." }], [now]);
  expect(same.plan[0]?.action).toBe("unchanged");
  expect(same.writes[0]?.record.fields).toEqual({ system_prompt: "Help more." });
});

test("tools are compared by name and member, and the list is the file's", async () => {
  const file = { slug: "a", tools: [{ name: "x", url, timeout_ms: 5000 }] };
  const values = { name: "x", url, timeout_ms: 5000 };
  const first = await plan([file], [member("a", {}, { tools: [tool("old")] })]);
  expect(first.plan[0]?.changes.map(({ field, to }) => [field, to])).toEqual([
    ["tools.x", values],
    ["tools.old", null],
  ]);
  expect(first.plan[0]?.drift).toEqual([]);
  const applied = record({}, { tools: { x: values } });
  const mine = tool("x", { timeoutMs: 5000, confirm: true });
  expect(actions(await plan([file], [member("a", {}, { tools: [mine], applied })]))).toEqual(["unchanged a"]);
  const theirs = { ...mine, timeoutMs: 100 };
  const drift = await plan([file], [member("a", {}, { tools: [theirs, tool("added")], applied })]);
  expect(drift.plan[0]?.drift.map(({ field, applied: before, now }) => [field, before, now])).toMatchObject([
    ["tools.x", { timeout_ms: 5000 }, { timeout_ms: 100 }],
    ["tools.added", null, { name: "added" }],
  ]);
  const gone = await plan([file], [member("a", {}, { tools: [], applied })]);
  expect(gone.plan[0]?.drift).toMatchObject([{ field: "tools.x", applied: values, now: null }]);
});

test("sources are compared by slug and bytes; those without a slug, and those that stay as they are, are not touched", async () => {
  const own = { ...text("own", "x"), slug: null };
  const sources = [text("returns", "30 days"), text("kept", "y"), text("old", "z"), own];
  const entries = [
    { slug: "returns", text: "30 days" },
    { slug: "kept", title: "Another", content_hash: null },
    { slug: "faq", url: "https://shop.example/faq", refresh_hours: 24 },
    { slug: "manual", file_hash: "a".repeat(64) },
  ];
  const now = member("a", {}, { sources });
  const made = await plan([{ slug: "a", sources: entries }], [now]);
  expect(made.plan[0]?.changes.map(({ field }) => field)).toEqual(["sources.faq", "sources.manual", "sources.old"]);
  // The file is not there yet: it is the set's only when it is.
  expect(Object.keys(made.writes[0]?.record.sources ?? {})).toEqual(["returns", "kept", "faq"]);
  const error = await refusal(plan([{ slug: "a", sources: [{ slug: "none", content_hash: null }] }], [now]));
  expect(error.errors).toEqual([
    { param: "companions[0].sources[0].content_hash", detail: expect.stringContaining("no source") },
  ]);
});

test("a set holds its companions; overwrite moves one, and adopt gives a slug once", async () => {
  const held = member("a", {}, { applied: record({}, { set: "other" }) });
  const error = await refusal(plan([{ slug: "a", greeting: "Hi" }], [held]));
  expect([error.code, error.message]).toEqual(["conflict", expect.stringContaining('"other"')]);
  const moved = await plan([{ slug: "a" }], [held], { overwrite: true });
  expect([actions(moved), moved.writes[0]?.record.set]).toEqual([["unchanged a"], "default"]);

  const id = "0192f3c1-7d2e-7a44-9a10-3f5b8c6d2e10";
  const unnamed = member(null, {});
  const nameless = { ...unnamed, companion: { ...unnamed.companion, id } };
  const adopted = await plan([{ slug: "b", adopt: id }], [nameless]);
  expect(adopted.plan[0]).toMatchObject({ action: "update", id, changes: [{ field: "slug", from: null, to: "b" }] });
  expect(actions(await plan([{ slug: "a", adopt: id }], [member("a", {}, { applied: record({}) })]))).toEqual([
    "unchanged a",
  ]);
  const unknown = await refusal(plan([{ slug: "c", name: "C", adopt: id }], []));
  expect(unknown.errors?.map(({ param }) => param)).toEqual(["companions[0].adopt"]);
  const both = ["b", "c"].map((slug) => ({ slug, adopt: id }));
  const twice = await refusal(plan(both, [nameless]));
  expect(twice.errors?.map(({ param }) => param)).toEqual(["companions[1].adopt"]);
});

test("members that the files lack are disabled once, or deleted, never too many and never all", async () => {
  const members = ["a", "b", "c"].map((slug) =>
    member(slug, { enabled: slug !== "c" }, { applied: record({ enabled: true }) }),
  );
  const foreign = member("d", {}, { applied: record({}, { set: "other" }) });
  const all = [...members, foreign, member("e", {})];
  const disabled = await plan([{ slug: "a" }], all, { prune: "disable" });
  expect(actions(disabled)).toEqual(["unchanged a", "disable b"]);
  expect(disabled.disables[0]?.record).toMatchObject({ isPruned: true, fields: { enabled: false } });
  expect(actions(await plan([{ slug: "a" }], all, { prune: "delete" }))).toEqual([
    "unchanged a",
    "delete b",
    "delete c",
  ]);
  expect((await refusal(plan([{ slug: "a" }], all, { prune: "delete", pruneMax: 1 }))).message).toContain(
    "2 companions",
  );
  expect((await refusal(plan([], all, { prune: "delete" }))).code).toBe("conflict");

  const pruned = record({ enabled: false }, { isPruned: true });
  const now = [member("a", {}, { applied: record({}) }), member("b", { enabled: false }, { applied: pruned })];
  expect(actions(await plan([{ slug: "a" }], now, { prune: "disable" }))).toEqual(["unchanged a"]);
  for (const entry of [{ slug: "b" }, { slug: "b", enabled: true }]) {
    const revived = await plan([entry], now);
    expect(revived.plan[0]).toMatchObject({
      action: "update",
      changes: [{ field: "enabled", from: false, to: true }],
      drift: [],
    });
    expect(revived.writes[0]?.record.isPruned).toBe(false);
  }
});

test("every fault is named with its position, secrets with where they belong", async () => {
  const entries = [
    { slug: "A b", name: 7, nmae: "x" },
    { slug: "b", theme_color: "red", max_output_tokens: 5000, tools: [{ name: "x", url, headers: { a: "b" } }] },
    { slug: "c", name: "C", tools: [{ name: "x" }, { name: "x", url, parameters: { type: "array" } }] },
    {
      slug: "d",
      sources: [
        { slug: "x", text: "a", url: "https://a.example" },
        { slug: "x", text: "b", refresh_hours: 3 },
      ],
    },
    { slug: "c", name: "C" },
    "e",
  ];
  const error = await refusal(plan(entries, []));
  expect(error.errors?.map(({ param }) => param).sort()).toEqual([
    "companions[0].name",
    "companions[0].nmae",
    "companions[0].slug",
    "companions[1].max_output_tokens",
    "companions[1].name",
    "companions[1].theme_color",
    "companions[1].tools[0].headers",
    "companions[2].tools[0].url",
    "companions[2].tools[1].name",
    "companions[2].tools[1].parameters",
    "companions[3].name",
    "companions[3].sources[0]",
    "companions[3].sources[1].refresh_hours",
    "companions[3].sources[1].slug",
    "companions[4].slug",
    "companions[5]",
  ]);
  expect(error.errors?.find(({ param }) => param.endsWith("headers"))?.detail).toContain(
    "Secrets never stand in files",
  );
});
