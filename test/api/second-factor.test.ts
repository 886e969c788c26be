/** The second factor: set up, asked for at every way in, lost and taken away. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { Secret, TOTP } from "otpauth";
import type { Account, Role } from "../../src/domain/account.ts";
import { makeOneTimeLink } from "../../src/domain/one-time-link.ts";
import { type ApiResponse, apiClient, expectInvalid, expectProblem } from "../support/api-client.ts";
import { startTestServer, type TestServer, testContext } from "../support/app.ts";
import {
  cookieOf,
  createAccountWithPassword,
  type Dashboard,
  openDashboard,
  quickSignIns,
  testPassword,
  withCookie,
} from "../support/dashboard.ts";
import { eventually } from "../support/eventually.ts";
import { createManualClock } from "../support/manual-clock.ts";
import { readStoredBytes } from "../support/stored-bytes.ts";

const clock = createManualClock();
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ clock, signInPace: quickSignIns, environment: { COMPANIOND_TRUST_PROXY: "1" } });
});
afterAll(() => server.close());
// A code of its own for each test, and a minute for every limit.
beforeEach(() => clock.advance(90_000));

let addresses = 0;
function post(path: string, body: unknown, cookie = "") {
  const headers = { "x-forwarded-for": `198.51.100.${++addresses % 250}`, "x-forwarded-host": "localhost:3000" };
  return apiClient(server.url, null).call("POST", path, body, cookie === "" ? headers : { ...headers, cookie });
}

const signIn = ({ email }: Account, totp?: string, password = testPassword) =>
  post("/api/session", { email, password, ...(totp === undefined ? {} : { totp }) });

interface SetUp {
  account: Account;
  dashboard: Dashboard;
  /** The cookie of the browser that set it up. */
  device: string;
  /** What the app shows, so many steps of thirty seconds from now. */
  code(steps?: number): string;
  recoveryCodes: string[];
}

async function setUp(role: Role = "owner", made?: Account): Promise<SetUp> {
  const account = made ?? (await createAccountWithPassword(server, { role }));
  const dashboard = await openDashboard(server, {}, account);
  const begun = await dashboard.call("POST", "/api/session/totp");
  expect(begun.status).toBe(201);
  const app = new TOTP({ secret: Secret.fromBase32(String(begun.json.secret)) });
  const code = (steps = 0) => app.generate({ timestamp: clock.nowMs() + steps * 30_000 });
  const confirmed = await dashboard.call("POST", "/api/session/totp/confirm", { code: code() });
  expect(confirmed.status).toBe(201);
  // The code was used: the next sign-in needs the next one.
  clock.advance(30_000);
  const device = cookieOf(confirmed.headers);
  return { account, dashboard, device, code, recoveryCodes: confirmed.json.recovery_codes as string[] };
}

const sessionOf = (response: ApiResponse) =>
  withCookie(server.url, cookieOf(response.headers)).call("GET", "/api/session");

describe("setting it up", () => {
  test("gives a secret, then ten recovery codes for a code of it, and shows neither again", async () => {
    const dashboard = await openDashboard(server, {}, await createAccountWithPassword(server));
    const elsewhere = await openDashboard(server, {}, dashboard.account);
    const begun = (await dashboard.call("POST", "/api/session/totp")).json;
    expect(String(begun.secret)).toMatch(/^[A-Z2-7]{32}$/);
    expect(String(begun.otpauth_url)).toBe(
      `otpauth://totp/companiond%20127.0.0.1:${encodeURIComponent(dashboard.account.email)}?secret=${begun.secret}` +
        "&issuer=companiond%20127.0.0.1&algorithm=SHA1&digits=6&period=30",
    );
    // Until a code was confirmed nothing is asked for.
    expect((await signIn(dashboard.account)).status).toBe(201);
    expectInvalid(await dashboard.call("POST", "/api/session/totp/confirm", { code: "000000" }), ["code"]);
    expectInvalid(await dashboard.call("POST", "/api/session/totp/confirm", { code: "words" }), ["code"]);

    const app = new TOTP({ secret: Secret.fromBase32(String(begun.secret)) });
    const shown = app.generate({ timestamp: clock.nowMs() });
    const grouped = `${shown.slice(0, 3)} ${shown.slice(3)}`;
    const confirmed = await dashboard.call("POST", "/api/session/totp/confirm", { code: grouped });
    const codes = confirmed.json.recovery_codes as string[];
    expect(new Set(codes).size).toBe(10);
    for (const code of codes) expect(code).toMatch(/^([0-9a-z]{4}-){3}[0-9a-z]{4}$/);
    expect((await dashboard.call("GET", "/api/session")).json).toMatchObject({
      account: { has_totp: true },
      totp: { is_on: true, is_required: false, recovery_codes_left: 10 },
    });
    // What was signed in without it is signed out.
    expectProblem(await elsewhere.call("GET", "/api/session"), 401, "unauthorized");
    expectProblem(await dashboard.call("POST", "/api/session/totp"), 409, "conflict");
    expectProblem(await dashboard.call("POST", "/api/session/totp/confirm", { code: shown }), 409, "conflict");
  });

  test("needs a secret to confirm, and takes the code of the last one alone", async () => {
    const dashboard = await openDashboard(server);
    expectProblem(await dashboard.call("POST", "/api/session/totp/confirm", { code: "000000" }), 409, "conflict");
    const [first, second] = [
      await dashboard.call("POST", "/api/session/totp"),
      await dashboard.call("POST", "/api/session/totp"),
    ];
    const codeOf = ({ json }: ApiResponse) =>
      new TOTP({ secret: Secret.fromBase32(String(json.secret)) }).generate({ timestamp: clock.nowMs() });
    const confirm = (code: string) => dashboard.call("POST", "/api/session/totp/confirm", { code });
    expectInvalid(await confirm(codeOf(first)), ["code"]);
    expect((await confirm(codeOf(second))).status).toBe(201);
  });

  test("keeps neither secret nor recovery codes as they are", async () => {
    const dashboard = await openDashboard(server, {}, await createAccountWithPassword(server));
    const secret = String((await dashboard.call("POST", "/api/session/totp")).json.secret);
    const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: clock.nowMs() });
    const response = (await dashboard.call("POST", "/api/session/totp/confirm", { code })).json;
    const secrets = [secret, Secret.fromBase32(secret).hex, ...(response.recovery_codes as string[])];
    const stored = (await readStoredBytes(server.dataDir)).toLowerCase();
    for (const one of secrets) {
      expect(stored.includes(one.toLowerCase()) || stored.includes(one.replaceAll("-", ""))).toBe(false);
    }
    for (const one of secrets) expect(server.log.text()).not.toContain(one);
  });

  test("is the dashboard's business: no API key opens it", async () => {
    const { key } = await server.createKey(await server.createAccount());
    const client = apiClient(server.url, key);
    expectProblem(await client.call("POST", "/api/session/totp"), 403, "insufficient_scope");
    expectProblem(await client.call("POST", "/api/session/totp/confirm", { code: "1" }), 403, "insufficient_scope");
    expectProblem(await client.call("DELETE", "/api/session/totp", { password: "1" }), 403, "insufficient_scope");
  });
});

describe("signing in", () => {
  test("asks for the code once the password is right, and takes each code once", async () => {
    const { account, code } = await setUp();
    expectProblem(await signIn(account, undefined, "wrong password"), 401, "unauthorized");
    expectProblem(await signIn(account, code(), "wrong password"), 401, "unauthorized");
    const asked = expectProblem(await signIn(account), 401, "totp_required");
    expect(asked.headers.getSetCookie()).toEqual([]);
    expect(asked.headers.get("www-authenticate")).toBe("Bearer");
    const right = await signIn(account, code());
    expect(right.status).toBe(201);
    expect((await sessionOf(right)).status).toBe(200);
    expectProblem(await signIn(account, code()), 401, "totp_required");
    // Nor one from before it, which nobody has used.
    expectProblem(await signIn(account, code(-1)), 401, "totp_required");
    expect((await signIn(account, code(1))).status).toBe(201);
  });

  test("at once with one code lets one in", async () => {
    const { account, code } = await setUp();
    const responses = await Promise.all([1, 2, 3].map(() => signIn(account, code())));
    expect(responses.map(({ status }) => status).toSorted()).toEqual([201, 401, 401]);
  });

  test.each([-2, 2])("takes no code that is %d steps away", async (steps) => {
    const { account, code } = await setUp();
    clock.advance(120_000);
    expectProblem(await signIn(account, code(steps)), 401, "totp_required");
    expect((await signIn(account, code())).status).toBe(201);
  });

  test("takes each recovery code once, however it is typed, and says how many are left", async () => {
    const { account, recoveryCodes } = await setUp();
    const other = await setUp();
    const [first = "", second = ""] = recoveryCodes;
    expectProblem(await signIn(other.account, first), 401, "totp_required");
    const response = await signIn(account, ` ${first.toUpperCase().replaceAll("-", " ").replaceAll("0", "O")} `);
    expect(response.json).toMatchObject({ totp: { is_on: true, recovery_codes_left: 9 } });
    expectProblem(await signIn(account, first), 401, "totp_required");
    expect((await signIn(account, second)).status).toBe(201);
    const browser = withCookie(server.url, cookieOf(response.headers));
    const { data } = (await browser.call("GET", "/api/audit")).json;
    expect(data.filter(({ action }) => action === "totp.recover")).toMatchObject([
      { details: { left: 8 } },
      { details: { left: 9 } },
    ]);
  });

  test("makes guessers of codes wait, and shows it in the audit trail", async () => {
    const { account, dashboard } = await setUp();
    const guess = (totp: string) =>
      apiClient(server.url, null).call(
        "POST",
        "/api/session",
        { email: account.email, password: testPassword, totp },
        { "x-forwarded-for": "203.0.113.7", "x-forwarded-host": "localhost:3000" },
      );
    for (const code of ["000000", "111111", "words", "", "0000-0000-0000-0000"]) {
      expectProblem(await guess(code), 401, "totp_required");
    }
    expectProblem(await guess("222222"), 429, "rate_limited");
    // Noted without anybody waiting for it.
    await eventually(async () => {
      const { data } = (await dashboard.call("GET", "/api/audit")).json;
      return data.filter(({ action }) => action === "session.refuse").length === 5;
    });
  });
});

test("a browser that signed in with the password alone is a stranger once there is a second factor", async () => {
  const made = await createAccountWithPassword(server);
  const before = (await signIn(made)).headers.getSetCookie().at(-1)?.split(";", 1)[0] ?? "";
  expect(before).toMatch(/^companiond_device=/);
  const { account, dashboard, device, code } = await setUp("owner", made);
  expect(device).toMatch(/^companiond_device=/);
  // Whoever has the password guesses, from everywhere: strangers wait.
  for (let guess = 0; guess < 10; guess++) expectProblem(await signIn(account, "words"), 401, "totp_required");
  const signInWith = (cookie: string, totp: string) =>
    post("/api/session", { email: account.email, password: testPassword, totp }, cookie);
  expectProblem(await signInWith(before, code()), 429, "rate_limited");
  expect((await signInWith(device, code())).status).toBe(201);

  const off = await dashboard.call("DELETE", "/api/session/totp", { password: testPassword });
  expect(cookieOf(off.headers)).toMatch(/^companiond_device=/);
});

describe("a reset link", () => {
  test("stands for the password alone: without the code it is not spent, and its account is as before", async () => {
    const { account, code } = await setUp();
    const { kept, path } = makeOneTimeLink({ kind: "reset", accountId: account.id }, server.services.ids, clock);
    await server.services.store.sessions.createLink(kept, testContext());
    const secret = path.split("#")[1];
    const reset = (totp?: string) =>
      post("/api/session/password-reset", {
        secret,
        password: "a new password",
        ...(totp === undefined ? {} : { totp }),
      });
    expectProblem(await reset(), 401, "totp_required");
    expectProblem(await reset("000000"), 401, "totp_required");
    expectProblem(await signIn(account, undefined, "a new password"), 401, "unauthorized");
    expect((await reset(code())).status).toBe(201);
    expectProblem(await signIn(account, undefined, "a new password"), 401, "totp_required");
  });
});

describe("turning it off", () => {
  test("takes the password, and the password alone signs in again", async () => {
    const { account, dashboard } = await setUp();
    const turnOff = (password: string) => dashboard.call("DELETE", "/api/session/totp", { password });
    expectInvalid(await turnOff("wrong password"), ["password"]);
    expectProblem(await signIn(account), 401, "totp_required");
    expect((await turnOff(testPassword)).status).toBe(204);
    expectProblem(await turnOff(testPassword), 404, "not_found");
    expect((await signIn(account)).json).toMatchObject({
      account: { has_totp: false },
      totp: { is_on: false, recovery_codes_left: 0 },
    });
    const actions = (await dashboard.call("GET", "/api/audit")).json.data.map(({ action }) => action);
    expect(actions.filter((action) => String(action).startsWith("totp."))).toEqual([
      "totp.disable",
      "totp.enable",
      "totp.begin",
    ]);
  });
});

describe("where the operator asks for it", () => {
  let strict: TestServer;
  beforeAll(async () => {
    strict = await startTestServer({
      clock,
      signInPace: quickSignIns,
      environment: { COMPANIOND_REQUIRE_TOTP: "operators" },
    });
  });
  afterAll(() => strict.close());

  test("an account without it can set it up and sign out, and nothing else", async () => {
    const operator = await openDashboard(strict, { role: "operator" });
    expect((await operator.call("GET", "/api/session")).json).toMatchObject({
      totp: { is_on: false, is_required: true },
    });
    for (const [method, path] of [
      ["GET", "/api/companions"],
      ["POST", "/api/companions"],
      ["GET", "/api/accounts"],
      ["GET", "/api/audit"],
      ["GET", "/api/sessions"],
      ["POST", "/api/keys"],
      ["POST", "/api/session/password"],
      ["DELETE", "/api/session/totp"],
    ] as const) {
      expectProblem(await operator.call(method, path), 401, "totp_required");
    }
    const secret = String((await operator.call("POST", "/api/session/totp")).json.secret);
    const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: clock.nowMs() });
    expect((await operator.call("POST", "/api/session/totp/confirm", { code })).status).toBe(201);
    expect((await operator.call("GET", "/api/accounts")).status).toBe(200);

    const other = await openDashboard(strict, { role: "operator" });
    expect((await other.call("DELETE", "/api/session")).status).toBe(204);
  });

  test("others are not asked, nor are API keys", async () => {
    const owner = await openDashboard(strict);
    expect((await owner.call("GET", "/api/companions")).status).toBe(200);
    const { key } = await strict.createKey(await strict.createAccount({ email: "op2@example.com", role: "operator" }));
    expect((await apiClient(strict.url, key).call("GET", "/api/companions")).status).toBe(200);
  });

  test("of all, owners are asked too", async () => {
    const strictest = await startTestServer({
      clock,
      signInPace: quickSignIns,
      environment: { COMPANIOND_REQUIRE_TOTP: "all" },
    });
    const owner = await openDashboard(strictest);
    expectProblem(await owner.call("GET", "/api/companions"), 401, "totp_required");
    await strictest.close();
  });
});
