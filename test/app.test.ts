/** What a path may carry in the place of an id: never anything but a plain refusal, whatever the route. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type ApiClient, apiClient } from "./support/api-client.ts";
import { startTestServer, type TestServer } from "./support/app.ts";
import { apiDocument } from "./support/conformance.ts";
import { type Dashboard, openDashboard } from "./support/dashboard.ts";

let server: TestServer;
let operator: Dashboard;
let platform: ApiClient;

beforeAll(async () => {
  server = await startTestServer();
  operator = await openDashboard(server, { role: "operator" });
  platform = apiClient(server.url, (await server.createKey(operator.account)).key);
});
afterAll(() => server.close());

const routes = Object.entries(apiDocument.paths).flatMap(([path, methods]) =>
  path.includes("{") ? Object.keys(methods).map((method) => [method.toUpperCase(), path] as const) : [],
);

test.each(routes)("%s %s takes no escape for an id that is none", async (method, path) => {
  // Chats are for keys alone.
  const isForKeys =
    path.startsWith("/v1/") ||
    /^\/api\/companions\/\{id\}\/(chat|confirmations|live|person|contact|ratings|resolved)\b/.test(path);
  const caller = isForKeys ? platform : operator;
  for (const text of ["%ff", "%", "%2", "%zz", "%00", "%2e%2e%2f", "%2f", "%c0%ae", "%ed%a0%80", "%25ff", "null"]) {
    const { status } = await caller.call(method, path.replace(/\{\w+\}/g, text));
    // The dashboard finds its own way below `/app`.
    if (path.startsWith("/app/")) expect(status).toBe(200);
    else expect(status).toBe(404);
  }
});
