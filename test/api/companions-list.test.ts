import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type ApiClient, apiClient, expectInvalid } from "../support/api-client.ts";
import { startTestServer, type TestServer } from "../support/app.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

async function freshApi(): Promise<ApiClient> {
  const account = await server.createAccount({ email: `${crypto.randomUUID()}@example.com` });
  return apiClient(server.url, (await server.createKey(account)).key);
}

async function create(api: ApiClient, fields: object): Promise<string> {
  const made = await api.call("POST", "/api/companions", { name: "Ada", ...fields });
  expect(made.status).toBe(201);
  return made.json.id;
}

/** Names of what a query finds, newest first. */
async function names(api: ApiClient, query: string): Promise<unknown[]> {
  const response = await api.call("GET", `/api/companions?${query}`);
  expect(response.status).toBe(200);
  return response.json.data.map((one) => one.name);
}

describe("pages", () => {
  test("run through the list newest first, and stay stable under inserts and deletions", async () => {
    const api = await freshApi();
    const ids: string[] = [];
    for (let index = 0; index < 7; index++) ids.push(await create(api, { name: `c${index}` }));
    const first = (await api.call("GET", "/api/companions?limit=3")).json;
    expect(first.data.map((one) => one.name)).toEqual(["c6", "c5", "c4"]);
    await create(api, { name: "later" });
    await api.call("DELETE", `/api/companions/${ids[4]}`);
    const second = (await api.call("GET", `/api/companions?limit=3&cursor=${first.next_cursor}`)).json;
    expect(second.data.map((one) => one.name)).toEqual(["c3", "c2", "c1"]);
    const third = (await api.call("GET", `/api/companions?limit=3&cursor=${second.next_cursor}`)).json;
    expect(third.data.map((one) => one.name)).toEqual(["c0"]);
    expect(third.next_cursor).toBeNull();
  });

  test("have no cursor where the last one is just full", async () => {
    const api = await freshApi();
    await create(api, {});
    await create(api, {});
    const page = (await api.call("GET", "/api/companions?limit=2")).json;
    expect(page.data).toHaveLength(2);
    expect(page.next_cursor).toBeNull();
  });

  test("hold 20 by default, and an empty list is a page too", async () => {
    const api = await freshApi();
    expect((await api.call("GET", "/api/companions")).json).toEqual<unknown>({ data: [], next_cursor: null });
    for (let index = 0; index < 21; index++) await create(api, {});
    expect((await api.call("GET", "/api/companions")).json.data).toHaveLength(20);
    expect((await api.call("GET", "/api/companions?limit=100")).json.data).toHaveLength(21);
  });
});

describe("a list refuses, all at once,", () => {
  const lists = ["/api/companions", "/api/keys"];
  const bad: [string, string[]][] = [
    ["limit=0", ["limit"]],
    ["limit=1001", ["limit"]],
    ["order=up", ["order"]],
    ["limit=-1", ["limit"]],
    ["limit=1.5", ["limit"]],
    ["limit=", ["limit"]],
    ["limit=1&limit=2", ["limit"]],
    ["cursor=", ["cursor"]],
    ["cursor=nonsense", ["cursor"]],
    ["cursor=%00", ["cursor"]],
    [`cursor=${Buffer.from("' OR 1=1").toString("base64url")}`, ["cursor"]],
    ["page=2", ["page"]],
    ["metadata=x", ["metadata"]],
    ["metadata[plan][$gt]=x", ["metadata[plan][$gt]"]],
    ["metadata[]=x&metadata[=y", ["metadata[]", "metadata["]],
    ["metadata%5Bplan%5D%5Bid%5D=x", ["metadata[plan][id]"]],
    ["limit=x&cursor=y&offset=3", ["cursor", "limit", "offset"]],
  ];
  for (const path of lists) {
    test.each(bad)(`${path}?%s`, async (query, params) => {
      expectInvalid(await (await freshApi()).call("GET", `${path}?${query}`), params);
    });
  }
  test("q with NUL, and metadata on lists that have none", async () => {
    const api = await freshApi();
    expectInvalid(await api.call("GET", "/api/companions?q=%00&metadata.a=%00"), ["metadata.a", "q"]);
    expectInvalid(await api.call("GET", "/api/keys?metadata.a=1&q=x"), ["metadata.a", "q"]);
    const many = Array.from({ length: 21 }, (_, index) => `metadata.f${index}=1`).join("&");
    expectInvalid(await api.call("GET", `/api/companions?${many}`), ["metadata"]);
  });
});

describe("q", () => {
  test("finds a part of the name in any case, or an exact id", async () => {
    const api = await freshApi();
    await create(api, { name: "Bicycle Shop" });
    const id = await create(api, { name: "100% ÄRGER_" });
    await create(api, { name: "other" });
    expect(await names(api, "q=CYCLE")).toEqual(["Bicycle Shop"]);
    expect(await names(api, `q=${id}`)).toEqual(["100% ÄRGER_"]);
    expect(await names(api, `q=${id.slice(0, 20)}`)).toEqual([]);
    expect(await names(api, `q=${encodeURIComponent("100%")}`)).toEqual(["100% ÄRGER_"]);
    expect(await names(api, `q=${encodeURIComponent("ärger_")}`)).toEqual(["100% ÄRGER_"]);
    expect(await names(api, "q=%25")).toEqual(["100% ÄRGER_"]);
    expect(await names(api, "q=%27")).toEqual([]);
    expect(await names(api, "q=")).toHaveLength(3);
  });
});

describe("a metadata filter", () => {
  const cases: [string, unknown, string, boolean][] = [
    ["matches an equal string", { plan: "pro" }, "plan=pro", true],
    ["and no part of one", { plan: "pro" }, "plan=pr", false],
    ["nor one in another case", { plan: "pro" }, "plan=Pro", false],
    ["matches a number by its JSON text", { n: 42 }, "n=42", true],
    ["and not by another spelling", { n: 42 }, "n=42.0", false],
    ["matches a string of digits alike", { n: "42" }, "n=42", true],
    ["matches a fraction", { n: 1.5 }, "n=1.5", true],
    ["matches a negative number", { n: -1 }, "n=-1", true],
    ["matches true", { b: true }, "b=true", true],
    ["matches false", { b: false }, "b=false", true],
    ["matches null", { b: null }, "b=null", true],
    ["matches no absent field as null", { a: 1 }, "b=null", false],
    ["matches an empty string", { a: "" }, "a=", true],
    ["matches an element of an array", { tags: ["x", "y"] }, "tags=y", true],
    ["matches no array by its text", { tags: ["x"] }, 'tags=["x"]', false],
    ["descends by a dot", { user: { id: 42 } }, "user.id=42", true],
    ["descends arrays of objects", { users: [{ id: 1 }, { id: 2 }] }, "users.id=2", true],
    ["descends arrays in arrays", { m: [[1], [2, [3]]] }, "m=3", true],
    ["takes a dot in a key literally", { "user.id": 42 }, "user.id=42", true],
    ["takes a dot in a nested key literally", { a: { "b.c": "x" } }, "a.b.c=x", true],
    ["matches no object", { user: { id: 42 } }, "user=42", false],
    ["takes an empty key", { "": "x" }, "=x", true],
    ["takes quotes and brackets in names", { "a'\"[0]$%_": "x" }, "a'\"[0]$%_=x", true],
    ["takes percent signs as themselves", { a: "100%" }, "a=100%", true],
    ["never as a wildcard", { a: "100x" }, "a=100%", false],
    ["takes unicode", { ключ: "значение \u{1f600}" }, "ключ=значение \u{1f600}", true],
    ["takes what looks like SQL", { "a' OR 1=1--": "x" }, "b' OR 1=1--=x", false],
    ["takes __proto__", JSON.parse('{"__proto__":{"x":"y"}}'), "__proto__.x=y", true],
    ["matches long values whole", { a: "x".repeat(4000) }, `a=${"x".repeat(4000)}`, true],
    ["and no prefix of them", { a: `${"x".repeat(4000)}y` }, `a=${"x".repeat(4000)}`, false],
  ];
  test.each(cases)("%s: %j by %s", async (_name, metadata, filter, isFound) => {
    const api = await freshApi();
    await create(api, { name: "found", metadata });
    await create(api, { name: "empty" });
    const [, path = "", value = ""] = /^(.*?[^=]|)=((?!1--).*)$/s.exec(filter) ?? [];
    const query = `metadata.${encodeURIComponent(path)}=${encodeURIComponent(value)}`;
    expect(await names(api, query)).toEqual(isFound ? ["found"] : []);
  });

  test("must all match, also of one field", async () => {
    const api = await freshApi();
    await create(api, { name: "a", metadata: { plan: "pro", tags: ["x", "y"] } });
    await create(api, { name: "b", metadata: { plan: "pro", tags: ["x"] } });
    await create(api, { name: "c", metadata: { plan: "free", tags: ["y"] } });
    expect(await names(api, "metadata.plan=pro&metadata.tags=x")).toEqual(["b", "a"]);
    expect(await names(api, "metadata.tags=x&metadata.tags=y")).toEqual(["a"]);
    expect(await names(api, "metadata.plan=pro&metadata.plan=free")).toEqual([]);
    expect(await names(api, "metadata.plan=pro&q=B")).toEqual(["b"]);
  });

  test("pages like every list, and follows every change of metadata", async () => {
    const api = await freshApi();
    const ids: string[] = [];
    for (let index = 0; index < 5; index++)
      ids.push(await create(api, { name: `c${index}`, metadata: { plan: "pro" } }));
    await create(api, { name: "other", metadata: { plan: "free" } });
    const first = (await api.call("GET", "/api/companions?metadata.plan=pro&limit=2")).json;
    expect(first.data.map((one) => one.name)).toEqual(["c4", "c3"]);
    const rest = await names(api, `metadata.plan=pro&cursor=${first.next_cursor}`);
    expect(rest).toEqual(["c2", "c1", "c0"]);
    await api.call("PATCH", `/api/companions/${ids[0]}`, { metadata: { plan: "free" } });
    await api.call("PATCH", `/api/companions/${ids[1]}`, { name: "renamed" });
    expect(await names(api, "metadata.plan=pro")).toEqual(["c4", "c3", "c2", "renamed"]);
    expect(await names(api, "metadata.plan=free")).toEqual(["other", "c0"]);
  });
});
