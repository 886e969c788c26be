/** `POST /api/companions/batch`. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type ApiClient, apiClient, expectProblem } from "../support/api-client.ts";
import { startTestServer, type TestServer } from "../support/app.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({
    environment: { COMPANIOND_MAX_COMPANIONS_FREE: "300", COMPANIOND_MAX_COMPANIONS_PAID: "5000" },
  });
});
afterAll(() => server.close());

async function freshApi(plan: "free" | "paid" = "paid"): Promise<ApiClient> {
  const account = await server.createAccount({ email: `${crypto.randomUUID()}@example.com`, plan });
  return apiClient(server.url, (await server.createKey(account)).key);
}

type Line = Record<string, unknown> & { line?: number; code?: string; name?: string };

async function send(api: ApiClient, body: string, headers: Record<string, string> = {}) {
  const sent = { "content-type": "application/x-ndjson", ...headers };
  const response = await api.call("POST", "/api/companions/batch", body, sent);
  const lines =
    response.status === 200
      ? response.text
          .trim()
          .split("\n")
          .map((line) => JSON.parse(line) as Line)
      : [];
  return { response, lines };
}

const count = async (api: ApiClient) => (await api.call("GET", "/api/companions?limit=1000")).json.data.length;
const named = (number: number, prefix = "c") =>
  Array.from({ length: number }, (_, index) => JSON.stringify({ name: `${prefix}${index}` })).join("\n");

test("makes each line as a call of its own would, and answers for each, in order", async () => {
  const api = await freshApi();
  const body = [
    '\ufeff{"name":"Ada","metadata":{"plan":"pro"},"theme_color":"#ABCDEF"}\r',
    "",
    "{nonsense",
    '{"name":"","colour":1}',
    "[]",
    `{"name":"long","system_prompt":"${"x".repeat(1024 * 1024)}"}`,
    '{"name":"Grace"}',
  ].join("\n");
  const { lines, response } = await send(api, body);
  expect(response.headers.get("content-type")).toBe("application/x-ndjson");
  expect(lines.map(({ name, line, code }) => name ?? `${line} ${code}`)).toEqual([
    "Ada",
    "3 invalid_request",
    "4 invalid_request",
    "5 invalid_request",
    "6 invalid_request",
    "Grace",
  ]);
  expect(lines[2]).toMatchObject({
    status: 400,
    title: "Invalid request",
    errors: [{ param: "colour" }, { param: "name" }],
  });
  const [ada] = lines;
  expect((await api.call("GET", `/api/companions/${ada?.["id"]}`)).json).toEqual(ada as never);
  expect((await api.call("GET", "/api/companions?metadata.plan=pro")).json.data).toHaveLength(1);
  const [entry] = (await api.call("GET", "/api/audit?limit=1")).json.data;
  expect(entry).toMatchObject({ action: "companion.import", details: { count: 2 } });
});

test("takes an array too, and answers with one: the same companions, problems and portions", async () => {
  const api = await freshApi();
  const sendArray = (body: string, headers = {}) =>
    api.call("POST", "/api/companions/batch", body, { "content-type": "application/json; charset=utf-8", ...headers });
  const long = `{"name":"long","system_prompt":"${"x".repeat(1024 * 1024)}"}`;
  const some = `\ufeff [ {"name":"A, ]}\\"[","metadata":{"a":[1,{"b":"]"}]}} ,\n{"name":""}, 7,${long}, {nonsense}, {"name":"B"} ] `;
  const response = await sendArray(some);
  expect(response.headers.get("content-type")).toBe("application/json");
  const answers = response.json as unknown as Line[];
  expect(answers.map(({ name, line, code }) => name ?? `${line} ${code}`)).toEqual([
    'A, ]}"[',
    "2 invalid_request",
    "3 invalid_request",
    "4 invalid_request",
    "5 invalid_request",
    "B",
  ]);
  expect((await api.call("GET", `/api/companions/${answers[0]?.["id"]}`)).json).toEqual(answers[0] as never);
  const many = `[${named(600).replaceAll("\n", ",")}]`;
  const [first, again] = [
    await sendArray(many, { "idempotency-key": "a" }),
    await sendArray(many, { "idempotency-key": "a" }),
  ];
  expect((first.json as unknown as Line[]).map(({ name }) => name)).toEqual(
    Array.from({ length: 600 }, (_, at) => `c${at}`),
  );
  expect([again.text, again.headers.get("idempotent-replayed")]).toEqual([first.text, "true"]);
  expect(await count(api)).toBe(602);
  const none = ["", "[]", "{}", "[", '[{"name":"x"}', '[{"name":"x"},]', "[,]", '[{"name":"x"}] 1', '["', '["\\'];
  for (const body of [...none, `[${named(1001).replaceAll("\n", ",")}]`]) {
    expectProblem(await sendArray(body), 400, "invalid_request");
  }
  expect(await count(api)).toBe(602);
});

test("refuses what is no batch before anything is made", async () => {
  const api = await freshApi();
  expectProblem((await send(api, named(1001))).response, 400, "invalid_request");
  const breaks = await send(api, "\n".repeat(20_000));
  expect(breaks.response.json["detail"]).toBe("Send at most 1000 companions in one request.");
  expectProblem((await send(api, "\n \n")).response, 400, "invalid_request");
  expectProblem((await send(api, named(1), { "content-type": "text/plain" })).response, 415, "unsupported_media_type");
  expectProblem((await send(api, "x".repeat(8 * 1024 * 1024 + 1))).response, 413, "payload_too_large");
  expect(await count(api)).toBe(0);
  expect((await send(api, named(1), { "content-type": "application/jsonl" })).lines).toHaveLength(1);
});

test("makes those that the account has room for", async () => {
  const api = await freshApi("free");
  const { lines } = await send(api, named(310));
  expect(lines.slice(0, 300).every(({ line }) => line === undefined)).toBe(true);
  expect(lines.slice(300).map(({ line, code, status }) => [line, code, status])).toEqual(
    Array.from({ length: 10 }, (_, index) => [301 + index, "limit_reached", 403]),
  );
  expect(await count(api)).toBe(300);
  expect((await api.call("GET", "/api/companions?q=c309")).json.data).toEqual([]);
});

test("commits fewer together where they have much metadata, or are large", async () => {
  const api = await freshApi();
  const { companions } = server.services.store;
  const make = companions.createFitting;
  const commits: number[] = [];
  companions.createFitting = async (account, many, ...rest) => {
    commits.push(many.length);
    return await make(account, many, ...rest);
  };
  const values = (count: number) => ({ metadata: { v: Array.from({ length: count }, (_, index) => index) } });
  const large = { system_prompt: "x".repeat(30_000) };
  const sent = [
    ...Array.from({ length: 3 }, (_, index) => ({ name: `values ${index}`, ...values(1_500) })),
    ...Array.from({ length: 10 }, (_, index) => ({ name: `large ${index}`, ...large })),
    ...Array.from({ length: 300 }, (_, index) => ({ name: `small ${index}`, metadata: { tenant: "7", plan: "pro" } })),
  ];
  const body = sent.map((one) => JSON.stringify(one)).join("\n");
  const { lines } = await send(api, body, { "idempotency-key": "in portions" });
  companions.createFitting = make;
  expect(lines.map(({ name }) => name)).toEqual(sent.map(({ name }) => name));
  expect(commits.slice(0, 3)).toEqual([1, 1, 9]);
  expect(commits).toHaveLength(5);
  const again = await send(api, body, { "idempotency-key": "in portions" });
  expect(again.response.headers.get("idempotent-replayed")).toBe("true");
  expect(again.lines).toEqual(lines);
});

describe("with an Idempotency-Key", () => {
  const key = (name: string) => ({ "idempotency-key": name });

  test("is answered again byte for byte, and makes nothing twice", async () => {
    const api = await freshApi();
    const body = `${named(300)}\n{}\n`;
    const first = await send(api, body, key("once"));
    const second = await send(api, body, key("once"));
    expect(second.response.text).toBe(first.response.text);
    expect([first.response, second.response].map(({ headers }) => headers.get("idempotent-replayed"))).toEqual([
      null,
      "true",
    ]);
    expect(await count(api)).toBe(300);
    expectProblem((await send(api, named(2), key("once"))).response, 422, "idempotency_mismatch");
  });

  test("goes on where a batch stopped", async () => {
    const api = await freshApi();
    const body = named(600);
    const { companions } = server.services.store;
    const make = companions.createFitting;
    let calls = 0;
    // As if the server were killed before the third part.
    companions.createFitting = async (...parameters) => {
      if (++calls === 3) throw new Error("gone");
      return await make(...parameters);
    };
    const broken = await send(api, body, key("resumed"));
    companions.createFitting = make;
    expect(broken.lines).toHaveLength(600);
    expect(broken.lines.slice(500).every(({ code }) => code === "internal")).toBe(true);
    const again = await send(api, body, key("resumed"));
    expect(again.lines.slice(0, 500)).toEqual(broken.lines.slice(0, 500));
    expect(again.lines.map(({ name }) => name)).toEqual(Array.from({ length: 600 }, (_, index) => `c${index}`));
    expect(await count(api)).toBe(600);
  });

  test("of a batch that still runs is 409", async () => {
    const api = await freshApi();
    const responses = await Promise.all([1, 2, 3].map(() => send(api, named(600), key("twice"))));
    const statuses = responses.map(({ response }) => response.status).toSorted();
    expect(statuses[0]).toBe(200);
    expect(statuses.at(-1)).toBe(409);
    expect(await count(api)).toBe(600);
  });
});
