/** The client for servers has a method for every call that an API key can make. */
import { expect, test } from "bun:test";
import { requiredScope } from "../../src/api/docs/security.ts";
import { routes } from "../../src/app/routes.ts";
import { Companiond } from "../../src/client/index.ts";

const shape = (method: string, path: string) => `${method} ${path.replace(/\{\w+\}|\bANY\b/g, "{}")}`;

const leftOut = [
  // `conversations.list` takes `companion_id`.
  "GET /api/companions/{}/conversations",
];

/** Calls every function of the client, at any depth, with an id for each argument. */
async function callAll(value: object, calls: Promise<unknown>[]): Promise<void> {
  for (const [name, part] of Object.entries(value)) {
    if (typeof part === "object") await callAll(part, calls);
    if (typeof part !== "function") continue;
    const made: unknown = name === "createMany" ? part([]) : part("ANY", "ANY", "ANY");
    if (made instanceof Promise) calls.push(made);
    else if (isIterable(made)) calls.push(made[Symbol.asyncIterator]().next());
    if (isCancellable(made)) calls.push(made.cancel());
  }
}

function isIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}

function isCancellable(value: unknown): value is { cancel(): Promise<void> } {
  return typeof value === "object" && value !== null && "cancel" in value;
}

test("every call of an API key has a method, and every method is a call of the API", async () => {
  const seen = new Set<string>();
  const client = new Companiond({
    baseUrl: "https://chat.example.com",
    apiKey: "cmp_live_x",
    maxRetries: 0,
    sleep: async () => undefined,
    fetch: async (url, { method = "GET" }) => {
      seen.add(shape(method, new URL(url).pathname.replace(/(?<=\/chat\/)[\w-]+$/, "ANY")));
      return Response.json({ data: [], next_cursor: null });
    },
  });
  const calls: Promise<unknown>[] = [];
  await callAll(client, calls);
  calls.push(client.me(), client.inbox().next());
  await Promise.allSettled(calls);

  const forKeys = routes.filter(({ access, id }) => requiredScope(access) !== null || id === "getMe");
  // OpenAI's clients are for these.
  const ours = forKeys.filter(({ path }) => !path.startsWith("/v1/"));
  const expected = ours.map(({ method, path }) => shape(method, path)).filter((call) => !leftOut.includes(call));
  expect([...seen].toSorted()).toEqual(expected.toSorted());
});
