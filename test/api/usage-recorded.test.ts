/** Usage as it was recorded, by whole requests: recorded metadata, cost, pages, and lines for a meter. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type ApiClient, apiClient, expectInvalid, expectProblem } from "../support/api-client.ts";
import { startTestServer, type TestServer } from "../support/app.ts";
import { keepTurn } from "../support/kept-turn.ts";
import { createManualClock, type ManualClock } from "../support/manual-clock.ts";

type TestCompanion = Awaited<ReturnType<TestServer["createCompanion"]>>;

const noon = Date.parse("2026-03-10T12:00:00Z");
const unpriced = { cost: null } as const;
let clock: ManualClock;
let server: TestServer;
let client: ApiClient;
let ada: TestCompanion;
let grace: TestCompanion;

beforeAll(async () => {
  clock = createManualClock(noon);
  server = await startTestServer({ clock });
  const account = await server.createAccount();
  client = apiClient(server.url, (await server.createKey(account)).key);
  ada = await server.createCompanion({ metadata: { plan: "pro", tenant: "=acme", seats: 5 } }, account);
  grace = await server.createCompanion({ metadata: { plan: "pro", tenant: "zoo" } }, account);
  const at = (text: string, more = {}) => ({ atMs: Date.parse(text), more });
  await keepTurn(server, ada, at("2026-02-20T10:00:00Z", { cost: { micros: 10, picos: 250_000 } }));
  await keepTurn(server, ada, at("2026-03-09T10:00:00Z", { cost: { micros: 1, picos: 250_000 } }));
  await keepTurn(server, grace, at("2026-03-09T11:00:00Z", unpriced));
  await change(ada, { plan: "free", tenant: "=acme" });
  await keepTurn(server, ada, at("2026-03-10T11:00:00Z", { answeredBy: { provider: "second", model: "other" } }));
  await client.call("DELETE", `/api/companions/${grace.id}`);
});
afterAll(() => server.close());

async function change(companion: TestCompanion, metadata: object): Promise<void> {
  const response = await client.call("PATCH", `/api/companions/${companion.id}`, { metadata });
  expect(response.status).toBe(200);
}

async function rows(query: string) {
  const response = await client.call("GET", `/api/usage${query}`);
  expect(response.status).toBe(200);
  return response.json.data;
}

describe("usage is what it was", () => {
  test("group_by=metadata.<field> and filters work on what was recorded", async () => {
    const found = await rows("?from=2026-02-01&group_by=metadata.tenant,month&metadata.plan=pro");
    expect(found).toMatchObject([
      { month: "2026-02", "metadata.tenant": "=acme", messages: 1 },
      { month: "2026-03", "metadata.tenant": "=acme", messages: 1 },
      { month: "2026-03", "metadata.tenant": "zoo", messages: 1 },
    ]);
    expect(await rows("?metadata.plan=free")).toMatchObject([{ day: "2026-03-10", messages: 1 }]);
  });

  test("a row has a member of the field's name, null where it was absent", async () => {
    const found = await rows(`?group_by=metadata.seats&companion_id=${ada.id}`);
    expect(found).toMatchObject([
      { "metadata.seats": null, messages: 1 },
      { "metadata.seats": "5", messages: 2 },
    ]);
  });

  test("cost is added up exactly and rounded then, and null for a group with any unpriced message", async () => {
    const costs = (await rows("?from=2026-02-01&group_by=month")).map(({ month, cost_micros }) => [month, cost_micros]);
    expect(costs).toEqual([
      ["2026-02", 10],
      ["2026-03", null],
    ]);
    expect(await rows(`?group_by=companion&companion_id=${ada.id}`)).toMatchObject([{ cost_micros: 12 }]);
  });

  test("is grouped by model and provider", async () => {
    expect(await rows(`?group_by=provider,model&companion_id=${ada.id}`)).toMatchObject([
      { model: "gpt-test", provider: "default", messages: 2 },
      { model: "other", provider: "second", messages: 1 },
    ]);
  });

  test("new CSV columns come last, and the name of a field runs no formula", async () => {
    const accept = { accept: "text/csv" };
    const path = `/api/usage?from=2026-02-01&group_by=metadata.tenant,month,companion&companion_id=${ada.id}`;
    const { text } = await client.call("GET", path, undefined, accept);
    expect(text.split("\r\n").slice(0, 2)).toEqual([
      "companion_id,messages,requests,input_tokens,output_tokens,voice_sessions,errors,month,metadata.tenant,cached_tokens,cost_micros,reasoning_tokens,cache_write_tokens",
      `${ada.id},1,0,10,5,0,0,2026-02,'=acme,0,10,0,0`,
    ]);
  });
});

describe("pages", () => {
  test("come only where limit or cursor is sent, and together are the whole", async () => {
    const query = "?from=2026-02-01&group_by=day,companion,metadata.plan";
    // The calls that were made so far have a row of their own from then on.
    await server.services.uses.flush();
    const whole = await client.call("GET", `/api/usage${query}`);
    expect(whole.json).not.toHaveProperty("next_cursor");
    const paged = [];
    for (let cursor: unknown = ""; cursor !== null; ) {
      const { json } = await client.call(
        "GET",
        `/api/usage${query}&limit=2${cursor === "" ? "" : `&cursor=${cursor}`}`,
      );
      paged.push(...json.data);
      cursor = (json as unknown as { next_cursor: string | null }).next_cursor;
    }
    const without = (list: readonly object[]) => list.map((row) => ({ ...row, requests: 0 }));
    expect(without(paged)).toEqual(without(whole.json.data));
    expect((await client.call("GET", `/api/usage${query}&limit=1000`)).json).toMatchObject({ next_cursor: null });
  });

  test("of CSV say in a header where the next one is", async () => {
    const accept = { accept: "text/csv" };
    const first = await client.call("GET", "/api/usage?from=2026-02-01&limit=1", undefined, accept);
    const [, next = ""] = /^<(\?[^>]+)>; rel="next"$/.exec(first.headers.get("link") ?? "") ?? [];
    expect(first.text).toContain("2026-02-20,1");
    expect((await client.call("GET", `/api/usage${next}`, undefined, accept)).text).toContain("2026-03-09,2");
  });

  test("take the cursor of their own grouping and no other", async () => {
    const first = await client.call("GET", "/api/usage?from=2026-02-01&limit=1");
    const { next_cursor: cursor } = first.json as unknown as { next_cursor: string };
    for (const query of [
      `group_by=month&cursor=${cursor}`,
      "cursor=x",
      "cursor=",
      `cursor=${cursor}x`,
      "cursor=WyJhIl0",
    ]) {
      expectInvalid(await client.call("GET", `/api/usage?${query}`), ["cursor"]);
    }
  });
});

test.each([
  ["?group_by=metadata.", "group_by"],
  ["?group_by=metadata", "group_by"],
  ["?group_by=metadata.a,metadata.a", "group_by"],
  ["?group_by=metadata.a,metadata.b,metadata.c,metadata.d,metadata.e,metadata.f", "group_by"],
  ["?group_by=day,week", "group_by"],
  ["?limit=0", "limit"],
  ["?limit=1001", "limit"],
  ["/events?cursor=x", "cursor"],
  ["/events?include=tomorrow", "include"],
  ["/events?from=x", "from"],
  ["/events?group_by=day", "group_by"],
])("refuses %s", async (query, param) => {
  expectInvalid(await client.call("GET", `/api/usage${query}`), [param]);
});

describe("the meter export", () => {
  interface Line {
    identifier: string;
    timestamp: string;
    companion_id: string;
    messages: number;
    cost_micros: number | null;
    metadata: object;
    final: boolean;
    cursor: string;
  }

  async function readLines(query: string): Promise<Line[]> {
    const response = await client.call("GET", `/api/usage/events${query}`);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("application/x-ndjson");
    expect(response.text === "" || response.text.endsWith("\n")).toBe(true);
    return response.text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as Line]));
  }

  test("is one line for each companion, model, provider, day and recorded metadata, once the day is over", async () => {
    const lines = await readLines("?from=2026-02-01");
    expect(lines).toHaveLength(3);
    expect(lines[0]).toEqual({
      identifier: expect.stringMatching(/^[0-9a-f]{64}$/),
      timestamp: "2026-02-20T00:00:00.000Z",
      companion_id: ada.id,
      model: "gpt-test",
      provider: "default",
      messages: 1,
      requests: 0,
      input_tokens: 10,
      output_tokens: 5,
      voice_sessions: 0,
      errors: 0,
      cached_tokens: 0,
      cost_micros: 10,
      reasoning_tokens: 0,
      cache_write_tokens: 0,
      metadata: { plan: "pro", tenant: "=acme", seats: 5 },
      final: true,
      cursor: expect.any(String),
    } as unknown as Line);
    expect(lines.slice(1).map(({ companion_id, cost_micros }) => [companion_id, cost_micros])).toEqual([
      [ada.id, 1],
      [grace.id, null],
    ]);
    expect(await readLines("?from=2026-02-01")).toEqual(lines);
  });

  test("continues after any line that it is given the cursor of, without from", async () => {
    const lines = await readLines("?from=2026-02-01");
    for (const [at, { cursor }] of lines.entries()) {
      expect(await readLines(`?cursor=${cursor}`)).toEqual(lines.slice(at + 1));
    }
  });

  test("tells today's lines with include=today, as not final, and again once the day is over", async () => {
    const today = await readLines("?from=2026-03-10&include=today");
    expect(today).toMatchObject([{ messages: 1, final: false, metadata: { plan: "free", tenant: "=acme" } }]);
    const { cursor = "", identifier } = today[0] ?? expect.unreachable();
    expect(await readLines(`?cursor=${cursor}&include=today`)).toEqual([]);
    await keepTurn(server, ada, { more: { answeredBy: { provider: "second", model: "other" } } });
    const [, , last] = await readLines("?from=2026-02-01");
    // Turns of the day may still end within the first quarter of an hour.
    clock.step(Date.parse("2026-03-11T00:14:59Z") - clock.nowMs());
    expect(await readLines("?from=2026-03-10")).toEqual([]);
    clock.step(Date.parse("2026-03-11T00:15:00Z") - clock.nowMs());
    const ended = [expect.objectContaining({ identifier, messages: 2, final: true })];
    expect(await readLines("?from=2026-03-10")).toEqual(ended);
    expect(await readLines(`?cursor=${cursor}`)).toEqual(ended);
    expect(await readLines(`?cursor=${last?.cursor}`)).toEqual(ended);
  });

  test("needs its scope, and refuses before the stream as every route does", async () => {
    const { key } = await server.createKey(await server.createAccount(), ["companions:read"]);
    expectProblem(await apiClient(server.url, key).call("GET", "/api/usage/events"), 403, "insufficient_scope");
    expectProblem(await apiClient(server.url, null).call("GET", "/api/usage/events"), 401, "unauthorized");
    const stranger = apiClient(server.url, (await server.createKey(await server.createAccount())).key);
    expect((await stranger.call("GET", "/api/usage/events?from=2026-02-01")).text).toBe("");
  });
});
