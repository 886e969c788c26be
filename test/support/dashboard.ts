/** The dashboard as a browser uses it: accounts with a password, and requests with the session cookie. */

import type { NewMember } from "../../src/contracts/store/store.ts";
import type { SignInPace } from "../../src/core/sign-in/attempts.ts";
import type { Account, Plan, Role } from "../../src/domain/account.ts";
import { ownIdentity } from "../../src/domain/member.ts";
import { makeOneTimeLink } from "../../src/domain/one-time-link.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { systemIds } from "../../src/lib/ids.ts";
import { type ApiClient, apiClient } from "./api-client.ts";
import { type TestServer, testContext } from "./app.ts";
import { storeSession } from "./stored-session.ts";

/** For tests that prove something else than how long sign-ins take; `attempts.test.ts` proves that. */
export const quickSignIns: SignInPace = { shortestGapMs: 1, refusalMs: 1 };

export const testPassword = "correct horse battery staple";

interface AccountFields {
  email?: string;
  plan?: Plan;
  role?: Role;
}

/** Of the same kind, but cheap: hashing, and so each sign-in, is slow by design. `password-hash.test.ts` has the real one. */
let testHash: Promise<string> | null = null;

export async function createAccountWithPassword(
  { createAccount, services }: TestServer,
  fields: AccountFields = {},
): Promise<Account> {
  const account = await createAccount(fields);
  testHash ??= Bun.password.hash(testPassword, { algorithm: "argon2id", memoryCost: 8, timeCost: 1 });
  await services.store.accounts.setPassword(ownIdentity(account.id), await testHash, null, testContext());
  return account;
}

export interface Dashboard extends ApiClient {
  account: Account;
  sessionId: string;
  /** `name=token`. */
  cookie: string;
}

/** A session, of a new account by default, created without the cost of a password hash. */
export async function openDashboard(
  server: TestServer,
  fields: AccountFields = {},
  account?: Account,
): Promise<Dashboard> {
  const owner = account ?? (await server.createAccount(fields));
  const { sessionId, cookie } = await storeSession(server.services.store, owner.id, server.services.clock.nowMs());
  return { account: owner, sessionId, cookie, ...withCookie(server.url, cookie) };
}

export interface MemberDashboard extends Dashboard {
  member: NewMember;
}

/** A session of a new member who has joined the owner's account; by default a responder for all of its companions. */
export async function openMemberDashboard(
  server: TestServer,
  { account }: Pick<Dashboard, "account">,
  fields: Partial<NewMember> = {},
): Promise<MemberDashboard> {
  const { members, sessions } = server.services.store;
  const id = systemIds.uuid();
  const defaults = { email: `${id}@team.example`, name: "Grace", role: "responder", companionIds: null } as const;
  const member: NewMember = { id, ...defaults, ...fields };
  const { kept } = makeOneTimeLink({ kind: "invitation", accountId: account.id, memberId: id }, systemIds, systemClock);
  testHash ??= Bun.password.hash(testPassword, { algorithm: "argon2id", memoryCost: 8, timeCost: 1 });
  await members.create(account.id, member, { ...kept, expiresAt: 9e15 }, testContext());
  await sessions.spendInvitation(kept.hash, await testHash, testContext());
  const { clock, store } = server.services;
  const { sessionId, cookie } = await storeSession(store, account.id, clock.nowMs(), id);
  return { account, member, sessionId, cookie, ...withCookie(server.url, cookie) };
}

/** A client that sends the cookie, but nothing else that a browser would send. */
export function withCookie(url: string, cookie: string): ApiClient {
  const client = apiClient(url, null);
  return { call: (method, path, body, headers = {}) => client.call(method, path, body, { cookie, ...headers }) };
}

/** `name=token` of the response's cookie; empty if it set none. */
export function cookieOf(headers: Headers): string {
  return headers.getSetCookie()[0]?.split(";", 1)[0] ?? "";
}
