/** The public door: config, avatar, origins, CORS, limits and the order of the checks. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startTestServer, type TestServer, type TestServerOptions, testContext } from "../support/app.ts";
import { chat, readProblem, sendChat } from "../support/chat.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

const getConfig = (token: string, headers: Record<string, string> = {}, at = server) =>
  fetch(`${at.url}/api/embed/${token}`, { headers });

describe("the config", () => {
  test("has defaults for all that the owner left out", async () => {
    const { embedToken } = await server.createCompanion({ name: "Zoë" });
    const response = await getConfig(embedToken);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(await response.json()).toEqual({
      name: "Zoë",
      avatar_url: `${server.url}/avatars/${embedToken}.svg`,
      greeting: "Hi, I'm Zoë. How can I help you?",
      theme_color: "#4f46e5",
      has_voice: false,
      has_text_agent: true,
      voice_provider: "none",
    });
  });

  test("shows what the owner set, and never the prompt", async () => {
    const { embedToken } = await server.createCompanion({
      systemPrompt: "a secret instruction",
      greeting: "Ahoy",
      avatarUrl: "https://cdn.example/a.png",
      themeColor: "#00ff7f",
      starters: ["One?"],
    });
    const text = await (await getConfig(embedToken)).text();
    expect(JSON.parse(text)).toMatchObject({
      greeting: "Ahoy",
      avatar_url: "https://cdn.example/a.png",
      theme_color: "#00ff7f",
      starters: ["One?"],
    });
    expect(text).not.toContain("secret instruction");
  });

  test("has another tag whenever it says something else, and the same again when it says the same", async () => {
    const { accountId, id, embedToken } = await server.createCompanion({ name: "Ada" });
    const { companions } = server.services.store;
    const tag = async () => (await getConfig(embedToken)).headers.get("etag") ?? "";
    const first = await tag();
    const seen = new Set([first]);
    for (const patch of [
      { name: "Bea" },
      { themeColor: "#000000" },
      { starters: ["One?"] },
      { avatarUrl: "https://a.example/a.png" },
    ]) {
      await companions.update(accountId, id, patch, testContext());
      seen.add(await tag());
    }
    expect(seen.size).toBe(5);
    await companions.update(accountId, id, { systemPrompt: "unseen" }, testContext());
    expect(seen).toContain(await tag());
    const back = { name: "Ada", themeColor: null, starters: [], avatarUrl: null };
    await companions.update(accountId, id, back, testContext());
    expect(await tag()).toBe(first);
    expect((await getConfig(embedToken, { "if-none-match": first })).status).toBe(304);
    expect((await getConfig(embedToken, { host: "localhost", "if-none-match": first })).status).toBe(200);
  });

  test("of two tokens of one companion differs by their avatars", async () => {
    const companion = await server.createCompanion({});
    const { embedTokens } = server.services.store;
    const token = `emb_${"B".repeat(32)}`;
    await embedTokens.create(
      companion.accountId,
      companion.id,
      { id: crypto.randomUUID(), token, name: null },
      testContext(),
    );
    for (const asked of [companion.embedToken, token, companion.embedToken]) {
      expect((await (await getConfig(asked)).json()) as object).toMatchObject({
        avatar_url: `${server.url}/avatars/${asked}.svg`,
      });
    }
  });

  test("is 404 while the companion is disabled or its account suspended, and back afterwards", async () => {
    const companion = await server.createCompanion();
    const { accountId, id, embedToken } = companion;
    const { companions, accounts } = server.services.store;
    await companions.update(accountId, id, { enabled: false }, testContext());
    expect((await getConfig(embedToken)).status).toBe(404);
    await companions.update(accountId, id, { enabled: true }, testContext());
    expect((await getConfig(embedToken)).status).toBe(200);
    await accounts.update(accountId, { suspendedAt: Date.now() }, testContext());
    expect((await getConfig(embedToken)).status).toBe(404);
  });
});

describe("the avatar", () => {
  test("is an SVG with the initial on the theme colour, escaped, under a closed CSP", async () => {
    const { embedToken } = await server.createCompanion({ name: "<script>", themeColor: "#ffff00" });
    const response = await fetch(`${server.url}/avatars/${embedToken}.svg`);
    expect(response.headers.get("content-type")).toBe("image/svg+xml");
    expect(response.headers.get("content-security-policy")).toBe("default-src 'none'");
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
    const svg = await response.text();
    expect(svg).toContain(">&lt;</text>");
    expect(svg).toContain('fill="#000000"');
  });

  test("asks no origin, and is 404 once the token is revoked", async () => {
    const companion = await server.createCompanion({ allowedOrigins: ["https://shop.example"] });
    const url = `${server.url}/avatars/${companion.embedToken}.svg`;
    expect((await fetch(url)).status).toBe(200);
    const { embedTokens } = server.services.store;
    const [token] = (await embedTokens.list(companion.accountId, companion.id)) ?? [];
    await embedTokens.revoke(companion.accountId, companion.id, token?.id ?? "", testContext());
    expect((await fetch(url)).status).toBe(404);
  });
});

describe("allowed origins", () => {
  const cases: [string, string | null, number][] = [
    ["an origin of the list", "https://shop.example", 200],
    ["a subdomain where the list has a wildcard", "https://a.b.wild.example", 200],
    ["the domain itself under a wildcard", "https://wild.example", 403],
    ["a longer name with the same end", "https://evilwild.example", 403],
    ["another scheme", "http://shop.example", 403],
    ["another port", "https://shop.example:8443", 403],
    ["an origin outside the list", "https://evil.example", 403],
    ["the opaque origin", "null", 403],
    ["no origin at all", null, 403],
  ];
  for (const [what, origin, status] of cases) {
    test(`answer ${status} to ${what}, on every embed route, with CORS headers`, async () => {
      const { embedToken } = await server.createCompanion({
        allowedOrigins: ["https://shop.example", "https://*.wild.example"],
      });
      const headers: Record<string, string> = origin === null ? {} : { origin };
      const config = await getConfig(embedToken, headers);
      expect(config.status).toBe(status);
      expect(config.headers.get("access-control-allow-origin")).toBe(origin ?? "*");
      expect(config.headers.get("vary")).toBe("Origin");
      expect(config.headers.get("access-control-allow-credentials")).toBeNull();
      if (status === 403) expect((await readProblem(config)).code).toBe("origin_not_allowed");
      const response = await sendChat(
        server.url,
        embedToken,
        { message: "a" },
        {
          headers: { ...headers, "content-type": "application/json" },
        },
      );
      expect(response.status).toBe(status);
      await response.text();
    });
  }

  test("let the server's own pages through", async () => {
    const { embedToken } = await server.createCompanion({ allowedOrigins: ["https://shop.example"] });
    expect((await getConfig(embedToken, { origin: server.url })).status).toBe(200);
    expect((await getConfig(embedToken, { "sec-fetch-site": "same-origin" })).status).toBe(200);
    expect((await getConfig(embedToken, { "sec-fetch-site": "cross-site" })).status).toBe(403);
  });

  test("each get CORS and limit headers of their own, however alike the responses are", async () => {
    const { embedToken } = await server.createCompanion({});
    const responses: Response[] = [];
    for (const origin of ["https://one.example", "https://two.example", null, "https://one.example"]) {
      responses.push(await getConfig(embedToken, origin === null ? {} : { origin }));
    }
    const told = (name: string) => responses.map(({ headers }) => headers.get(name));
    expect(told("access-control-allow-origin")).toEqual([
      "https://one.example",
      "https://two.example",
      "*",
      "https://one.example",
    ]);
    expect(new Set(told("x-request-id")).size).toBe(4);
    expect(new Set(told("ratelimit").map((state) => /"token";r=(\d+)/.exec(state ?? "")?.[1])).size).toBe(4);
    expect(new Set(told("ratelimit-policy")).size).toBe(1);
    expect(told("vary")).toEqual(Array(4).fill("Origin"));
  });

  test("answer a preflight 204 whatever the origin, at no cost", async () => {
    const { embedToken } = await server.createCompanion({ allowedOrigins: ["https://shop.example"] });
    const preflight = await fetch(`${server.url}/api/embed/${embedToken}/chat`, {
      method: "OPTIONS",
      headers: { origin: "https://evil.example", "access-control-request-method": "POST" },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("access-control-max-age")).toBe("86400");
    expect(preflight.headers.get("access-control-allow-methods")).toBe("GET, POST, PUT, PATCH, DELETE");
    expect(preflight.headers.get("access-control-allow-headers")).toBe(
      "Authorization, Content-Type, Idempotency-Key, If-Match, Last-Event-ID, X-Visitor-Token, X-Challenge, X-Change-Note",
    );
    expect(preflight.headers.get("ratelimit")).toBeNull();
    const response = await getConfig(embedToken, { origin: "https://shop.example" });
    expect(response.headers.get("access-control-allow-origin")).toBe("https://shop.example");
    expect(response.headers.get("access-control-expose-headers")).toBe(
      "RateLimit, RateLimit-Policy, Retry-After, X-Session-Id, ETag, Idempotent-Replayed, WWW-Authenticate, X-Request-Id",
    );
    expect(response.headers.get("access-control-allow-methods")).toBeNull();
    expect(response.headers.get("access-control-allow-headers")).toBeNull();
  });
});

describe("limits", () => {
  async function withLimits(
    environment: Record<string, string>,
    play: (limited: TestServer) => Promise<void>,
    options: TestServerOptions = {},
  ) {
    const limited = await startTestServer({ environment, ...options });
    try {
      await play(limited);
    } finally {
      await limited.close();
    }
  }

  test("refuse the eleventh request of an address within a minute, and say when to come back", async () => {
    await withLimits({ COMPANIOND_RATE_PER_IP: "10", COMPANIOND_RATE_PER_TOKEN: "30" }, async (limited) => {
      const { embedToken } = await limited.createCompanion();
      for (let left = 9; left >= 0; left--) {
        const response = await getConfig(embedToken, {}, limited);
        expect(response.status).toBe(200);
        expect(response.headers.get("ratelimit-policy")).toBe('"ip";q=10;w=60, "token";q=30;w=60');
        expect(response.headers.get("ratelimit")).toMatch(
          new RegExp(`^"ip";r=${left};t=\\d+, "token";r=${left + 20};t=\\d+$`),
        );
      }
      const refused = await getConfig(embedToken, { origin: "https://a.example" }, limited);
      expect(refused.status).toBe(429);
      expect(await refused.json()).toMatchObject({ code: "rate_limited", status: 429 });
      expect(Number(refused.headers.get("retry-after"))).toBeWithin(1, 61);
      expect(refused.headers.get("access-control-allow-origin")).toBe("https://a.example");
      expect(refused.headers.get("access-control-expose-headers")).toContain("Retry-After");
    });
  });

  test("count unknown tokens against the address, so that none can be guessed fast", async () => {
    await withLimits({ COMPANIOND_RATE_PER_IP: "2" }, async (limited) => {
      const statuses = [];
      for (let n = 0; n < 3; n++) statuses.push((await getConfig(`emb_${"x".repeat(32)}`, {}, limited)).status);
      expect(statuses).toEqual([404, 404, 429]);
      const refused = await getConfig(`emb_${"x".repeat(32)}`, {}, limited);
      expect(refused.headers.get("ratelimit-policy")).toMatch(/^"ip";q=2;w=60, "token";q=\d+;w=60$/);
    });
  });

  test("are per token over all addresses, and a refused origin does not use them up", async () => {
    await withLimits({ COMPANIOND_RATE_PER_TOKEN: "2", COMPANIOND_TRUST_PROXY: "1" }, async (limited) => {
      const { embedToken } = await limited.createCompanion({ allowedOrigins: ["https://a.example"] });
      const ask = (ip: string, origin: string) => getConfig(embedToken, { origin, "x-forwarded-for": ip }, limited);
      expect((await ask("192.0.2.1", "https://b.example")).status).toBe(403);
      expect((await ask("192.0.2.1", "https://a.example")).status).toBe(200);
      expect((await ask("192.0.2.2", "https://a.example")).status).toBe(200);
      const refused = await ask("192.0.2.3", "https://a.example");
      expect(refused.status).toBe(429);
      expect(refused.headers.get("ratelimit")).toMatch(/"token";r=0;t=\d+$/);
    });
  });

  test("of an IPv6 address hold for the networks around it too, on every embed route", async () => {
    await withLimits({ COMPANIOND_RATE_PER_IP: "10", COMPANIOND_TRUST_PROXY: "1" }, async (limited) => {
      const { embedToken } = await limited.createCompanion();
      const ask = async (network: number) => {
        const headers = {
          "x-forwarded-for": `2001:db8:1:${network.toString(16)}::1`,
          "content-type": "application/json",
        };
        if (network % 2 === 0) return await getConfig(embedToken, headers, limited);
        const response = await sendChat(limited.url, embedToken, { message: "[[say:yes]]" }, { headers });
        await response.text();
        return response;
      };
      const statuses: number[] = [];
      for (let network = 0; network < 60; network++) statuses.push((await ask(network)).status);
      expect(statuses).toEqual([...Array(40).fill(200), ...Array(20).fill(429)]);
      const refused = await ask(0);
      expect(refused.headers.get("ratelimit")).toMatch(/^"ip";r=0;t=\d+$/);
      // From its own network it had one request; the tightest is told.
      expect((await ask(0x100)).headers.get("ratelimit")).toMatch(/^"ip";r=9;t=60/);
      for (let network = 0x200; network < 0x200 + 130 * 256; network += 256) await ask(network);
      expect((await ask(0xff00)).status).toBe(429);
    });
  });

  test("of a token can be higher on the paid plan, and each response states its own", async () => {
    const environment = { COMPANIOND_RATE_PER_TOKEN: "2", COMPANIOND_RATE_PER_TOKEN_PAID: "4" };
    await withLimits(environment, async (limited) => {
      for (const [plan, limit] of [
        ["free", 2],
        ["paid", 4],
      ] as const) {
        const { embedToken } = await limited.createCompanion({}, await limited.createAccount({ plan }));
        for (let left = limit - 1; left >= 0; left--) {
          const { headers } = await getConfig(embedToken, {}, limited);
          expect(headers.get("ratelimit-policy")).toEndWith(`"token";q=${limit};w=60`);
          expect(headers.get("ratelimit")).toContain(`"token";r=${left};`);
        }
        const refused = await getConfig(embedToken, {}, limited);
        expect(refused.status).toBe(429);
        expect(refused.headers.get("ratelimit-policy")).toEndWith(`"token";q=${limit};w=60`);
      }
      const unknown = await getConfig(`emb_${"x".repeat(32)}`, {}, limited);
      expect(unknown.headers.get("ratelimit-policy")).toEndWith('"token";q=2;w=60');
    });
  });

  test("come before the body is looked at", async () => {
    await withLimits({ COMPANIOND_RATE_PER_TOKEN: "1" }, async (limited) => {
      const { embedToken } = await limited.createCompanion();
      expect((await sendChat(limited.url, embedToken, "{")).status).toBe(400);
      expect((await sendChat(limited.url, embedToken, "{")).status).toBe(429);
    });
  });

  test("leave preflights free", async () => {
    await withLimits({ COMPANIOND_RATE_PER_IP: "1" }, async (limited) => {
      const { embedToken } = await limited.createCompanion();
      for (let n = 0; n < 5; n++) {
        await fetch(`${limited.url}/api/embed/${embedToken}`, {
          method: "OPTIONS",
          headers: { origin: "https://a.example" },
        });
      }
      expect((await getConfig(embedToken, {}, limited)).status).toBe(200);
    });
  });

  test("of the day admit exactly the quota under 200 requests at once, by plan, and over a restart", async () => {
    const environment = { COMPANIOND_DAILY_FREE: "5", COMPANIOND_DAILY_PAID: "7" };
    const play = async (limited: TestServer) => {
      for (const [plan, quota] of [
        ["free", 5],
        ["paid", 7],
      ] as const) {
        const companion = await limited.createCompanion({}, await limited.createAccount({ plan }));
        const responses = await Promise.all(
          Array.from({ length: 200 }, () => chat(limited.url, companion.embedToken, { message: "[[say:yes]]" })),
        );
        expect(responses.filter((response) => response.isDone)).toHaveLength(quota);
        const refused = responses.filter((response) => response.status === 429);
        expect(refused).toHaveLength(200 - quota);
        expect(JSON.parse(refused[0]?.raw ?? "").code).toBe("quota_exceeded");
        expect(Number(refused[0]?.headers.get("retry-after"))).toBeWithin(1, 86_401);

        // Beside the first: what it knows, it knows from the database.
        const restarted = await startTestServer({ dataDir: limited.dataDir, environment, isShared: true });
        expect((await chat(restarted.url, companion.embedToken, { message: "one more" })).status).toBe(429);
        await restarted.close();
      }
    };
    await withLimits(environment, play, { isShared: true });
  });

  test("of the day are given back when the provider fails before its first text", async () => {
    await withLimits({ COMPANIOND_DAILY_FREE: "1" }, async (limited) => {
      const { embedToken } = await limited.createCompanion();
      expect((await chat(limited.url, embedToken, { message: "[[fail:400]]" })).status).toBe(502);
      expect((await chat(limited.url, embedToken, { message: "[[say:fine]]" })).text).toBe("fine");
      expect((await chat(limited.url, embedToken, { message: "over" })).status).toBe(429);
    });
  });
});

describe("a host name", () => {
  test("may be as short as one letter", async () => {
    const { embedToken } = await server.createCompanion();
    expect((await getConfig(embedToken, { host: "x" })).status).toBe(200);
  });
});

describe("errors", () => {
  test("of unknown paths and wrong methods are problems too", async () => {
    const unknown = await fetch(`${server.url}/api/nothing`, { headers: { origin: "https://a.example" } });
    expect(unknown.status).toBe(404);
    expect(unknown.headers.get("content-type")).toBe("application/problem+json");
    expect(unknown.headers.get("access-control-allow-origin")).toBe("https://a.example");
    expect(await unknown.json()).toMatchObject({ code: "not_found", type: `${server.url}/docs/errors#not_found` });
    const wrong = await fetch(`${server.url}/api/embed/x/chat`, { method: "GET" });
    expect(wrong.status).toBe(405);
    expect(wrong.headers.get("allow")).toBe("POST");
  });
});
