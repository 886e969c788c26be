/** Set-up and reset links: spent once, by a POST alone. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { ownIdentity } from "../../src/domain/member.ts";
import { type LinkPurpose, makeOneTimeLink } from "../../src/domain/one-time-link.ts";
import { apiClient, expectInvalid, expectProblem } from "../support/api-client.ts";
import { startTestServer, type TestServer, testContext } from "../support/app.ts";
import { cookieOf, createAccountWithPassword, openDashboard, testPassword, withCookie } from "../support/dashboard.ts";
import { createManualClock } from "../support/manual-clock.ts";

let server: TestServer;
const clock = createManualClock();

// A new server for each: a set-up link is worth nothing where anybody has a password.
beforeEach(async () => {
  server = await startTestServer({ clock });
});
afterEach(() => server.close());

/** The secret, as it stands in the link's fragment. */
async function issueLink(purpose: LinkPurpose): Promise<string> {
  const { kept, path } = makeOneTimeLink(purpose, server.services.ids, clock);
  await server.services.store.sessions.createLink(kept, testContext(clock.nowMs()));
  return path.split("#")[1] ?? "";
}

const setupLink = () => issueLink({ kind: "setup", accountId: null });

function post(path: string, body: unknown) {
  // A minute between attempts, so that the address's limit stays out of it.
  clock.advance(60_000);
  return apiClient(server.url, null).call("POST", path, body);
}

const setUp = (secret: string, email: string, password = testPassword) =>
  post("/api/session/set-up", { secret, email, password });
const reset = (secret: string, password: string) => post("/api/session/password-reset", { secret, password });

test("a set-up link makes an operator and signs in, once", async () => {
  const secret = await setupLink();
  const response = await setUp(secret, "Operator@Example.com");
  expect(response.status).toBe(201);
  expect(response.json).toMatchObject({ account: { email: "operator@example.com", role: "operator" } });
  expect((await withCookie(server.url, cookieOf(response.headers)).call("GET", "/api/accounts")).status).toBe(200);
  expectProblem(await setUp(secret, "second@example.com"), 404, "not_found");
  expect(await server.services.store.accounts.findByEmail("second@example.com")).toBeNull();
});

test("two at once with one link make one account", async () => {
  const secret = await setupLink();
  const responses = await Promise.all([setUp(secret, "one@example.com"), setUp(secret, "two@example.com")]);
  expect(responses.map(({ status }) => status).toSorted()).toEqual([201, 404]);
});

test("a set-up link is refused once anybody has a password", async () => {
  const secret = await setupLink();
  await createAccountWithPassword(server, { role: "operator" });
  const response = expectProblem(await setUp(secret, "second@example.com"), 404, "not_found");
  expect(response.json.detail).toContain("set up already");
  expect(response.headers.getSetCookie()).toEqual([]);
  expect(await server.services.store.accounts.findByEmail("second@example.com")).toBeNull();
});

test("the owner's own change of password ends the reset links of the account", async () => {
  const account = await createAccountWithPassword(server);
  const dashboard = await openDashboard(server, {}, account);
  const secret = await issueLink({ kind: "reset", accountId: account.id });
  const change = { current_password: testPassword, new_password: "chosen by the owner" };
  expect((await dashboard.call("POST", "/api/session/password", change)).status).toBe(204);
  expectProblem(await reset(secret, "chosen by a thief"), 404, "not_found");
  const signIn = { email: account.email, password: "chosen by the owner" };
  expect((await post("/api/session", signIn)).status).toBe(201);
});

test("the person who creates a link in the dashboard is in the audit trail of its account", async () => {
  const operator = await openDashboard(server, { role: "operator" });
  const account = await server.createAccount();
  const link = await operator.call("POST", `/api/accounts/${account.id}/reset-link`);
  expect(link.status).toBe(201);
  const owner = await openDashboard(server, {}, account);
  const entries = (await owner.call("GET", "/api/audit")).json.data.filter(({ action }) => action === "link.create");
  expect(entries).toMatchObject([
    {
      action: "link.create",
      target_id: account.id,
      details: { kind: "reset" },
      actor: { kind: "operator", id: operator.sessionId, ip: "127.0.0.0/24" },
    },
  ]);
});

test("a new password is not a common one, and has ten characters", async () => {
  const secret = await setupLink();
  for (const [password, detail] of [
    ["nine char", "at least 10 characters"],
    ["Qwertyuiop", "most common passwords"],
    ["password123", "most common passwords"],
  ] as const) {
    const response = expectInvalid(await setUp(secret, "op@example.com", password), ["password"]);
    expect(response.json.errors[0]?.detail).toContain(detail);
  }
  expect((await setUp(secret, "op@example.com", "ten chars!")).status).toBe(201);
});

test("a link shows whose it is without being used; unknown, used and expired ones cannot be told apart", async () => {
  const describe = (secret: string) => post("/api/session/link", { secret });
  const account = await createAccountWithPassword(server);
  const secret = await issueLink({ kind: "reset", accountId: account.id });
  expect((await describe(secret)).json).toMatchObject({ kind: "reset", email: account.email });
  expect((await reset(secret, "a new password")).status).toBe(201);
  const late = await issueLink({ kind: "reset", accountId: account.id });
  clock.advance(30 * 60_000);
  const details = [];
  for (const gone of [secret, late, "a".repeat(43), "../../etc"]) {
    details.push(expectProblem(await describe(gone), 404, "not_found").json.detail);
  }
  expect(new Set(details).size).toBe(1);
  const setup = await setupLink();
  expect(expectProblem(await describe(setup), 404, "not_found").json.detail).toContain("set up already");
});

test("a browser that may be signed out learns who is signed in without an error", async () => {
  const account = await createAccountWithPassword(server);
  const { cookie, ...dashboard } = await openDashboard(server, {}, account);
  const current = (sent?: string) =>
    apiClient(server.url, null).call(
      "GET",
      "/api/session/current",
      undefined,
      sent === undefined ? {} : { cookie: sent },
    );
  expect((await current(cookie)).json).toMatchObject({ signed_in: { account: { id: account.id } } });
  await dashboard.call("DELETE", "/api/session");
  for (const sent of [undefined, cookie, "companiond_session=unknown"]) {
    expect(await current(sent)).toMatchObject({ status: 200, json: { signed_in: null } });
  }
});

test("a mistake in the form does not use the link up", async () => {
  const taken = await server.createAccount();
  const secret = await setupLink();
  expectInvalid(await setUp(secret, "no address", "short"), ["email", "password"]);
  expectInvalid(await setUp(secret, taken.email), ["email"]);
  expect((await setUp(secret, "corrected@example.com")).status).toBe(201);
});

test("without a link nobody learns anything about the accounts", async () => {
  const taken = await server.createAccount();
  expectProblem(await setUp("a".repeat(43), taken.email), 404, "not_found");
  expectProblem(await setUp("../../etc", taken.email), 404, "not_found");
});

test("links end after thirty minutes", async () => {
  const secret = await setupLink();
  clock.advance(30 * 60_000);
  expectProblem(await setUp(secret, "late@example.com"), 404, "not_found");
});

test("a link of one kind is none of the other, and stays good for its own", async () => {
  const account = await createAccountWithPassword(server);
  const secret = await issueLink({ kind: "reset", accountId: account.id });
  expectProblem(await setUp(secret, "sneaky@example.com"), 404, "not_found");
  expect((await reset(secret, "a new password")).status).toBe(201);
});

test("a reset link sets the password, ends every session, signs in, and works once", async () => {
  const account = await createAccountWithPassword(server);
  const before = await openDashboard(server, {}, account);
  const secret = await issueLink({ kind: "reset", accountId: account.id });
  const response = await reset(secret, "a new password");
  expect(response.status).toBe(201);
  expect(response.json).toMatchObject({ account: { id: account.id } });
  expectProblem(await before.call("GET", "/api/session"), 401, "unauthorized");
  expect((await withCookie(server.url, cookieOf(response.headers)).call("GET", "/api/session")).status).toBe(200);

  const signIn = (password: string) => post("/api/session", { email: account.email, password });
  expectProblem(await signIn(testPassword), 401, "unauthorized");
  expect((await signIn("a new password")).status).toBe(201);
  expectProblem(await reset(secret, "yet another password"), 404, "not_found");
});

test("a suspended account gets its new password, but no session", async () => {
  const account = await createAccountWithPassword(server);
  await server.services.store.accounts.update(account.id, { suspendedAt: clock.nowMs() }, testContext());
  const secret = await issueLink({ kind: "reset", accountId: account.id });
  const response = expectProblem(await reset(secret, "a new password"), 401, "unauthorized");
  expect(response.headers.getSetCookie()).toEqual([]);
  expect(await server.services.store.sessions.list(ownIdentity(account.id))).toEqual([]);
});

test("a later link replaces the earlier one of the account", async () => {
  const account = await server.createAccount();
  const first = await issueLink({ kind: "reset", accountId: account.id });
  const second = await issueLink({ kind: "reset", accountId: account.id });
  expectProblem(await reset(first, "a new password"), 404, "not_found");
  expect((await reset(second, "a new password")).status).toBe(201);
});

test("opening a link's address spends nothing: there is no such GET", async () => {
  const response = await apiClient(server.url, null).call("GET", "/api/session/set-up");
  expectProblem(response, 405, "method_not_allowed");
  expect(response.headers.get("allow")).toBe("POST");
});
