import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type ApiClient, apiClient, expectInvalid, expectProblem } from "../support/api-client.ts";
import { startTestServer, type TestServer } from "../support/app.ts";

let server: TestServer;
let api: ApiClient;
let authorization: string;
let id: string;
beforeAll(async () => {
  server = await startTestServer({
    environment: { COMPANIOND_MODELS: "other-model", COMPANIOND_MAX_OUTPUT_TOKENS: "500" },
  });
  const account = await server.createAccount();
  await server.grantAgent(account.id, "agent");
  const { key } = await server.createKey(account);
  authorization = `Bearer ${key}`;
  api = apiClient(server.url, key);
  id = (await api.call("POST", "/api/companions", { name: "Ada", voice_id: "voice-1" })).json.id;
});
afterAll(() => server.close());

const deep = (levels: number): unknown => (levels === 0 ? 1 : { a: deep(levels - 1) });
const emoji = "\u{1f600}";

const atFault: [string, unknown, string[]?][] = [
  ["name", ""],
  ["name", "   "],
  ["name", null],
  ["name", 5],
  ["name", emoji.repeat(101)],
  ["name", "a\0b"],
  ["name", "a\ud800b"],
  ["system_prompt", "x".repeat(32_001)],
  ["system_prompt", ["x"]],
  ["greeting", "x".repeat(1001)],
  ["avatar_url", "javascript:alert(1)"],
  ["avatar_url", "/relative.png"],
  ["avatar_url", "https://cdn.example/with space.png"],
  ["avatar_url", "data:image/png;base64,AA=="],
  ["avatar_url", ""],
  ["theme_color", "red"],
  ["theme_color", "#12345"],
  ["theme_color", "#12345g"],
  ["voice_id", ""],
  ["voice_agent_id", 7],
  ["model", "gpt-of-someone-else"],
  ["temperature", 2.1],
  ["temperature", -0.1],
  ["temperature", "1"],
  ["max_output_tokens", 501],
  ["max_output_tokens", 0],
  ["max_output_tokens", 1.5],
  ["context_tokens", 0],
  ["context_tokens", 200_001],
  ["metadata", []],
  ["metadata", "x"],
  ["metadata", deep(9)],
  ["metadata", { big: "x".repeat(16 * 1024) }],
  ["metadata", { text: "a\0b" }],
  ["metadata", { "a\ud800": 1 }],
  ["allowed_origins", "https://shop.example"],
  ["allowed_origins", ["https://shop.example/path"], ["allowed_origins.0"]],
  [
    "allowed_origins",
    ["https://ok.example", "ftp://x", "null", "*"],
    ["allowed_origins.1", "allowed_origins.2", "allowed_origins.3"],
  ],
  ["allowed_origins", [1], ["allowed_origins.0"]],
  [
    "allowed_origins",
    [`https://${"a.".repeat(126)}a`, `https://${"a.".repeat(126)}ab`, `https://${"a.".repeat(10_000)}example`],
    ["allowed_origins.1", "allowed_origins.2"],
  ],
  [
    "allowed_origins",
    ["https://a;sandbox", "https://a,b", "https://a'b", "https://[::1]"],
    ["allowed_origins.0", "allowed_origins.1", "allowed_origins.2"],
  ],
  ["allowed_origins", Array.from({ length: 51 }, (_, index) => `https://s${index}.example`)],
  ["starters", Array.from({ length: 7 }, () => "x")],
  ["starters", ["ok", ""], ["starters.1"]],
  ["starters", ["x".repeat(201)], ["starters.0"]],
  ["retention_days", 0],
  ["retention_days", -1],
  ["retention_days", 1.5],
  ["enabled", "yes"],
  ["enabled", 1],
  ["colour", "#000000"],
  ["__proto__x", 1],
  ["constructor", {}],
];

describe.each(["POST", "PATCH"])("%s refuses, and names,", (method) => {
  const path = () => (method === "POST" ? "/api/companions" : `/api/companions/${id}`);
  test.each(atFault)("%s: %j", async (name, value, params = [name]) => {
    const body = method === "POST" ? { name: "Ada", [name]: value } : { [name]: value };
    expectInvalid(await api.call(method, path(), body), params);
  });

  test("every invalid field in one response", async () => {
    const body = {
      name: "",
      temperature: 9,
      metadata: deep(9),
      model: "none",
      max_output_tokens: 10_000,
      allowed_origins: ["x"],
      typo: 1,
    };
    expectInvalid(await api.call(method, path(), body), [
      "allowed_origins.0",
      "max_output_tokens",
      "metadata",
      "model",
      "name",
      "temperature",
      "typo",
    ]);
  });

  test("__proto__ as a field like any other", async () => {
    expectInvalid(await api.call(method, path(), '{"name":"Ada","__proto__":{"name":"Bob"}}'), ["__proto__"]);
  });

  test.each(["[]", "null", '"text"', "1", "{", "", '{"name":"Ada"} x'])("the body %j", async (body) => {
    expectProblem(await api.call(method, path(), body), 400, "invalid_request");
  });

  test("a body that is no UTF-8", async () => {
    const response = await fetch(`${server.url}${path()}`, {
      method,
      headers: { authorization, "content-type": "application/json" },
      body: new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
    });
    expect(response.status).toBe(400);
  });

  test.each(["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"])(
    "a body of type %s as 415",
    async (type) => {
      const response = await api.call(method, path(), { name: "Ada" }, { "content-type": type });
      expectProblem(response, 415, "unsupported_media_type");
    },
  );

  test("no body at all, which needs no content type", async () => {
    expectProblem(await api.call(method, path()), 400, "invalid_request");
  });

  test("a body over 1 MiB as 413, and half a million brackets as 400", async () => {
    expectProblem(await api.call(method, path(), `{"name":"${"x".repeat(1024 * 1024)}"}`), 413, "payload_too_large");
    const nested = `{"name":"Ada","metadata":{"a":${"[".repeat(500_000)}${"]".repeat(500_000)}}}`;
    expectProblem(await api.call(method, path(), nested), 400, "invalid_request");
  });

  test("an endless number of unknown fields, in a response that stays small", async () => {
    const body = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`field_${index}`, 1]));
    const response = expectProblem(
      await api.call(method, path(), { ...body, voice_agent_id: {} }),
      400,
      "invalid_request",
    );
    expect(response.text.length).toBeLessThan(50_000);
  });
});

const taken: [string, unknown][] = [
  ["name", emoji.repeat(100)],
  ["system_prompt", emoji.repeat(32_000)],
  ["greeting", ""],
  ["temperature", 0],
  ["temperature", 2],
  ["max_output_tokens", 500],
  ["model", "test-model"],
  ["metadata", deep(8)],
  ["metadata", { a: "x".repeat(16 * 1024 - '{"a":""}'.length) }],
  ["metadata", { "": 1, "a.b": 2, "quote\"'[]$": null, "\u202e": "\u{1f600}" }],
  ["allowed_origins", Array.from({ length: 50 }, (_, index) => `https://s${index}.example`)],
  ["starters", Array.from({ length: 6 }, () => "x".repeat(200))],
];

test.each(taken)("takes %s up to its bound", async (name, value) => {
  const made = await api.call("POST", "/api/companions", { name: "Ada", [name]: value });
  expect(made.status).toBe(201);
  expect(made.json[name]).toEqual(value);
});

test("metadata's __proto__ is data like any other", async () => {
  const made = await api.call("POST", "/api/companions", '{"name":"Ada","metadata":{"__proto__":{"a":1},"b":2}}');
  expect(made.status).toBe(201);
  const read = await api.call("GET", `/api/companions/${made.json.id}`);
  expect(read.text).toContain('"metadata":{"__proto__":{"a":1},"b":2}');
});

test("a number out of range in metadata is refused rather than kept as null", async () => {
  expectInvalid(await api.call("POST", "/api/companions", '{"name":"Ada","metadata":{"n":1e999}}'), ["metadata"]);
});

test("a voice and an agent of one's own exclude each other, also over a PATCH", async () => {
  const both = { name: "Ada", voice_id: "v", voice_agent_id: "agent" };
  expectInvalid(await api.call("POST", "/api/companions", both), ["voice_agent_id", "voice_id"]);
  const path = `/api/companions/${id}`;
  expectInvalid(await api.call("PATCH", path, { voice_agent_id: "agent" }), ["voice_agent_id", "voice_id"]);
  const switched = await api.call("PATCH", path, { voice_agent_id: "agent", voice_id: null });
  expect(switched.json).toMatchObject({ voice_id: null, voice_agent_id: "agent" });
  await api.call("PATCH", path, { voice_agent_id: null, voice_id: "voice-1" });
});

describe("a malformed id is the same 404 as a missing one", () => {
  const ids = ["none", "0", "%00", "..%2f", `${"0".repeat(8)}-0000-7000-8000-${"0".repeat(12)}`, "x".repeat(5000)];
  test.each(ids)("%s", async (one) => {
    for (const [method, path, body] of [
      ["GET", `/api/companions/${one}`, undefined],
      ["PATCH", `/api/companions/${one}`, { name: "x" }],
      ["DELETE", `/api/companions/${one}`, undefined],
      ["GET", `/api/companions/${one}/embed-tokens`, undefined],
      ["POST", `/api/companions/${one}/embed-tokens`, {}],
      ["DELETE", `/api/companions/${one}/embed-tokens/${one}`, undefined],
      ["DELETE", `/api/companions/${id}/embed-tokens/${one}`, undefined],
      ["POST", `/api/companions/${one}/test-chat`, { message: "x" }],
      ["DELETE", `/api/keys/${one}`, undefined],
    ] as const) {
      expectProblem(await api.call(method, path, body), 404, "not_found");
    }
  });
});
