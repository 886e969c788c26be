/** Test chats under way when the key or the session that began them ends. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Store } from "../../src/contracts/store/store.ts";
import type { Account } from "../../src/domain/account.ts";
import { ownIdentity } from "../../src/domain/member.ts";
import { lifetimeMs } from "../../src/domain/session.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { startTestServer, type TestServer, testContext } from "../support/app.ts";
import { readProblem } from "../support/chat.ts";
import { type Dashboard, type MemberDashboard, openDashboard, openMemberDashboard } from "../support/dashboard.ts";
import { openStoreBeside } from "../support/engine.ts";

let server: TestServer;
/** By how much the server's clock is ahead. */
let aheadMs = 0;
beforeAll(async () => {
  const clock = { ...systemClock, nowMs: () => Date.now() + aheadMs };
  server = await startTestServer({ lookEveryMs: 50, clock });
});
afterAll(() => server.close());

interface Owner {
  account: Account;
  companionId: string;
  key: { id: string; key: string };
  /** Signed in. */
  browser: Dashboard;
  /** Signed in elsewhere. */
  other: Dashboard;
  /** Signed in to the account beside its owner, who may do the same. */
  member: MemberDashboard;
}

async function makeOwner(): Promise<Owner> {
  const account = await server.createAccount({ email: `${crypto.randomUUID()}@example.com` });
  const { id: companionId } = await server.createCompanion({ enabled: false }, account);
  const [browser, other] = [await openDashboard(server, {}, account), await openDashboard(server, {}, account)];
  const member = await openMemberDashboard(server, browser, { role: "owner" });
  return { account, companionId, key: await server.createKey(account), browser, other, member };
}

type Credential = Record<string, string>;
const byKey = ({ key }: { key: string }): Credential => ({ authorization: `Bearer ${key}` });
const bySession = ({ cookie }: Dashboard): Credential => ({ cookie });

function tryOut({ companionId }: Owner, credential: Credential, message: string): Promise<Response> {
  return fetch(`${server.url}/api/companions/${companionId}/test-chat`, {
    method: "POST",
    headers: { "content-type": "application/json", ...credential },
    body: JSON.stringify({ message }),
  });
}

type Loss = [what: string, credentialOf: (owner: Owner) => Credential, take: (owner: Owner) => Promise<unknown>];

/** By what another process is to the server's. */
async function beside(work: (store: Store) => Promise<unknown>): Promise<void> {
  const store = await openStoreBeside(server.dataDir);
  await work(store);
  await store.close();
}

const ofKey = (owner: Owner) => byKey(owner.key);
const ofSession = (owner: Owner) => bySession(owner.browser);

const ofMember = (owner: Owner) => bySession(owner.member);
const changeMember = ({ browser, member: { member } }: Owner, change: object) =>
  browser.call("PATCH", `/api/members/${member.id}`, change);

const losses: Loss[] = [
  [
    "its member is removed",
    ofMember,
    ({ browser, member: { member } }) => browser.call("DELETE", `/api/members/${member.id}`),
  ],
  ["its member becomes a responder", ofMember, (owner) => changeMember(owner, { role: "responder" })],
  ["its member is left without the companion", ofMember, (owner) => changeMember(owner, { companion_ids: [] })],
  ["its key is revoked", ofKey, ({ browser, key }) => browser.call("DELETE", `/api/keys/${key.id}`)],
  [
    "its key is revoked by a command",
    ofKey,
    ({ account, key }) =>
      beside((store) => store.apiKeys.revoke(account.id, key.id, testContext(), () => crypto.randomUUID())),
  ],
  [
    "its key's account is suspended",
    ofKey,
    ({ account }) => server.services.store.accounts.update(account.id, { suspendedAt: 1 }, testContext()),
  ],
  ["its session signs out", ofSession, ({ browser }) => browser.call("DELETE", "/api/session")],
  [
    "its session is ended at another browser",
    ofSession,
    ({ browser, other }) => other.call("DELETE", `/api/sessions/${browser.sessionId}`),
  ],
  [
    "the password is changed by a command",
    ofSession,
    ({ account }) =>
      beside((store) => store.accounts.setPassword(ownIdentity(account.id), "hash", null, testContext())),
  ],
  [
    "its session's account is suspended",
    ofSession,
    ({ account }) => server.services.store.accounts.update(account.id, { suspendedAt: 1 }, testContext()),
  ],
  [
    "its session's account is deleted",
    ofSession,
    ({ account }) => server.services.store.accounts.delete(account.id, testContext()),
  ],
  [
    "its session has lasted as long as one may",
    ofSession,
    async () => {
      aheadMs = lifetimeMs;
    },
  ],
];

test.each(losses)(
  "when %s, a stream ends as broken ones do, and a chat without an answer is refused",
  async (...loss) => {
    const [, credentialOf, take] = loss;
    const [owner, bystander] = [await makeOwner(), await makeOwner()];
    const { mockLlm } = server;
    const streaming = await tryOut(owner, credentialOf(owner), "[[silence:4]] one two three");
    expect(streaming.status).toBe(200);
    const waiting = tryOut(owner, credentialOf(owner), "[[hang]]");
    await mockLlm.until(() => mockLlm.openRequests === 2);

    await take(owner);
    const rest = await streaming.text();
    expect(rest).toContain("You");
    expect(rest).toEndWith(": error unavailable\n\n");
    expect(rest).not.toContain("[DONE]");
    const refused = await waiting;
    expect(refused.status).toBe(401);
    expect(await readProblem(refused)).toMatchObject({ code: "unauthorized" });
    await mockLlm.until(() => mockLlm.openRequests === 0);
    await server.services.openTurns.whenEnded();
    aheadMs = 0;
    // Nobody else's.
    expect(await (await tryOut(bystander, credentialOf(bystander), "[[say:hello]]")).text()).toContain("[DONE]");
  },
);

test("a chat goes on when other keys and sessions of the account end, and when its companion is switched off", async () => {
  const owner = await makeOwner();
  const { mockLlm } = server;
  const streams = [ofKey(owner), ofSession(owner)].map((credential) => tryOut(owner, credential, "[[silence:4]] one"));
  for (const stream of streams) expect((await stream).status).toBe(200);
  const path = `/api/companions/${owner.companionId}`;
  await owner.browser.call("PATCH", path, { enabled: true });
  await owner.browser.call("PATCH", path, { enabled: false });
  await owner.browser.call("DELETE", `/api/sessions/${owner.other.sessionId}`);
  const another = await server.createKey(owner.account);
  const lost = await tryOut(owner, byKey(another), "[[silence:4]] one");
  await owner.browser.call("DELETE", `/api/keys/${another.id}`);
  // The look that ends this one finds the others rightful.
  expect(await lost.text()).toEndWith(": error unavailable\n\n");
  await mockLlm.until(() => mockLlm.openRequests === 2);
  await owner.browser.call("DELETE", path);
  for (const stream of streams) expect(await (await stream).text()).toEndWith(": error unavailable\n\n");
});
