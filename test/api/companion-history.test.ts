/** Versions and drafts of companions, over the API: who changed what and why, comparisons, restores, publications. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { Account } from "../../src/domain/account.ts";
import { type ApiClient, type ApiResponse, apiClient, expectInvalid, expectProblem } from "../support/api-client.ts";
import { startTestServer, type TestServer, testContext } from "../support/app.ts";
import { chat } from "../support/chat.ts";
import { openDashboard, openMemberDashboard } from "../support/dashboard.ts";
import { indexText } from "../support/index-text.ts";

let server: TestServer;
let account: Account;
let api: ApiClient;
let keyId: string;
let id: string;
let path: string;
let token: string;
beforeAll(async () => {
  server = await startTestServer({
    environment: { COMPANIOND_MODELS: "test-model,other", COMPANIOND_PRIVATE_TARGETS: "tools.internal" },
  });
});
afterAll(() => server.close());
beforeEach(async () => {
  account = await server.createAccount({ email: `${crypto.randomUUID()}@example.com` });
  const key = await server.createKey(account);
  keyId = key.id;
  api = apiClient(server.url, key.key);
  const { json } = await api.call("POST", "/api/companions", {
    name: "Ada",
    system_prompt: "Be kind.",
    metadata: { a: 1 },
  });
  ({ id, embed_token: token } = json);
  path = `/api/companions/${id}`;
});

const tagOf = ({ headers }: ApiResponse) => ({ "if-match": headers.get("etag") ?? "" });
const patch = (body: object, headers: Record<string, string> = {}) => api.call("PATCH", path, body, headers);
const tool = { name: "find_order", url: "https://shop.example/orders", headers: { "X-Shop": "7" } };

describe("versions", () => {
  test("note who changed what, through what and why; transcripts, who replied", async () => {
    const created = { number: 1, created_at: expect.stringMatching(/Z$/), via: null, note: null, changed: [] };
    expect((await api.call("GET", `${path}/versions`)).json.data).toMatchObject([created]);
    const session_id = crypto.randomUUID();
    await chat(server.url, token, { message: "Hi", session_id });
    // Escapes, and plain text without a percent sign; white space is no reason.
    await patch({ system_prompt: "Be brief.", greeting: "Hi!" }, { "x-change-note": encodeURIComponent("Kürzer 🙂") });
    await api.call("POST", `${path}/tools`, tool, { "x-change-note": "plain text" });
    await chat(server.url, token, { message: "Hi again", session_id });
    const source = { type: "text", title: "Hours", text: "From nine to six." };
    expect((await api.call("POST", `${path}/sources`, source, { "x-change-note": "%20" })).status).toBe(202);
    const owner = await openDashboard(server, {}, account);
    const sent = await owner.call("PATCH", path, { name: "Ada L.", enabled: false });
    expect(sent.status).toBe(200);
    // Nothing of a version changes, and none is made.
    const [made] = (await api.call("GET", `${path}/tools`)).json.data;
    await api.call("POST", `${path}/tools/${made?.id}/rotate-secret`);
    await owner.call("PATCH", path, { name: "Ada L." });
    const key = { type: "key", id: keyId, name: expect.any(String) };
    const { json } = await api.call("GET", `${path}/versions?limit=3`);
    expect(json.data).toMatchObject([
      { number: 5, actor: { type: "session", name: account.email }, via: "dashboard", changed: ["name", "enabled"] },
      { number: 4, actor: key, via: "api", note: null, changed: ["sources"] },
      { number: 3, actor: key, via: "api", note: "plain text", changed: ["tools"] },
    ]);
    const rest = await api.call("GET", `${path}/versions?cursor=${json.next_cursor}`);
    expect(rest.json.next_cursor).toBeNull();
    expect(rest.json.data).toMatchObject([
      { number: 2, actor: key, via: "api", note: "Kürzer 🙂", changed: ["system_prompt", "greeting"] },
      created,
    ]);
    const ascending = await api.call("GET", `${path}/versions?order=asc&limit=1`);
    expect(ascending.json.data).toMatchObject([{ number: 1 }]);
    expectInvalid(await api.call("GET", `${path}/versions?cursor=${Buffer.from("0").toString("base64url")}`), [
      "cursor",
    ]);

    const [conversation] = (await api.call("GET", `/api/conversations?companion_id=${id}`)).json.data;
    const transcript = (await api.call("GET", `/api/conversations/${conversation?.id}`)).json;
    const messages = transcript["messages"] as { companion_version: number | null }[];
    expect(messages.map((message) => message.companion_version)).toEqual([null, 1, null, 3]);
    await server.services.openTurns.whenEnded();
  });

  test("refuse a note that is none, and change nothing", async () => {
    for (const note of ["%", "%ff", "a%00", "caf\u00e9", "x".repeat(501), "%C3%BC".repeat(501)]) {
      expectInvalid(await patch({ name: "Eve" }, { "x-change-note": note }), ["X-Change-Note"]);
    }
    expect((await patch({ name: "Eve" }, { "x-change-note": "%C3%BC".repeat(500) })).status).toBe(200);
    expect((await api.call("GET", `${path}/versions`)).json.data).toHaveLength(2);
  });

  test("are read whole and compared, without what is secret", async () => {
    const companion = await server.services.store.companions.find(account.id, id);
    if (companion === null) throw new Error("There is no companion.");
    await indexText(server.services.store, companion, { title: "Hours", url: null, passages: ["From nine to six."] });
    await api.call("POST", `${path}/tools`, tool);
    await patch({ metadata: { b: [2] } });
    const first = (await api.call("GET", `${path}/versions/1`)).json;
    expect(first).toMatchObject({
      number: 1,
      settings: { system_prompt: "Be kind.", context_tokens: 8000 },
      tools: [],
      sources: [],
    });
    const last = (await api.call("GET", `${path}/versions/4`)).json;
    const { name, url } = tool;
    expect(last).toMatchObject({
      settings: { metadata: { b: [2] } },
      tools: [{ name, url, header_names: ["X-Shop"], timeout_ms: 10_000 }],
      sources: [{ id: expect.any(String), title: "Hours", content_hash: "hash" }],
    });
    expect(Object.keys(last["settings"] as object)).not.toContain("slug");
    expect(JSON.stringify(last)).not.toMatch(/whsec_|secret|sealed/);
    const { changes } = (await api.call("GET", `${path}/versions/1/diff`)).json as { changes?: { field: string }[] };
    expect(changes?.map(({ field }) => field)).toEqual(["metadata", "tools", "sources"]);
    expect(changes?.[0]).toEqual({ field: "metadata", from: { a: 1 }, to: { b: [2] } } as never);
    const back = (await api.call("GET", `${path}/versions/4/diff?to=3`)).json;
    expect(back["changes"]).toEqual([{ field: "metadata", from: { b: [2] }, to: { a: 1 } }]);
    for (const number of ["5", "0", "1.0", "x"]) {
      expectProblem(await api.call("GET", `${path}/versions/${number}`), 404, "not_found");
      const compared = await api.call("GET", `${path}/versions/1/diff?to=${number}`);
      if (number === "5") expectProblem(compared, 404, "not_found");
      else expectProblem(compared, 400, "invalid_request");
      expectProblem(await api.call("POST", `${path}/versions/${number}/restore`), 404, "not_found");
    }
  });

  test("are restored with their tools, but neither `enabled`, nor secrets, nor sources", async () => {
    const made = await api.call("POST", `${path}/tools`, tool);
    const kept = await api.call("POST", `${path}/tools`, { ...tool, name: "book", title: "Book" });
    const { json: source } = await api.call("POST", `${path}/sources`, {
      type: "text",
      title: "Hours",
      text: "From nine.",
    });
    const wanted = 4;
    await patch({ system_prompt: null, enabled: false, metadata: {} });
    await api.call("DELETE", `${path}/tools/${made.json.id}`);
    await api.call("PATCH", `${path}/tools/${kept.json.id}`, { title: "Book a table", headers: { "X-Shop": "8" } });
    await api.call("POST", `${path}/tools`, { ...tool, name: "surplus" });
    const stale = await api.call("GET", path);
    await api.call("DELETE", `${path}/sources/${source.id}`);
    await patch({ greeting: "Hi!" });
    expectProblem(
      await api.call("POST", `${path}/versions/${wanted}/restore`, undefined, tagOf(stale)),
      412,
      "precondition_failed",
    );
    const current = await api.call("GET", path);
    const headers = { ...tagOf(current), "x-change-note": "As%20it%20was" };
    const restored = await api.call("POST", `${path}/versions/${wanted}/restore`, undefined, headers);
    expect(restored.json).toMatchObject({
      ...{ id, system_prompt: "Be kind.", greeting: null, metadata: { a: 1 }, enabled: false },
      missing_sources: [{ id: source.id, title: "Hours" }],
      new_tools: [{ id: expect.any(String), name: "find_order", header_names: ["X-Shop"] }],
    });
    expect(restored.headers.get("etag")).toBe((await api.call("GET", path)).headers.get("etag"));
    const tools = (await api.call("GET", `${path}/tools`)).json.data;
    expect(tools.map(({ name, title, header_names }) => [name, title, header_names]).sort()).toEqual([
      ["book", "Book", ["X-Shop"]],
      ["find_order", "find_order", []],
    ]);
    const [newest] = (await api.call("GET", `${path}/versions`)).json.data;
    expect(newest).toMatchObject({ via: "restore", note: "As it was" });
    expect([newest?.["changed"]].flat().toSorted()).toEqual(["greeting", "metadata", "system_prompt", "tools"]);
    // It is that already.
    const again = await api.call("POST", `${path}/versions/${wanted}/restore`);
    expect(again.json).toMatchObject({ new_tools: [] });
    expect((await api.call("GET", `${path}/versions`)).json.data[0]).toMatchObject({ number: newest?.["number"] });
  });

  test("that a change would refuse today are not restored", async () => {
    await patch({ model: "other" });
    const built = { ...tool, name: "built", url: "https://tools.internal/x" };
    await api.call("POST", `${path}/tools`, built);
    await patch({ model: null });
    const [made] = (await api.call("GET", `${path}/tools`)).json.data;
    await api.call("DELETE", `${path}/tools/${made?.id}`);
    // As after a restart with other settings.
    const { settings, outgoing } = server.services;
    const [models, findFault] = [settings.llm.models, outgoing.findFault];
    try {
      Object.assign(settings.llm, { models: ["test-model"] });
      expectInvalid(await api.call("POST", `${path}/versions/3/restore`), ["model"]);
      Object.assign(settings.llm, { models });
      Object.assign(outgoing, { findFault: () => "Must be a public address." });
      expectInvalid(await api.call("POST", `${path}/versions/3/restore`), ["tools.built.url"]);
    } finally {
      Object.assign(settings.llm, { models });
      Object.assign(outgoing, { findFault });
    }
    expect((await api.call("POST", `${path}/versions/3/restore`)).json).toMatchObject({ model: "other" });
  });
});

describe("a draft", () => {
  const put = (body: object, headers = {}) => api.call("PUT", `${path}/draft`, body, headers);
  const publish = (body: object | undefined = undefined, headers = {}) =>
    api.call("POST", `${path}/draft/publish`, body, headers);

  test("is tried before visitors meet it, and published over other changes in one version", async () => {
    expectProblem(await api.call("GET", `${path}/draft`), 404, "not_found");
    const body = { system_prompt: "Be a pirate.", metadata: { b: 2 }, name: "Ada" };
    const drafted = await put(body);
    const whole = {
      name: "Ada",
      system_prompt: "Be a pirate.",
      metadata: { a: 1, b: 2 },
      greeting: null,
      context_tokens: 8000,
    };
    const facts = { changed: ["system_prompt", "metadata"], conflicts: [], began_version: 1 };
    expect([drafted.status, drafted.json]).toMatchObject([200, { ...whole, ...facts }]);
    await patch({ greeting: "Hi!" });
    const read = await api.call("GET", `${path}/draft`);
    // Live changes are no other draft.
    expect(read.headers.get("etag")).toBe(drafted.headers.get("etag"));
    expect(read.json).toMatchObject({ ...whole, ...facts, greeting: "Hi!" });
    await chat(server.url, token, { message: "Ahoy" });
    const systemOf = () => {
      const [system] = [server.mockLlm.requests.at(-1)?.body.messages].flat() as { content: string }[];
      return system?.content;
    };
    expect(systemOf()).toBe("Be kind.");
    const traceOf = async (fields: object) => {
      const { text } = await api.call("POST", `${path}/test-chat`, { message: "Ahoy", trace: true, ...fields });
      return JSON.parse(/\n: trace (.*)\n/.exec(text)?.[1] ?? "{}");
    };
    expect(await traceOf({ draft: true })).toMatchObject({ companion_version: null });
    expect(systemOf()).toBe("Be a pirate.");
    expect(await traceOf({})).toMatchObject({ companion_version: 2 });
    expect(systemOf()).toBe("Be kind.");
    const published = await publish({}, { ...tagOf(drafted), "x-change-note": "Arrr" });
    expect(published.json).toMatchObject({ system_prompt: "Be a pirate.", metadata: { a: 1, b: 2 }, greeting: "Hi!" });
    expect(published.headers.get("etag")).toBe((await api.call("GET", path)).headers.get("etag"));
    const [newest] = (await api.call("GET", `${path}/versions`)).json.data;
    expect(newest).toMatchObject({ number: 3, via: "publish", note: "Arrr", changed: ["system_prompt", "metadata"] });
    expect(await traceOf({ version: 1 })).toMatchObject({ companion_version: 1 });
    expect(systemOf()).toBe("Be kind.");
    expectProblem(await publish(), 404, "not_found");
    expectProblem(await api.call("POST", `${path}/test-chat`, { message: "x", draft: true }), 404, "not_found");
    expectProblem(await api.call("POST", `${path}/test-chat`, { message: "x", version: 9 }), 404, "not_found");
  });

  test("is not published over a field that was changed live, unless that is wanted", async () => {
    await put({ system_prompt: "Be a pirate.", greeting: "Ahoy!" });
    // One changes to what the draft has, and is no conflict.
    await patch({ system_prompt: "Be formal.", greeting: "Ahoy!" });
    expect((await api.call("GET", `${path}/draft`)).json).toMatchObject({ conflicts: ["system_prompt"] });
    const refused = expectProblem(await publish(), 409, "conflict");
    expect(refused.json["fields"]).toEqual(["system_prompt"]);
    expect((await api.call("GET", path)).json).toMatchObject({ system_prompt: "Be formal." });
    expect((await publish({ overwrite: true })).json).toMatchObject({ system_prompt: "Be a pirate." });
    // One that changes nothing makes no version.
    const count = async () => (await api.call("GET", `${path}/versions`)).json.data.length;
    const before = await count();
    await put({});
    expect((await publish()).status).toBe(200);
    expect(await count()).toBe(before);
  });

  test("replaces an earlier one, is refused like a change, and goes by its own tag", async () => {
    expectInvalid(await put({ model: "gone", tools: [], slug: "x" }), ["slug"]);
    expectInvalid(await put({ model: "gone", tools: [] }), ["model", "tools"]);
    expectProblem(await put({ name: "Eve" }, { "if-match": '"none"' }), 412, "precondition_failed");
    const first = await put({ name: "Eve" });
    const second = await put({ greeting: "Hi!" }, tagOf(first));
    expect(second.json).toMatchObject({ name: "Ada", greeting: "Hi!", changed: ["greeting"] });
    for (const stale of [
      put({}, tagOf(first)),
      publish({}, tagOf(first)),
      api.call("DELETE", `${path}/draft`, undefined, tagOf(first)),
    ]) {
      expectProblem(await stale, 412, "precondition_failed");
    }
    expect((await api.call("DELETE", `${path}/draft`, undefined, tagOf(second))).status).toBe(204);
    expectProblem(await api.call("DELETE", `${path}/draft`), 404, "not_found");
    expect((await api.call("GET", `${path}/versions`)).json.data).toHaveLength(1);
    const { json } = await api.call("GET", "/api/audit");
    expect(json.data.map(({ action }) => action)).toEqual(expect.arrayContaining(["draft.update", "draft.delete"]));
  });

  test("and versions are read by who may read prompts, and changed by who may change companions", async () => {
    await put({ name: "Eve" });
    const reader = apiClient(server.url, (await server.createKey(account, ["companions:read"])).key);
    const other = apiClient(server.url, (await server.createKey(await server.createAccount())).key);
    const responder = await openMemberDashboard(server, { account });
    const limited = await openMemberDashboard(server, { account }, { role: "owner", companionIds: [id] });
    const reads = ["/versions", "/versions/1", "/versions/1/diff", "/draft"].map((rest) => ["GET", rest] as const);
    const writes = [
      ["PUT", "/draft"],
      ["POST", "/versions/1/restore"],
      ["POST", "/draft/publish"],
      ["DELETE", "/draft"],
    ] as const;
    for (const [method, rest] of [...reads, ...writes]) {
      const body = method === "PUT" || rest.endsWith("publish") ? { name: "Eve" } : undefined;
      const mayRead = method === "GET";
      expect((await reader.call(method, path + rest, body)).status).toBe(mayRead ? 200 : 403);
      expect((await other.call(method, path + rest, body)).status).toBe(404);
      expect((await responder.call(method, path + rest, body)).status).toBe(403);
      if (rest !== "/draft/publish")
        expect((await limited.call(method, path + rest, body)).status).toBeWithin(200, 205);
    }
  });
});

test("shows which set of files it comes from, and what of it they name", async () => {
  expect((await api.call("GET", `${path}/set`)).json).toEqual({ set: null, fields: [], applied_at: null } as never);
  const { companionSets } = server.services.store;
  const scope = { set: "shop", slugs: ["ada"], adoptIds: [id], isWholeSet: false };
  const named = { fields: { system_prompt: "Be kind." }, tools: { find_order: {} }, sources: { hours: {} } };
  const applied = { set: "shop", ...named, isPruned: false, appliedAt: 0 };
  const update = { id, auditId: crypto.randomUUID(), patch: { slug: "ada" }, applied };
  const writes = { creates: [], updates: [update], deletes: [], idempotent: null, result: null };
  await companionSets.apply(account.id, scope, () => writes, testContext());
  expect((await api.call("GET", `${path}/set`)).json).toEqual({
    ...{
      set: "shop",
      fields: ["system_prompt", "tools.find_order", "sources.hours"],
      applied_at: "1970-01-01T00:00:00.000Z",
    },
  } as never);
  // Neither a set nor a slug makes a version.
  expect((await api.call("GET", `${path}/versions`)).json.data).toHaveLength(1);
});

describe("of several at the same time", () => {
  test("one publishes a draft; the others find none", async () => {
    await api.call("PUT", `${path}/draft`, { name: "Eve" });
    const all = await Promise.all(Array.from({ length: 4 }, () => api.call("POST", `${path}/draft/publish`)));
    expect(all.map(({ status }) => status).sort()).toEqual([200, 404, 404, 404]);
    expect((await api.call("GET", `${path}/versions`)).json.data).toHaveLength(2);
  });

  test("a publication and a change of the same field leave the later one, or a conflict", async () => {
    await api.call("PUT", `${path}/draft`, { name: "Eve" });
    const [published, changed] = await Promise.all([
      api.call("POST", `${path}/draft/publish`),
      patch({ name: "Mallory" }),
    ]);
    expect(changed.status).toBe(200);
    const { name } = (await api.call("GET", path)).json;
    expect([200, 409]).toContain(published.status);
    expect(name).toBe("Mallory");
  });

  test("of restores with one tag the first alone is made", async () => {
    await patch({ name: "Eve" });
    await patch({ name: "Mallory" });
    const current = tagOf(await api.call("GET", path));
    const restore = (number: number) => api.call("POST", `${path}/versions/${number}/restore`, undefined, current);
    const both = await Promise.all([restore(1), restore(2)]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 412]);
    expect((await api.call("GET", `${path}/versions`)).json.data).toHaveLength(4);
  });
});
