/** Defined routes under their addresses in the router, with the parameters by the program's names. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { Elysia } from "elysia";
import { mountRoutes } from "../../src/http/mount-routes.ts";
import { route } from "../../src/http/route.ts";
import { Text } from "../../src/http/schemas/schema.ts";
import { startTestServer, type TestServer } from "../support/app.ts";

const shared = { method: "GET", tag: "Service", summary: "Echo", access: "public" } as const;
const responses = {};

const echoes = [
  route({
    ...shared,
    id: "echoPart",
    path: "/items/{item_id}/parts/{part_id}",
    document: () => ({ params: { item_id: Text(), part_id: Text() }, responses }),
    handle: ({ params }) => ({ itemId: params.itemId, partId: params.partId }),
  }),
  route({
    ...shared,
    id: "echoRest",
    path: "/files/{folder_id}/{rest*}",
    document: () => ({ params: { folder_id: Text(), rest: Text() }, responses }),
    handle: ({ params }) => ({ folderId: params.folderId }),
  }),
];

let server: TestServer;
let router: { handle(request: Request): Promise<Response> };
beforeAll(async () => {
  server = await startTestServer();
  router = new Elysia().use(mountRoutes(server.services, echoes));
});
afterAll(() => server.close());

test.each([
  ["/items/1/parts/a%20b", 200, { itemId: "1", partId: "a b" }],
  ["/items/%zz/parts/2", 200, { itemId: "", partId: "2" }],
  ["/items/1/parts/2/3", 404, null],
  ["/files/1/a", 200, { folderId: "1" }],
  ["/files/1/a/b/c.txt", 200, { folderId: "1" }],
  ["/files/%zz/%zz", 200, { folderId: "" }],
  ["/files/1", 404, null],
])("GET %s is %d with %j", async (path, status, params) => {
  const response = await router.handle(new Request(`http://localhost${path}`));
  expect(response.status).toBe(status);
  if (params !== null) expect(await response.json()).toEqual(params);
});
