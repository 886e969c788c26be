/** Companions that are changed only as they were read, and merged field by field. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type ApiClient, apiClient, expectInvalid, expectProblem } from "../support/api-client.ts";
import { startTestServer, type TestServer } from "../support/app.ts";

let server: TestServer;
let api: ApiClient;
beforeAll(async () => {
  server = await startTestServer();
  api = apiClient(server.url, (await server.createKey(await server.createAccount())).key);
});
afterAll(() => server.close());

const merge = { "content-type": "application/merge-patch+json" };

async function create(fields: object = {}) {
  const made = await api.call("POST", "/api/companions", { name: "Ada", temperature: 0.7, ...fields });
  return { path: `/api/companions/${made.json.id}`, etag: made.headers.get("etag") ?? "", json: made.json };
}

describe("the ETag of a companion", () => {
  test("is the same wherever it is read, and another after each change", async () => {
    const { path, etag, json } = await create({ metadata: { b: 1, a: [2.5, "ü"] }, theme_color: "#ABCDEF" });
    expect(etag).toMatch(/^"[\w-]{22}"$/);
    const read = await api.call("GET", path, undefined, { "accept-encoding": "gzip" });
    expect([read.headers.get("etag"), read.json]).toEqual([etag, json]);
    const unchanged = await api.call("GET", path, undefined, { "if-none-match": `"x", ${etag}` });
    expect([unchanged.status, unchanged.text, unchanged.headers.get("etag")]).toEqual([304, "", etag]);
    const tags = [etag];
    // However many in one millisecond.
    for (const greeting of ["a", "b", "c"]) {
      tags.push((await api.call("PATCH", path, { greeting })).headers.get("etag") ?? "");
    }
    expect(new Set(tags).size).toBe(4);
    expect((await api.call("GET", path, undefined, { "if-none-match": etag })).headers.get("etag")).toBe(tags[3] ?? "");
    await api.call(
      "DELETE",
      `${path}/embed-tokens/${(await api.call("GET", `${path}/embed-tokens`)).json.data[0]?.id}`,
    );
    expect((await api.call("GET", path)).headers.get("etag")).not.toBe(tags[3] ?? "");
  });
});

describe("If-Match", () => {
  test("lets exactly one of several changes of one version through", async () => {
    const { path, etag } = await create();
    const changes = Array.from({ length: 5 }, (_, index) =>
      api.call("PATCH", path, { greeting: `hi ${index}` }, { "if-match": etag }),
    );
    const statuses = (await Promise.all(changes)).map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([200, 412, 412, 412, 412]);
    expectProblem(await api.call("DELETE", path, undefined, { "if-match": etag }), 412, "precondition_failed");
    const current = (await api.call("GET", path)).headers.get("etag") ?? "";
    expect((await api.call("DELETE", path, undefined, { "if-match": current })).status).toBe(204);
  });

  test("comes after 404 and before the body; knows *, lists and weak tags", async () => {
    const { path, etag } = await create();
    const missing = `/api/companions/${crypto.randomUUID()}`;
    for (const method of ["PATCH", "DELETE"]) {
      expectProblem(await api.call(method, missing, undefined, { "if-match": '"x"' }), 404, "not_found");
      expectProblem(await api.call(method, path, undefined, { "if-match": '"x"' }), 412, "precondition_failed");
      expectProblem(await api.call(method, path, undefined, { "if-match": `W/${etag}` }), 412, "precondition_failed");
      expectInvalid(await api.call(method, path, undefined, { "if-match": "abc" }), ["If-Match"]);
      expectInvalid(await api.call(method, path, undefined, { "if-match": `${etag},` }), ["If-Match"]);
    }
    expectProblem(await api.call("PATCH", path, "{", { "if-match": '"x"' }), 412, "precondition_failed");
    expectInvalid(await api.call("PATCH", path, { color: 1 }, { "if-match": etag }), ["color"]);
    const listed = await api.call("PATCH", path, { greeting: "1" }, { "if-match": `W/"y", "x",${etag}` });
    expect(listed.status).toBe(200);
    expect((await api.call("PATCH", path, { greeting: "2" }, { "if-match": "*" })).status).toBe(200);
    expect((await api.call("DELETE", path, undefined, { "if-match": "*" })).status).toBe(204);
  });
});

describe("a JSON Merge Patch", () => {
  test("merges metadata and replaces arrays, where JSON replaces it as a whole", async () => {
    const { path } = await create({ metadata: { plan: "pro", user: { id: 1, tags: ["a", "b"] }, gone: 1 } });
    const patch = {
      greeting: "Hi",
      temperature: null,
      metadata: { user: { tags: ["c"], at: { x: null } }, gone: null },
    };
    const merged = await api.call("PATCH", path, patch, merge);
    expect(merged.json["metadata"]).toEqual({ plan: "pro", user: { id: 1, tags: ["c"], at: {} } });
    expect([merged.json["greeting"], merged.json["temperature"], merged.json["name"]]).toEqual(["Hi", null, "Ada"]);
    expect((await api.call("GET", "/api/companions?metadata.user.tags=c")).json.data).toHaveLength(1);
    expect((await api.call("GET", "/api/companions?metadata.user.tags=a")).json.data).toHaveLength(0);
    const odd = await api.call("PATCH", path, '{"metadata":{"__proto__":{"x":1},"plan":null,"user":2}}', merge);
    expect(odd.text).toContain('"metadata":{"user":2,"__proto__":{"x":1}}');
    expect((await api.call("PATCH", path, { metadata: { a: 1 } })).json["metadata"]).toEqual({ a: 1 });
    expect((await api.call("PATCH", path, { metadata: null }, merge)).json["metadata"]).toEqual({});
  });

  test("is checked as a whole, and leaves nothing of one that is refused", async () => {
    const { path, etag } = await create({ metadata: { a: "x".repeat(9_000) } });
    expectInvalid(await api.call("PATCH", path, { metadata: { b: "x".repeat(9_000) } }, merge), ["metadata"]);
    const deep = `{"metadata":${'{"a":'.repeat(5_000)}1${"}".repeat(5_000)}}`;
    expectInvalid(await api.call("PATCH", path, deep, merge), ["metadata"]);
    expectInvalid(await api.call("PATCH", path, { name: null, metadata: { c: 1 }, colour: 1 }, merge), [
      "name",
      "colour",
    ]);
    for (const body of ["[]", "1", "null"]) {
      expectProblem(await api.call("PATCH", path, body, merge), 400, "invalid_request");
    }
    expect((await api.call("GET", path)).headers.get("etag")).toBe(etag);
  });

  test("loses no field when several are merged at once", async () => {
    const { path } = await create();
    const fields = Array.from({ length: 8 }, (_, index) => `f${index}`);
    await Promise.all(fields.map((name) => api.call("PATCH", path, { metadata: { [name]: 1 } }, merge)));
    expect(Object.keys((await api.call("GET", path)).json["metadata"] as object).toSorted()).toEqual(fields);
  });

  test("is taken by PATCH alone, which says so", async () => {
    const refused = await api.call("PATCH", (await create()).path, "x", { "content-type": "text/plain" });
    expectProblem(refused, 415, "unsupported_media_type");
    expect(refused.headers.get("accept-patch")).toBe("application/json, application/merge-patch+json");
    expectProblem(await api.call("POST", "/api/companions", { name: "x" }, merge), 415, "unsupported_media_type");
  });
});
