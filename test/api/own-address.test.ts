/** What the server takes for its own address, and which links it makes of it: never what a client or a passing proxy says. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { expectProblem } from "../support/api-client.ts";
import { startTestServer, type TestServer } from "../support/app.ts";
import { openDashboard } from "../support/dashboard.ts";

const publicUrl = "https://companions.example";

async function openServer(environment: Record<string, string>) {
  const server = await startTestServer({ environment, isDemoProvider: true });
  const account = await server.createAccount();
  const { embedToken } = await server.createCompanion({ name: "Ada" }, account);
  const { embedToken: walled } = await server.createCompanion({ allowedOrigins: ["https://shop.example"] }, account);
  return { server, embedToken, walled };
}

interface Case {
  name: string;
  environment: Record<string, string>;
  /** Where the server knows that it is, when asked by these. */
  known: [headers: Record<string, string>, address: string | null][];
}

const forged = { host: "evil.example", "x-forwarded-host": "evil.example", "x-forwarded-proto": "https" };

const cases: Case[] = [
  {
    name: "on loopback alone",
    environment: {},
    known: [
      [{ host: "localhost:3000" }, "http://localhost:3000"],
      [{ host: "127.0.0.1:3000" }, "http://127.0.0.1:3000"],
      [{ host: "[::1]:3000" }, "http://[::1]:3000"],
      [{ host: "localhost:3000", "x-forwarded-host": "evil.example" }, "http://localhost:3000"],
      [{ host: "localhost.evil.example" }, null],
      [{ host: "127.0.0.1.evil.example" }, null],
      [{ host: "a!b.evil.example:3000" }, null],
      [forged, null],
    ],
  },
  {
    name: "behind a proxy",
    environment: { COMPANIOND_TRUST_PROXY: "1" },
    known: [
      [{ host: "localhost:3000" }, null],
      [{ host: "chat.test", "x-forwarded-proto": "https" }, null],
      [forged, null],
    ],
  },
  {
    name: "heard by the network",
    environment: { HOST: "0.0.0.0" },
    known: [
      [{ host: "localhost:3000" }, null],
      [forged, null],
    ],
  },
  {
    name: "with a public URL",
    environment: { COMPANIOND_PUBLIC_URL: publicUrl, COMPANIOND_TRUST_PROXY: "1", HOST: "0.0.0.0" },
    known: [
      [{ host: "companions.example" }, publicUrl],
      [{ host: "localhost:3000" }, publicUrl],
      [forged, publicUrl],
    ],
  },
];

describe.each(cases)("a server $name", ({ environment, known }) => {
  let opened: Awaited<ReturnType<typeof openServer>>;
  let server: TestServer;
  beforeAll(async () => {
    opened = await openServer(environment);
    ({ server } = opened);
  });
  afterAll(() => server.close());

  const get = (path: string, headers: Record<string, string>) => fetch(server.url + path, { headers });

  test.each(known)("asked with %p knows to be at %p", async (headers, address) => {
    const { embedToken, walled } = opened;
    const config = await (await get(`/api/embed/${embedToken}`, headers)).json();
    const avatar = (config as { avatar_url: string }).avatar_url;
    if (address === null) expect(avatar).toStartWith("data:image/svg+xml,%3Csvg");
    else expect(avatar).toBe(`${address}/avatars/${embedToken}.svg`);

    const own = headers["host"] ?? "";
    const origin = address ?? `https://${own}`;
    for (const asked of [{ origin }, { "sec-fetch-site": "same-origin" }]) {
      const response = await get(`/api/embed/${walled}`, { ...headers, ...asked });
      expect([asked, response.status]).toEqual([asked, address === null ? 403 : 200]);
    }
    expect((await get(`/api/embed/${walled}`, { ...headers, origin: "https://shop.example" })).status).toBe(200);
    expect((await get(`/api/embed/${walled}`, { ...headers, origin: `http://${own}:1` })).status).toBe(403);
  });

  test.each(known)("asked with %p writes no other link into what may be kept", async (headers, address) => {
    const { embedToken } = opened;
    const paths = ["/", `/c/${embedToken}`, `/c/${embedToken}/manifest.webmanifest`, `/api/embed/${embedToken}`];
    for (const path of [...paths, "/openapi.json", "/docs", "/docs/errors"]) {
      const response = await get(path, headers);
      expect([path, response.status]).toEqual([path, 200]);
      if (response.headers.get("cache-control") === "no-store") continue;
      const sent = JSON.stringify([...response.headers]) + (await response.text());
      expect([path, sent.includes("evil.example")]).toEqual([path, false]);
      if (address === null && headers["host"])
        expect([path, sent.includes(`//${headers["host"]}`)]).toEqual([path, false]);
    }
  });

  test.each(known)("asked with %p answers failures that nobody may keep", async (headers) => {
    const response = await get("/api/nothing", headers);
    expect(response.status).toBe(404);
    expect(response.headers.get("cache-control")).toBe("no-store");
  });
});

test("icons are where the page is, previews of it at the known address or left out", async () => {
  for (const [environment, headers, address] of [
    [{}, {}, null],
    [{ COMPANIOND_PUBLIC_URL: publicUrl }, { host: "evil.example" }, publicUrl],
    [{ COMPANIOND_TRUST_PROXY: "1" }, { host: "evil.example" }, null],
  ] as const) {
    const { server, embedToken } = await openServer(environment);
    const known = Object.keys(environment).length === 0 ? server.url : address;
    const page = await (await fetch(`${server.url}/c/${embedToken}`, { headers })).text();
    expect(page).toContain(`<link rel="icon" href="/avatars/${embedToken}.svg">`);
    if (known === null) expect(page).not.toMatch(/og:image|og:url/);
    else expect(page).toContain(`<meta property="og:url" content="${known}/c/${embedToken}">`);
    const manifest = await fetch(`${server.url}/c/${embedToken}/manifest.webmanifest`, { headers });
    expect(await manifest.json()).toMatchObject({ icons: [{ src: `/avatars/${embedToken}.svg` }] });
    await server.close();
  }
});

test("a link that sets a password is refused, and no earlier one ends, while the address is not known", async () => {
  const server = await startTestServer({ environment: { COMPANIOND_TRUST_PROXY: "1" } });
  const operator = await openDashboard(server, { role: "operator" });
  const { id } = await server.createAccount();
  const refused = expectProblem(await operator.call("POST", `/api/accounts/${id}/reset-link`), 409, "conflict");
  expect(refused.json.detail).toContain("COMPANIOND_PUBLIC_URL");
  await server.close();
});

test("the server's address in the dashboard's session is never cached", async () => {
  const server = await startTestServer();
  const dashboard = await openDashboard(server);
  const response = await dashboard.call("GET", "/api/session");
  expect(response.headers.get("cache-control")).toBe("no-store");
  await server.close();
});
