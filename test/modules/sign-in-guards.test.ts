/** What keeps guessers, other sites and open wires away from the dashboard. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createAttempts } from "../../src/modules/session/attempts.ts";
import { apiClient, expectProblem } from "../support/api-client.ts";
import { startTestServer, type TestServer } from "../support/app.ts";
import { cookieOf, createAccountWithPassword, openDashboard, testPassword, withCookie } from "../support/dashboard.ts";
import { createManualClock } from "../support/manual-clock.ts";

let server: TestServer;
const clock = createManualClock();

beforeAll(async () => {
  server = await startTestServer({ clock, environment: { COMPANIOND_TRUST_PROXY: "1" } });
});
afterAll(() => server.close());

function signInFrom(address: string, email: string, password: string, headers: Record<string, string> = {}) {
  const proxied = { "x-forwarded-for": address, "x-forwarded-host": "localhost:3000", ...headers };
  return apiClient(server.url, null).call("POST", "/api/session", { email, password }, proxied);
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

  test("from many addresses slows each attempt on the account, and never refuses the owner", async () => {
    const waits: number[] = [];
    const attempts = createAttempts({
      clock,
      wait: async (durationMs) => {
        waits.push(durationMs);
      },
    });
    for (let guess = 0; guess < 40; guess++) await attempts.begin(`198.51.100.${guess}`, "owner@example.com");
    const owner = await attempts.begin("192.0.2.1", "owner@example.com");
    expect(waits.slice(0, 6)).toEqual([250, 500, 1000, 2000, 4000, 4000]);
    expect(waits).toHaveLength(31);
    expect(Math.max(...waits)).toBe(4000);
    expect(owner.accountFailures).toBe(41);

    waits.length = 0;
    clock.advance(3_600_000);
    await attempts.begin("192.0.2.1", "owner@example.com");
    expect(waits).toEqual([]);
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

describe("the cookie", () => {
  test("is Secure and __Host- where a trusted proxy ends TLS", async () => {
    const { email } = await createAccountWithPassword(server);
    const tls = { "x-forwarded-proto": "https", "x-forwarded-host": "companions.example" };
    const answer = await signInFrom("203.0.113.40", email, testPassword, tls);
    expect(answer.headers.getSetCookie()).toEqual([
      expect.stringMatching(
        /^__Host-companiond_session=\w{43}; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Lax; Secure$/,
      ),
    ]);
    const browser = withCookie(server.url, cookieOf(answer.headers));
    expect((await browser.call("GET", "/api/session", undefined, tls)).status).toBe(200);
    // Under the other name anyone on the way could have put it there.
    const plain = withCookie(server.url, cookieOf(answer.headers).replace("__Host-", ""));
    expectProblem(await plain.call("GET", "/api/session", undefined, tls), 401, "unauthorized");
  });

  test("is not given out on plain HTTP at a host of the network, and the answer says what to do", async () => {
    const { email } = await createAccountWithPassword(server);
    const wire = { "x-forwarded-host": "companions.example:3000" };
    const answer = expectProblem(await signInFrom("203.0.113.41", email, testPassword, wire), 400, "invalid_request");
    expect(answer.json.detail).toContain("https://companions.example:3000/app");
    expect(answer.json.detail).toContain("--tls-cert");
    expect(answer.headers.getSetCookie()).toEqual([]);
  });

  test.each(["localhost", "localhost:3000", "127.0.0.1:3000", "127.9.9.9", "[::1]:3000", "app.localhost:80"])(
    "works on plain HTTP at %s",
    async (host) => {
      const dashboard = await openDashboard(server);
      const answer = await dashboard.call("GET", "/api/session", undefined, { "x-forwarded-host": host });
      expect(answer.status).toBe(200);
    },
  );

  test.each(["localhost.example", "127.0.0.1.example", "0.0.0.0", "192.168.1.2:3000", "notlocalhost"])(
    "does not work on plain HTTP at %s",
    async (host) => {
      const dashboard = await openDashboard(server);
      const answer = await dashboard.call("GET", "/api/session", undefined, { "x-forwarded-host": host });
      expectProblem(answer, 401, "unauthorized");
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
    const answer = await dashboard.call("POST", "/api/companions", { name: "Mallory" }, headers);
    expectProblem(answer, 403, "origin_not_allowed");
    expectProblem(await dashboard.call("DELETE", "/api/session", undefined, headers), 403, "origin_not_allowed");
    expect((await dashboard.call("GET", "/api/companions")).json.data).toEqual([]);
  });

  test.each(foreign)("cannot sign a browser in: %p", async (headers) => {
    const { email } = await createAccountWithPassword(server);
    const answer = await signInFrom("203.0.113.50", email, testPassword, headers);
    expectProblem(answer, 403, "origin_not_allowed");
  });

  test("may call with an API key: a browser adds none by itself", async () => {
    const { key } = await server.createKey(await server.createAccount());
    const origin = { origin: "https://shop.example", "sec-fetch-site": "cross-site" };
    const answer = await apiClient(server.url, key).call("POST", "/api/companions", { name: "Ada" }, origin);
    expect(answer.status).toBe(201);
    expect(answer.headers.get("access-control-allow-credentials")).toBeNull();
  });

  test("is told from our own", async () => {
    const dashboard = await openDashboard(server);
    const own = [{ "sec-fetch-site": "same-origin", origin: server.url }, { origin: server.url }];
    for (const headers of own) {
      expect((await dashboard.call("POST", "/api/companions", { name: "Ada" }, headers)).status).toBe(201);
    }
  });
});
