/** What keeps guessers, other sites and open wires away from the dashboard. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ownIdentity } from "../../src/domain/member.ts";
import { hashPassword } from "../../src/lib/password-hash.ts";
import { apiClient, expectProblem } from "../support/api-client.ts";
import { startTestServer, type TestServer, testContext } from "../support/app.ts";
import {
  cookieOf,
  createAccountWithPassword,
  openDashboard,
  quickSignIns,
  testPassword,
  withCookie,
} from "../support/dashboard.ts";
import { createManualClock } from "../support/manual-clock.ts";

let server: TestServer;
const clock = createManualClock();

beforeAll(async () => {
  server = await startTestServer({ clock, signInPace: quickSignIns, environment: { COMPANIOND_TRUST_PROXY: "1" } });
});
afterAll(() => server.close());

function signInFrom(address: string, email: string, password: string, headers: Record<string, string> = {}) {
  const proxied = { "x-forwarded-for": address, "x-forwarded-host": "localhost:3000", ...headers };
  return apiClient(server.url, null).call("POST", "/api/session", { email, password }, proxied);
}

/** The cookie by which the browser is known the next time. */
function deviceOf(headers: Headers): string {
  return headers.getSetCookie().at(-1)?.split(";", 1)[0] ?? "";
}

describe("guessing", () => {
  test("makes the guesser wait, longer each time, and nobody else", async () => {
    const { email } = await createAccountWithPassword(server);
    for (let guess = 0; guess < 5; guess++) {
      expectProblem(await signInFrom("203.0.113.1", email, `guess ${guess}`), 401, "unauthorized");
    }
    const first = expectProblem(await signInFrom("203.0.113.1", email, testPassword), 429, "rate_limited");
    expect(first.headers.get("retry-after")).toBe("1");
    expect((await signInFrom("203.0.113.2", email, testPassword)).status).toBe(201);

    clock.advance(1000);
    expectProblem(await signInFrom("203.0.113.1", email, "guess 6"), 401, "unauthorized");
    const second = expectProblem(await signInFrom("203.0.113.1", email, "guess 7"), 429, "rate_limited");
    expect(second.headers.get("retry-after")).toBe("2");
    clock.advance(2000);
    expect((await signInFrom("203.0.113.1", email, testPassword)).status).toBe(201);
    // The right password took the failures back.
    expectProblem(await signInFrom("203.0.113.1", email, "guess 8"), 401, "unauthorized");
  });

  test("many at once are counted before any is answered", async () => {
    const { email } = await createAccountWithPassword(server);
    const guesses = Array.from({ length: 12 }, (_, guess) => signInFrom("203.0.113.9", email, `guess ${guess}`));
    const statuses = (await Promise.all(guesses)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 401)).toHaveLength(5);
    expect(statuses.filter((status) => status === 429)).toHaveLength(7);
  });

  test("through many accounts is limited by address, right passwords included", async () => {
    const statuses: number[] = [];
    for (let guess = 0; guess < 31; guess++) {
      statuses.push((await signInFrom("203.0.113.20", `nobody-${guess}@example.com`, "guess")).status);
    }
    expect(statuses).toEqual([...Array(30).fill(401), 429]);
    expect((await signInFrom("203.0.113.21", "nobody@example.com", "guess")).status).toBe(401);
  });

  test("at accounts that do not exist leaves the way free for those that do, whatever their browser", async () => {
    const owners = await Promise.all(Array.from({ length: 10 }, () => createAccountWithPassword(server)));
    const flood = Array.from({ length: 300 }, (_, guess) =>
      signInFrom(`198.51.100.${guess % 250}`, `nobody-${guess}@example.com`, "guess"),
    );
    const responses = await Promise.all(
      owners.map(({ email }, index) => signInFrom(`192.0.2.${index}`, email, testPassword)),
    );
    expect(responses.map(({ status }) => status)).toEqual(Array(10).fill(201));
    expect(new Set((await Promise.all(flood)).map(({ status }) => status))).toEqual(new Set([401]));
  });

  test("of many clients at one account does not keep its owner's browser out", async () => {
    const { email, id } = await createAccountWithPassword(server);
    // As slow to compare as everybody's: the others have to wait.
    await server.services.store.accounts.setPassword(
      ownIdentity(id),
      await hashPassword(testPassword),
      null,
      testContext(),
    );
    const device = deviceOf((await signInFrom("192.0.2.20", email, testPassword)).headers);
    const flood = Array.from({ length: 200 }, (_, guess) => signInFrom(`198.51.100.${guess}`, email, "guess"));
    // Also from the very address of a guesser who has to wait.
    for (let guess = 0; guess < 6; guess++) void signInFrom("192.0.2.30", email, "guess");
    const owner = await signInFrom("192.0.2.30", email, testPassword, { cookie: device });
    expect(owner.status).toBe(201);
    const statuses = (await Promise.all(flood)).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([401, 429]));
    // One that was compared and four that waited, and whoever came once one of these had left.
    expect(statuses.filter((status) => status === 401).length).toBeLessThan(12);
  });

  test("is shown to the owner in the audit trail, and right sign-ins too", async () => {
    const account = await createAccountWithPassword(server);
    await signInFrom("203.0.113.30", account.email, "guess");
    const browser = withCookie(
      server.url,
      cookieOf((await signInFrom("203.0.113.31", account.email, testPassword)).headers),
    );
    const { data } = (await browser.call("GET", "/api/audit")).json;
    const seen = data.filter(({ action }) => String(action).startsWith("session."));
    expect(seen).toMatchObject([
      { action: "session.create", actor: { kind: "session", ip: "203.0.113.0/24" } },
      {
        action: "session.refuse",
        actor: { kind: "session", id: null, ip: "203.0.113.0/24" },
        details: { failures: 1 },
      },
    ]);
  });
});

test("who knows the old password is not let in while it is changed", async () => {
  const account = await createAccountWithPassword(server);
  const { accounts, sessions } = server.services.store;
  const passwordHash = await hashPassword("another password");
  const find = sessions.findAccess;
  // The change comes while the old one is compared.
  sessions.findAccess = async (email) => {
    sessions.findAccess = find;
    const before = await find(email);
    await accounts.setPassword(ownIdentity(account.id), passwordHash, null, testContext(clock.nowMs()));
    return before;
  };
  expectProblem(await signInFrom("203.0.113.70", account.email, testPassword), 401, "unauthorized");
  expect(await sessions.list(ownIdentity(account.id))).toEqual([]);
  expect((await signInFrom("203.0.113.71", account.email, "another password")).status).toBe(201);
});

describe("the cookie of a browser that signed in before", () => {
  test("opens nothing by itself", async () => {
    const { email } = await createAccountWithPassword(server);
    const device = deviceOf((await signInFrom("203.0.113.60", email, testPassword)).headers);
    expectProblem(await withCookie(server.url, device).call("GET", "/api/session"), 401, "unauthorized");
    expectProblem(await signInFrom("203.0.113.60", email, "guess", { cookie: device }), 401, "unauthorized");
  });

  test("is given anew with a change of password, and by TLS alone where there is TLS", async () => {
    const account = await createAccountWithPassword(server);
    const dashboard = await openDashboard(server, {}, account);
    const change = { current_password: testPassword, new_password: "another password" };
    const changed = await dashboard.call("POST", "/api/session/password", change);
    expect(deviceOf(changed.headers)).toMatch(/^companiond_device=/);
    const tls = { "x-forwarded-proto": "https", "x-forwarded-host": "companions.example" };
    const response = await signInFrom("203.0.113.62", account.email, "another password", tls);
    expect(response.headers.getSetCookie()[1]).toMatch(
      /^__Secure-companiond_device=[\w.]{101}; Path=\/api\/session; Max-Age=34560000; HttpOnly; SameSite=Strict; Secure$/,
    );
  });

  test("makes its browser wait for its own failures", async () => {
    const { email } = await createAccountWithPassword(server);
    const device = deviceOf((await signInFrom("203.0.113.63", email, testPassword)).headers);
    const guess = () => signInFrom("203.0.113.63", email, "guess", { cookie: device });
    for (let count = 0; count < 5; count++) expectProblem(await guess(), 401, "unauthorized");
    expectProblem(await guess(), 429, "rate_limited");
    expect((await signInFrom("203.0.113.64", email, testPassword)).status).toBe(201);
  });
});

describe("the cookie", () => {
  test("is Secure and __Host- where a trusted proxy ends TLS", async () => {
    const { email } = await createAccountWithPassword(server);
    const tls = { "x-forwarded-proto": "https", "x-forwarded-host": "companions.example" };
    const response = await signInFrom("203.0.113.40", email, testPassword, tls);
    expect(response.headers.getSetCookie().slice(0, 1)).toEqual([
      expect.stringMatching(
        /^__Host-companiond_session=\w{43}; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Lax; Secure$/,
      ),
    ]);
    const browser = withCookie(server.url, cookieOf(response.headers));
    expect((await browser.call("GET", "/api/session", undefined, tls)).status).toBe(200);
    // Under the other name anyone on the way could have put it there.
    const plain = withCookie(server.url, cookieOf(response.headers).replace("__Host-", ""));
    expectProblem(await plain.call("GET", "/api/session", undefined, tls), 401, "unauthorized");
  });

  test("is not given out on plain HTTP at a host of the network, and the response says what to do", async () => {
    const { email } = await createAccountWithPassword(server);
    const wire = { "x-forwarded-host": "companions.example:3000" };
    const response = expectProblem(await signInFrom("203.0.113.41", email, testPassword, wire), 400, "invalid_request");
    expect(response.json.detail).toContain("https://companions.example:3000/app");
    expect(response.json.detail).toContain("--tls-cert");
    expect(response.headers.getSetCookie()).toEqual([]);
  });

  test.each(["localhost", "localhost:3000", "127.0.0.1:3000", "127.9.9.9", "[::1]:3000", "app.localhost:80"])(
    "works on plain HTTP at %s",
    async (host) => {
      const dashboard = await openDashboard(server);
      const response = await dashboard.call("GET", "/api/session", undefined, { "x-forwarded-host": host });
      expect(response.status).toBe(200);
    },
  );

  test.each(["localhost.example", "127.0.0.1.example", "0.0.0.0", "192.168.1.2:3000", "notlocalhost"])(
    "does not work on plain HTTP at %s",
    async (host) => {
      const dashboard = await openDashboard(server);
      const response = await dashboard.call("GET", "/api/session", undefined, { "x-forwarded-host": host });
      expectProblem(response, 401, "unauthorized");
    },
  );

  test("does not make good an Authorization header that came along", async () => {
    const dashboard = await openDashboard(server);
    const headers = { authorization: `Bearer cmp_live_${"a".repeat(32)}` };
    expectProblem(await dashboard.call("GET", "/api/companions", undefined, headers), 401, "unauthorized");
    expectProblem(
      await dashboard.call("GET", "/api/companions", undefined, { authorization: "" }),
      401,
      "unauthorized",
    );
  });

  test("is found among others, and junk beside it does no harm", async () => {
    const dashboard = await openDashboard(server);
    const cookie = `a=b; companiond_session=junk; ${dashboard.cookie}; ;=;x`;
    expect((await withCookie(server.url, cookie).call("GET", "/api/session")).status).toBe(200);
  });
});

describe("another site's page", () => {
  const foreign = [
    { "sec-fetch-site": "cross-site", origin: "https://evil.example" },
    { "sec-fetch-site": "same-site", origin: "http://other.localhost:3000" },
    { origin: "https://evil.example" },
    { origin: "null" },
    { origin: "http://localhost:1" },
  ];

  test.each(foreign)("cannot change anything with the session: %p", async (headers) => {
    const dashboard = await openDashboard(server);
    const response = await dashboard.call("POST", "/api/companions", { name: "Mallory" }, headers);
    expectProblem(response, 403, "origin_not_allowed");
    expectProblem(await dashboard.call("DELETE", "/api/session", undefined, headers), 403, "origin_not_allowed");
    expect((await dashboard.call("GET", "/api/companions")).json.data).toEqual([]);
  });

  test.each(foreign)("cannot sign a browser in: %p", async (headers) => {
    const { email } = await createAccountWithPassword(server);
    const response = await signInFrom("203.0.113.50", email, testPassword, headers);
    expectProblem(response, 403, "origin_not_allowed");
  });

  test("may call with an API key: a browser adds none by itself", async () => {
    const { key } = await server.createKey(await server.createAccount());
    const origin = { origin: "https://shop.example", "sec-fetch-site": "cross-site" };
    const response = await apiClient(server.url, key).call("POST", "/api/companions", { name: "Ada" }, origin);
    expect(response.status).toBe(201);
    expect(response.headers.get("access-control-allow-credentials")).toBeNull();
  });

  test("is told from our own", async () => {
    const dashboard = await openDashboard(server);
    const own = [{ "sec-fetch-site": "same-origin", origin: server.url }, { origin: server.url }];
    for (const headers of own) {
      expect((await dashboard.call("POST", "/api/companions", { name: "Ada" }, headers)).status).toBe(201);
    }
  });
});
