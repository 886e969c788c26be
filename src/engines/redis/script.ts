/** A Lua script that Redis runs in one piece, named by its digest once Redis has it. */

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
