/** Members: invited, joined with a link, changed and removed, each with a sign-in of their own. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { apiClient, expectInvalid, expectProblem } from "../support/api-client.ts";
import { startTestServer, type TestServer } from "../support/app.ts";
import {
  cookieOf,
  createAccountWithPassword,
  type Dashboard,
  openDashboard,
  openMemberDashboard,
  quickSignIns,
  testPassword,
  withCookie,
} from "../support/dashboard.ts";
import { createManualClock } from "../support/manual-clock.ts";

let server: TestServer;
let owner: Dashboard;
const clock = createManualClock();

beforeAll(async () => {
  server = await startTestServer({ clock, signInPace: quickSignIns });
  owner = await openDashboard(server, { email: "owner@shop.example", role: "operator", plan: "paid" });
});
afterAll(() => server.close());

let invited = 0;
async function invite(fields: object = {}, by: Dashboard = owner, headers: Record<string, string> = {}) {
  const sent = { email: `Member${++invited}@shop.example`, name: "Grace", role: "responder", ...fields };
  return by.call("POST", "/api/members", sent, headers);
}

const secretOf = (url: unknown) => String(url).split("#")[1] ?? "";

function post(path: string, body: object) {
  // A minute between attempts, so that the address's limit stays out of it.
  clock.advance(60_000);
  return apiClient(server.url, null).call("POST", path, body);
}

const accept = (url: unknown, fields: object = {}) =>
  post("/api/session/invitation", { secret: secretOf(url), password: testPassword, ...fields });

test("an owner invites, and the link signs in once, to the same account", async () => {
  const made = await invite({ email: "Grace@Shop.example" });
  expect(made.status).toBe(201);
  expect(made.json).toMatchObject({
    ...{ email: "grace@shop.example", name: "Grace", role: "responder", companion_ids: null, joined_at: null },
    notify: { mail: true, words: false },
  });
  expect(made.json.url).toContain("/app/invitation#");
  const { data } = (await owner.call("GET", "/api/members")).json;
  expect(data[0]).toMatchObject({ id: owner.account.id, email: "owner@shop.example", name: null, role: "owner" });
  expect(data[1]).toMatchObject({ id: made.json.id, joined_at: null });
  expect(JSON.stringify(data)).not.toContain(secretOf(made.json.url));

  const joined = await accept(made.json.url);
  expect(joined.status).toBe(201);
  expect(joined.json).toMatchObject({
    account: { id: owner.account.id, email: "grace@shop.example", role: "owner" },
    member: { id: made.json.id, name: "Grace", role: "responder", companion_ids: null },
    scopes: ["companions:read", "conversations:read", "conversations:reply", "knowledge:read"],
  });
  const grace = withCookie(server.url, cookieOf(joined.headers));
  expect((await grace.call("GET", "/api/members/me")).json).toMatchObject({ id: made.json.id, role: "responder" });
  expectProblem(await accept(made.json.url), 404, "not_found");

  const signedIn = await post("/api/session", { email: "GRACE@shop.example", password: testPassword });
  expect(signedIn.json).toMatchObject({ member: { id: made.json.id } });
});

test("a link is shown once: not in a replay, and a newer one ends it", async () => {
  const headers = { "idempotency-key": "invite once" };
  const made = await invite({ email: "once@shop.example" }, owner, headers);
  const again = await invite({ email: "once@shop.example" }, owner, headers);
  expect(again.json).toMatchObject({ id: made.json.id });
  expect(again.json.url).toBeUndefined();
  const newer = await owner.call("POST", `/api/members/${made.json.id}/link`);
  expect(newer.status).toBe(201);
  const weekMs = 7 * 86_400_000;
  expect(Date.parse(String(newer.json.expires_at))).toBe(clock.nowMs() + weekMs);
  expectProblem(await accept(made.json.url), 404, "not_found");
  clock.advance(weekMs);
  expectProblem(await accept(newer.json.url), 404, "not_found");
  // A session that nobody uses is over by then.
  owner = await openDashboard(server, {}, owner.account);
  const last = await owner.call("POST", `/api/members/${made.json.id}/link`);
  expect((await accept(last.json.url)).status).toBe(201);
});

test("whose address signs in already, is told so at the link, and not to whoever invites", async () => {
  const other = await createAccountWithPassword(server, { email: "taken@shop.example" });
  const made = await invite({ email: other.email });
  expect(made.status).toBe(201);
  expectProblem(await accept(made.json.url), 409, "conflict");
  expectProblem(await accept(made.json.url), 409, "conflict");
  const signedIn = await post("/api/session", { email: other.email, password: testPassword });
  expect(signedIn.json).toMatchObject({ account: { id: other.id }, member: null });
  const joined = await invite({ email: "joined@shop.example" });
  await accept(joined.json.url);
  const account = await owner.call("POST", "/api/accounts", { email: "joined@shop.example" });
  expectInvalid(account, ["email"]);
});

test("who has joined gets another password with a link, and their second factor stays", async () => {
  const grace = await openMemberDashboard(server, owner);
  const link = await owner.call("POST", `/api/members/${grace.member.id}/link`);
  const changed = await accept(link.json.url, { password: "another good password" });
  expect(changed.status).toBe(201);
  expectProblem(await grace.call("GET", "/api/session"), 401, "unauthorized");
  expectProblem(await post("/api/session", { email: grace.member.email, password: testPassword }), 401, "unauthorized");
  expect((await owner.call("GET", "/api/session")).status).toBe(200);
  expectProblem(await owner.call("POST", `/api/members/${owner.account.id}/link`), 409, "conflict");
});

test("password and sessions are each person's own", async () => {
  const grace = await openMemberDashboard(server, owner);
  const { data } = (await grace.call("GET", "/api/sessions")).json;
  expect(data.map(({ id }) => id)).toEqual([grace.sessionId]);
  expectProblem(await grace.call("DELETE", `/api/sessions/${owner.sessionId}`), 404, "not_found");
  expectProblem(await owner.call("DELETE", `/api/sessions/${grace.sessionId}`), 404, "not_found");
  const change = { current_password: testPassword, new_password: "another good password" };
  expect((await grace.call("POST", "/api/session/password", change)).status).toBe(204);
  const signedIn = await post("/api/session", { email: grace.member.email, password: change.new_password });
  expect(signedIn.status).toBe(201);
});

test("everyone sets their own name and notifications, and nobody their own role or companions", async () => {
  const grace = await openMemberDashboard(server, owner, { role: "owner" });
  const set = await grace.call("PATCH", "/api/members/me", { name: "Grace H.", notify: { words: true } });
  expect(set.json).toMatchObject({ name: "Grace H.", notify: { mail: true, words: true } });
  expectInvalid(await grace.call("PATCH", "/api/members/me", { name: "x".repeat(61) }), ["name"]);
  expect((await owner.call("PATCH", "/api/members/me", { name: "Ada" })).json).toMatchObject({
    id: owner.account.id,
    name: "Ada",
  });
  expectInvalid(await grace.call("PATCH", `/api/members/${grace.member.id}`, { role: "responder" }), ["role"]);
  expectInvalid(await grace.call("PATCH", `/api/members/${grace.member.id}`, { companion_ids: [] }), ["companion_ids"]);
  expectInvalid(await grace.call("PATCH", `/api/members/${owner.account.id}`, { role: "responder" }), ["role"]);
  const changed = await owner.call("PATCH", `/api/members/${grace.member.id}`, { role: "responder" });
  expect(changed.json).toMatchObject({ role: "responder" });
  expectProblem(await grace.call("GET", "/api/members"), 403, "insufficient_scope");
});

test("the account's own sign-in stays, and a removed member is out with the next request", async () => {
  const grace = await openMemberDashboard(server, owner, { role: "owner" });
  expectProblem(await grace.call("DELETE", `/api/members/${owner.account.id}`), 409, "conflict");
  expect((await owner.call("DELETE", `/api/members/${grace.member.id}`)).status).toBe(204);
  expectProblem(await grace.call("GET", "/api/companions"), 401, "unauthorized");
  expectProblem(await owner.call("DELETE", `/api/members/${grace.member.id}`), 404, "not_found");
  const { data } = (await owner.call("GET", "/api/members")).json;
  expect(data.map(({ id }) => id)).not.toContain(grace.member.id);
});

test("members of another account do not exist", async () => {
  const stranger = await openDashboard(server);
  const grace = await openMemberDashboard(server, owner);
  for (const [method, path] of [
    ["PATCH", `/api/members/${grace.member.id}`],
    ["DELETE", `/api/members/${grace.member.id}`],
    ["POST", `/api/members/${grace.member.id}/link`],
  ] as const) {
    expectProblem(
      await stranger.call(method, path, method === "PATCH" ? { name: "Mine" } : undefined),
      404,
      "not_found",
    );
  }
  const foreign = await openDashboard(server);
  const companion = (await foreign.call("POST", "/api/companions", { name: "Ada" })).json.id;
  expectInvalid(await invite({ companion_ids: [companion] }), ["companion_ids"]);
});

test("an account has as many members as its plan allows, and its own sign-in is none of them", async () => {
  const full = await openDashboard(server);
  for (let number = 0; number < 5; number++) expect((await invite({}, full)).status).toBe(201);
  expectProblem(await invite({}, full), 403, "limit_reached");
  expect((await full.call("GET", "/api/members")).json.data).toHaveLength(6);
  const first = (await full.call("GET", "/api/members?limit=4")).json;
  expect(first.data[0]?.id).toBe(full.account.id);
  const rest = (await full.call("GET", `/api/members?limit=4&cursor=${first.next_cursor}`)).json;
  expect([...first.data, ...rest.data].map(({ id }) => id)).toHaveLength(6);
});

test("only owners manage members, and keys do not", async () => {
  const grace = await openMemberDashboard(server, owner);
  expectProblem(await invite({}, grace), 403, "insufficient_scope");
  const key = apiClient(server.url, (await server.createKey(owner.account)).key);
  expectProblem(await key.call("GET", "/api/members"), 403, "insufficient_scope");
  expectProblem(await key.call("GET", "/api/members/me"), 403, "insufficient_scope");
});

test("being an operator is the account's own sign-in alone", async () => {
  const grace = await openMemberDashboard(server, owner, { role: "owner" });
  expect((await owner.call("GET", "/api/accounts")).status).toBe(200);
  expectProblem(await grace.call("GET", "/api/accounts"), 403, "insufficient_scope");
});

test("the audit names the member who did something", async () => {
  const grace = await openMemberDashboard(server, owner, { role: "owner", name: "Grace" });
  await grace.call("POST", "/api/companions", { name: "Hers" });
  await owner.call("POST", "/api/companions", { name: "His" });
  const { data } = (await owner.call("GET", "/api/audit?limit=1000")).json;
  const actors = data.filter(({ action }) => action === "companion.create").map(({ actor }) => actor);
  expect(actors.slice(0, 2)).toMatchObject([
    { kind: "session", id: owner.sessionId, member_id: null, name: expect.any(String) },
    { kind: "session", id: grace.sessionId, member_id: grace.member.id, name: "Grace" },
  ]);
});

test("an owner for some companions gives nobody more than that", async () => {
  const [own, other] = [await newCompanion("Own"), await newCompanion("Other")];
  const limited = await openMemberDashboard(server, owner, { role: "owner", companionIds: [own] });
  const wide = await openMemberDashboard(server, owner);
  expectProblem(await invite({}, limited), 403, "insufficient_scope");
  expectInvalid(await invite({ companion_ids: [other] }, limited), ["companion_ids"]);
  const made = await invite({ companion_ids: [own], role: "owner" }, limited);
  expect(made.status).toBe(201);
  expectProblem(await limited.call("POST", `/api/members/${wide.member.id}/link`), 403, "insufficient_scope");
  expectProblem(await limited.call("DELETE", `/api/members/${wide.member.id}`), 403, "insufficient_scope");
  const narrowing = { companion_ids: [own] };
  expectProblem(await limited.call("PATCH", `/api/members/${wide.member.id}`, narrowing), 403, "insufficient_scope");
  expect((await limited.call("DELETE", `/api/members/${made.json.id}`)).status).toBe(204);
});

async function newCompanion(name: string): Promise<string> {
  return (await owner.call("POST", "/api/companions", { name })).json.id;
}
