/** Set-up and reset links: spent once, by a POST alone. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type LinkPurpose, makeOneTimeLink } from "../../src/domain/one-time-link.ts";
import { apiClient, expectInvalid, expectProblem } from "../support/api-client.ts";
import { startTestServer, type TestServer, testContext } from "../support/app.ts";
import { cookieOf, createAccountWithPassword, openDashboard, testPassword, withCookie } from "../support/dashboard.ts";
import { createManualClock } from "../support/manual-clock.ts";

let server: TestServer;
const clock = createManualClock();

beforeAll(async () => {
  server = await startTestServer({ clock });
});
afterAll(() => server.close());

/** The secret, as it stands in the link's fragment. */
async function issueLink(purpose: LinkPurpose): Promise<string> {
  const { kept, path } = makeOneTimeLink(purpose, server.services.ids, clock);
  await server.services.store.sessions.createLink(kept);
  return path.split("#")[1] ?? "";
}

function post(path: string, body: unknown) {
  // A minute between attempts, so that the address's limit stays out of it.
  clock.advance(60_000);
  return apiClient(server.url, null).call("POST", path, body);
}

const setUp = (secret: string, email: string, password = testPassword) =>
  post("/api/session/set-up", { secret, email, password });
const reset = (secret: string, password: string) => post("/api/session/password-reset", { secret, password });

test("a set-up link makes an operator and signs in, once", async () => {
  const secret = await issueLink({ kind: "setup", accountId: null });
  const answer = await setUp(secret, "Operator@Example.com");
  expect(answer.status).toBe(201);
  expect(answer.json).toMatchObject({ account: { email: "operator@example.com", role: "operator" } });
  expect((await withCookie(server.url, cookieOf(answer.headers)).call("GET", "/api/accounts")).status).toBe(200);
  expectProblem(await setUp(secret, "second@example.com"), 404, "not_found");
  expect(await server.services.store.accounts.findByEmail("second@example.com")).toBeNull();
});

test("two at once with one link make one account", async () => {
  const secret = await issueLink({ kind: "setup", accountId: null });
  const answers = await Promise.all([setUp(secret, "one@example.com"), setUp(secret, "two@example.com")]);
  expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 404]);
});

test("a mistake in the form does not use the link up", async () => {
  const taken = await server.createAccount();
  const secret = await issueLink({ kind: "setup", accountId: null });
  expectInvalid(await setUp(secret, "no address", "short"), ["email", "password"]);
  expectInvalid(await setUp(secret, taken.email), ["email"]);
  expect((await setUp(secret, "corrected@example.com")).status).toBe(201);
});

test("whoever has no link learns nothing of the accounts", async () => {
  const taken = await server.createAccount();
  expectProblem(await setUp("a".repeat(43), taken.email), 404, "not_found");
  expectProblem(await setUp("../../etc", taken.email), 404, "not_found");
});

test("links end after thirty minutes", async () => {
  const secret = await issueLink({ kind: "setup", accountId: null });
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
  const answer = await reset(secret, "a new password");
  expect(answer.status).toBe(201);
  expect(answer.json).toMatchObject({ account: { id: account.id } });
  expectProblem(await before.call("GET", "/api/session"), 401, "unauthorized");
  expect((await withCookie(server.url, cookieOf(answer.headers)).call("GET", "/api/session")).status).toBe(200);

  const signIn = (password: string) => post("/api/session", { email: account.email, password });
  expectProblem(await signIn(testPassword), 401, "unauthorized");
  expect((await signIn("a new password")).status).toBe(201);
  expectProblem(await reset(secret, "yet another password"), 404, "not_found");
});

test("a suspended account gets its new password, but no session", async () => {
  const account = await createAccountWithPassword(server);
  await server.services.store.accounts.update(account.id, { suspendedAt: clock.nowMs() }, testContext());
  const secret = await issueLink({ kind: "reset", accountId: account.id });
  const answer = expectProblem(await reset(secret, "a new password"), 401, "unauthorized");
  expect(answer.headers.getSetCookie()).toEqual([]);
  expect(await server.services.store.sessions.list(account.id)).toEqual([]);
});

test("a later link replaces the earlier one of the account", async () => {
  const account = await server.createAccount();
  const first = await issueLink({ kind: "reset", accountId: account.id });
  const second = await issueLink({ kind: "reset", accountId: account.id });
  expectProblem(await reset(first, "a new password"), 404, "not_found");
  expect((await reset(second, "a new password")).status).toBe(201);
});

test("opening a link's address spends nothing: there is no such GET", async () => {
  const answer = await apiClient(server.url, null).call("GET", "/api/session/set-up");
  expectProblem(answer, 405, "method_not_allowed");
  expect(answer.headers.get("allow")).toBe("POST");
});
