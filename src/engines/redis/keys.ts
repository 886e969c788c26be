/** The names of our keys at Redis: short, of our own prefix, and without anything secret. */
import { sha256 } from "../../lib/sha256.ts";

/** Addresses and their networks; what else is of these characters is no secret either. */
const address = /^[0-9a-f]*[.:][0-9a-f.:]{1,44}(\/\d{1,3})?$/;

/**
 * The key of what is counted for the subject. Addresses are legible, so that operators can see them. All else is hashed
 * (128 bits): embed tokens are secrets, e-mail addresses personal, and either would be in Redis' dumps and monitors.
 */
export function keyOf(counted: string, subject: string): string {
  const isLegible = subject.length <= 50 && address.test(subject);
  const name = isLegible ? subject : `#${Buffer.from(sha256(subject)).toString("base64url", 0, 16)}`;
  return `companiond:${counted}:${name}`;
}
