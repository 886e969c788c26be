/** All that Redis does for a running instance, behind one import; `open.ts` also has the check for `doctor`. */
import type { SignInFailures } from "../../coordination/coordination.ts";
import type { Log } from "../../lib/log.ts";
import type { Probe } from "../../lib/probe.ts";
import type { Limiter } from "../limiter.ts";
import { createRedisLimiter } from "./limiter.ts";
import { openRedis, type RedisOptions } from "./open.ts";
import { createRedisSignInFailures } from "./sign-in-failures.ts";

/** The engines of this instance's memory, which count while Redis is away. */
export interface LocalEngines {
  limiter: Limiter;
  signInFailures: SignInFailures;
}

export interface RedisEngines {
  /** Its `close` closes the local one. */
  readonly limiter: Limiter;
  readonly signInFailures: SignInFailures;
  /** Whether Redis is away now. */
  readonly isLocal: boolean;
  /** The same as a metric. */
  readonly probes: readonly Probe[];
  /** Ends the connection; from then on the local engines answer. */
  close(): void;
}

/** Rejects as `openRedis` does. */
export async function openRedisEngines(
  url: string,
  log: Log,
  local: LocalEngines,
  options?: RedisOptions,
): Promise<RedisEngines> {
  const redis = await openRedis(url, log, options);
  return {
    limiter: createRedisLimiter({ redis, fallback: local.limiter }),
    signInFailures: createRedisSignInFailures({ redis, fallback: local.signInFailures }),
    get isLocal() {
      return redis.isLocal;
    },
    probes: redis.probes,
    close: () => redis.close(),
  };
}
