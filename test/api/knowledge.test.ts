/** Knowledge over the API: sources as JSON and as files, their passages, and questions that had no answer. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Account, Scope } from "../../src/domain/account.ts";
import type { Companion } from "../../src/domain/companion.ts";
import { maxSources, maxUploadBytes } from "../../src/domain/knowledge.ts";
import { systemIds } from "../../src/lib/ids.ts";
import { type ApiClient, apiClient, expectInvalid, expectProblem } from "../support/api-client.ts";
import { startTestServer, type TestServer } from "../support/app.ts";
import { chat } from "../support/chat.ts";
import { eventually } from "../support/eventually.ts";
import type { AskedMessage } from "../support/unanswered.ts";

let server: TestServer;
let account: Account;
let companion: Companion & { embedToken: string };
let api: ApiClient;
let sources: string;

beforeAll(async () => {
  server = await startTestServer();
  account = await server.createAccount();
  companion = await server.createCompanion({}, account);
  api = apiClient(server.url, (await server.createKey(account)).key);
  sources = `/api/companions/${companion.id}/sources`;
});
afterAll(() => server.close());

const text = { type: "text", title: "Returns", text: "Articles may be returned within thirty days." };
const page = { type: "url", url: "https://shop.example/returns" };

function form(fields: Record<string, string | File>): FormData {
  const made = new FormData();
  for (const [name, value] of Object.entries(fields)) made.append(name, value);
  return made;
}

const file = (name: string, content: string | Uint8Array<ArrayBuffer> = "Open from nine to five.", type = "") =>
  new File([content], name, { type });

const upload = (fields: Record<string, string | File>, headers: Record<string, string> = {}) =>
  api.call("POST", sources, form(fields), headers);

test("a text is taken to be read, listed, replaced and deleted", async () => {
  const made = await api.call("POST", sources, { ...text, url: "https://shop.example/returns" });
  expect(made.status).toBe(202);
  expect(made.json).toEqual({
    id: expect.any(String),
    type: "text",
    slug: null,
    title: "Returns",
    url: "https://shop.example/returns",
    status: "queued",
    error: null,
    chunks: 0,
    bytes: 0,
    content_hash: null,
    refresh_hours: null,
    progress: null,
    indexed_at: null,
    refresh_at: null,
    created_at: expect.any(String),
    updated_at: made.json["created_at"],
  } as never);
  const { id, created_at } = made.json;
  const path = `${sources}/${id}`;
  expect((await api.call("GET", path)).json).toMatchObject({ id, created_at, title: "Returns" });
  const listed = await api.call("GET", `${sources}?limit=1`);
  expect(listed.json).toMatchObject({ data: [{ id }], next_cursor: null });

  const replaced = await api.call("PUT", path, {
    ...made.json,
    title: " Returning\n",
    text: "Within ten days.",
    url: null,
  });
  expect(replaced.status).toBe(202);
  expect(replaced.json).toMatchObject({ id, created_at, title: "Returning", url: null, status: "queued" });
  expectInvalid(await api.call("PUT", path, page), ["type"]);
  expectInvalid(await api.call("POST", `${path}/refresh`), ["source_id"]);

  expect((await api.call("DELETE", path)).status).toBe(204);
  for (const [method, at] of [
    ["GET", path],
    ["DELETE", path],
    ["POST", `${path}/refresh`],
    ["GET", `${path}/passages`],
    ["GET", `${path}/text`],
  ]) {
    expectProblem(await api.call(method ?? "", at ?? ""), 404, "not_found");
  }
  expectProblem(await api.call("PUT", path, "no json"), 404, "not_found");
  const audit = await api.call("GET", "/api/audit?limit=3");
  expect(audit.json.data.map(({ action, target_id }) => [action, target_id])).toEqual([
    ["source.delete", id],
    ["source.update", id],
    ["source.create", id],
  ]);
  expect(audit.text).not.toContain("Returning");
});

test("pages and sitemaps are read again when asked to, and keep the title that they told", async () => {
  const made = await api.call("POST", sources, { ...page, refresh_hours: 720 });
  expect(made.status).toBe(202);
  expect(made.json).toMatchObject({ type: "url", title: page.url, url: page.url, refresh_hours: 720 });
  const path = `${sources}/${made.json.id}`;
  expect((await api.call("POST", `${path}/refresh`)).status).toBe(202);
  const moved = await api.call("PUT", path, { ...page, url: "http://shop.example:8080/a?b#c" });
  expect(moved.json).toMatchObject({ title: "http://shop.example:8080/a?b#c", refresh_hours: null });
  const map = await api.call("POST", sources, { type: "sitemap", url: "https://shop.example/sitemap.xml" });
  expect(map.json).toMatchObject({ type: "sitemap", status: "queued" });
  for (const { id } of [made.json, map.json]) await api.call("DELETE", `${sources}/${id}`);
});

describe("a file", () => {
  test("is taken as a form, under its own name or a title", async () => {
    const plain = await upload({ file: file("C:\\docs\\öffnung.txt") });
    expect(plain.status).toBe(202);
    expect(plain.json).toMatchObject({ type: "file", title: "öffnung.txt", url: null, refresh_hours: null });
    const named = await upload({ title: "Hours", url: "https://shop.example/h", type: "file", file: file("h.md") });
    expect(named.json).toMatchObject({ title: "Hours", url: "https://shop.example/h" });
    const path = `${sources}/${named.json.id}`;
    const replaced = await api.call("PUT", path, form({ file: file("hours.pdf", "%PDF-1.7 …") }));
    expect(replaced.json).toMatchObject({ title: "hours.pdf", url: null });
    expectInvalid(await api.call("PUT", path, text), ["type"]);
    expectInvalid(await api.call("POST", `${path}/refresh`), ["source_id"]);
    for (const { id } of [plain.json, named.json]) await api.call("DELETE", `${sources}/${id}`);
  });

  test("that is sent again with its key makes nothing twice, whatever the boundary", async () => {
    const header = { "idempotency-key": "upload-1" };
    const first = await upload({ file: file("a.txt", "one") }, header);
    const again = await upload({ file: file("a.txt", "one") }, header);
    expect(again.text).toBe(first.text);
    expect([again.status, again.headers.get("idempotent-replayed")]).toEqual([202, "true"]);
    expectProblem(await upload({ file: file("a.txt", "two") }, header), 422, "idempotency_mismatch");
    await api.call("DELETE", `${sources}/${first.json.id}`);
  });

  test("may have 20 MiB and no more, also where its size is not announced", async () => {
    const bytes = new Uint8Array(maxUploadBytes + 1).fill(0x61);
    const largest = await upload({ file: file("large.txt", bytes.subarray(1)) });
    expect(largest.status).toBe(202);
    await api.call("DELETE", `${sources}/${largest.json.id}`);
    expectProblem(await upload({ file: file("large.txt", bytes) }), 413, "payload_too_large");
    const streamed = await fetch(`${server.url}${sources}`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${(await server.createKey(account)).key}`,
        "content-type": "multipart/form-data; boundary=b",
      },
      body: new ReadableStream({
        start(controller) {
          for (let at = 0; at < 22; at++) controller.enqueue(bytes.subarray(0, 1024 * 1024));
          controller.close();
        },
      }),
    });
    expect(streamed.status).toBe(413);
    expect(await streamed.json()).toMatchObject({ code: "payload_too_large" });
    expect(server.services.uploadBodies.heldBytes).toBe(0);
  });

  test("of another kind is refused", async () => {
    const png = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, 0, 0, 0, 13]);
    expectProblem(await upload({ file: file("a.png", png, "image/png") }), 415, "unsupported_media_type");
    expectProblem(await upload({ file: file("a.zip", "PK\u0003\u0004…") }), 415, "unsupported_media_type");
    const plain = await api.call("POST", sources, "text", { "content-type": "text/plain" });
    expectProblem(plain, 415, "unsupported_media_type");
  });

  test("comes alone, with fields that are known, each once", async () => {
    expectInvalid(await upload({ file: file("a.txt"), colour: "red", title: "" }), ["colour", "title"]);
    expectInvalid(await upload({ file: file("a.txt"), url: "ftp://shop.example/", type: "text" }), ["type", "url"]);
    const twice = form({ file: file("a.txt") });
    twice.append("file", file("b.txt"));
    expectInvalid(await api.call("POST", sources, twice), ["file"]);
    expectInvalid(await upload({ file: "text" }), ["file"]);
    expectInvalid(await upload({ title: "x".repeat(70_000), file: file("a.txt") }), ["title"]);
    const type = { "content-type": "multipart/form-data; boundary=b" };
    for (const body of ["", "--b", "--b\r\n\r\nx\r\n--b--"]) {
      expectProblem(await api.call("POST", sources, body, type), 400, "invalid_request");
    }
    const noBoundary = { "content-type": "multipart/form-data" };
    expectProblem(await api.call("POST", sources, "x", noBoundary), 400, "invalid_request");
  });
});

test.each<[object, string[]]>([
  [{}, ["type"]],
  [{ type: "file", title: "x" }, ["file"]],
  [{ type: "video" }, ["type"]],
  [{ type: "text" }, ["text", "title"]],
  [{ ...text, title: "x".repeat(201) }, ["title"]],
  [{ ...text, title: "", text: 1, colour: "red" }, ["title", "text", "colour"]],
  [{ ...text, text: "a\0b" }, ["text"]],
  [{ ...text, title: "\ud800" }, ["title"]],
  [{ ...text, title: " \n" }, ["title"]],
  [{ ...text, url: "javascript:alert(1)" }, ["url"]],
  [{ type: "url" }, ["url"]],
  [{ ...page, url: "/returns" }, ["url"]],
  [{ ...page, url: "https://user:word@shop.example/" }, ["url"]],
  [{ ...page, url: `https://shop.example/${"x".repeat(2000)}` }, ["url"]],
  [{ ...page, url: "https://" }, ["url"]],
  [{ ...page, refresh_hours: 0 }, ["refresh_hours"]],
  [{ ...page, refresh_hours: 721, text: "x" }, ["refresh_hours", "text"]],
  [{ type: "sitemap", url: "ftp://shop.example/sitemap.xml" }, ["url"]],
])("%j is refused", async (body, params) => {
  expectInvalid(await api.call("POST", sources, body), params);
});

test("a text of two megabytes is taken", async () => {
  const made = await api.call("POST", sources, { ...text, text: "Größe 👍 ".repeat(160_000) });
  expect(made.status).toBe(202);
  await api.call("DELETE", `${sources}/${made.json.id}`);
});

test("each call asks for its scope, and finds nothing of other accounts", async () => {
  const { id } = (await api.call("POST", sources, text)).json;
  const withScopes = async (of: Account, scopes: Scope[]) =>
    apiClient(server.url, (await server.createKey(of, scopes)).key);
  const reader = await withScopes(account, ["knowledge:read"]);
  const writer = await withScopes(account, ["knowledge:write"]);
  const other = await withScopes(await server.createAccount(), ["knowledge:read", "knowledge:write"]);
  const questions = `/api/companions/${companion.id}/unanswered`;
  const search = `/api/companions/${companion.id}/knowledge/search`;
  const reads = [
    ["GET", sources],
    ["GET", `${sources}/${id}`],
    ["GET", `${sources}/${id}/passages`],
    ["GET", questions],
    ["POST", search],
  ];
  const writes = [
    ["POST", sources],
    ["PUT", `${sources}/${id}`],
    ["POST", `${sources}/${id}/refresh`],
    ["POST", `${questions}/${id}/answer`],
    ["DELETE", `${questions}/${id}`],
    ["DELETE", `${sources}/${id}`],
  ];
  const body = (method: string) => (method === "POST" || method === "PUT" ? text : undefined);
  for (const [calls, without] of [
    [reads, writer],
    [writes, reader],
  ] as const) {
    for (const [method = "", path = ""] of calls) {
      expectProblem(await without.call(method, path, body(method)), 403, "insufficient_scope");
      expectProblem(await other.call(method, path, body(method)), 404, "not_found");
    }
  }
  expect((await writer.call("DELETE", `${sources}/${id}`)).status).toBe(204);
});

async function addRead(content: string): Promise<string> {
  const { id } = (await api.call("POST", sources, { ...text, text: content })).json;
  await eventually(async () => (await api.call("GET", `${sources}/${id}`)).json["status"] === "ready");
  return id;
}

test("a text is read back byte for byte: long, with tables and code, and an answer as well", async () => {
  const table = "| size | price |\n|---|---|\n| small | 40 |\n";
  const long = `\tindented\r\n${table.repeat(200)}\n\n${"Ünï — words of a long text. ".repeat(40_000)}`;
  const id = await addRead(long);
  const read = await api.call("GET", `${sources}/${id}/text`);
  expect(read.headers.get("content-type")).toBe("text/plain; charset=utf-8");
  const disposition = "attachment; filename=\"Returns.md\"; filename*=UTF-8''Returns.md";
  expect(read.headers.get("content-disposition")).toBe(disposition);
  expect(read.text === long).toBe(true);
  const replaced = { ...text, title: "Zürück/é", text: "" };
  await api.call("PUT", `${sources}/${id}`, replaced);
  const emptied = await api.call("GET", `${sources}/${id}/text`);
  expect([emptied.status, emptied.text]).toEqual([200, ""]);
  expect(emptied.headers.get("content-disposition")).toContain('filename="Z_r_ck__.md"');
  const made = await upload({ file: file("hours.txt") });
  expectInvalid(await api.call("GET", `${sources}/${made.json.id}/text`), ["source_id"]);
  for (const one of [id, made.json.id]) await api.call("DELETE", `${sources}/${one}`);
});

test("passages are shown as they were cut, page by page", async () => {
  const id = await addRead("Articles may be returned within thirty days.");
  const listed = await api.call("GET", `${sources}/${id}/passages?limit=1`);
  expect(listed.status).toBe(200);
  expect(listed.json).toMatchObject({
    data: [
      { ordinal: 0, title: "Returns", url: null, page: null, text: "Articles may be returned within thirty days." },
    ],
    next_first: null,
  });
  expect((await api.call("GET", `${sources}/${id}/passages?first=1`)).json).toMatchObject({
    data: [],
    next_first: null,
  });
  expectInvalid(await api.call("GET", `${sources}/${id}/passages?first=-1&limit=101&cursor=a`), [
    "first",
    "limit",
    "cursor",
  ]);
  await api.call("DELETE", `${sources}/${id}`);
});

test("a companion with all its sources takes further answers into one more, under their questions", async () => {
  const full = await server.createCompanion({}, account);
  const actor = { kind: "key", id: "key-1", ipPrefix: "192.0.2.0/24", requestId: "request-1" } as const;
  // One after the other: each is a version, with the list of all that came before.
  for (let made = 0; made < maxSources; made++) {
    await server.services.store.knowledge.create(
      account.id,
      full.id,
      { ...page, type: "url", id: systemIds.uuid(), title: "Page", refreshHours: null, upload: null },
      // Due when nobody waits for them.
      { actor, auditId: systemIds.uuid(), nowMs: Date.now() + 86_400_000 },
    );
  }
  const path = `/api/companions/${full.id}`;
  expectProblem(await api.call("POST", `${path}/sources`, text), 409, "conflict");
  const askAndAnswer = async (question: string, answer: string) => {
    await chat(server.url, full.embedToken, { message: question, session_id: systemIds.randomUuid() });
    await eventually(async () => (await api.call("GET", `${path}/unanswered`)).json.data.length === 1);
    const id = (await api.call("GET", `${path}/unanswered`)).json.data[0]?.id;
    return await api.call("POST", `${path}/unanswered/${id}/answer`, { text: answer }, { "idempotency-key": answer });
  };
  const first = await askAndAnswer("Do you repair\nbicycles?", "Yes, on Mondays.");
  expect([first.status, first.json.title, first.json.status]).toEqual([202, "Answers", "queued"]);
  const answers = `${path}/sources/${first.json.id}`;
  await eventually(async () => (await api.call("GET", answers)).json["status"] === "ready");
  const second = await askAndAnswer("Where is my parcel?", "Under the stairs.");
  expect([second.status, second.json.id, second.json.status]).toEqual([202, first.json.id, "queued"]);
  // Another version, for who edits them meanwhile.
  const [was, is] = [first.json["updated_at"], second.json["updated_at"]];
  expect(Date.parse(String(is))).toBeGreaterThan(Date.parse(String(was)));
  expect((await api.call("GET", answers)).json["updated_at"]).toBe(is);
  const written = "## Do you repair bicycles?\n\nYes, on Mondays.\n\n\n## Where is my parcel?\n\nUnder the stairs.\n";
  expect((await api.call("GET", `${answers}/text`)).text).toBe(written);
  await eventually(async () => (await api.call("GET", answers)).json["status"] === "ready");
  const found = await api.call("POST", `${path}/knowledge/search`, { query: "parcel stairs" });
  expect(found.json.data).toMatchObject([{ title: "Answers", text: expect.stringContaining("Under the stairs.") }]);
  expect((await api.call("GET", `${path}/unanswered`)).json.data).toEqual([]);
  expectProblem(await api.call("POST", `${path}/sources`, text), 409, "conflict");
  await api.call("DELETE", path);
});

test("a question without an answer gets one in a step, and a transcript shows what the model saw", async () => {
  const sourceId = await addRead("We ship to Denmark.");
  const questions = `/api/companions/${companion.id}/unanswered`;
  const ask = async (message: string) =>
    await chat(server.url, companion.embedToken, { message, session_id: systemIds.randomUuid() });
  await ask("Do you repair\nbicycles?");
  await ask("Where is my parcel?");
  await eventually(async () => (await api.call("GET", questions)).json.data.length === 2);

  const conversations = await api.call("GET", `/api/companions/${companion.id}/conversations?order=asc&limit=1`);
  const conversationPath = `/api/conversations/${conversations.json.data[0]?.id}`;
  const conversation = (await api.call("GET", conversationPath)).json;
  const [asked, reply] = conversation["messages"] as AskedMessage[];
  expect(asked?.sources).toBeUndefined();
  const seen = {
    n: 1,
    cited: expect.any(Boolean),
    source_id: sourceId,
    title: "Returns",
    url: null,
    page: null,
    text: "We ship to Denmark.",
  };
  expect(reply?.sources).toEqual([seen]);

  const [parcel, bicycles] = (await api.call("GET", questions)).json.data;
  expect(parcel).toMatchObject({ question: "Where is my parcel?", count: 1 });
  expect(bicycles).toMatchObject({ question: "Do you repair\nbicycles?", count: 1 });
  const path = `${questions}/${bicycles?.id}`;
  expectInvalid(await api.call("POST", `${path}/answer`, { text: "" }), ["text"]);
  expectInvalid(await api.call("POST", `${path}/answer`, { text: " \n" }), ["text"]);
  const header = { "idempotency-key": "answer-1" };
  const answered = await api.call("POST", `${path}/answer`, { text: "Yes, on Mondays." }, header);
  expect(answered.status).toBe(202);
  expect(answered.json).toMatchObject({ type: "text", title: "Do you repair bicycles?", status: "queued" });
  expect((await api.call("GET", `${sources}/${answered.json.id}/text`)).text).toBe("Yes, on Mondays.");
  const again = await api.call("POST", `${path}/answer`, { text: "Yes, on Mondays." }, header);
  expect([again.status, again.text]).toEqual([202, answered.text]);
  expectProblem(await api.call("POST", `${path}/answer`, { text: "Yes, on Mondays." }), 404, "not_found");

  expect((await api.call("DELETE", `${questions}/${parcel?.id}`)).status).toBe(204);
  expect((await api.call("GET", questions)).json.data).toEqual([]);
  await api.call("DELETE", `${sources}/${sourceId}`);
  const after = (await api.call("GET", conversationPath)).json["messages"] as AskedMessage[];
  expect(after[1]?.sources).toEqual([{ ...seen, source_id: null, title: null, text: null }]);
});

test("a search shows what is found, with scores, once it is sound", async () => {
  const path = `/api/companions/${companion.id}/knowledge/search`;
  const id = await addRead("Articles may be returned within thirty days.");
  const found = await api.call("POST", path, { query: "returned articles" });
  expect(found.status).toBe(200);
  expect(found.json).toEqual({
    data: [
      { score: expect.any(Number), source_id: id, title: "Returns", url: null, page: null, text: expect.any(String) },
    ],
    whole: true,
  } as never);
  await api.call("DELETE", `${sources}/${id}`);
  expect((await api.call("POST", path, { query: "returned articles" })).json.data).toEqual([]);
  expectInvalid(await api.call("POST", path, { query: "", limit: 101 }), ["query", "limit"]);
  expectInvalid(await api.call("POST", path, { limit: 0 }), ["query", "limit"]);
});
