/** Redis as an instance of the server uses it, for tests in which it must answer. */
import type { SignInFailures } from "../../src/contracts/coordination.ts";
import type { Limiter } from "../../src/contracts/limiter/limiter.ts";
import type { SharedRedis } from "../../src/engines/redis/breaker.ts";
import { openRedis } from "../../src/engines/redis/open.ts";
import { createCapturedLog } from "./captured-log.ts";

/** Waits longer for an answer than any test takes: a busy machine must not pass for a lost server. */
export function openSharedRedis(url: string): Promise<SharedRedis> {
  return openRedis(url, createCapturedLog(), { commandMs: 600_000 });
}

function fail(): never {
  throw new Error("Redis did not answer");
}

/** What is asked instead of Redis where that would be a failure. */
export const noLimiter: Limiter = {
  isRemote: true,
  admit: fail,
  admitAll: fail,
  admitInTurn: fail,
  admitUpTo: fail,
  close() {},
};
export const noSignInFailures: SignInFailures = { count: fail, add: fail, addUnlessWaiting: fail, clear() {} };
