/** Failed sign-ins in Redis: one string for each subject, which expires with the last failure. */
import { createScript } from "./script.ts";

const forgetAfterMs = 60 * 60_000;
const maxWaitMs = 15 * 60_000;

/**
 * The string holds the count, the time of the last failure, and its number, since several may have the same time. If the
 * clock of Redis was set back, the last failure counts as one of now: no wait is longer than the failures make it.
 */
const entry = `
local count, last, number = string.match(redis.call('GET', KEYS[1]) or '', '^(%d+) (%d+) (%d+)$')
count, last, number = tonumber(count or 0), tonumber(last or 0), tonumber(number or 0)

local function keep(count, last, number)
  local leftMs = last + ${forgetAfterMs} - now + spare
  if count < 1 or leftMs < 1 then
    redis.call('DEL', KEYS[1])
  else
    local text = string.format('%.0f %.0f %.0f', count, last, number)
    redis.call('SET', KEYS[1], text, 'PX', string.format('%.0f', leftMs))
  end
end

if last > now then
  last = now
  keep(count, last, number)
end
if now - last >= ${forgetAfterMs} then count = 0 end
`;

/** The key of each is the subject's. */
export const signInScripts = {
  /** Returns the count. */
  count: createScript(`${entry}
return { count }
`),
  /**
   * Takes how many failures are free, -1 for all. Returns 0 and the milliseconds to wait; or 1, the count, this failure's
   * number and time, and the time of the one before.
   */
  add: createScript(`${entry}
local free = tonumber(ARGV[2])
if free >= 0 and count >= free then
  local waitMs = math.min(1000 * 2 ^ (count - free), ${maxWaitMs}) - (now - last)
  if waitMs > 0 then return { 0, waitMs } end
end
keep(count + 1, now, number + 1)
return { 1, count + 1, number + 1, now, last }
`),
  /** Takes the number and the times that `add` returned. The wait goes back too, unless another attempt failed since. */
  takeBack: createScript(`${entry}
if number == tonumber(ARGV[2]) and last == tonumber(ARGV[3]) then last = tonumber(ARGV[4]) end
keep(count - 1, last, number)
return {}
`),
  forget: createScript(`
redis.call('DEL', KEYS[1])
return {}
`),
};
