/** The table of routes finds what Elysia's router finds, and tells the methods of an address. */
import { expect, test } from "bun:test";
import { Elysia } from "elysia";
import { createRouteTable } from "../../src/http/route-table.ts";

const places = [
  { method: "GET", path: "/" },
  { method: "GET", path: "/docs/:page" },
  { method: "GET", path: "/docs/search" },
  { method: "POST", path: "/docs/:page" },
  { method: "GET", path: "/app" },
  { method: "GET", path: "/app/*" },
  { method: "GET", path: "/items/:id/parts/:partId" },
  { method: "GET", path: "/files/a.b" },
  { method: "OPTIONS", path: "/*" },
];
const table = createRouteTable(places);
const router = new Elysia();
for (const { method, path } of places) router.route(method, path, () => path);

test.each([
  ["/", "/"],
  ["/docs/errors", "/docs/:page"],
  ["/docs/search", "/docs/search"],
  ["/docs/search/", "/docs/search"],
  ["/docs/errors/", "/docs/:page"],
  ["/docs/a%2Fb", "/docs/:page"],
  ["/docs/%", "/docs/:page"],
  ["/docs/", null],
  ["/docs", null],
  ["/docs/a/b", null],
  ["/app", "/app"],
  ["/app/", "/app"],
  ["/app//x", "/app/*"],
  ["/app/companions/1", "/app/*"],
  ["/items/1/parts/2", "/items/:id/parts/:partId"],
  ["/items/1/parts", null],
  ["/files/a.b", "/files/a.b"],
  ["/files/aXb", null],
  ["//", null],
  ["/docs//", null],
])("GET %s is %s, as the router has it", async (path, expected) => {
  expect(table.find("GET", path)?.path ?? null).toBe(expected);
  const response = await router.handle(new Request(`http://localhost${path}`));
  expect(response.ok ? await response.text() : null).toBe(expected);
});

test("falls back to the route of all that is left", () => {
  expect(table.find("OPTIONS", "/docs/errors")?.path).toBe("/*");
  expect(table.find("DELETE", "/docs/errors")).toBeNull();
});

test("lists the methods of every route of an address", () => {
  expect(table.listMethods("/docs/search")).toEqual(["GET", "POST", "OPTIONS"]);
  expect(table.listMethods("/docs/search/")).toEqual(["GET", "POST", "OPTIONS"]);
  expect(table.listMethods("/app/")).toEqual(["GET", "OPTIONS"]);
  expect(table.listMethods("/docs/errors").toSorted()).toEqual(["GET", "OPTIONS", "POST"]);
  expect(table.listMethods("/nothing/here")).toEqual(["OPTIONS"]);
});
