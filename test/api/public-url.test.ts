/** The dashboard behind a configured public address. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { apiClient, expectProblem } from "../support/api-client.ts";
import { startTestServer, type TestServer } from "../support/app.ts";
import { cookieOf, createAccountWithPassword, openDashboard, testPassword } from "../support/dashboard.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ environment: { COMPANIOND_PUBLIC_URL: "https://companions.example" } });
});
afterAll(() => server.close());

async function signIn(headers: Record<string, string>) {
  const { email } = await createAccountWithPassword(server);
  return apiClient(server.url, null).call("POST", "/api/session", { email, password: testPassword }, headers);
}

test("an https address makes the cookie Secure, though TLS ends before us", async () => {
  const response = await signIn({ host: "companions.example", origin: "https://companions.example" });
  expect(response.headers.getSetCookie()[0]).toMatch(/^__Host-companiond_session=.*; Secure$/);
});

test("a proxy that hides the host makes it Secure all the same, as it forwards for somebody", async () => {
  const response = await signIn({ "x-forwarded-for": "198.51.100.1", origin: "https://companions.example" });
  expect(cookieOf(response.headers)).toStartWith("__Host-companiond_session=");
});

test("on the server's own machine the plain cookie works beside it", async () => {
  const response = await signIn({ origin: server.url });
  expect(cookieOf(response.headers)).toStartWith("companiond_session=");
});

test("pages of the public address are our own, those of another are not", async () => {
  const dashboard = await openDashboard(server);
  const create = (origin: string) => dashboard.call("POST", "/api/companions", { name: "Ada" }, { origin });
  expect((await create("https://companions.example")).status).toBe(201);
  expectProblem(await create("http://companions.example"), 403, "origin_not_allowed");
  expectProblem(await create("https://companions.example.evil.example"), 403, "origin_not_allowed");
});

test("links carry it", async () => {
  const operator = await openDashboard(server, { role: "operator" });
  const { id } = await server.createAccount();
  const link = await operator.call("POST", `/api/accounts/${id}/reset-link`);
  expect(String(link.json.url)).toStartWith("https://companions.example/app/reset#");
});

test("under several domains, visitors' pages of all of them are our own, whatever origins the companion allows", async () => {
  const environment = {
    COMPANIOND_PUBLIC_URL: "https://companions.example:8443",
    COMPANIOND_DOMAIN: "companions.example,www.test",
  };
  const domains = await startTestServer({ environment });
  const { embedToken } = await domains.createCompanion({ allowedOrigins: ["https://shop.example"] });
  const ask = async (origin: string) =>
    (await fetch(`${domains.url}/api/embed/${embedToken}`, { headers: { origin } })).status;
  const origins = [
    "https://companions.example:8443",
    "https://www.test:8443",
    "https://www.test",
    "http://www.test:8443",
  ];
  expect(await Promise.all(origins.map(ask))).toEqual([200, 200, 403, 403]);
  await domains.close();
});
