/** The dashboard as a browser uses it: accounts with a password, and requests with the session cookie. */
import type { Account, Plan, Role } from "../../src/domain/account.ts";
import { lifetimeMs } from "../../src/domain/session.ts";
import { systemIds } from "../../src/lib/ids.ts";
import { sha256Hex } from "../../src/lib/sha256.ts";
import type { SignInPace } from "../../src/modules/session/attempts.ts";
import { type ApiClient, apiClient } from "./api-client.ts";
import { type TestServer, testContext } from "./app.ts";

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
  await services.store.accounts.setPassword(account.id, await testHash, null, testContext());
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
  const token = systemIds.secret(43);
  const nowMs = server.services.clock.nowMs();
  const session = {
    id: systemIds.uuid(),
    accountId: owner.id,
    userAgent: "test",
    ipPrefix: null,
    createdAt: nowMs,
    lastUsedAt: nowMs,
    expiresAt: nowMs + lifetimeMs,
  };
  await server.services.store.sessions.create(session, sha256Hex(token), testContext());
  const cookie = `companiond_session=${token}`;
  return { account: owner, sessionId: session.id, cookie, ...withCookie(server.url, cookie) };
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
