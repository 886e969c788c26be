/** The route that every widget asks first: a promise only where there is something to wait for. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createApp } from "../../src/app.ts";
import { AppError } from "../../src/domain/errors.ts";
import type { Services } from "../../src/http/services.ts";
import { startTestServer, type TestServer } from "../support/app.ts";

let server: TestServer;
let address: string;

beforeAll(async () => {
  server = await startTestServer();
  const { embedToken } = await server.createCompanion({}, await server.createAccount());
  address = `${server.url}/api/embed/${embedToken}`;
});
afterAll(() => server.close());

/** The services, with a store that answers for embed tokens only after a while. */
function withSlowStore(find: Services["store"]["companions"]["findByEmbedToken"]): Services {
  const { store } = server.services;
  return { ...server.services, store: { ...store, companions: { ...store.companions, findByEmbedToken: find } } };
}

function headersOf(response: Response): Record<string, string> {
  const { "x-request-id": id, ratelimit: _, ...others } = Object.fromEntries(response.headers);
  expect(id).toMatch(/^[0-9a-f-]{36}$/);
  return others;
}

test("answers the config at once", async () => {
  const answer = createApp(server.services).fetch(new Request(address));
  expect(answer).toBeInstanceOf(Response);
  expect(((await answer) as Response).status).toBe(200);
});

test("answers alike after waiting for the store", async () => {
  const { findByEmbedToken } = server.services.store.companions;
  const services = withSlowStore(async (token) => {
    await Bun.sleep(1);
    return findByEmbedToken(token);
  });
  const waited = createApp(services).fetch(new Request(address));
  expect(waited).toBeInstanceOf(Promise);
  const [late, prompt] = [await waited, await createApp(server.services).fetch(new Request(address))];
  expect(late.status).toBe(200);
  expect(await late.json()).toEqual(await prompt.json());
  expect(headersOf(late)).toEqual(headersOf(prompt));
});

test.each([
  ["unavailable", new AppError("unavailable", "Try again in a moment."), 503],
  ["internal", new Error("of any other kind"), 500],
])("answers a failure of the store while it waits: %s", async (code, error, status) => {
  const services = withSlowStore(async () => {
    await Bun.sleep(1);
    throw error;
  });
  const response = await createApp(services).fetch(new Request(address));
  expect(response.status).toBe(status);
  expect(response.headers.get("content-type")).toBe("application/problem+json");
  const { "content-type": type } = headersOf(response);
  expect(type).toBe("application/problem+json");
  expect(await response.json()).toMatchObject({ code, request_id: response.headers.get("x-request-id") });
});

test("answers a refusal of the store that comes at once", async () => {
  const services = withSlowStore(() => {
    throw new AppError("unavailable", "Try again in a moment.");
  });
  const response = await createApp(services).fetch(new Request(address));
  expect(response.status).toBe(503);
  expect(headersOf(response)).toMatchObject({ "x-content-type-options": "nosniff" });
});
