/** The verdict on a request that several windows judge, by the same rule in every engine. */
import type { Verdict } from "./limiter.ts";

/** A refused request waits for the slowest window; an admitted one is limited by the fullest. */
export function tighterOf(one: Verdict, other: Verdict): Verdict {
  if (one.isAdmitted !== other.isAdmitted) return one.isAdmitted ? other : one;
  if (one.remaining !== other.remaining) return one.remaining < other.remaining ? one : other;
  return one.resetMs >= other.resetMs ? one : other;
}
