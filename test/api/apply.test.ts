/** `POST /api/apply`: companions from files, all or none. */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import type { Account } from "../../src/domain/account.ts";
import type { JsonObject } from "../../src/domain/json.ts";
import { sha256Hex } from "../../src/lib/sha256.ts";
import { type ApiClient, apiClient } from "../support/api-client.ts";
import { startTestServer, type TestServer } from "../support/app.ts";
import { eventually } from "../support/eventually.ts";

let server: TestServer;
let account: Account;
let api: ApiClient;

beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());
beforeEach(async () => {
  account = await server.createAccount();
  api = apiClient(server.url, (await server.createKey(account)).key);
});

interface Item {
  action: string;
  slug: string;
  id: string;
  changes: { field: string; from: unknown; to: unknown }[];
  drift: { field: string; by: { type: string; name: string } | null; at: string | null }[];
}

async function apply(companions: unknown, options: JsonObject = {}): Promise<Item[]> {
  const { status, json } = await api.call("POST", "/api/apply", { companions, ...options });
  expect(json).toMatchObject({ applied: options["dry_run"] !== true });
  expect(status).toBe(200);
  return json["plan"] as Item[];
}

async function refusal(companions: unknown, options: JsonObject = {}) {
  const { status, json } = await api.call("POST", "/api/apply", { companions, ...options });
  return { ...json, status };
}

async function read(path: string) {
  return (await api.call("GET", path)).json;
}

const prompt = "You help customers of a bicycle shop.";
const orders = { name: "find_order", description: "Finds an order.", url: "https://shop.example/orders" };
const support = {
  ...{ slug: "support", name: "Ada", system_prompt: prompt, theme_color: "#0F766E", metadata: { plan: "pro" } },
  tools: [orders, { name: "shop", mcp_url: "https://shop.example/mcp" }],
  sources: [
    { slug: "returns", title: "Returns", text: "You may return what you bought within 30 days." },
    { slug: "faq", url: "https://shop.example/faq", refresh_hours: 24 },
  ],
};
const sales = { slug: "sales", name: "Grace" };

test("creates, changes and leaves alone, each once for audit, versions and readers; twice is once", async () => {
  const dry = await apply([support, sales], { dry_run: true });
  expect(dry.map(({ action, id }) => [action, id ?? ""])).toEqual([
    ["create", ""],
    ["create", ""],
  ]);
  expect((await read("/api/companions"))["data"]).toEqual([]);

  const [made] = await apply([support, sales]);
  const path = `/api/companions/${made?.id}`;
  expect(await read(path)).toMatchObject({ slug: "support", system_prompt: prompt, theme_color: "#0f766e" });
  expect((await read(path)).embed_token).toStartWith("emb_");
  const tools = (await read(`${path}/tools`)).data;
  expect(tools.map((tool) => tool["name"]).sort()).toEqual(["find_order", "shop"]);
  const sources = (await read(`${path}/sources`)).data;
  expect(sources.map((source) => [source["slug"], source["type"]]).sort()).toEqual([
    ["faq", "url"],
    ["returns", "text"],
  ]);
  await eventually(async () => {
    const found = await api.call("POST", `${path}/knowledge/search`, { query: "how long to return" });
    return found.json.data[0]?.["title"] === "Returns";
  });

  const entries = async () => (await read("/api/audit?limit=100")).data.map((entry) => entry["action"]);
  const before = await entries();
  const again = await apply([support, sales]);
  expect(again.map(({ action, changes }) => [action, changes])).toEqual([
    ["unchanged", []],
    ["unchanged", []],
  ]);
  expect(await entries()).toEqual(before);
  expect((await read(`${path}/tools`)).data.map(({ id }) => id)).toEqual(tools.map(({ id }) => id));

  const text = { slug: "returns", title: "Returns", text: "You may return it within 60 days." };
  const [changed] = await apply([{ slug: "support", greeting: "Hi!", tools: [orders], sources: [text] }], {
    note: "Autumn",
  });
  expect(changed?.changes.map(({ field }) => field)).toEqual([
    "greeting",
    "tools.shop",
    "sources.returns",
    "sources.faq",
  ]);
  expect(await read(path)).toMatchObject({ greeting: "Hi!", system_prompt: prompt });
  expect((await read(`${path}/sources`)).data.map(({ id }) => id)).toEqual(
    sources.filter((source) => source["slug"] === "returns").map(({ id }) => id),
  );
  expect((await entries()).slice(0, 1)).toEqual(["companion.update"]);
});

test("what someone changed is drift, and named with who and when; overwrite applies it all the same", async () => {
  const [made] = await apply([{ ...sales, greeting: "Hi!" }]);
  await api.call("PATCH", `/api/companions/${made?.id}`, { greeting: "Hello!" });
  const [dry] = await apply([{ ...sales, greeting: "Hi!" }], { dry_run: true });
  expect(dry).toMatchObject({
    action: "drift",
    changes: [{ field: "greeting", from: "Hello!", to: "Hi!" }],
    drift: [{ field: "greeting", applied: "Hi!", now: "Hello!", by: { type: "key", name: "test" } }],
  });
  expect(Date.parse(dry?.drift[0]?.at ?? "")).toBeGreaterThan(0);
  const refused = await refusal([support, { ...sales, greeting: "Hi!" }]);
  expect(refused).toMatchObject({ status: 409, code: "conflict", drift: [{ slug: "sales", field: "greeting" }] });
  expect(refused.detail).toContain("sales.greeting by test at 2");
  // All or none.
  expect((await read("/api/companions")).data.map((companion) => companion["slug"])).toEqual(["sales"]);
  const [overwritten] = await apply([{ ...sales, greeting: "Hi!" }], { overwrite: true });
  expect(overwritten).toMatchObject({ action: "update", drift: [{ now: "Hello!" }] });
  expect((await apply([{ ...sales, greeting: "Hi!" }]))[0]?.action).toBe("unchanged");
});

test("a set holds its companions until their slug changes, and prunes its own alone", async () => {
  const [a, b, c] = await apply(["a", "b", "c"].map((slug) => ({ slug, name: slug })));
  await apply([{ slug: "d", name: "D" }], { set: "other" });
  expect(await refusal([{ slug: "d" }])).toMatchObject({ status: 409, set: "other" });
  await api.call("PATCH", `/api/companions/${c?.id}`, { slug: null });
  expect(await refusal([{ slug: "a" }], { prune: "disable", prune_max: 0 })).toMatchObject({ status: 409 });
  const pruned = await apply([{ slug: "a" }], { prune: "disable" });
  expect(pruned.map(({ action, slug }) => `${action} ${slug}`)).toEqual(["unchanged a", "disable b"]);
  expect(await apply([{ slug: "a" }], { prune: "disable" })).toHaveLength(1);
  expect((await read(`/api/companions/${b?.id}`))["enabled"]).toBe(false);
  expect((await apply([{ slug: "b" }]))[0]).toMatchObject({
    action: "update",
    changes: [{ field: "enabled", to: true }],
  });
  const deleted = await apply([{ slug: "b" }], { prune: "delete" });
  expect(deleted.map(({ action, id }) => [action, id])).toEqual([
    ["unchanged", b?.id ?? ""],
    ["delete", a?.id ?? ""],
  ]);
  expect((await api.call("GET", `/api/companions/${a?.id}`)).status).toBe(404);
  expect((await api.call("GET", `/api/companions/${c?.id}`)).status).toBe(200);
  expect(await refusal([], { prune: "delete" })).toMatchObject({ status: 409 });

  const [adopted] = await apply([{ slug: "e", adopt: c?.id ?? "" }]);
  expect(adopted).toMatchObject({ action: "update", id: c?.id, changes: [{ field: "slug", to: "e" }] });
  const found = await read("/api/companions?slug=e");
  expect(found.data.map(({ id }) => id)).toEqual([c?.id ?? ""]);
  expect((await read("/api/companions?slug=nope")).data).toEqual([]);
  const duplicate = await api.call("POST", "/api/companions", { name: "E", slug: "e" });
  expect([duplicate.status, duplicate.json["code"]]).toEqual([409, "conflict"]);
});

test("a file's source is recorded once its bytes are there", async () => {
  const bytes = "# Manual\n\nThe XK-4711 has a bell.";
  const file = { ...sales, sources: [{ slug: "manual", title: "Manual", file_hash: sha256Hex(bytes) }] };
  const [made] = await apply([file]);
  expect(made?.changes.map(({ field }) => field)).toEqual(["name", "sources.manual"]);
  expect((await apply([file]))[0]?.changes.map(({ field }) => field)).toEqual(["sources.manual"]);
  const form = new FormData();
  form.append("file", new File([bytes], "manual.md"));
  form.append("slug", "manual");
  form.append("title", "Manual");
  const path = `/api/companions/${made?.id}/sources`;
  const sent = await api.call("POST", path, form);
  expect([sent.status, sent.json["slug"]]).toEqual([202, "manual"]);
  expect((await apply([file]))[0]).toMatchObject({ action: "unchanged" });
  const other = new FormData();
  other.append("file", new File(["# Another"], "manual.md"));
  expect((await api.call("PUT", `${path}/${sent.json.id}`, other)).json["slug"]).toBe("manual");
  const [drifted] = await apply([file], { dry_run: true });
  expect(drifted?.drift.map(({ field, by }) => [field, by?.name])).toEqual([["sources.manual", "test"]]);
  expect((await api.call("POST", path, form)).status).toBe(409);
});

test("faults are named with their position, and nothing is applied", async () => {
  const invalid = await refusal([
    sales,
    { slug: "b", theme_color: "red" },
    { ...support, tools: [{ ...orders, url: "http://10.0.0.1/" }] },
  ]);
  expect(invalid.status).toBe(400);
  expect(invalid.errors.map(({ param }) => param)).toEqual([
    "companions[1].theme_color",
    "companions[1].name",
    "companions[2].tools[0].url",
  ]);
  for (const options of [{ prune: "all" }, { set: "A b" }, { note: "x".repeat(501) }, { nmae: 1 }]) {
    const refused = await refusal([sales], options);
    expect([refused.status, refused.errors.map(({ param }) => param)]).toEqual([400, Object.keys(options)]);
  }
  // So many faults that the others are not named.
  const unknown = Object.fromEntries(Array.from({ length: 120 }, (_, index) => [`x${index}`, 1]));
  expect((await refusal([{ ...unknown, ...sales, tools: [null] }])).status).toBe(400);
  expect((await read("/api/companions")).data).toEqual([]);
  const huge = await refusal([{ ...sales, greeting: "x".repeat(9 * 1024 * 1024) }]);
  expect(huge).toMatchObject({ status: 413, code: "payload_too_large" });
});

test("needs its scopes, and a limit leaves nothing behind", async () => {
  const { key } = await server.createKey(account, ["companions:write"]);
  const narrow = apiClient(server.url, key);
  expect((await narrow.call("POST", "/api/apply", { companions: [sales] })).status).toBe(200);
  const refused = await narrow.call("POST", "/api/apply", { companions: [support] });
  expect([refused.status, refused.json.detail]).toEqual([403, expect.stringContaining("knowledge:write")]);
  const reader = apiClient(server.url, (await server.createKey(account, ["companions:read"])).key);
  expect((await reader.call("POST", "/api/apply", { companions: [sales] })).status).toBe(403);
  const many = Array.from({ length: 251 }, (_, at) => ({ slug: `s${at}`, name: "S" }));
  expect((await refusal(many)).status).toBe(400);
});

test("an idempotency key replays the plan, and two at the same time make each companion once", async () => {
  const headers = { "idempotency-key": "set-1" };
  const body = { companions: [sales] };
  const first = await api.call("POST", "/api/apply", body, headers);
  const replay = await api.call("POST", "/api/apply", body, headers);
  expect(replay.headers.get("idempotent-replayed")).toBe("true");
  expect(replay.text).toBe(first.text);
  const companions = Array.from({ length: 20 }, (_, at) => ({ slug: `s${at}`, name: "S", greeting: "Hi" }));
  const both = await Promise.all([apply(companions), apply(companions)]);
  const made = both.flat().filter(({ action }) => action === "create");
  expect(made).toHaveLength(20);
  expect((await read("/api/companions?limit=100")).data).toHaveLength(21);
});
