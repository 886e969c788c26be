/** Sessions of the dashboard as sign-ins leave them, without the cost of a password hash. */
import type { Store } from "../../src/contracts/store/store.ts";
import { lifetimeMs } from "../../src/domain/session.ts";
import { systemIds } from "../../src/lib/ids.ts";
import { sha256Hex } from "../../src/lib/sha256.ts";
import { testContext } from "./test-context.ts";

export interface StoredSession {
  sessionId: string;
  /** `name=token`. */
  cookie: string;
}

export async function storeSession(
  store: Store,
  accountId: string,
  nowMs = Date.now(),
  memberId: string | null = null,
): Promise<StoredSession> {
  const token = systemIds.secret(43);
  const session = {
    id: systemIds.uuid(),
    accountId,
    memberId,
    userAgent: "test",
    ipPrefix: null,
    createdAt: nowMs,
    lastUsedAt: nowMs,
    expiresAt: nowMs + lifetimeMs,
  };
  await store.sessions.create(session, sha256Hex(token), testContext());
  return { sessionId: session.id, cookie: `companiond_session=${token}` };
}
