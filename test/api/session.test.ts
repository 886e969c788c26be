/** Signing in to the dashboard, and what its cookie opens. */
import { afterAll, beforeAll, describe, expect, spyOn, test } from "bun:test";
import { systemIds } from "../../src/lib/ids.ts";
import { apiClient, expectInvalid, expectProblem } from "../support/api-client.ts";
import { startTestServer, type TestServer, testContext } from "../support/app.ts";
import { cookieOf, createAccountWithPassword, openDashboard, testPassword, withCookie } from "../support/dashboard.ts";
import { createManualClock } from "../support/manual-clock.ts";
import { readStoredBytes } from "../support/stored-bytes.ts";

let server: TestServer;
const clock = createManualClock(Date.parse("2026-03-01T12:00:00Z"));
const dayMs = 86_400_000;

beforeAll(async () => {
  // Each test comes from an address of its own, so that none uses up another's sign-ins.
  server = await startTestServer({ clock, environment: { COMPANIOND_TRUST_PROXY: "1" } });
});
afterAll(() => server.close());

let addresses = 0;
function nextAddress(): Record<string, string> {
  addresses++;
  return { "x-forwarded-for": `198.51.100.${addresses}`, "x-forwarded-host": "localhost:3000" };
}

function signIn(email: string, password: string, headers = nextAddress()) {
  return apiClient(server.url, null).call("POST", "/api/session", { email, password }, headers);
}

test("signs in with the password, and the cookie is a principal from then on", async () => {
  const account = await createAccountWithPassword(server);
  const response = await signIn(account.email.toUpperCase(), testPassword);
  expect(response.status).toBe(201);
  expect(response.json).toMatchObject({
    account: { id: account.id, email: account.email, role: "owner", suspended_at: null },
    session: { is_current: true, ip: expect.stringMatching(/^198\.51\.100\.0\/24$/) },
  });
  expect(response.headers.get("cache-control")).toBe("no-store");

  const browser = withCookie(server.url, cookieOf(response.headers));
  const made = await browser.call("POST", "/api/companions", { name: "Ada" });
  expect(made.status).toBe(201);
  expect(made.json.created_by_key_id).toBeNull();
  expect((await browser.call("GET", "/api/session")).json).toMatchObject({ account: { id: account.id } });
});

test("the cookie is HttpOnly, SameSite=Lax, for the whole site, and unlike any before", async () => {
  const account = await createAccountWithPassword(server);
  const before = `companiond_session=${"a".repeat(43)}`;
  const response = await signIn(account.email, testPassword, { ...nextAddress(), cookie: before });
  expect(response.headers.getSetCookie()).toEqual([
    expect.stringMatching(/^companiond_session=[0-9A-Za-z]{43}; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Lax$/),
    expect.stringMatching(
      /^companiond_device=[\w.]{101}; Path=\/api\/session; Max-Age=34560000; HttpOnly; SameSite=Strict$/,
    ),
  ]);
  expect(cookieOf(response.headers)).not.toBe(before);
});

test("a sign-in at a browser that was signed in ends the session before", async () => {
  const account = await createAccountWithPassword(server);
  const first = cookieOf((await signIn(account.email, testPassword)).headers);
  const second = await signIn(account.email, testPassword, { ...nextAddress(), cookie: first });
  expect(second.status).toBe(201);
  expectProblem(await withCookie(server.url, first).call("GET", "/api/session"), 401, "unauthorized");
  expect((await withCookie(server.url, cookieOf(second.headers)).call("GET", "/api/session")).status).toBe(200);
});

test("keeps neither password nor token, only their hashes", async () => {
  const account = await createAccountWithPassword(server);
  const response = await signIn(account.email, testPassword);
  const token = cookieOf(response.headers).split("=")[1] ?? "none";
  const stored = await readStoredBytes(server.dataDir);
  expect(stored).toContain(account.email);
  expect(stored.includes(token)).toBe(false);
  expect(stored.includes(testPassword)).toBe(false);
  expect(server.log.text()).not.toContain(token);
  const access = await server.services.store.sessions.findAccess(account.email);
  expect(access?.passwordHash).toStartWith("$argon2id$v=19$");
});

describe("answers the same for", () => {
  test("an unknown account, a wrong password, an account without one, and a suspended one", async () => {
    const account = await createAccountWithPassword(server);
    const bare = await server.createAccount();
    const suspended = await createAccountWithPassword(server);
    await server.services.store.accounts.update(
      suspended.id,
      { suspendedAt: 1 },
      {
        actor: { kind: "cli", id: null, ipPrefix: null, requestId: null },
        nowMs: 1,
        auditId: server.services.ids.uuid(),
      },
    );
    const responses = [
      await signIn("nobody@example.com", testPassword),
      await signIn("no address at all", testPassword),
      await signIn(account.email, "wrong password"),
      await signIn(account.email, ""),
      await signIn(bare.email, ""),
      await signIn(suspended.email, testPassword),
    ];
    const bodies = responses.map((response) => {
      expectProblem(response, 401, "unauthorized");
      expect(response.headers.getSetCookie()).toEqual([]);
      const { request_id, ...rest } = response.json;
      return JSON.stringify(rest);
    });
    expect(new Set(bodies).size).toBe(1);
  });
});

test("refuses bad bodies with every field at fault", async () => {
  const anyone = apiClient(server.url, null);
  const send = (body: unknown, headers = {}) =>
    anyone.call("POST", "/api/session", body, { ...nextAddress(), ...headers });
  expectInvalid(await send({ email: 1, extra: true }), ["email", "password", "extra"]);
  expectProblem(await send("{"), 400, "invalid_request");
  expectProblem(await send("[]"), 400, "invalid_request");
  expectProblem(await send("{}", { "content-type": "text/plain" }), 415, "unsupported_media_type");
  // Also where a cookie asks to be looked at before the address is: nothing large is read for that.
  const device = { cookie: `companiond_device=${"a".repeat(22)}.1.${"0".repeat(64)}` };
  for (const headers of [{}, device]) {
    expectProblem(await send(`{"email":"${"a".repeat(70_000)}"}`, headers), 413, "payload_too_large");
  }
});

describe("the session ends", () => {
  test("when signed out, with a cookie that clears itself", async () => {
    const dashboard = await openDashboard(server);
    const response = await dashboard.call("DELETE", "/api/session");
    expect(response.status).toBe(204);
    expect(response.headers.getSetCookie()).toEqual(["companiond_session=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax"]);
    expectProblem(await dashboard.call("GET", "/api/session"), 401, "unauthorized");
  });

  test("after seven idle days, each request beginning them anew", async () => {
    const dashboard = await openDashboard(server);
    clock.advance(6 * dayMs);
    expect((await dashboard.call("GET", "/api/session")).status).toBe(200);
    await server.services.uses.flush();
    clock.advance(6 * dayMs);
    expect((await dashboard.call("GET", "/api/session")).status).toBe(200);
    await server.services.uses.flush();
    clock.advance(7 * dayMs);
    expectProblem(await dashboard.call("GET", "/api/session"), 401, "unauthorized");
    const later = await openDashboard(server, {}, dashboard.account);
    expect((await later.call("GET", "/api/sessions")).json).toMatchObject({ data: [{ id: later.sessionId }] });
  });

  test("after thirty days in any case", async () => {
    const dashboard = await openDashboard(server);
    for (let day = 0; day < 29; day += 5) {
      clock.advance(5 * dayMs - 1000);
      expect((await dashboard.call("GET", "/api/session")).status).toBe(200);
      await server.services.uses.flush();
    }
    clock.advance(6000);
    expectProblem(await dashboard.call("GET", "/api/session"), 401, "unauthorized");
  });

  test("with the account's suspension", async () => {
    const operator = await openDashboard(server, { role: "operator" });
    const dashboard = await openDashboard(server);
    const path = `/api/accounts/${dashboard.account.id}`;
    expect((await operator.call("PATCH", path, { suspended: true })).status).toBe(200);
    expectProblem(await dashboard.call("GET", "/api/companions"), 401, "unauthorized");
  });
});

test("a session that is used while the clock is set back goes on once that is set right", async () => {
  const dashboard = await openDashboard(server);
  clock.advance(-365 * dayMs);
  expect((await dashboard.call("GET", "/api/session")).status).toBe(200);
  await server.services.uses.flush();
  clock.advance(365 * dayMs);
  expect((await dashboard.call("GET", "/api/session")).status).toBe(200);
});

test("who is signed in is found without reading all sessions of the account", async () => {
  const dashboard = await openDashboard(server);
  await openDashboard(server, {}, dashboard.account);
  const list = spyOn(server.services.store.sessions, "list");
  try {
    const response = await dashboard.call("GET", "/api/session");
    expect(response.json).toMatchObject({ session: { id: dashboard.sessionId, is_current: true } });
    expect(list).not.toHaveBeenCalled();
  } finally {
    list.mockRestore();
  }
});

test("the dashboard learns whether there are prices and budgets, and that spending is stopped", async () => {
  const dashboard = await openDashboard(server);
  const { spending } = server.services.store;
  const accountId = dashboard.account.id;
  const read = async () => (await dashboard.call("GET", "/api/session")).json;
  expect(await read()).toMatchObject({
    server: { has_prices: false },
    people: { are_used: false, has_mail: false },
    spending: { is_stopped: false, has_budgets: false },
  });
  const rules = { limitMicros: 1_000_000, period: "day", action: "notify" } as const;
  await spending.createBudget(accountId, { id: systemIds.uuid(), subject: { account: true }, ...rules }, testContext());
  await spending.stop(accountId, testContext());
  expect(await read()).toMatchObject({ spending: { is_stopped: true, has_budgets: true } });
  const other = await openDashboard(server);
  expect((await other.call("GET", "/api/session")).json).toMatchObject({
    spending: { is_stopped: false, has_budgets: false },
  });
});

test("lists the account's own sessions alone, and ends one of them", async () => {
  const dashboard = await openDashboard(server);
  const other = await openDashboard(server, {}, dashboard.account);
  const stranger = await openDashboard(server);
  const listed = await dashboard.call("GET", "/api/sessions");
  expect(listed.json).toMatchObject({
    data: [
      { id: other.sessionId, is_current: false },
      { id: dashboard.sessionId, is_current: true },
    ],
    next_cursor: null,
  });
  expectProblem(await dashboard.call("DELETE", `/api/sessions/${stranger.sessionId}`), 404, "not_found");
  expectProblem(await dashboard.call("DELETE", "/api/sessions/nonsense"), 404, "not_found");
  expect((await dashboard.call("DELETE", `/api/sessions/${other.sessionId}`)).status).toBe(204);
  expectProblem(await other.call("GET", "/api/session"), 401, "unauthorized");
  expect((await stranger.call("GET", "/api/session")).status).toBe(200);
});

test("an API key does not open what belongs to the dashboard, whatever its scopes", async () => {
  const account = await server.createAccount({ role: "operator" });
  const client = apiClient(server.url, (await server.createKey(account)).key);
  for (const [method, path] of [
    ["GET", "/api/session"],
    ["DELETE", "/api/session"],
    ["GET", "/api/sessions"],
    ["POST", "/api/session/password"],
    ["GET", "/api/accounts"],
  ] as const) {
    expectProblem(await client.call(method, path), 403, "insufficient_scope");
  }
});

test("a change of password needs the current one and ends all other sessions", async () => {
  const account = await createAccountWithPassword(server);
  const here = await openDashboard(server, {}, account);
  const elsewhere = await openDashboard(server, {}, account);
  const change = (current_password: string, new_password: string) =>
    here.call("POST", "/api/session/password", { current_password, new_password }, nextAddress());

  expectInvalid(await change("wrong password", "another password"), ["current_password"]);
  expectInvalid(await change(testPassword, "short"), ["new_password"]);
  expect((await elsewhere.call("GET", "/api/session")).status).toBe(200);

  expect((await change(testPassword, "another password")).status).toBe(204);
  expect((await here.call("GET", "/api/session")).status).toBe(200);
  expectProblem(await elsewhere.call("GET", "/api/session"), 401, "unauthorized");
  expectProblem(await signIn(account.email, testPassword), 401, "unauthorized");
  expect((await signIn(account.email, "another password")).status).toBe(201);
});

test("a password typed in another Unicode form is the same password", async () => {
  const dashboard = await openDashboard(server, {}, await createAccountWithPassword(server));
  const sent = { current_password: testPassword, new_password: "caf\u00e9 au caf\u00e9" };
  expect((await dashboard.call("POST", "/api/session/password", sent, nextAddress())).status).toBe(204);
  expect((await signIn(dashboard.account.email, "cafe\u0301 au cafe\u0301")).status).toBe(201);
});
