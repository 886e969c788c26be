/** The limit of one visitor's messages where a platform's server sends them: its own address does not identify them. */
import type { Services } from "../core/dependencies.ts";
import { sha256 } from "../lib/sha256.ts";
import type { HeaderBag } from "./problem.ts";
import { addRateLimitHeaders, refuse } from "./rate-limit.ts";

/**
 * Counts a message of the visitor with the companion, if the platform names one; throws `rate_limited`. `kind`: what the
 * platform names them by, since each has names of its own. Adds to the rate-limit headers of the guard.
 */
export async function admitVisitor(
  { limiter, rules }: Pick<Services, "limiter" | "rules">,
  companionId: string,
  kind: "sub" | "visitor_id" | "user",
  name: string | null | undefined,
  headers: HeaderBag,
): Promise<void> {
  if (!name) return;
  // A digest: names may be long, and have no business in Redis.
  const subject = Buffer.from(sha256(`${companionId}\n${kind}\n${name}`)).toString("base64url");
  const verdict = await limiter.admit(rules.visitor, subject);
  addRateLimitHeaders(headers, verdict);
  refuse(verdict, "This visitor has sent too many messages.");
}
