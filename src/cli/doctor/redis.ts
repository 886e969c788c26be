/** Checks the Redis in which instances count rates and failed sign-ins together. */
import { checkProviders } from "../../app/provider-checks.ts";
import type { Config } from "../../config/config.ts";
import { AppError } from "../../domain/errors.ts";
import { describeFailure, type Finding, fail, ok, warn, within } from "./finding.ts";

/** Each request waits for one round trip. */
const slowRoundTripMs = 10;

/** Nothing to say where the database is a file: then there is one server, which counts in memory. */
export async function examineRedis(
  { database, redisUrl }: Pick<Config, "database" | "redisUrl">,
  check: typeof checkProviders.redis = checkProviders.redis,
): Promise<Finding[]> {
  const name = "redis";
  if (database === null) return [];
  if (redisUrl === null) return [ok(name, "None is configured: PostgreSQL serves one instance.")];
  try {
    const { server, roundTripMs, warning } = await check(redisUrl);
    const detail = `${server} answers ${within(roundTripMs)}.`;
    if (warning !== null) return [warn(name, detail, warning)];
    if (roundTripMs <= slowRoundTripMs) return [ok(name, detail)];
    return [warn(name, detail, "Move it closer to the servers: each request waits for it.")];
  } catch (error) {
    const advice =
      "Fix this first: serve does not start without Redis. Instances that run count by themselves meanwhile.";
    return [fail(name, error instanceof AppError ? error.message : `${describeFailure(error)}.`, advice)];
  }
}
