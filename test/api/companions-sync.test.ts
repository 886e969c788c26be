/** Lists as a platform reads them to keep a copy: by last change, long pages, few fields, either order. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type ApiClient, apiClient, expectInvalid } from "../support/api-client.ts";
import { startTestServer, type TestServer } from "../support/app.ts";
import { keepTurn } from "../support/kept-turn.ts";
import { createManualClock } from "../support/manual-clock.ts";

const clock = createManualClock();
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ clock });
});
afterAll(() => server.close());

interface Made {
  id: string;
  updated_at: string;
}

async function freshApi(): Promise<ApiClient> {
  const account = await server.createAccount({ email: `${crypto.randomUUID()}@example.com` });
  return apiClient(server.url, (await server.createKey(account)).key);
}

async function create(api: ApiClient, name: string, fields: object = {}): Promise<Made> {
  clock.advance(1_000);
  const { json } = await api.call("POST", "/api/companions", { name, ...fields });
  return json as unknown as Made;
}

/** The names on all pages of a list. */
async function names(
  api: ApiClient,
  query: string,
  between: () => Promise<unknown> = async () => {},
): Promise<string[]> {
  const found: string[] = [];
  for (let cursor = ""; ; ) {
    const { status, json } = await api.call("GET", `/api/companions?${query}${cursor}`);
    expect(status).toBe(200);
    found.push(...json.data.map((one) => String(one["name"])));
    if (json.next_cursor === null) return found;
    cursor = `&cursor=${json.next_cursor}`;
    await between();
  }
}

describe("the list of companions", () => {
  test("comes oldest first with order=asc, page by page, also with metadata, a name and what is enabled", async () => {
    const api = await freshApi();
    for (let index = 0; index < 6; index++) {
      await create(api, `c${index}`, { metadata: { half: index % 2 }, enabled: index % 3 !== 0 });
    }
    expect(await names(api, "order=asc&limit=2")).toEqual(["c0", "c1", "c2", "c3", "c4", "c5"]);
    expect(await names(api, "order=desc&limit=4")).toEqual(["c5", "c4", "c3", "c2", "c1", "c0"]);
    expect(await names(api, "order=asc&limit=1&metadata.half=0")).toEqual(["c0", "c2", "c4"]);
    expect(await names(api, "order=asc&limit=1&q=C")).toHaveLength(6);
    expect(await names(api, "enabled=false&limit=1")).toEqual(["c3", "c0"]);
    expect(await names(api, "enabled=true&limit=3&order=asc")).toEqual(["c1", "c2", "c4", "c5"]);
    expect(await names(api, "enabled=false&metadata.half=1&q=c")).toEqual(["c3"]);
    expectInvalid(await api.call("GET", "/api/companions?enabled=1&order=up"), ["enabled", "order"]);
  });

  test("has those changed since a time, in the order of their change, the time included", async () => {
    const api = await freshApi();
    const [one, two, three] = [await create(api, "one"), await create(api, "two"), await create(api, "three")];
    clock.advance(1_000);
    const changed = await api.call("PATCH", `/api/companions/${one.id}`, { greeting: "Hi", metadata: { new: true } });
    const since = (made: Made) => `updated_since=${encodeURIComponent(made.updated_at)}`;
    expect(await names(api, `${since(two)}&order=asc&limit=1`)).toEqual(["two", "three", "one"]);
    expect(await names(api, `${since(two)}&limit=2`)).toEqual(["one", "three", "two"]);
    expect(await names(api, since(changed.json as unknown as Made))).toEqual(["one"]);
    expect(await names(api, `${since(two)}&metadata[new]=true`)).toEqual(["one"]);
    expect(await names(api, `${since(two)}&q=t&enabled=true`)).toEqual(["three", "two"]);
    expect(await names(api, `${since(two)}&q=${three.id}`)).toEqual(["three"]);
    expectInvalid(await api.call("GET", "/api/companions?updated_since=yesterday"), ["updated_since"]);
    const page = (await api.call("GET", `/api/companions?${since(two)}&limit=1`)).json;
    expectInvalid(await api.call("GET", `/api/companions?cursor=${page.next_cursor}`), ["cursor"]);
  });

  test("misses nothing in ascending order that changes while it is read", async () => {
    const api = await freshApi();
    const made: Made[] = [];
    for (let index = 0; index < 5; index++) made.push(await create(api, `c${index}`));
    let at = 0;
    const found = await names(api, `order=asc&limit=1&updated_since=${made[0]?.updated_at}`, async () => {
      clock.advance(1_000);
      // The one just read, and then one that is still to come.
      if (at < 2) await api.call("PATCH", `/api/companions/${made[at === 0 ? 0 : 3]?.id}`, { greeting: `hi ${at}` });
      at++;
    });
    expect(found).toEqual(["c0", "c1", "c2", "c4", "c0", "c3"]);
  });

  test("leaves out all but the fields asked for, and names those that nobody knows", async () => {
    const api = await freshApi();
    await create(api, "Ada", { system_prompt: "secret" });
    const { json } = await api.call("GET", "/api/companions?fields=name,embed_token");
    expect(Object.keys(json.data[0] ?? {}).toSorted()).toEqual(["embed_token", "id", "name"]);
    expectInvalid(await api.call("GET", "/api/companions?fields=name,prompt"), ["fields"]);
    expectInvalid(await api.call("GET", "/api/companions?fields="), ["fields"]);
  });

  test("has pages of up to a thousand, and of at most 8 MiB", async () => {
    const api = await freshApi();
    // Of three bytes for each character: as few of the longest as fill more than a page.
    const long = JSON.stringify({ name: "long", system_prompt: "界".repeat(32_000) });
    const headers = { "content-type": "application/x-ndjson" };
    for (const lines of [Array(85).fill(long), [...Array(10).fill(long), ...Array(140).fill('{"name":"short"}')]]) {
      expect((await api.call("POST", "/api/companions/batch", lines.join("\n"), headers)).status).toBe(200);
    }
    const first = await api.call("GET", "/api/companions?limit=1000&order=asc", undefined, {
      "accept-encoding": "identity",
    });
    expect(Buffer.byteLength(first.text)).toBeLessThanOrEqual(8 * 1024 * 1024);
    expect(first.json.data.length).toBeGreaterThan(80);
    const second = (await api.call("GET", `/api/companions?limit=1000&order=asc&cursor=${first.json.next_cursor}`))
      .json;
    expect(second.next_cursor).toBeNull();
    expect(first.json.data.length + second.data.length).toBe(235);
    const short = (await api.call("GET", "/api/companions?limit=1000&fields=name")).json;
    expect([short.data.length, short.next_cursor]).toEqual([235, null]);
  });
});

test("conversations come by their last change too, and in either order", async () => {
  const account = await server.createAccount({ email: `${crypto.randomUUID()}@example.com` });
  const api = apiClient(server.url, (await server.createKey(account)).key);
  const companion = await server.createCompanion({}, account);
  const other = await server.createCompanion({}, account);
  const startMs = clock.nowMs();
  const sessions: string[] = Array.from({ length: 4 }, () => crypto.randomUUID());
  for (const [index, sessionId] of sessions.entries()) {
    // Some within ten minutes, some not.
    const atMs = startMs + index * 400_000;
    await keepTurn(server, index === 3 ? other : companion, { sessionId, atMs, message: `about ${index}` });
  }
  await keepTurn(server, companion, { sessionId: sessions[0] ?? "", atMs: startMs + 2_000_000, message: "again" });
  async function list(query: string): Promise<number[]> {
    const found: number[] = [];
    for (let cursor = ""; ; ) {
      const { json } = await api.call("GET", `/api/conversations?${query}${cursor}`);
      found.push(...json.data.map((one) => sessions.indexOf(String(one["session_id"]))));
      if (json.next_cursor === null) return found;
      cursor = `&cursor=${json.next_cursor}`;
    }
  }
  const since = (ms: number) => `updated_since=${new Date(startMs + ms).toISOString()}`;
  expect(await list("order=asc&limit=2")).toEqual([0, 1, 2, 3]);
  expect(await list("limit=3")).toEqual([3, 2, 1, 0]);
  expect(await list(`${since(400_000)}&order=asc&limit=1`)).toEqual([1, 2, 3, 0]);
  expect(await list(`${since(400_000)}&limit=2`)).toEqual([0, 3, 2, 1]);
  expect(await list(`${since(800_000)}&companion_id=${companion.id}&order=asc`)).toEqual([2, 0]);
  expect(await list(`${since(0)}&q=ABOUT 3`)).toEqual([3]);
  expect(await list(since(2_000_001))).toEqual([0]);
  expect(await list(since(2_000_002))).toEqual([]);
});

test("every list takes order=asc", async () => {
  const api = await freshApi();
  const companion = await create(api, "Ada");
  const key = { name: "Second", scopes: ["keys:read"] };
  await api.call("POST", "/api/keys", key);
  await api.call("POST", `/api/companions/${companion.id}/embed-tokens`);
  for (const path of ["/api/keys", `/api/companions/${companion.id}/embed-tokens`, "/api/audit"]) {
    const ids = async (query: string) => (await api.call("GET", `${path}?${query}`)).json.data.map(({ id }) => id);
    const newestFirst = await ids("limit=1000");
    expect(newestFirst.length).toBeGreaterThan(1);
    expect(await ids("order=asc")).toEqual(newestFirst.toReversed());
    const page = (await api.call("GET", `${path}?order=asc&limit=1`)).json;
    expect(await ids(`order=asc&cursor=${page.next_cursor}`)).toEqual(newestFirst.toReversed().slice(1));
  }
});

describe("filters on metadata", () => {
  test("in brackets are one key with its dots, and say the same as a filter of their own elsewhere", async () => {
    const api = await freshApi();
    await create(api, "literal", { metadata: { "user.id": 42, note: "a:b" } });
    await create(api, "nested", { metadata: { user: { id: 42 }, plan: "pro" } });
    for (const query of ["metadata[user.id]=42", "metadata%5Buser.id%5D=42"]) {
      expect(await names(api, query)).toEqual(["literal"]);
    }
    for (const query of ["metadata.user.id=42", "filter=user.id:42", "filter=user.id%3A42&filter=user.id:42"]) {
      expect(await names(api, query)).toEqual(["nested", "literal"]);
    }
    expect(await names(api, "filter=user.id:42&metadata[plan]=pro&metadata.plan=pro")).toEqual(["nested"]);
    expect(await names(api, "filter=user.id:42&filter=plan:free")).toEqual([]);
    expect(await names(api, "filter=note:a:b")).toEqual(["literal"]);
    expectInvalid(await api.call("GET", "/api/companions?filter=plan"), ["filter"]);
    const many = Array.from({ length: 11 }, () => "filter=a:1&metadata[b]=2").join("&");
    expectInvalid(await api.call("GET", `/api/companions?${many}`), ["metadata"]);
    const bad = ["metadata[plan][$gt]", "metadata[]", "metadata[plan", "metadata[user][id]", "metadata[a]b"];
    for (const name of bad) {
      expectInvalid(await api.call("GET", `/api/companions?${name}=1`), [name]);
      expectInvalid(await api.call("GET", `/api/usage?${encodeURIComponent(name)}=1`), [name]);
    }
    expect((await api.call("GET", "/api/usage?metadata[plan]=pro&filter=user.id:42")).status).toBe(200);
    expectInvalid(await api.call("GET", "/api/keys?filter=plan:pro"), ["filter"]);
  });
});

describe("compression", () => {
  test("is what the client likes best of what it accepts, and for large responses only", async () => {
    const api = await freshApi();
    for (let index = 0; index < 3; index++) await create(api, `c${index}`, { system_prompt: "word ".repeat(200) });
    const ask = (accepted: string, path = "/api/companions") =>
      api.call("GET", path, undefined, { "accept-encoding": accepted });
    const cases = [
      ["gzip", "gzip"],
      ["gzip, br", "br"],
      ["gzip;q=1, br;q=0.5", "gzip"],
      ["*", "zstd"],
      ["zstd;q=0, br;q=0, *", "gzip"],
      ["identity, gzip;q=0.5", null],
      ["gzip;q=0", null],
      ["", null],
    ] as const;
    const plain = (await ask("identity")).text;
    for (const [accepted, encoding] of cases) {
      const response = await ask(accepted);
      expect([accepted, response.headers.get("content-encoding")]).toEqual([accepted, encoding]);
      expect(response.text).toBe(plain);
      expect(response.headers.get("vary")).toContain("Accept-Encoding");
    }
    expect((await ask("gzip", "/api/keys?cursor=")).headers.get("content-encoding")).toBeNull();
    expect((await ask("gzip", "/api/companions?limit=1&fields=name")).headers.get("content-encoding")).toBeNull();
  });
});
