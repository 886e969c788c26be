/** Sources and budgets that are changed only as they were read, however they are read or spent meanwhile. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type ApiClient, type ApiResponse, apiClient, expectInvalid, expectProblem } from "../support/api-client.ts";
import { startTestServer, type TestServer } from "../support/app.ts";
import { chat } from "../support/chat.ts";
import { eventually } from "../support/eventually.ts";

let server: TestServer;
let api: ApiClient;
let companion: { id: string; embed_token: string };
beforeAll(async () => {
  const prices = { "test-model": { input: 1, output: 1 } };
  server = await startTestServer({ environment: { COMPANIOND_PRICES: JSON.stringify(prices) } });
  api = apiClient(server.url, (await server.createKey(await server.createAccount())).key);
  companion = (await api.call("POST", "/api/companions", { name: "Ada" })).json;
});
afterAll(() => server.close());

const tagOf = ({ headers }: ApiResponse) => headers.get("etag") ?? "";

interface Kind {
  /** How it is changed, and with what status. */
  method: "PUT" | "PATCH";
  status: number;
  /** Resolves with its path and the response to its creation. */
  make(): Promise<{ path: string; made: ApiResponse }>;
  /** The `index`th of several bodies. */
  change(index: number): object;
  /** What nobody set, but the server. */
  happen(path: string): Promise<void>;
}

const makeAt = async (at: string, body: object) => {
  const made = await api.call("POST", at, body);
  return { path: `${at}/${made.json.id}`, made };
};

const kinds: [string, Kind][] = [
  [
    "a source",
    {
      method: "PUT",
      status: 202,
      make: () =>
        makeAt(`/api/companions/${companion.id}/sources`, { type: "text", title: "Prices", text: "One euro." }),
      change: (index) => ({ type: "text", title: "Prices", text: `${index} euros.` }),
      happen: (path) => eventually(async () => (await api.call("GET", path)).json["status"] === "ready"),
    },
  ],
  [
    "a budget",
    {
      method: "PATCH",
      status: 200,
      make: () => makeAt("/api/budgets", { account: true, limit_micros: 1_000_000, period: "month", action: "notify" }),
      change: (index) => ({ limit_micros: 2_000_000 + index }),
      async happen(path) {
        await chat(server.url, companion.embed_token, { message: "Hello" });
        expect((await api.call("GET", path)).json["spent_micros"]).toBeGreaterThan(0);
      },
    },
  ],
];

describe.each(kinds)("%s", (_, { method, status, make, change, happen }) => {
  test("has the same ETag wherever it is read, also after what nobody sent, and another after each change", async () => {
    const { path, made } = await make();
    expect(tagOf(made)).toMatch(/^"[\w-]{22}"$/);
    await happen(path);
    expect(tagOf(await api.call("GET", path, undefined, { "accept-encoding": "gzip" }))).toBe(tagOf(made));
    const tags = [tagOf(made)];
    // However many in one millisecond.
    for (const index of [1, 2, 3]) {
      const changed = await api.call(method, path, change(index));
      tags.push(tagOf(changed));
      expect(tagOf(await api.call("GET", path))).toBe(tagOf(changed));
    }
    expect(new Set(tags).size).toBe(4);
  });

  test("is changed by exactly one of several who know the same version", async () => {
    const { path, made } = await make();
    const etag = tagOf(made);
    await happen(path);
    const changes = Array.from({ length: 5 }, (_, index) =>
      api.call(method, path, change(index), { "if-match": etag }),
    );
    const statuses = (await Promise.all(changes)).map((response) => response.status);
    expect(statuses.toSorted()).toEqual([status, 412, 412, 412, 412]);
    expectProblem(await api.call("DELETE", path, undefined, { "if-match": etag }), 412, "precondition_failed");
    const current = tagOf(await api.call("GET", path));
    expect((await api.call("DELETE", path, undefined, { "if-match": current })).status).toBe(204);
  });

  test("is looked for before its version, and that before the body", async () => {
    const { path, made } = await make();
    const missing = path.replace(/[^/]+$/, crypto.randomUUID());
    for (const way of [method, "DELETE"]) {
      expectProblem(await api.call(way, missing, undefined, { "if-match": '"x"' }), 404, "not_found");
      expectProblem(await api.call(way, path, undefined, { "if-match": '"x"' }), 412, "precondition_failed");
      expectInvalid(await api.call(way, path, undefined, { "if-match": "abc" }), ["If-Match"]);
    }
    expectProblem(await api.call(method, path, "{", { "if-match": '"x"' }), 412, "precondition_failed");
    const listed = await api.call(method, path, change(1), { "if-match": `"x", ${tagOf(made)}` });
    expect(listed.status).toBe(status);
    expect((await api.call(method, path, change(2), { "if-match": "*" })).status).toBe(status);
    expect((await api.call("DELETE", path, undefined, { "if-match": "*" })).status).toBe(204);
  });
});
