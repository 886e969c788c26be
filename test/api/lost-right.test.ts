/** Replies under way when the embed token, the companion or the account behind them is taken away. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Store } from "../../src/contracts/store/store.ts";
import type { Account } from "../../src/domain/account.ts";
import { toUtcDay } from "../../src/lib/clock.ts";
import { startTestServer, type TestServer, testContext } from "../support/app.ts";
import { chat, sendChat } from "../support/chat.ts";
import { openStoreBeside } from "../support/engine.ts";
import { eventually } from "../support/eventually.ts";
import { chatRequest, connectRaw, type RawVisitor, startRawChat } from "../support/raw-visitor.ts";
import { withText } from "../support/turn-messages.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ lookEveryMs: 50 });
});
afterAll(() => server.close());

const session = "0b6c1de2-7f0a-4c59-9c3e-3c6f3f0e8a11";

interface Victim {
  account: Account;
  id: string;
  embedToken: string;
}

async function makeVictim(): Promise<Victim> {
  const account = await server.createAccount({ email: `${crypto.randomUUID()}@example.com` });
  const { id, embedToken } = await server.createCompanion({}, account);
  return { account, id, embedToken };
}

type Loss = [what: string, isKept: boolean, take: (store: Store, victim: Victim) => Promise<unknown>];

async function revokeToken(store: Store, { account, id }: Victim): Promise<boolean> {
  const [token] = (await store.embedTokens.list(account.id, id)) ?? [];
  return store.embedTokens.revoke(account.id, id, token?.id ?? "", testContext());
}

const losses: Loss[] = [
  ["the token is revoked", true, revokeToken],
  [
    "the companion is disabled",
    true,
    (store, { account, id }) => store.companions.update(account.id, id, { enabled: false }, testContext()),
  ],
  [
    "the companion is deleted",
    false,
    (store, { account, id }) => store.companions.delete(account.id, id, testContext()),
  ],
  [
    "the account is suspended",
    true,
    (store, { account }) => store.accounts.update(account.id, { suspendedAt: 1 }, testContext()),
  ],
  ["the account is deleted", false, (store, { account }) => store.accounts.delete(account.id, testContext())],
];

async function keptMessages({ account, id }: Victim) {
  const query = { companionId: id, visitorId: null, fromMs: null, toMs: null, q: null };
  const { conversations } = server.services.store;
  const page = await conversations.list(account.id, query, { limit: 10, afterId: null });
  const found = await Promise.all(page.items.map((each) => conversations.find(account.id, each.id)));
  return found.flatMap((each) => (each?.messages ?? []).map(withText));
}

/** What is deleted with an account leaves in chunks, after the call. */
function removed(victim: Victim, isKept: boolean): Promise<void> {
  return eventually(async () => isKept || (await keptMessages(victim)).length === 0);
}

/** One that streams, and one of the same conversation that waits for it. */
async function openBoth(victim: Victim): Promise<{ streaming: RawVisitor; waiting: RawVisitor }> {
  const streaming = await connectRaw(server.url);
  streaming.write(chatRequest(victim.embedToken, { message: "[[silence:4]] one two three", session_id: session }));
  await streaming.until((received) => received.includes("two"));
  const waiting = await connectRaw(server.url);
  waiting.write(chatRequest(victim.embedToken, { message: "next", session_id: session }));
  await eventually(() => server.services.coordination.turns.waitingCount === 1);
  return { streaming, waiting };
}

describe.each(losses)("when %s", (_, isKept, take) => {
  test.each([
    ["here", async () => server.services.store],
    // A second connection is to the first what another process is.
    ["by a command beside the server", () => openStoreBeside(server.dataDir)],
  ])("%s, streams end as broken ones do, waiting turns are 404, and no provider call begins", async (__, open) => {
    const victim = await makeVictim();
    const bystander = await makeVictim();
    const untouched = await startRawChat(server.url, bystander.embedToken, "[[silence:3]] one");
    await untouched.until((received) => received.includes("one"));
    const { streaming, waiting } = await openBoth(victim);
    const calls = server.mockLlm.requests.length;

    const store = await open();
    await take(store, victim);
    if (store !== server.services.store) await store.close();

    await streaming.until((received) => received.endsWith(": error unavailable\n\n\r\n0\r\n\r\n"));
    expect(streaming.received).not.toContain("[DONE]");
    expect(await waiting.until((received) => received.includes("}"))).toStartWith("HTTP/1.1 404 ");
    expect(waiting.received).toContain('"code":"not_found"');
    await server.mockLlm.until(() => server.mockLlm.openRequests === 1);
    expect(server.mockLlm.requests.length).toBe(calls);
    expect(untouched.received).not.toContain("error");
    untouched.vanish();
    await server.mockLlm.until(() => server.mockLlm.openRequests === 0);
    await server.services.openTurns.whenEnded();
    const kept = isKept
      ? [
          { role: "user", text: "[[silence:4]] one two three" },
          { role: "assistant", text: "You said: one two ", complete: false },
        ]
      : [];
    await removed(victim, isKept);
    expect(await keptMessages(victim)).toMatchObject(kept);
    expect(server.services.openTurns.size).toBe(0);
    for (const visitor of [streaming, waiting]) visitor.vanish();
  });

  test("a provider that has not said anything yet is given up, and the response is 404", async () => {
    const victim = await makeVictim();
    const pending = sendChat(server.url, victim.embedToken, { message: "[[hang]]" });
    await server.mockLlm.until(() => server.mockLlm.openRequests === 1);
    await take(server.services.store, victim);
    expect((await pending).status).toBe(404);
    await server.mockLlm.until(() => server.mockLlm.openRequests === 0);
    await server.services.openTurns.whenEnded();
    await removed(victim, isKept);
    // The provider was asked: as with a visitor who leaves, the message counts and is kept.
    expect(await keptMessages(victim)).toHaveLength(isKept ? 1 : 0);
    const countDay = () => server.services.store.turns.countDay(victim.id, toUtcDay(Date.now()));
    // It leaves with the last chunk of its companion, after the messages.
    if (!isKept) await eventually(async () => (await countDay()) === 0);
    expect(await countDay()).toBe(isKept ? 1 : 0);
  });
});

test("a message whose body was still on its way when the token was revoked asks no provider", async () => {
  const victim = await makeVictim();
  const request = chatRequest(victim.embedToken, { message: "late" });
  const visitor = await connectRaw(server.url);
  const asked = server.services.measurements.verdicts.token.admitted;
  visitor.write(request.slice(0, -10));
  await eventually(() => server.services.measurements.verdicts.token.admitted > asked);
  const calls = server.mockLlm.requests.length;
  await revokeToken(server.services.store, victim);
  visitor.write(request.slice(-10));
  expect(await visitor.until((received) => received.includes("}"))).toStartWith("HTTP/1.1 404 ");
  expect(server.mockLlm.requests.length).toBe(calls);
  visitor.vanish();
});

test("an owner's trial ends too when the companion is deleted or the account suspended, but not when it is disabled", async () => {
  for (const [what, , take] of losses) {
    if (what.includes("token") || what === "the account is deleted") continue;
    const victim = await makeVictim();
    const { key } = await server.createKey(victim.account);
    const response = await fetch(`${server.url}/api/companions/${victim.id}/test-chat`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ message: "[[words:60]] [[delay:20]]" }),
    });
    const reader = response.body?.getReader();
    await reader?.read();
    await take(server.services.store, victim);
    let rest = "";
    for (let read = await reader?.read(); read?.done === false; read = await reader?.read()) {
      rest += Buffer.from(read.value).toString();
    }
    if (what === "the companion is disabled") expect(rest).toEndWith("data: [DONE]\n\n");
    else expect(rest).toEndWith(": error unavailable\n\n");
  }
});

test("a new message with a token of the same companion is answered while another's streams end", async () => {
  const victim = await makeVictim();
  const made = { id: crypto.randomUUID(), token: `emb_${"b".repeat(32)}`, name: null };
  await server.services.store.embedTokens.create(victim.account.id, victim.id, made, testContext());
  const streaming = await startRawChat(server.url, victim.embedToken, "[[silence:3]] one");
  await streaming.until((received) => received.includes("one"));
  await revokeToken(server.services.store, victim);
  expect((await chat(server.url, made.token, { message: "hello" })).isDone).toBe(true);
  await streaming.until((received) => received.includes(": error unavailable"));
  streaming.vanish();
});
