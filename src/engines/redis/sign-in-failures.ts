/** Failed sign-ins that all instances count together in Redis, and each on its own while Redis is away. */
import type { SignInFailure, SignInFailureKind, SignInFailures } from "../../contracts/coordination.ts";
import type { Clock } from "../../lib/clock.ts";
import type { SharedRedis } from "./breaker.ts";
import { keyOf, type Script } from "./script.ts";
import { signInScripts } from "./sign-in-scripts.ts";

export interface RedisSignInFailuresOptions {
  redis: SharedRedis;
  /** Counts while Redis is away. */
  fallback: SignInFailures;
  /** For tests; Redis' own clock otherwise. */
  clock?: Pick<Clock, "monotonicMs">;
}

/**
 * No call rejects: while Redis is away, `fallback` answers. What it counted is not merged into Redis, so a guesser
 * then gets as many more attempts as one instance allows. A failure noted in Redis that is withdrawn or forgotten
 * while Redis is away stays until an hour after the last one.
 *
 * Bounded by time: a key expires an hour after the subject's last failure. Where Redis has a bound of memory, its
 * policy decides what happens at that bound.
 */
export function createRedisSignInFailures({ redis, fallback, clock }: RedisSignInFailuresOptions): SignInFailures {
  function ask(script: Script, kind: SignInFailureKind, subject: string, args: readonly number[] = []) {
    const now = clock === undefined ? "" : String(Math.floor(clock.monotonicMs()));
    return redis.ask(script, [keyOf(`failures:${kind}`, subject)], [now, ...args.map(String)]);
  }

  /** Null: Redis is away. */
  async function tryAdd(
    kind: SignInFailureKind,
    subject: string,
    free: number,
  ): Promise<SignInFailure | { readonly waitMs: number } | null> {
    const answer = await ask(signInScripts.add, kind, subject, [free]);
    if (answer === null) return null;
    const [isNoted, first = 0, ...own] = answer;
    if (isNoted === 0) return { waitMs: first };
    return { count: first, takeBack: () => void ask(signInScripts.takeBack, kind, subject, own) };
  }

  return {
    async count(kind, subject) {
      const answer = await ask(signInScripts.count, kind, subject);
      return answer === null ? fallback.count(kind, subject) : (answer[0] ?? 0);
    },
    async add(kind, subject) {
      const failure = await tryAdd(kind, subject, -1);
      return failure === null || "waitMs" in failure ? fallback.add(kind, subject) : failure;
    },
    async addUnlessWaiting(kind, subject, free) {
      return (await tryAdd(kind, subject, free)) ?? fallback.addUnlessWaiting(kind, subject, free);
    },
    clear(kind, subject) {
      void ask(signInScripts.forget, kind, subject);
      fallback.clear(kind, subject);
    },
  };
}
