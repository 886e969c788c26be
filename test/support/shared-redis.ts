/** Redis as an instance of the server uses it, for tests in which it must answer. */
import type { SignInFailures } from "../../src/coordination/coordination.ts";
import type { Limiter } from "../../src/limits/limiter.ts";
import type { SharedRedis } from "../../src/limits/redis/breaker.ts";
import { openRedis } from "../../src/limits/redis/open.ts";
import { createCapturedLog } from "./captured-log.ts";

/** Waits longer for an answer than any test takes: a busy machine must not look like a lost server. */
export function openSharedRedis(url: string): Promise<SharedRedis> {
  return openRedis(url, createCapturedLog(), { commandMs: 600_000 });
}

function fail(): never {
  throw new Error("Redis did not answer");
}

/** What is asked instead of Redis where that would be a failure. */
export const noLimiter: Limiter = { admit: fail, admitAll: fail, admitUpTo: fail, close() {} };
export const noSignInFailures: SignInFailures = { count: fail, add: fail, addUnlessWaiting: fail, clear() {} };
