/** A Lua script that Redis runs in one piece, named by its digest once Redis has it. */
import { sha256 } from "../../lib/sha256.ts";

export interface Script {
  readonly text: string;
  /** SHA-1 in hexadecimal, by which EVALSHA finds it. */
  readonly digest: string;
}

/**
 * `body` finds `now` (whole milliseconds) and `spare` (milliseconds that keys outlive their content). The script's first
 * argument is empty for Redis' own clock, which all instances share; tests pass the time, and then keys must not expire
 * before their content does by a clock that may stand still.
 */
export function createScript(body: string): Script {
  const text = `${prelude}${body}`;
  return { text, digest: new Bun.CryptoHasher("sha1").update(text).digest("hex") };
}

const prelude = `
local now, spare = tonumber(ARGV[1]), 600000
if now == nil then
  local time = redis.call('TIME')
  now, spare = time[1] * 1000 + math.floor(time[2] / 1000), 0
end
`;

/** Addresses and their networks; what else is of these characters is no secret either. */
const address = /^[0-9a-f]*[.:][0-9a-f.:]{1,44}(\/\d{1,3})?$/;

/**
 * The names of our keys at Redis: short, of our own prefix, and without anything secret. The key of what is counted
 * for the subject. Addresses are legible, so that operators can see them. All else is hashed (128 bits): embed tokens
 * are secrets, e-mail addresses personal, and either would be in Redis' dumps and monitors.
 */
export function keyOf(counted: string, subject: string): string {
  const isLegible = subject.length <= 50 && address.test(subject);
  const name = isLegible ? subject : `#${Buffer.from(sha256(subject)).toString("base64url", 0, 16)}`;
  return `companiond:${counted}:${name}`;
}
