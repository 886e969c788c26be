/** The route that every widget asks first, found without the sitemap: nobody can tell which of the two answered. */
import { afterAll, beforeAll, expect, spyOn, test } from "bun:test";
import { createApp } from "../../src/app/app.ts";
import type { Services } from "../../src/core/dependencies.ts";
import { AppError } from "../../src/domain/errors.ts";
import type { DirectRequest } from "../../src/http/direct-route.ts";
import { startTestServer, type TestServer, testContext } from "../support/app.ts";
import { eventually } from "../support/eventually.ts";
import { connectRaw } from "../support/raw-visitor.ts";

let server: TestServer;
let sitemap: { url: string; stop(): Promise<void> };
let token: string;
let tokenOfOnePage: string;
let revokedToken: string;

beforeAll(async () => {
  server = await startTestServer({ environment: { COMPANIOND_RATE_PER_TOKEN: "1000" } });
  const account = await server.createAccount();
  token = (await server.createCompanion({}, account)).embedToken;
  const allowedOrigins = ["https://shop.example"];
  tokenOfOnePage = (await server.createCompanion({ allowedOrigins }, account)).embedToken;
  const revoked = await server.createCompanion({}, account);
  revokedToken = revoked.embedToken;
  const { embedTokens } = server.services.store;
  const [issued] = (await embedTokens.list(account.id, revoked.id)) ?? [];
  await embedTokens.revoke(account.id, revoked.id, issued?.id ?? "", testContext());
  sitemap = serveSitemapAlone(server.services);
});
afterAll(async () => {
  await sitemap.stop();
  await server.close();
});

function serveSitemapAlone(services: Services) {
  const app = createApp(services);
  const alone = Bun.serve({ hostname: "127.0.0.1", port: 0, development: false, fetch: app.fetch });
  return { url: `http://127.0.0.1:${alone.port}`, stop: () => alone.stop(true) };
}

interface Answer {
  status: string;
  headers: Record<string, string>;
  body: string;
}

async function ask(url: string, request: string, fields: readonly string[]): Promise<Answer> {
  const visitor = await connectRaw(url);
  visitor.write(`${[request, ...fields, "Connection: close"].join("\r\n")}\r\n\r\n`);
  const [head = "", body = ""] = (await visitor.closed).split("\r\n\r\n");
  const [status = "", ...lines] = head.split("\r\n");
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 2)]),
  );
  return { status, headers, body };
}

/** Without what differs from one request to the next. */
function comparable({ status, headers, body }: Answer) {
  const { date: _, "x-request-id": id = "", ratelimit = "", ...others } = headers;
  const windows = ratelimit.replace(/r=\d+;t=\d+/g, "r;t");
  return { status, headers: others, windows, hasId: /^[0-9a-f-]{36}$/.test(id), body: body.replaceAll(id, "ID") };
}

/** Asks both, and answers what they agree on. */
async function askBoth(request: string, ...fields: string[]): Promise<Answer> {
  const [direct, routed] = [await ask(server.url, request, fields), await ask(sitemap.url, request, fields)];
  expect(comparable(direct)).toEqual(comparable(routed));
  return direct;
}

const host = "Host: companion.test";

test("answers a widget as the sitemap does", async () => {
  const response = await askBoth(`GET /api/embed/${token} HTTP/1.1`, host);
  expect(response.status).toBe("HTTP/1.1 200 OK");
  expect(JSON.parse(response.body).avatar_url).toStartWith("data:image/svg+xml,");
  const local = await askBoth(`GET /api/embed/${token} HTTP/1.1`, "Host: localhost:3000");
  expect(JSON.parse(local.body).avatar_url).toBe(`http://localhost:3000/avatars/${token}.svg`);
  expect(response.headers["access-control-allow-origin"]).toBe("*");
  const fromPage = await askBoth(`GET /api/embed/${token} HTTP/1.1`, host, "Origin: https://shop.example");
  expect(fromPage.headers["access-control-allow-origin"]).toBe("https://shop.example");
});

test("lets the browser cache the response for a minute and then revalidate it, as the sitemap does", async () => {
  const line = `GET /api/embed/${token} HTTP/1.1`;
  const { headers, body } = await askBoth(line, host, "Origin: https://shop.example");
  expect(headers["cache-control"]).toBe("private, max-age=60");
  const etag = headers["etag"] ?? "";
  expect(etag).toMatch(/^"[0-9a-z]+"$/);
  for (const known of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
    const unchanged = await askBoth(line, host, "Origin: https://shop.example", `If-None-Match: ${known}`);
    expect(unchanged.status).toBe("HTTP/1.1 304 Not Modified");
    expect(unchanged.body).toBe("");
    const { "access-control-allow-origin": origin, vary, etag: tag, ...others } = unchanged.headers;
    expect([origin, vary, tag]).toEqual(["https://shop.example", "Origin", etag]);
    expect(others["cache-control"]).toBe("private, max-age=60");
    expect(others["content-type"]).toBeUndefined();
    expect(others["ratelimit"]).toMatch(/"token";r=\d+/);
  }
  const other = await askBoth(line, host, 'If-None-Match: "other"');
  expect([other.status, other.body]).toEqual(["HTTP/1.1 200 OK", body]);
  expect((await askBoth(line.replace("GET", "HEAD"), host, `If-None-Match: ${etag}`)).status).toContain(" 304 ");
  // Every check comes first.
  for (const [of, fields] of [
    [tokenOfOnePage, ["Origin: https://other.example"]],
    [revokedToken, []],
  ] as const) {
    const refused = await askBoth(`GET /api/embed/${of} HTTP/1.1`, host, ...fields, "If-None-Match: *");
    expect(refused.status).toMatch(/ 40[34] /);
    expect(refused.headers["cache-control"]).toBe("no-store");
    expect(refused.headers["etag"]).toBeUndefined();
  }
});

test("parses no URL for a widget's request, as the sitemap would", async () => {
  const ask = async (rest: string) => await (await fetch(`${server.url}/api/embed/${token}${rest}`)).text();
  await ask("");
  const parsed = spyOn(URL, "canParse");
  try {
    await ask("");
    expect(parsed).toHaveBeenCalledTimes(0);
    await ask("/");
    expect(parsed).toHaveBeenCalledTimes(1);
  } finally {
    parsed.mockRestore();
  }
});

test("refuses as the sitemap does", async () => {
  const onePage = `GET /api/embed/${tokenOfOnePage} HTTP/1.1`;
  expect((await askBoth(onePage, host, "Origin: https://shop.example")).status).toBe("HTTP/1.1 200 OK");
  expect((await askBoth(onePage, host, "Origin: https://other.example")).body).toContain("origin_not_allowed");
  expect((await askBoth(onePage, host)).body).toContain("origin_not_allowed");
  for (const unknown of [revokedToken, `emb_${"a".repeat(32)}`]) {
    expect((await askBoth(`GET /api/embed/${unknown} HTTP/1.1`, host)).body).toContain("not_found");
  }
});

test.each([
  ["GET", "?x=1"],
  ["GET", "?"],
  ["GET", "/"],
  ["GET", "#part"],
  ["GET", "x"],
  ["GET", "%20"],
  ["GET", "%ff"],
  ["GET", "%zz"],
  ["GET", "%2Fchat"],
  ["GET", "/nothing"],
  ["HEAD", ""],
  ["OPTIONS", ""],
  ["POST", ""],
  ["PUT", ""],
  ["PATCH", ""],
])("answers %s /api/embed/{token}%s alike", async (method, rest) => {
  await askBoth(`${method} /api/embed/${token}${rest} HTTP/1.1`, host, "Content-Length: 0");
});

test("answers paths alike that are nearly its own", async () => {
  const escaped = token.replace("emb_", "%65mb_");
  const paths = ["", "/", `/${escaped}`, `//${token}`, `/./${token}`, `/x/../${token}`, `/${token}/../${token}`];
  for (const path of paths) await askBoth(`GET /api/embed${path} HTTP/1.1`, host);
  await askBoth(`GET /API/embed/${token} HTTP/1.1`, host);
  for (const dots of [".", "..", "%2e", "%2E%2e", ".%2e", "..?x"])
    await askBoth(`GET /api/embed/${dots} HTTP/1.1`, host);
  for (const end of [`${token}\\`, `x\\..\\${token}`, "..\\..\\healthz"]) {
    await askBoth(`GET /api/embed/${end} HTTP/1.1`, host);
  }
  await askBoth(`GET http://other.test/api/embed/${token} HTTP/1.1`, host);
});

test("refuses hosts alike, and requests that name none", async () => {
  for (const name of ["", "}", "a b", "1.2.3.4.5", "a:99999", "[::1", "xn--a", "\xe0"]) {
    const response = await askBoth(`GET /api/embed/${token} HTTP/1.1`, `Host: ${name}`);
    expect(response.status).toBe("HTTP/1.1 400 Bad Request");
  }
  expect((await askBoth(`GET /api/embed/${token} HTTP/1.0`)).status).toBe("HTTP/1.1 400 Bad Request");
});

test.each([
  ["COMPANIOND_RATE_PER_IP", "This address has sent too many requests."],
  ["COMPANIOND_RATE_PER_TOKEN", "This companion has had too many requests."],
])("refuses alike by %s", async (limit, reason) => {
  const limited = await startTestServer({ environment: { [limit]: "1" } });
  const { embedToken } = await limited.createCompanion();
  const alone = serveSitemapAlone(limited.services);
  try {
    const refused: Answer[] = [];
    for (const { url } of [limited, alone]) {
      for (let count = 0; count < 2; count++) {
        const response = await ask(url, `GET /api/embed/${embedToken} HTTP/1.1`, [host]);
        if (count === 1) refused.push(response);
      }
    }
    const [direct, routed] = refused.map((response) => {
      expect(response.status).toBe("HTTP/1.1 429 Too Many Requests");
      expect(response.body).toContain(reason);
      const { headers, body, ...others } = comparable(response);
      expect(Number(headers["retry-after"])).toBeGreaterThan(0);
      return { ...others, names: Object.keys(headers).sort(), policy: headers["ratelimit-policy"] };
    });
    expect(direct).toEqual(routed as NonNullable<typeof routed>);
  } finally {
    await alone.stop();
    await limited.close();
  }
});

test("is counted and logged as the sitemap's own route", async () => {
  const counted = await startTestServer();
  const { embedToken } = await counted.createCompanion();
  try {
    for (const path of [embedToken, `emb_${"a".repeat(32)}`, `${embedToken}/`]) {
      await (await fetch(`${counted.url}/api/embed/${path}`)).text();
    }
    const routes = counted.services.measurements.routes.filter(({ route }) => route.startsWith("/api/embed/:token"));
    const counts = routes.find(({ method, route }) => method === "GET" && route === "/api/embed/:token");
    const countAll = () => counts?.seconds.counts.reduce((sum, one) => sum + one, 0);
    // The sitemap's first answer leaves before it is counted.
    await eventually(() => countAll() === 3);
    expect([...(counts?.statuses ?? [])]).toEqual([
      [200, 2],
      [404, 1],
    ]);
    const lines = counted.log.events.filter(({ event }) => event === "request").map(({ fields }) => fields);
    const line = { method: "GET", route: "/api/embed/:token", client: "127.0.0.0/24" };
    expect(lines).toMatchObject([200, 404, 200].map((status) => ({ ...line, status })));
  } finally {
    await counted.close();
  }
});

/** The route itself, over the services with a store that finds embed tokens as told. */
function openRoute(find: Services["store"]["companions"]["findByEmbedToken"], signal?: AbortSignal) {
  const { store } = server.services;
  const companions = { ...store.companions, findByEmbedToken: find };
  const [route] = createApp({ ...server.services, store: { ...store, companions } }).directRoutes;
  if (route === undefined) throw new Error("no direct route");
  const asked = new Request(`${server.url}/api/embed/${token}`, {
    headers: { host: "a.test" },
    ...(signal && { signal }),
  });
  const request = Object.assign(asked, { params: { token } }) as unknown as DirectRequest;
  expect(route.takes(request)).toBe(true);
  return route.respond(request);
}

test("answers alike where the store has to wait", async () => {
  const { findByEmbedToken } = server.services.store.companions;
  const first = await openRoute(findByEmbedToken);
  const second = await openRoute(async (text) => {
    await Bun.sleep(1);
    return findByEmbedToken(text);
  });
  expect(second.status).toBe(200);
  expect(await second.json()).toEqual(await first.json());
  const namesOf = ({ headers }: Response) => [...headers.keys()];
  expect(namesOf(second)).toEqual(namesOf(first));
});

test.each([
  ["unavailable", new AppError("unavailable", "Try again in a moment."), 503],
  ["internal", new Error("of any other kind"), 500],
])("answers a failure of the store, now or later: %s", async (code, error, status) => {
  const failures = [
    () => {
      throw error;
    },
    async () => {
      await Bun.sleep(1);
      throw error;
    },
  ];
  for (const fail of failures) {
    const response = await openRoute(fail);
    expect(response.status).toBe(status);
    expect(response.headers.get("content-type")).toBe("application/problem+json");
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
    expect(await response.json()).toMatchObject({ code, request_id: response.headers.get("x-request-id") });
  }
});

test("reports no failure, in the response or in the log, to a visitor who has left", async () => {
  const { events } = server.log;
  const before = events.length;
  const response = await openRoute(() => {
    throw new Error("of any kind");
  }, AbortSignal.abort());
  expect(response.status).toBe(499);
  expect(await response.text()).toBe("");
  expect(events.length).toBe(before);
});
