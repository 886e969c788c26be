/** Second factors of members: their own, beside that of the account's owner. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { Secret, TOTP } from "otpauth";
import { apiClient, expectProblem } from "../support/api-client.ts";
import { startTestServer, type TestServer } from "../support/app.ts";
import {
  type Dashboard,
  type MemberDashboard,
  openDashboard,
  openMemberDashboard,
  quickSignIns,
  testPassword,
} from "../support/dashboard.ts";
import { createManualClock } from "../support/manual-clock.ts";

let server: TestServer;
let owner: Dashboard;
const clock = createManualClock();
beforeAll(async () => {
  server = await startTestServer({ clock, signInPace: quickSignIns });
  owner = await openDashboard(server);
});
afterAll(() => server.close());

/** So that the address's limit stays out of it. */
const betweenMs = 60_000;
function post(path: string, body: object) {
  clock.advance(betweenMs);
  return apiClient(server.url, null).call("POST", path, body);
}

async function setUp(member: MemberDashboard) {
  const begun = await member.call("POST", "/api/session/totp");
  expect(String(begun.json.otpauth_url)).toContain(encodeURIComponent(member.member.email));
  const app = new TOTP({ secret: Secret.fromBase32(String(begun.json.secret)) });
  const codeAt = (timestamp: number) => app.generate({ timestamp });
  const confirmed = await member.call("POST", "/api/session/totp/confirm", { code: codeAt(clock.nowMs()) });
  expect(confirmed.status).toBe(201);
  // As the app shows it when `post` sends it.
  const code = () => codeAt(clock.nowMs() + betweenMs);
  return { code, recoveryCodes: confirmed.json.recovery_codes as string[] };
}

test("a member sets one up for themselves, and signs in with it or a recovery code", async () => {
  const grace = await openMemberDashboard(server, owner);
  const { code, recoveryCodes } = await setUp(grace);
  expect((await grace.call("GET", "/api/session")).json).toMatchObject({
    totp: { is_on: true, recovery_codes_left: 10 },
  });
  expect((await owner.call("GET", "/api/session")).json).toMatchObject({ totp: { is_on: false } });
  expect((await owner.call("GET", "/api/members")).json.data).toMatchObject([{ has_totp: false }, { has_totp: true }]);
  const signIn = { email: grace.member.email, password: testPassword };
  expectProblem(await post("/api/session", signIn), 401, "totp_required");
  expect((await post("/api/session", { ...signIn, totp: code() })).status).toBe(201);
  expect((await post("/api/session", { ...signIn, totp: recoveryCodes[0] })).status).toBe(201);
  expectProblem(await post("/api/session", { ...signIn, totp: recoveryCodes[0] }), 401, "totp_required");
  const off = await grace.call("DELETE", "/api/session/totp", { password: testPassword });
  expect(off.status).toBe(204);
  expect((await post("/api/session", signIn)).status).toBe(201);
});

test("a new link replaces only the password: the code is asked for, and the link stays until it is right", async () => {
  const grace = await openMemberDashboard(server, owner);
  const { code } = await setUp(grace);
  const { url } = (await owner.call("POST", `/api/members/${grace.member.id}/link`)).json;
  const sent = { secret: String(url).split("#")[1], password: "another good password" };
  expectProblem(await post("/api/session/invitation", sent), 401, "totp_required");
  expectProblem(await post("/api/session/invitation", { ...sent, totp: "000000" }), 401, "totp_required");
  expect((await post("/api/session/invitation", { ...sent, totp: code() })).status).toBe(201);
  expectProblem(await post("/api/session", { email: grace.member.email, password: testPassword }), 401, "unauthorized");
});

test.each([
  ["all", 401],
  ["operators", 200],
] as const)("where %s must have one, a member without it gets %d", async (requirement, status) => {
  const strict = await startTestServer({ environment: { COMPANIOND_REQUIRE_TOTP: requirement } });
  const operator = await openDashboard(strict, { role: "operator" });
  const grace = await openMemberDashboard(strict, operator, { role: "owner" });
  expect((await grace.call("GET", "/api/companions")).status).toBe(status);
  expect((await operator.call("GET", "/api/companions")).status).toBe(401);
  expect((await grace.call("GET", "/api/session")).status).toBe(200);
  expect((await grace.call("POST", "/api/session/totp")).status).toBe(201);
  await strict.close();
});
