/** The first request of all, whichever it is: half of the sitemap is not made before somebody calls it. */
import { expect, test } from "bun:test";
import { createApp } from "../../src/app/app.ts";
import { startTestServer } from "../support/app.ts";

const firstRequests = [
  ["GET", "/healthz", 200, null],
  ["GET", "/api/companions", 401, null],
  ["DELETE", "/api/companions", 405, "GET, POST"],
  ["GET", "/api/nothing-here", 404, null],
  ["GET", "/api", 404, null],
  ["GET", "/api/", 404, null],
  ["GET", "/api/embed", 404, null],
  ["POST", "/api/embed/emb_x", 405, "GET"],
  ["GET", "/api/embedded", 404, null],
  ["POST", "/api/voice/nobody", 404, null],
  ["POST", "/healthz", 405, "GET"],
  ["OPTIONS", "/api/companions", 204, null],
  ["OPTIONS", "/api/embed/emb_x", 204, null],
  ["OPTIONS", "/healthz", 204, null],
  ["HEAD", "/api/companions", 401, null],
] as const;

test.each(firstRequests)("answers %s %s with %d as its first request", async (method, path, status, allow) => {
  const server = await startTestServer();
  try {
    // Twice, since the second one finds everything made.
    for (let round = 0; round < 2; round++) {
      const response = await fetch(server.url + path, { method });
      expect(response.status).toBe(status);
      expect(response.headers.get("allow")).toBe(allow);
      expect(response.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
    }
  } finally {
    await server.close();
  }
});

test("hands every route to the half that has it", async () => {
  const server = await startTestServer({
    environment: { ELEVENLABS_API_KEY: "xi-test", ELEVENLABS_WEBHOOK_SECRET: "s" },
  });
  try {
    const app = createApp(server.services);
    for (const { method, path } of await app.listRoutes()) {
      const address = `http://localhost${path.replace(/:\w+|\*/g, "x")}`;
      const found = (await app.siteFor(address)).routes.some((route) => route.method === method && route.path === path);
      expect(`${method} ${path} is ${found ? "found" : "lost"}`).toBe(`${method} ${path} is found`);
    }
  } finally {
    await server.close();
  }
});

test("counts both halves in the same figures, each route once", async () => {
  const server = await startTestServer();
  try {
    for (const path of ["/healthz", "/api/companions", "/api/nothing-here", "/nothing-here"]) {
      await (await fetch(server.url + path)).text();
    }
    for (const path of ["/", "/api/companions"]) await fetch(server.url + path, { method: "OPTIONS" });
    await server.drain(0);
    const { routes } = server.services.measurements;
    const names = routes.map(({ method, route }) => `${method} ${route}`);
    expect(new Set(names).size).toBe(names.length);
    const countOf = (name: string) => {
      const statuses = routes[names.indexOf(name)]?.statuses.values() ?? [];
      return [...statuses].reduce((sum, count) => sum + count, 0);
    };
    expect(countOf("GET /healthz")).toBe(1);
    expect(countOf("GET /api/companions")).toBe(1);
    expect(countOf("GET unmatched")).toBe(2);
    expect(countOf("OPTIONS /*") + countOf("OPTIONS /")).toBe(2);
  } finally {
    await server.close();
  }
});
