import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import type { Account } from "../../src/domain/account.ts";
import { type ApiClient, apiClient, expectProblem } from "../support/api-client.ts";
import { startTestServer, type TestServer } from "../support/app.ts";

let server: TestServer;
let api: ApiClient;
let keyId: string;
let account: Account;
beforeAll(async () => {
  server = await startTestServer({
    environment: { COMPANIOND_MODELS: "other-model", COMPANIOND_MAX_OUTPUT_TOKENS: "500" },
  });
});
afterAll(() => server.close());
beforeEach(async () => {
  account = await server.createAccount({ email: `${crypto.randomUUID()}@example.com` });
  const key = await server.createKey(account);
  keyId = key.id;
  api = apiClient(server.url, key.key);
});

const full = {
  slug: "ada_1-b",
  name: "Ada",
  system_prompt: "You help.",
  greeting: "Hi!",
  avatar_url: "https://cdn.example/ada.png",
  theme_color: "#0F766E",
  appearance: {
    theme: "light",
    header: "tinted",
    teaser: { text: "Questions?", after_seconds: 8 },
    greetings: { de: "Hallo!", "pt-BR": "Oi!" },
  },
  voice_id: "voice-1",
  model: "other-model",
  temperature: 0.5,
  reasoning_effort: "low",
  max_output_tokens: 500,
  context_tokens: 2000,
  metadata: { customer: "c_1", nested: { deep: [1, null, true, { x: "é" }] } },
  allowed_origins: ["https://Shop.Example/", "https://shop.example:443", "http://*.shop.example:8080"],
  starters: ["Open today?"],
  retention_days: 30,
  visitor_auth: "optional",
  daily_per_visitor: 50,
  daily_messages: 100,
  monthly_tokens: 1_000_000,
  challenge: "always",
  answer_mode: "grounded",
  citations: "markers",
  no_answer_text: "Ask us by mail.",
  handoff: {
    mode: "any",
    ask: ["visitor", "no_answer"],
    when: "hours",
    hours: { timezone: "Europe/Berlin", week: { mon: [["09:00", "17:30"]] }, closed: ["2026-12-25"] },
    wait_seconds: 60,
    idle_minutes: 10,
    waiting_text: "Somebody comes.",
    person_text: null,
    unavailable_text: "Nobody is here.",
  },
  leads: { when: "always", consent_text: "You may write to me.", reply_to: "team@shop.example" },
  ratings: true,
  ask_resolved: true,
  enabled: false,
};

const fullWire = {
  ...full,
  theme_color: "#0f766e",
  appearance: {
    ...{ theme: "light", position: null, header: "tinted", icon: "chat", radius: 16 },
    teaser: { text: "Questions?", after_seconds: 8 },
    greetings: { de: "Hallo!", "pt-br": "Oi!" },
  },
  voice_agent_id: null,
  allowed_origins: ["https://shop.example", "http://*.shop.example:8080"],
};

test("creates a companion of every field, in normal form, and reads it back", async () => {
  const made = await api.call("POST", "/api/companions", full);
  expect(made.status).toBe(201);
  expect(made.headers.get("content-type")).toBe("application/json");
  expect(made.json).toEqual<unknown>({
    ...fullWire,
    id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
    embed_token: expect.stringMatching(/^emb_[0-9A-Za-z]{32}$/),
    avatar: null,
    seen_on: [],
    created_by_key_id: keyId,
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    updated_at: made.json.created_at,
  });
  const read = await api.call("GET", `/api/companions/${made.json.id}`);
  expect(read.status).toBe(200);
  expect(read.json).toEqual(made.json);
  expect((await api.call("GET", `/api/companions/${made.json.id.toUpperCase()}`)).json).toEqual(made.json);
});

test("a name is enough; null means not set", async () => {
  const plain = await api.call("POST", "/api/companions", { name: "Ada" });
  expect(plain.json).toMatchObject({
    system_prompt: null,
    greeting: null,
    avatar_url: null,
    theme_color: null,
    appearance: null,
    voice_id: null,
    voice_agent_id: null,
    model: null,
    temperature: null,
    max_output_tokens: null,
    context_tokens: 8000,
    metadata: {},
    allowed_origins: [],
    starters: [],
    retention_days: null,
    visitor_auth: "off",
    daily_per_visitor: null,
    enabled: true,
  });
  const nulls = Object.fromEntries(Object.keys(full).map((name) => [name, null]));
  const cleared = await api.call("POST", "/api/companions", { ...nulls, name: "Ada" });
  expect(cleared.status).toBe(201);
  const { id: _id, embed_token: _token, created_at: _created, updated_at: _updated, ...rest } = plain.json;
  expect(cleared.json).toMatchObject(rest);
});

test("the embed token of a new companion opens it", async () => {
  const { embed_token } = (await api.call("POST", "/api/companions", { name: "Ada", greeting: "Hi!" })).json;
  const config = await apiClient(server.url, null).call("GET", `/api/embed/${embed_token}`);
  expect(config.json).toMatchObject({ name: "Ada", greeting: "Hi!" });
});

test("the appearance is replaced as a whole, refused with every fault, and shown to websites without what is not set", async () => {
  const made = (await api.call("POST", "/api/companions", { name: "Ada", appearance: { greetings: { DE: "Hallo!" } } }))
    .json;
  const path = `/api/companions/${made.id}`;
  const config = () => apiClient(server.url, null).call("GET", `/api/embed/${made.embed_token}`);
  const shown = { header: "plain", icon: "chat", radius: 16 };
  expect((await config()).json).toMatchObject({ appearance: { ...shown, greetings: { de: "Hallo!" } } });
  const refused = await api.call("PATCH", path, {
    appearance: {
      ...{ theme: "pink", radius: 25, font: "serif" },
      teaser: { text: "", after_seconds: 601 },
      greetings: { "not a tag": "Hi", fr: "x".repeat(1001), En: "Hi", eN: "Hi" },
    },
  });
  expectProblem(refused, 400, "invalid_request");
  expect(refused.json.errors?.map(({ param }) => param)).toEqual(
    ["font", "theme", "radius", "teaser.text", "teaser.after_seconds", "greetings.fr"].map(
      (name) => `appearance.${name}`,
    ),
  );
  const named = await api.call("PATCH", path, { appearance: { greetings: { "a b": "Hi", En: "Hi", eN: "Hi" } } });
  expect(named.json.errors?.map(({ param }) => param)).toEqual(["appearance.greetings.a b", "appearance.greetings"]);
  const many = Object.fromEntries(Array.from({ length: 41 }, (_, at) => [`de-${at}`, "Hi"]));
  expectProblem(await api.call("PATCH", path, { appearance: { greetings: many } }), 400, "invalid_request");
  const other = await api.call("PATCH", path, { appearance: { position: "left", radius: 0 } });
  const whole = {
    theme: null,
    position: "left",
    header: "plain",
    icon: "chat",
    radius: 0,
    teaser: null,
    greetings: null,
  };
  expect<unknown>(other.json.appearance).toEqual(whole);
  const { data } = (await api.call("GET", `${path}/versions`)).json;
  expect<unknown>(data[0]).toMatchObject({ changed: ["appearance"] });
  await api.call("PATCH", path, { appearance: null });
  expect((await config()).json).not.toHaveProperty("appearance");
});

test("PATCH merges top-level fields, clears with null and replaces metadata as a whole", async () => {
  const { id } = (await api.call("POST", "/api/companions", full)).json;
  const patched = await api.call("PATCH", `/api/companions/${id}`, {
    name: "Bob",
    greeting: null,
    voice_id: null,
    allowed_origins: null,
    enabled: null,
    context_tokens: null,
    metadata: { plan: "pro" },
  });
  expect(patched.status).toBe(200);
  expect(patched.json).toMatchObject({
    ...fullWire,
    name: "Bob",
    greeting: null,
    voice_id: null,
    allowed_origins: [],
    enabled: true,
    context_tokens: 8000,
    metadata: { plan: "pro" },
  });
  expect((await api.call("GET", `/api/companions/${id}`)).json).toEqual(patched.json);
  expect((await api.call("PATCH", `/api/companions/${id}`, { metadata: null })).json).toMatchObject({ metadata: {} });
});

test("a companion that was read can be sent back as it is, and nothing changes", async () => {
  const made = (await api.call("POST", "/api/companions", full)).json;
  const patched = await api.call("PATCH", `/api/companions/${made.id}`, made);
  expect(patched.status).toBe(200);
  expect<unknown>({ ...patched.json, updated_at: made.updated_at }).toEqual(made);
  const idle = await api.call("PATCH", `/api/companions/${made.id}`, { id: "x", created_at: 1, embed_token: null });
  expect(idle.json).toEqual(patched.json);
  const copy = await api.call("POST", "/api/companions", { ...made, slug: null });
  expect(copy.status).toBe(201);
  expect(copy.json.id).not.toBe(made.id);
  expect(copy.json.embed_token).not.toBe(made.embed_token);
});

test("PATCH is all or nothing", async () => {
  const made = (await api.call("POST", "/api/companions", full)).json;
  const refused = await api.call("PATCH", `/api/companions/${made.id}`, { name: "Bob", temperature: 3 });
  expectProblem(refused, 400, "invalid_request");
  expect((await api.call("GET", `/api/companions/${made.id}`)).json).toEqual(made);
});

test("a disabled companion's embed routes are 404, and its tokens work again once it is enabled", async () => {
  const made = (await api.call("POST", "/api/companions", { name: "Ada", enabled: false })).json;
  const open = () => apiClient(server.url, null).call("GET", `/api/embed/${made.embed_token}`);
  expectProblem(await open(), 404, "not_found");
  await api.call("PATCH", `/api/companions/${made.id}`, { enabled: true });
  expect((await open()).status).toBe(200);
});

test("DELETE removes it with its tokens, at once", async () => {
  const made = (await api.call("POST", "/api/companions", { name: "Ada", metadata: { a: "1" } })).json;
  const gone = await api.call("DELETE", `/api/companions/${made.id}`);
  expect(gone.status).toBe(204);
  expect(gone.text).toBe("");
  expect(gone.headers.get("x-request-id")).toBeString();
  expectProblem(await api.call("GET", `/api/companions/${made.id}`), 404, "not_found");
  expectProblem(await api.call("PATCH", `/api/companions/${made.id}`, { name: "x" }), 404, "not_found");
  expectProblem(await api.call("DELETE", `/api/companions/${made.id}`), 404, "not_found");
  expectProblem(await apiClient(server.url, null).call("GET", `/api/embed/${made.embed_token}`), 404, "not_found");
  expect((await api.call("GET", "/api/companions?metadata.a=1")).json.data).toEqual([]);
});

test("changes are in the audit trail, each once, with who made them", async () => {
  const made = (await api.call("POST", "/api/companions", { name: "Ada" })).json;
  await api.call("PATCH", `/api/companions/${made.id}`, { name: "Bob", metadata: { a: 1 } });
  await api.call("PATCH", `/api/companions/${made.id}`, { name: "" });
  await api.call("DELETE", `/api/companions/${made.id}`);
  const range = { fromMs: 0, toMs: Date.now() + 60_000 };
  const { items } = await server.services.store.audit.list(account.id, range, { limit: 100, afterId: null });
  const ofCompanion = items.filter((entry) => entry.targetId === made.id);
  expect(ofCompanion.map((entry) => entry.action)).toEqual([
    "companion.delete",
    "companion.update",
    "companion.create",
  ]);
  for (const entry of ofCompanion) {
    expect(entry.actor).toEqual({ kind: "key", id: keyId, ipPrefix: "127.0.0.0/24", requestId: expect.any(String) });
  }
});

test("names each fault of what is about people", async () => {
  const refuse = async (body: object) => {
    const refused = await api.call("POST", "/api/companions", { name: "Ada", ...body });
    expect(refused.status).toBe(400);
    return refused.json.errors.map(({ param }: { param: string }) => param);
  };
  expect(await refuse({ handoff: { mood: "any" } })).toEqual(["handoff.mood"]);
  expect(await refuse({ handoff: { wait_seconds: 29 } })).toEqual(["handoff.wait_seconds"]);
  const hours = { timezone: "Mars/Phobos", week: { mon: [["17:30", "09:00"]] } };
  expect(await refuse({ handoff: { hours } })).toEqual(["handoff.hours.timezone", "handoff.hours.week.mon"]);
  const overlapping = {
    timezone: "Europe/Berlin",
    week: {
      sun: [
        ["09:00", "12:00"],
        ["11:00", "24:00"],
      ],
    },
  };
  expect(await refuse({ handoff: { hours: overlapping } })).toEqual(["handoff.hours.week.sun"]);
  expect(await refuse({ leads: { when: "always", consent_text: "" } })).toEqual(["leads.consent_text"]);
  const made = await api.call("POST", "/api/companions", { name: "Ada", handoff: {} });
  expect(made.json.handoff).toEqual({
    ...{ mode: "asked", ask: ["visitor", "model"], when: "present", hours: null, wait_seconds: 120, idle_minutes: 30 },
    ...{ waiting_text: null, person_text: null, unavailable_text: null },
  });
});
