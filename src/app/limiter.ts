/** Where windows are counted: in this server's memory, or in a Redis that servers share. */
import type { SignInFailures } from "../contracts/coordination.ts";
import type { Limiter } from "../contracts/limiter/limiter.ts";
import type { Log } from "../lib/log.ts";
import type { Probe } from "../lib/probe.ts";

interface Windows {
  limiter: Limiter;
  signInFailures: SignInFailures;
}

/** The windows of rates and failed sign-ins: of all servers in Redis where there is one, otherwise this server's own. */
export async function openWindows(
  redisUrl: string | null,
  { limiter, signInFailures, log }: Windows & { log: Log },
): Promise<Windows & { probes: readonly Probe[]; close(): void }> {
  if (redisUrl === null) return { limiter, signInFailures, probes: [], close() {} };
  // Loaded only here: a server without Redis must not pay for it.
  const [{ openRedis }, { createRedisLimiter }, { createRedisSignInFailures }] = await Promise.all([
    import("../engines/redis/open.ts"),
    import("../engines/redis/limiter.ts"),
    import("../engines/redis/sign-in-failures.ts"),
  ]);
  const redis = await openRedis(redisUrl, log);
  return {
    limiter: createRedisLimiter({ redis, fallback: limiter }),
    signInFailures: createRedisSignInFailures({ redis, fallback: signInFailures }),
    probes: redis.probes,
    close: () => redis.close(),
  };
}
