/** The client for servers, call by call, against a whole server. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Companiond, CompaniondError, type MetadataFilter } from "../../src/client/index.ts";
import { startTestServer, type TestServer } from "../support/app.ts";
import { eventually } from "../support/eventually.ts";
import { imageOf, makePng } from "../support/images.ts";

let server: TestServer;
let account: Awaited<ReturnType<TestServer["createAccount"]>>;
let client: Companiond;

beforeAll(async () => {
  server = await startTestServer();
  account = await server.createAccount();
  const { key } = await server.createKey(account);
  client = new Companiond({ baseUrl: `${server.url}/`, apiKey: key, maxRetries: 0 });
});
afterAll(() => server.close());

async function refusal(call: Promise<unknown>): Promise<CompaniondError> {
  const error = await call.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (error instanceof CompaniondError) return error;
  throw new Error(`not refused: ${Bun.inspect(error)}`);
}

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}

test("files become sources, are replaced, found and deleted", async () => {
  const { id } = await client.companions.create({ name: "Reader" });
  const bytes = new TextEncoder().encode("Open from nine to five.");
  const made = await client.sources.create(id, { file: bytes, name: "hours.txt", title: "Hours" });
  expect(made).toMatchObject({ type: "file", title: "Hours", status: "queued" });
  await eventually(async () => (await client.sources.get(id, made.id)).status === "ready");
  const { data } = await client.knowledge.search(id, { query: "open" });
  expect(data).toMatchObject([{ source_id: made.id, text: "Open from nine to five." }]);
  const { source, etag } = await client.sources.getVersion(id, made.id);
  expect(source).toMatchObject({ id: made.id, status: "ready" });
  const version = { ifMatch: etag ?? expect.unreachable() };
  const closed = { file: new File(["Closed."], "closed.md") };
  const replaced = await client.sources.replace(id, made.id, closed, version);
  expect(replaced).toMatchObject({ id: made.id, title: "closed.md" });
  const late = [client.sources.replace(id, made.id, closed, version), client.sources.delete(id, made.id, version)];
  for (const error of await Promise.all(late.map(refusal))) expect(error.code).toBe("precondition_failed");
  await client.sources.delete(id, made.id);
  expect(await collect(client.sources.listAll(id))).toEqual([]);
});

describe("companions", () => {
  test("are created, read, changed and deleted", async () => {
    const made = await client.companions.create({ name: "Ada", metadata: { plan: "pro" }, starters: ["Hello?"] });
    expect(made).toMatchObject({ name: "Ada", metadata: { plan: "pro" }, embed_token: expect.stringMatching(/^emb_/) });
    expect(await client.companions.get(made.id)).toEqual(made);
    const changed = await client.companions.update(made.id, { name: "Grace", starters: null });
    expect(changed).toMatchObject({ id: made.id, name: "Grace", metadata: { plan: "pro" } });
    expect(await client.companions.quota(made.id)).toMatchObject({ used: 0 });
    const { avatar } = await client.companions.setAvatar(made.id, imageOf(makePng(2, 2)));
    expect(avatar).toEqual({ url: expect.stringMatching(/^\/avatars\//), bytes: expect.any(Number) });
    await client.companions.deleteAvatar(made.id);
    await client.companions.delete(made.id);
    expect(await refusal(client.companions.get(made.id))).toMatchObject({ code: "not_found", status: 404 });
  });

  test("are made once by one idempotency key, and twice by two calls", async () => {
    const once = { idempotencyKey: "customer-4711" };
    const first = await client.companions.create({ name: "Once" }, once);
    expect((await client.companions.create({ name: "Once" }, once)).id).toBe(first.id);
    expect((await client.companions.create({ name: "Once" })).id).not.toBe(first.id);
  });

  test("are changed and deleted only as they were read", async () => {
    const { id } = await client.companions.create({ name: "Versioned" });
    const { companion, etag } = await client.companions.getVersion(id);
    expect(companion.name).toBe("Versioned");
    const ifMatch = etag ?? expect.unreachable();
    await client.companions.update(id, { name: "Changed" }, { ifMatch });
    const late = await refusal(client.companions.update(id, { name: "Late" }, { ifMatch }));
    expect(late).toMatchObject({ code: "precondition_failed", status: 412 });
    expect(await refusal(client.companions.delete(id, { ifMatch }))).toMatchObject({ code: "precondition_failed" });
    const { etag: now } = await client.companions.getVersion(id);
    await client.companions.delete(id, { ifMatch: now ?? "" });

    const made = await client.budgets.create({ account: true, limit_micros: 1, period: "day", action: "notify" });
    const budget = await client.budgets.getVersion(made.id);
    expect(budget.budget).toEqual(made);
    const ofBudget = { ifMatch: budget.etag ?? expect.unreachable() };
    await client.budgets.update(made.id, { limit_micros: 2 }, ofBudget);
    const calls = [
      client.budgets.update(made.id, { limit_micros: 3 }, ofBudget),
      client.budgets.delete(made.id, ofBudget),
    ];
    expect((await Promise.all(calls.map(refusal))).map(({ code }) => code)).toEqual(Array(2).fill(late.code));
    await client.budgets.delete(made.id);
  });

  test("are made in batches, line by line, and once", async () => {
    const batch = [{ name: "First" }, { name: "" }, { name: "Third" }];
    const once = { idempotencyKey: "batch-1" };
    const lines = await collect(client.companions.createMany(batch, once));
    expect(lines.map((line) => ("line" in line ? [line.line, line.code] : line.name))).toEqual([
      "First",
      [2, "invalid_request"],
      "Third",
    ]);
    const [again] = await collect(client.companions.createMany(batch, once));
    expect(again).toEqual(lines[0] ?? expect.unreachable());
  });

  test("are found by metadata, whatever characters its fields have, page after page", async () => {
    const name = "a&b=c é";
    for (let index = 0; index < 5; index++) {
      await client.companions.create({ name: `Paged ${index}`, metadata: { tenant: { [name]: "x y" } } });
    }
    const metadata = { [`tenant.${name}`]: "x y" };
    const page = await client.companions.list({ metadata, limit: 2 });
    expect(page.data.map((companion) => companion.name)).toEqual(["Paged 4", "Paged 3"]);
    const all = await collect(client.companions.listAll({ metadata, limit: 2 }));
    expect(all.map((companion) => companion.name)).toEqual([4, 3, 2, 1, 0].map((index) => `Paged ${index}`));
    const rest = await collect(client.companions.listAll({ metadata, limit: 2, cursor: page.next_cursor ?? "" }));
    expect(rest).toHaveLength(3);
    expect((await client.companions.list({ metadata: { [`tenant.${name}`]: "z" } })).data).toEqual([]);
    expect((await client.companions.list({ filter: [`tenant.${name}:x y`], limit: 2 })).data).toHaveLength(2);
  });

  test("are found by several values, numbers, truth and null; with some fields; and changed member by member", async () => {
    const metadata = { tags: ["a", "b"], seats: 5, live: true, owner: null, plan: "pro" };
    const { id } = await client.companions.create({ name: "Filtered", metadata });
    const ids = async (filter: MetadataFilter) =>
      (await client.companions.list({ metadata: filter, fields: "name" })).data.map((row) => [
        row.id,
        row.system_prompt,
      ]);
    expect(await ids({ tags: ["a", "b"], seats: 5, live: true, owner: null, plan: undefined })).toEqual([
      [id, undefined],
    ]);
    expect(await ids({ tags: ["a", "c"], seats: 5 })).toEqual([]);
    expect(await ids({ seats: 50 })).toEqual([]);
    const merge = { merge: true };
    const changed = await client.companions.update(id, { metadata: { seats: 6, owner: null } }, merge);
    expect(changed.metadata).toEqual({ tags: ["a", "b"], seats: 6, live: true, plan: "pro" });
    expect((await client.companions.update(id, { metadata: { seats: 7 } })).metadata).toEqual({ seats: 7 });
  });

  test("have embed tokens", async () => {
    const { id } = await client.companions.create({ name: "Tokens" });
    const token = await client.companions.embedTokens.create(id, { name: "website" });
    const { data } = await client.companions.embedTokens.list(id);
    expect(data.map((one) => one.name)).toEqual(["website", null]);
    await client.companions.embedTokens.revoke(id, token.id);
    expect((await client.companions.embedTokens.list(id)).data).toHaveLength(1);
  });

  test("can be tried by their owner", async () => {
    const { id } = await client.companions.create({ name: "Tried" });
    const texts = await collect(client.companions.testChat(id, { message: "Hello" }));
    expect(texts.join("")).toBe("You said: Hello");
    const refused = collect(client.companions.testChat(id, { message: "" }));
    expect(await refusal(refused)).toMatchObject({ code: "invalid_request" });
  });
});

test("conversations are listed, read and deleted, and a visitor's words are erased", async () => {
  const { id } = await client.companions.create({ name: "Talks" });
  const visitor = crypto.randomUUID();
  const reply = client.companions.chat(id, { message: "Hello", visitor_id: visitor });
  expect(await reply.text()).toBe("You said: Hello");
  const [found] = await collect(client.conversations.listAll({ companion_id: id }));
  expect(found?.session_id).toBe(reply.sessionId);
  const { messages } = await client.conversations.get(found?.id ?? "", { messages_limit: 5 });
  expect(messages.map(({ role, text }) => [role, text])).toEqual([
    ["user", "Hello"],
    ["assistant", "You said: Hello"],
  ]);
  await client.conversations.delete(found?.id ?? "");
  expect(await refusal(client.conversations.get(found?.id ?? ""))).toMatchObject({ code: "not_found" });

  await client.companions.chat(id, { message: "Again", visitor_id: visitor }).text();
  await client.companions.eraseVisitor(id, visitor);
  expect((await client.conversations.list({ companion_id: id })).data).toEqual([]);
});

test("usage is read by group and metadata, as rows and as CSV", async () => {
  const { id } = await client.companions.create({ name: "Used", metadata: { tenant: "acme" } });
  await client.companions.chat(id, { message: "Hello" }).text();
  const query = { group_by: "companion", metadata: { tenant: "acme" } };
  const { data } = await client.usage.query(query);
  expect(data).toMatchObject([{ companion_id: id, messages: 1, input_tokens: 11, output_tokens: 7 }]);
  expect(await client.usage.csv(query)).toStartWith("companion_id,messages,");
  expect(await client.usage.failures({ companion_id: id })).toEqual({ data: [] });
});

test("keys are made, listed and revoked, and a change is in the audit", async () => {
  const { id, key } = await client.keys.create({ name: "CI", scopes: ["companions:read"] });
  const other = new Companiond({ baseUrl: server.url, apiKey: key ?? "" });
  expect((await other.companions.list()).data.length).toBeGreaterThan(0);
  expect(await refusal(other.companions.create({ name: "No" }))).toMatchObject({
    code: "insufficient_scope",
    status: 403,
    message: expect.stringContaining("companions:write"),
  });
  expect((await collect(client.keys.listAll())).map((one) => one.id)).toContain(id);
  await client.keys.revoke(id);
  expect(await refusal(other.companions.list())).toMatchObject({ code: "unauthorized", status: 401 });
  expect((await client.audit.list({ limit: 1 })).data[0]).toMatchObject({ action: expect.stringContaining("key") });

  const visitorKey = await client.visitorKeys.create({ name: "shop", algorithm: "HS256" });
  expect(visitorKey.secret).toStartWith("vsk_");
  expect((await client.visitorKeys.list()).data.map((one) => one.id)).toEqual([visitorKey.id]);
  await client.visitorKeys.revoke(visitorKey.id);
});

test("tools are made, read, changed and deleted, and their calls listed", async () => {
  const { id } = await client.companions.create({ name: "Handy" });
  const sent = { name: "find_order", url: "https://shop.example/orders", headers: { "X-Shop": "7" } };
  const once = { idempotencyKey: "tool-1" };
  const { secret, ...made } = await client.tools.create(id, sent, once);
  expect(secret).toMatch(/^whsec_/);
  expect(made).toMatchObject({ name: "find_order", header_names: ["X-Shop"] });
  expect(await client.tools.create(id, sent, once)).toEqual(made);
  expect(await client.tools.get(id, made.id)).toEqual(made);
  const { tool, etag } = await client.tools.getVersion(id, made.id);
  expect(tool).toEqual(made);
  const ifMatch = etag ?? expect.unreachable();
  expect((await client.tools.update(id, made.id, { title: "Orders" }, { ifMatch })).title).toBe("Orders");
  const late = [
    client.tools.update(id, made.id, { title: "Late" }, { ifMatch }),
    client.tools.delete(id, made.id, { ifMatch }),
  ];
  for (const error of await Promise.all(late.map(refusal))) expect(error.code).toBe("precondition_failed");
  expect((await client.tools.rotateSecret(id, made.id)).secret).not.toBe(secret);
  expect((await collect(client.tools.listAll(id))).map((one) => one.title)).toEqual(["Orders"]);
  expect(await collect(client.tools.allCalls(id, made.id))).toEqual([]);
  await client.tools.delete(id, made.id);
  expect(await refusal(client.tools.get(id, made.id))).toMatchObject({ code: "not_found" });
});

test("versions are listed, compared and restored; drafts are put, read, published and discarded", async () => {
  const { id } = await client.companions.create({ name: "Ada" });
  await client.companions.update(id, { greeting: "Hi!" }, { note: "50 % wärmer" });
  await client.tools.create(id, { name: "find_order", url: "https://shop.example/orders" }, { note: "orders" });
  const listed = await collect(client.versions.listAll(id, { limit: 1 }));
  expect(listed.map(({ number, note }) => [number, note])).toEqual([
    [3, "orders"],
    [2, "50 % wärmer"],
    [1, null],
  ]);
  expect((await client.versions.get(id, 3)).tools.map(({ name }) => name)).toEqual(["find_order"]);
  expect((await client.versions.diff(id, 1, { to: 2 })).changes).toMatchObject([{ field: "greeting", to: "Hi!" }]);
  const { etag: first } = await client.companions.getVersion(id);
  const restored = await client.versions.restore(id, 1, { ifMatch: first ?? "", note: "as before" });
  expect(restored).toMatchObject({ greeting: null, missing_sources: [], new_tools: [] });
  await client.drafts.put(id, { greeting: "Ahoy!" });
  const { draft, etag } = await client.drafts.getVersion(id);
  expect(draft).toEqual(await client.drafts.get(id));
  expect(draft.changed).toEqual(["greeting"]);
  expect((await client.drafts.publish(id, {}, { ifMatch: etag ?? "", note: "on board" })).greeting).toBe("Ahoy!");
  expect((await client.versions.list(id)).data[0]).toMatchObject({ number: 5, via: "publish", note: "on board" });
  await client.drafts.put(id, {});
  await client.drafts.delete(id);
  expect(await refusal(client.drafts.get(id))).toMatchObject({ code: "not_found" });
});

test("budgets are made, read, changed and deleted", async () => {
  const subject = { metadata: { tenant: "budgeted" } };
  const preview = await client.budgets.preview({ ...subject, period: "day" });
  expect(preview).toEqual({ spent_micros: 0, reply_micros: null });
  const made = await client.budgets.create({ ...subject, limit_micros: 1000, period: "day", action: "notify" });
  expect(await client.budgets.get(made.id)).toMatchObject({ ...subject, spent_micros: 0 });
  expect((await client.budgets.update(made.id, { limit_micros: 2000 })).limit_micros).toBe(2000);
  expect((await collect(client.budgets.listAll())).map(({ id }) => id)).toEqual([made.id]);
  await client.budgets.delete(made.id);
  expect(await refusal(client.budgets.get(made.id))).toMatchObject({ code: "not_found" });
});

test("a key is told what it is, and usage is exported line by line", async () => {
  const { account, scopes } = await client.me();
  expect(account.plan).toBe("free");
  expect(scopes).toContain("chat:write");
  await client.companions.chat((await client.companions.create({ name: "Billed" })).id, { message: "Hello" }).text();
  const events = await collect(client.usage.events({ include: "today" }));
  expect(events.length).toBeGreaterThan(0);
  expect(events.every(({ final }) => !final)).toBe(true);
});

test("a refusal names every field at fault and the request, and keeps the whole answer", async () => {
  const error = await refusal(client.companions.create({ name: "", theme_color: "red" }));
  expect(error).toMatchObject({ name: "CompaniondError", code: "invalid_request", status: 400 });
  expect(error.errors.map(({ param }) => param).toSorted()).toEqual(["name", "theme_color"]);
  expect(error.requestId).toBe(error.problem?.request_id ?? "none");
  expect(error.message).toBe(error.problem?.detail ?? "none");
});

test("an id is escaped, so that it names no other call", async () => {
  expect(await refusal(client.companions.get("../keys?limit=1#"))).toMatchObject({ code: "not_found" });
});
