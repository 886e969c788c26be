/** Usage as a platform bills by it: days, groups, filters, JSON and CSV. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { prefers } from "../../src/http/compression.ts";
import { toCell } from "../../src/http/csv.ts";
import { type ApiClient, apiClient, expectInvalid, expectProblem } from "../support/api-client.ts";
import { startTestServer, type TestServer } from "../support/app.ts";
import { keepTurn } from "../support/kept-turn.ts";
import { createManualClock } from "../support/manual-clock.ts";

type TestCompanion = Awaited<ReturnType<TestServer["createCompanion"]>>;

const nowMs = Date.parse("2026-03-10T12:00:00Z");
let server: TestServer;
let ada: TestCompanion;
let grace: TestCompanion;
let client: ApiClient;
let keyId: string;

beforeAll(async () => {
  server = await startTestServer({ clock: createManualClock(nowMs) });
  const account = await server.createAccount();
  ada = await server.createCompanion({ name: "Ada", metadata: { plan: "pro", user: { id: 42 } } }, account);
  grace = await server.createCompanion({ name: "Grace", metadata: { plan: "basic" } }, account);
  const made = await server.createKey(account);
  keyId = made.id;
  client = apiClient(server.url, made.key);
  const at = (text: string) => ({ atMs: Date.parse(text) });
  await keepTurn(server, ada, at("2026-02-08T23:59:59.999Z"));
  await keepTurn(server, ada, at("2026-02-09T00:00:00Z"));
  await keepTurn(server, ada, at("2026-03-10T01:00:00Z"));
  await keepTurn(server, ada, { ...at("2026-03-10T11:00:00Z"), inputTokens: 100, outputTokens: 50 });
  await keepTurn(server, grace, at("2026-03-10T02:00:00Z"));
  await keepTurn(server, await server.createCompanion({ metadata: { plan: "pro" } }), at("2026-03-10T03:00:00Z"));
});
afterAll(() => server.close());

const none = {
  messages: 0,
  requests: 0,
  input_tokens: 0,
  output_tokens: 0,
  voice_sessions: 0,
  errors: 0,
  cached_tokens: 0,
  cost_micros: 0,
  reasoning_tokens: 0,
  cache_write_tokens: 0,
};
const turns = (messages: number) => ({ ...none, messages, input_tokens: 10 * messages, output_tokens: 5 * messages });
const biggest = { ...none, messages: 3, input_tokens: 120, output_tokens: 60 };

/** The rows without the keys' own calls, which the test itself makes. */
async function rows(query: string): Promise<object[]> {
  const response = await client.call("GET", `/api/usage${query}`);
  expect(response.status).toBe(200);
  return response.json.data.map((row) => ({ ...row, requests: 0 }));
}

test("more rows than one answer may hold are refused, JSON or CSV, and come in pages", async () => {
  const { usage } = server.services.store;
  const query = usage.query;
  const bounds: (number | undefined)[] = [];
  // As if these few were too many: the store has one more than it was allowed.
  usage.query = async (accountId, asked, maxRows) => {
    bounds.push(maxRows);
    const rows = await query(accountId, asked, 1);
    return Array.from({ length: (maxRows ?? 0) + 1 }, (_, at) => rows[at % rows.length] ?? rows[0]).flatMap(
      (row) => row ?? [],
    );
  };
  try {
    const path = "/api/usage?from=2026-02-01&to=2026-03-31&group_by=day,companion";
    const refused = expectInvalid(await client.call("GET", path), ["limit"]);
    expect(refused.json.detail).toBe(
      "These are more than 50000 rows. Send limit=1000 and go on with next_cursor, or ask for fewer days or groups.",
    );
    expectInvalid(await client.call("GET", path, undefined, { accept: "text/csv" }), ["limit"]);
    expect(bounds).toEqual([50_000, 50_000]);
    const page = (await client.call("GET", `${path}&limit=1000`)).json;
    expect(page.data.length).toBeGreaterThan(2);
    expect(page.next_cursor).toBeNull();
  } finally {
    usage.query = query;
  }
});

test("a large answer is sent in parts, since to write it in one go would hold the event loop", async () => {
  const { usage } = server.services.store;
  const query = usage.query;
  usage.query = async (accountId, asked) => {
    const [row] = await query(accountId, asked);
    // Requests would count these calls themselves, once a second has passed.
    return Array.from({ length: 8_000 }, (_, at) => ({ ...row, messages: at, requests: 0 })) as Awaited<
      ReturnType<typeof query>
    >;
  };
  try {
    const ask = (accept: string, encoding: string) =>
      client.call("GET", "/api/usage?from=2026-03-10", undefined, { accept, "accept-encoding": encoding });
    const whole = await ask("application/json", "identity");
    expect(whole.json.data.map(({ messages }) => messages)).toEqual(Array.from({ length: 8_000 }, (_, at) => at));
    expect(whole.headers.get("content-length")).toBeNull();
    const lines = await ask("text/csv", "identity");
    expect(lines.text.split("\r\n")).toHaveLength(8_002);
    expect(lines.headers.get("content-length")).toBeNull();
    for (const one of [whole, lines]) {
      const compressed = await ask(one.headers.get("content-type") ?? "", "gzip");
      expect(compressed.headers.get("content-encoding")).toBe("gzip");
      expect(compressed.text === one.text).toBe(true);
    }
  } finally {
    usage.query = query;
  }
});

describe("counts by", () => {
  test("day, of the last thirty days, by default", async () => {
    expect(await rows("")).toEqual([
      { day: "2026-02-09", ...turns(1) },
      { day: "2026-03-10", ...biggest },
    ]);
  });

  test("day, both ends included", async () => {
    expect(await rows("?from=2026-02-08&to=2026-02-09")).toEqual([
      { day: "2026-02-08", ...turns(1) },
      { day: "2026-02-09", ...turns(1) },
    ]);
    expect(await rows("?from=2026-02-08&to=2026-02-08")).toEqual([{ day: "2026-02-08", ...turns(1) }]);
    expect(await rows("?to=2026-02-09")).toHaveLength(2);
    expect(await rows("?from=2026-02-10&to=2026-03-09")).toEqual([]);
  });

  test("day and companion", async () => {
    const found = await rows(`?from=2026-03-10&group_by=companion,day&companion_id=${ada.id.toUpperCase()}`);
    expect(found).toEqual([
      { day: "2026-03-10", companion_id: ada.id, ...none, messages: 2, input_tokens: 110, output_tokens: 55 },
    ]);
  });

  test("companion over more than four hundred days", async () => {
    const found = await rows("?from=2025-01-01&group_by=companion&metadata.plan=basic");
    expect(found).toEqual([{ companion_id: grace.id, ...turns(1) }]);
  });

  test("metadata: all filters must match, other accounts never do", async () => {
    expect(await rows("?from=2026-03-10&metadata.plan=pro&metadata.user.id=42")).toMatchObject([{ messages: 2 }]);
    expect(await rows("?metadata.plan=pro&metadata.user.id=43")).toEqual([]);
  });

  test("key: the companions' messages under the key that made them, the calls under the key that called", async () => {
    await server.services.uses.flush();
    const response = await client.call("GET", "/api/usage?from=2026-03-10&group_by=key");
    expect(response.json.data).toHaveLength(2);
    expect(response.json.data).toContainEqual({ key_id: null, ...biggest } as never);
    const own = response.json.data.find(({ key_id }) => key_id === keyId);
    expect(own).toMatchObject({ messages: 0, input_tokens: 0 });
    expect(Number(own?.requests)).toBeGreaterThan(0);
  });
});

test.each([
  ["?from=2026-02-30&to=x", ["from", "to"]],
  ["?from=2026-03-10T00:00:00Z", ["from"]],
  ["?from=2026-03-11&to=2026-03-10", ["to"]],
  ["?from=2023-01-01&to=2026-03-10", ["from"]],
  ["?group_by=week", ["group_by"]],
  ["?group_by=day,day", ["group_by"]],
  ["?group_by=", ["group_by"]],
  ["?companion_id=ada&colour=red", ["companion_id", "colour"]],
])("refuses %s", async (query, params) => {
  expectInvalid(await client.call("GET", `/api/usage${query}`), params);
});

test("a range of three years is taken", async () => {
  expect(await rows("?from=2023-03-11&to=2026-03-10")).toHaveLength(3);
});

test("comes as CSV for spreadsheets, with a name for the file", async () => {
  const accept = { accept: "text/csv" };
  const response = await client.call(
    "GET",
    "/api/usage?from=2026-03-10&group_by=companion,day&metadata.plan=pro",
    undefined,
    accept,
  );
  expect(response.headers.get("content-type")).toBe("text/csv; charset=utf-8; header=present");
  expect(response.headers.get("content-disposition")).toBe('attachment; filename="usage-2026-03-10-2026-03-10.csv"');
  expect(response.headers.get("vary")).toContain("Accept");
  expect(response.text).toBe(
    "day,companion_id,messages,requests,input_tokens,output_tokens,voice_sessions,errors,cached_tokens,cost_micros,reasoning_tokens,cache_write_tokens\r\n" +
      `2026-03-10,${ada.id},2,0,110,55,0,0,0,0,0,0\r\n`,
  );
  const empty = await client.call("GET", "/api/usage?metadata.plan=none", undefined, accept);
  expect(empty.text).toBe(
    "day,messages,requests,input_tokens,output_tokens,voice_sessions,errors,cached_tokens,cost_micros,reasoning_tokens,cache_write_tokens\r\n",
  );
  expectInvalid(await client.call("GET", "/api/usage?from=x", undefined, accept), ["from"]);
});

test.each([
  ["text/csv", true],
  ["application/json;q=0.5, text/csv", true],
  ["TEXT/CSV; q=0.9, */*; q=0.1", true],
  ["text/*", true],
  ["*/*", false],
  ["text/html, */*;q=0.8", false],
  ["application/json, text/csv", false],
  ["text/csv;q=0", false],
  ["", false],
  [null, false],
])("Accept: %p asks for CSV: %p", (accept, expected) => {
  expect(prefers(accept, "text/csv", "application/json")).toBe(expected);
});

test.each([
  ["=1+1", "'=1+1"],
  ["+1", "'+1"],
  ["-1", "'-1"],
  ["@SUM(A1)", "'@SUM(A1)"],
  ["\t=1", "'\t=1"],
  ['=HYPERLINK("x")', `"'=HYPERLINK(""x"")"`],
  ["a,b", '"a,b"'],
  ["a\nb", '"a\nb"'],
  ["plain", "plain"],
  [-5, "-5"],
])("the cell %p can run no formula", (value, cell) => {
  expect(toCell(value)).toBe(cell);
});

test("needs its scope", async () => {
  const { key } = await server.createKey(await server.createAccount(), ["companions:read"]);
  expectProblem(await apiClient(server.url, key).call("GET", "/api/usage?from=x"), 403, "insufficient_scope");
  expectProblem(await apiClient(server.url, null).call("GET", "/api/usage"), 401, "unauthorized");
});
