/** Holds how accounts manage the keys with which their websites sign tokens for visitors. */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { exportJWK, generateKeyPair } from "jose";
import type { Account, Scope } from "../../src/domain/account.ts";
import { type ApiClient, apiClient, expectInvalid, expectProblem } from "../support/api-client.ts";
import { startTestServer, type TestServer } from "../support/app.ts";
import { readStoredBytes } from "../support/stored-bytes.ts";

const path = "/api/visitor-keys";
const name = "shop";

let server: TestServer;
let account: Account;
let api: ApiClient;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());
beforeEach(async () => {
  account = await server.createAccount({ email: `${crypto.randomUUID()}@example.com` });
  api = apiClient(server.url, (await server.createKey(account)).key);
});

async function makePair(algorithm: "ES256" | "EdDSA" | "RS256" | "ES384" = "EdDSA") {
  const pair = await generateKeyPair(algorithm, { extractable: true });
  return { publicJwk: await exportJWK(pair.publicKey), privateJwk: await exportJWK(pair.privateKey) };
}

test("makes a secret, shows it this once, and stores it sealed", async () => {
  const made = await api.call("POST", path, { name, algorithm: "HS256" }, { "idempotency-key": "one" });
  expect(made.status).toBe(201);
  expect(made.json).toEqual<unknown>({
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    name,
    algorithm: "HS256",
    metadata: null,
    public_jwk: null,
    created_at: expect.stringMatching(/Z$/),
    secret: expect.stringMatching(/^vsk_[0-9A-Za-z_-]{43}$/),
  });
  const { secret, ...shown } = made.json;
  expect((await api.call("GET", path)).json).toEqual<unknown>({ data: [shown], next_cursor: null });
  const replay = await api.call("POST", path, { name, algorithm: "HS256" }, { "idempotency-key": "one" });
  expect({ status: replay.status, json: replay.json }).toEqual<unknown>({ status: 201, json: shown });
  expect(replay.headers.get("idempotent-replayed")).toBe("true");
  expect((await readStoredBytes(server.dataDir)).includes(String(secret).slice(4))).toBe(false);
});

test.each(["ES256", "EdDSA"] as const)("takes a public key for %s, and keeps what defines it", async (algorithm) => {
  const { publicJwk } = await makePair(algorithm);
  const sent = { ...publicJwk, kid: "my own", use: "sig", alg: algorithm, key_ops: ["verify"], ext: true };
  const made = await api.call("POST", path, { name, algorithm, public_jwk: sent });
  expect(made.status).toBe(201);
  expect(made.json).toEqual<unknown>({
    id: made.json.id,
    name,
    algorithm,
    metadata: null,
    public_jwk: publicJwk,
    created_at: expect.any(String),
  });
  expect((await api.call("GET", path)).json.data).toEqual([made.json]);
});

test("refuses a private key, naming what makes it one", async () => {
  const { privateJwk } = await makePair("ES256");
  const refused = await api.call("POST", path, { name, algorithm: "ES256", public_jwk: privateJwk });
  expectInvalid(refused, ["public_jwk.d"]);
  expect(refused.text).not.toContain(String(privateJwk.d));
  const secret = { kty: "oct", k: "c2VjcmV0" };
  expectInvalid(await api.call("POST", path, { name, algorithm: "EdDSA", public_jwk: secret }), ["public_jwk.k"]);
  const rsa = (await makePair("RS256")).privateJwk;
  const members = ["d", "p", "q", "dp", "dq", "qi"].map((member) => `public_jwk.${member}`);
  expectInvalid(await api.call("POST", path, { name, algorithm: "ES256", public_jwk: rsa }), members);
});

test("refuses what is no key of that algorithm, every fault at once", async () => {
  const { publicJwk: ed } = await makePair("EdDSA");
  const { publicJwk: ec } = await makePair("ES256");
  const cases: [object, string[]][] = [
    [{ algorithm: "HS256", public_jwk: ed }, ["public_jwk"]],
    [{ algorithm: "EdDSA" }, ["public_jwk"]],
    [{ algorithm: "ES256", public_jwk: null }, ["public_jwk"]],
    [{ algorithm: "EdDSA", public_jwk: "key" }, ["public_jwk"]],
    [{ algorithm: "RS256", public_jwk: (await makePair("RS256")).publicJwk }, ["algorithm"]],
    [{ algorithm: "none" }, ["algorithm"]],
    [{}, ["algorithm"]],
    [{ algorithm: "ES256", public_jwk: ed }, ["public_jwk.kty", "public_jwk.crv", "public_jwk.y"]],
    [
      { algorithm: "EdDSA", public_jwk: { ...ec, alg: "ES256" } },
      ["public_jwk.alg", "public_jwk.kty", "public_jwk.crv"],
    ],
    [
      { algorithm: "ES256", public_jwk: (await makePair("ES384")).publicJwk },
      ["public_jwk.crv", "public_jwk.x", "public_jwk.y"],
    ],
    [{ algorithm: "EdDSA", public_jwk: { ...ed, x: `${ed.x}A` } }, ["public_jwk.x"]],
    [{ algorithm: "EdDSA", public_jwk: { ...ed, x: 7 } }, ["public_jwk.x"]],
    [{ algorithm: "HS256", colour: "red" }, ["colour"]],
    [{ algorithm: "HS256", metadata: {} }, ["metadata"]],
    [{ algorithm: "HS256", metadata: { a: 1, b: 2, c: 3, d: 4, e: 5, f: 6 } }, ["metadata"]],
    [{ algorithm: "HS256", metadata: { tenant: { id: 7 } } }, ["metadata.tenant"]],
    [{ algorithm: "none", metadata: { "a\0": 1 } }, ["algorithm", "metadata"]],
    [{ algorithm: "HS256", name: "" }, ["name"]],
    [{ algorithm: "EdDSA", name: null, public_jwk: { ...ed, crv: "Ed448" } }, ["name", "public_jwk.crv"]],
  ];
  for (const [body, params] of cases) expectInvalid(await api.call("POST", path, { name, ...body }), params);
  expect((await api.call("GET", path)).json.data).toEqual([]);
});

test("keys of EdDSA that anybody can sign for are refused, and so are points that are none", async () => {
  const { publicJwk: jwk } = await makePair("EdDSA");
  const send = (hex: string) => {
    const x = Buffer.from(hex, "hex").toString("base64url");
    return api.call("POST", path, { name, algorithm: "EdDSA", public_jwk: { ...jwk, x } });
  };
  const [first, last] = [
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03",
  ];
  const weak = [
    ...["00", "01"].flatMap((byte) => [`${byte}${"00".repeat(31)}`, `${byte}${"00".repeat(30)}80`]),
    // p - 1, and 0 and 1 as p and p + 1.
    ...["ec", "ed", "ee"].flatMap((byte) => [`${byte}${"ff".repeat(30)}7f`, `${byte}${"ff".repeat(31)}`]),
    ...[`${first}05`, `${first}85`, `${last}7a`, `${last}fa`],
  ];
  expect(weak).toHaveLength(14);
  for (const hex of weak) expectInvalid(await send(hex), ["public_jwk.x"]);
  for (const hex of [`02${"00".repeat(31)}`, "ff".repeat(32)]) expectInvalid(await send(hex), ["public_jwk"]);
  for (let pair = 0; pair < 2; pair++) {
    const { publicJwk } = await makePair("EdDSA");
    expect((await api.call("POST", path, { name, algorithm: "EdDSA", public_jwk: publicJwk })).status).toBe(201);
  }
});

test("a point that is on no curve leaves nothing behind for the next use of another key", async () => {
  const { publicJwk: jwk } = await makePair("ES256");
  const beyond = Buffer.alloc(32, 255).toString("base64url");
  const points = [
    { y: jwk.x },
    { x: "A".repeat(43), y: "A".repeat(43) },
    { x: beyond, y: beyond },
    { x: jwk.y, y: jwk.x },
  ];
  for (const point of points) {
    const sent = { name, algorithm: "ES256", public_jwk: { ...jwk, ...point } };
    expectInvalid(await api.call("POST", path, sent), ["public_jwk"]);
    // Bun fails here with an error that an import has left behind.
    expect(new Bun.CryptoHasher("sha256", "secret").update("words").digest("hex")).toMatch(/^[0-9a-f]{64}$/);
  }
});

test("two keys live at most, and a third waits until one is revoked", async () => {
  const make = () => api.call("POST", path, { name, algorithm: "HS256" });
  const ids = [(await make()).json.id, (await make()).json.id];
  expectProblem(await make(), 409, "conflict");
  expect((await api.call("GET", path)).json.data.map(({ id }) => id)).toEqual(ids.toReversed());
  expect((await api.call("DELETE", `${path}/${ids[0]?.toUpperCase()}`)).status).toBe(204);
  expectProblem(await api.call("DELETE", `${path}/${ids[0]}`), 404, "not_found");
  const third = await make();
  expect(third.status).toBe(201);
  expect((await api.call("GET", `${path}?limit=1`)).json.data.map(({ id }) => id)).toEqual([third.json.id]);
  const { data } = (await api.call("GET", "/api/audit")).json;
  const entries = data.filter(({ action }) => String(action).startsWith("visitor_key."));
  expect(entries.map(({ action }) => action)).toEqual([
    "visitor_key.create",
    "visitor_key.revoke",
    "visitor_key.create",
    "visitor_key.create",
  ]);
  expect(JSON.stringify(entries)).not.toContain("vsk_");
});

test("a secret of one's own is refused, since the server makes it", async () => {
  const refused = await api.call("POST", path, { name, algorithm: "HS256", secret: `vsk_${"A".repeat(43)}` });
  expect(expectInvalid(refused, ["secret"]).json.errors[0]?.detail).toContain("server makes");
  expect((await api.call("GET", path)).json.data).toEqual([]);
});

test("each customer's metadata has two keys of its own, however the same metadata is written", async () => {
  const make = (metadata: object | null) => api.call("POST", path, { name, algorithm: "HS256", metadata });
  const filter = { "tenant.id": "7", plan: "pro" };
  const [first, second] = [await make(filter), await make({ plan: "pro", "tenant.id": 7 })];
  expect([first.json.metadata, second.json.metadata]).toEqual<unknown[]>([filter, { plan: "pro", "tenant.id": 7 }]);
  expectProblem(await make(filter), 409, "conflict");
  for (const metadata of [{ "tenant.id": "8", plan: "pro" }, null]) expect((await make(metadata)).status).toBe(201);
  const { data } = (await api.call("GET", `${path}?order=asc`)).json;
  expect(data.map(({ metadata }) => metadata)).toEqual([
    filter,
    second.json.metadata,
    { ...filter, "tenant.id": "8" },
    null,
  ]);
  const { data: trail } = (await api.call("GET", "/api/audit?order=asc")).json;
  const made = trail.filter(({ action }) => action === "visitor_key.create");
  expect(made.map(({ details }) => Object(details).metadata)[0]).toBe(JSON.stringify(filter));
});

test("of three that are made at once, two live", async () => {
  const made = await Promise.all([1, 2, 3].map(() => api.call("POST", path, { name, algorithm: "HS256" })));
  expect(made.map(({ status }) => status).toSorted()).toEqual([201, 201, 409]);
  expect((await api.call("GET", path)).json.data).toHaveLength(2);
});

test("another account neither sees nor revokes them", async () => {
  const { id } = (await api.call("POST", path, { name, algorithm: "HS256" })).json;
  const stranger = apiClient(server.url, (await server.createKey(await server.createAccount())).key);
  expect((await stranger.call("GET", path)).json.data).toEqual([]);
  expectProblem(await stranger.call("DELETE", `${path}/${id}`), 404, "not_found");
  expectProblem(await stranger.call("DELETE", `${path}/nonsense`), 404, "not_found");
  expect((await api.call("GET", path)).json.data).toHaveLength(1);
});

test.each([
  ["GET", path, "keys:write"],
  ["POST", path, "keys:read"],
  ["DELETE", `${path}/nonsense`, "keys:read"],
] as const)("%s %s needs its own scope", async (method, target, scope: Scope) => {
  const { key } = await server.createKey(account, [scope]);
  expectProblem(await apiClient(server.url, key).call(method, target), 403, "insufficient_scope");
  expectProblem(await apiClient(server.url, null).call(method, target), 401, "unauthorized");
});

test("a companion's fields say whether its visitors are verified, and how much each may say", async () => {
  const made = await api.call("POST", "/api/companions", { name: "Ada" });
  expect(made.json).toMatchObject({ visitor_auth: "off", daily_per_visitor: null });
  const companion = `/api/companions/${made.json.id}`;
  const changed = await api.call("PATCH", companion, { visitor_auth: "required", daily_per_visitor: 10_000 });
  expect(changed.json).toMatchObject({ visitor_auth: "required", daily_per_visitor: 10_000 });
  expect((await api.call("GET", companion)).json).toMatchObject({
    visitor_auth: "required",
    daily_per_visitor: 10_000,
  });
  const config = await fetch(`${server.url}/api/embed/${made.json.embed_token}`);
  expect(await config.text()).not.toMatch(/visitor/);
  const cleared = await api.call("PATCH", companion, { visitor_auth: null, daily_per_visitor: null });
  expect(cleared.json).toMatchObject({ visitor_auth: "off", daily_per_visitor: null });
  for (const body of [{ visitor_auth: "on" }, { visitor_auth: true }, { visitor_auth: "" }]) {
    const refused = expectInvalid(await api.call("PATCH", companion, body), ["visitor_auth"]);
    expect(refused.json.errors[0]?.detail).toBe("Must be one of: off, optional, required.");
  }
  for (const limit of [0, 10_001, 1.5, "5"]) {
    expectInvalid(await api.call("PATCH", companion, { daily_per_visitor: limit }), ["daily_per_visitor"]);
  }
});
