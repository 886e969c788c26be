/** How many replies one address may have under way, and that every way out of one gives its place back. */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import type { Account } from "../../src/domain/account.ts";
import { toUtcDay } from "../../src/lib/clock.ts";
import { startTestServer, type TestServer } from "../support/app.ts";
import { chat, readProblem, sendChat } from "../support/chat.ts";
import { eventually } from "../support/eventually.ts";

let server: TestServer;
let account: Account;
let companion: { id: string; embedToken: string };
beforeAll(async () => {
  server = await startTestServer({ environment: { COMPANIOND_STREAMS_PER_IP: "2", COMPANIOND_TRUST_PROXY: "1" } });
});
beforeEach(async () => {
  account = await server.createAccount();
  companion = await server.createCompanion({}, account);
});
afterAll(() => server.close());

const replies = () => server.services.openTurns;

function send(address: string, message: string, { session, ...init }: RequestInit & { session?: string } = {}) {
  const headers = { "content-type": "application/json", "x-forwarded-for": address };
  return sendChat(server.url, companion.embedToken, { message, session_id: session }, { ...init, headers });
}

test("the next one is 429 with Retry-After, costs nothing and asks no provider; other addresses are answered", async () => {
  const leaving = new AbortController();
  const { signal } = leaving;
  const open = [send("192.0.2.1", "[[hang]]", { signal }), send("192.0.2.1", "[[hang]]", { signal })];
  await eventually(() => server.mockLlm.openRequests === 2);
  const refused = await send("192.0.2.1", "one more");
  expect(refused.status).toBe(429);
  expect(refused.headers.get("retry-after")).toBe("1");
  expect(refused.headers.get("x-session-id")).not.toBeNull();
  expect(await readProblem(refused)).toMatchObject({ status: 429, code: "rate_limited" });
  expect(server.mockLlm.requests.at(-1)?.userText).toBe("[[hang]]");
  expect((await send("192.0.2.2", "from elsewhere")).status).toBe(200);
  leaving.abort();
  await Promise.allSettled(open);
  await eventually(() => replies().size === 0);
  // The two whose visitors left, and the one from elsewhere.
  expect(await server.services.store.turns.countDay(companion.id, toUtcDay(Date.now()))).toBe(3);
});

test("the addresses of one /64 count as one, and a bad body is refused before the limit", async () => {
  const leaving = new AbortController();
  const { signal } = leaving;
  const open = ["2001:db8::1", "2001:db8::2"].map((address) => send(address, "[[hang]]", { signal }));
  await eventually(() => server.mockLlm.openRequests === 2);
  expect((await send("2001:db8::3", "one more")).status).toBe(429);
  expect((await send("2001:db8::3", " ")).status).toBe(400);
  const beyond = await send("2001:db8:0:1::1", "[[say:hello]]");
  expect(await beyond.text()).toContain("[DONE]");
  leaving.abort();
  await Promise.allSettled(open);
  await eventually(() => replies().size === 0);
});

test("every way out of a reply gives its place back: whole, broken off, refused, left, and left while waiting", async () => {
  const session = crypto.randomUUID();
  for (let round = 0; round < 3; round++) {
    expect(await (await send("192.0.2.3", "[[say:whole]]")).text()).toContain("[DONE]");
    expect(await (await send("192.0.2.3", "[[cut:1]][[say:one two]]")).text()).toContain(": error upstream_error");
    expect((await send("192.0.2.3", "[[fail:400]]")).status).toBe(502);
    const leaving = new AbortController();
    const first = send("192.0.2.3", "[[hang]]", { session, signal: leaving.signal });
    await eventually(() => server.mockLlm.openRequests === 1);
    const waiting = send("192.0.2.3", "waits", { session, signal: leaving.signal });
    await eventually(() => server.services.coordination.turns.waitingCount === 1);
    expect(replies().size).toBe(2);
    leaving.abort();
    await Promise.allSettled([first, waiting]);
    await eventually(() => replies().size === 0);
    expect(replies().addressCount).toBe(0);
  }
});

test("an owner's trials are not counted with the visitors of the address", async () => {
  const leaving = new AbortController();
  const { signal } = leaving;
  const open = [send("192.0.2.4", "[[hang]]", { signal }), send("192.0.2.4", "[[hang]]", { signal })];
  await eventually(() => server.mockLlm.openRequests === 2);
  const { key } = await server.createKey(account);
  const trial = await fetch(`${server.url}/api/companions/${companion.id}/test-chat`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", "x-forwarded-for": "192.0.2.4" },
    body: JSON.stringify({ message: "hello" }),
  });
  expect(await trial.text()).toContain("[DONE]");
  leaving.abort();
  await Promise.allSettled(open);
  await eventually(() => replies().size === 0);
});

test("twenty is what an address may have where nothing is set", async () => {
  const limited = await startTestServer({ environment: { COMPANIOND_STREAMS_PER_IP: "" } });
  const { embedToken } = await limited.createCompanion();
  const leaving = new AbortController();
  const { signal } = leaving;
  const open = Array.from({ length: 20 }, () => sendChat(limited.url, embedToken, { message: "[[hang]]" }, { signal }));
  await limited.mockLlm.until(() => limited.mockLlm.openRequests === 20);
  expect((await chat(limited.url, embedToken, { message: "one more" })).status).toBe(429);
  leaving.abort();
  await Promise.allSettled(open);
  await limited.close();
});
