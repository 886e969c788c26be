/** Sliding windows in Redis: one script that looks into all windows of a request, and occupies all of them or none. */
import { createScript } from "./script.ts";

/**
 * A window is a string of times, oldest first, six bytes each: of the structures that are exact it takes the least
 * memory, and the least time where limits are low. It never holds more than the limit, and expires with its newest.
 *
 * Keys: the windows. Arguments after the time: limit and length in milliseconds of each. Returns three numbers for each:
 * whether it has room, what is left after this request, and the milliseconds until the oldest leaves.
 *
 * If the clock of Redis was set back, the times of a window move with it: nobody waits for longer than the window, and no
 * place is free early.
 */
export const windowScript = createScript(`
local function timeAt(times, index)
  return (struct.unpack('>I6', times, index * 6 + 1))
end

local function setBack(times, byMs)
  local moved = {}
  for index = 0, #times / 6 - 1 do moved[index + 1] = struct.pack('>I6', math.max(0, timeAt(times, index) - byMs)) end
  return table.concat(moved)
end

local function expiredCount(times, windowMs)
  local low, high = 0, #times / 6
  while low < high do
    local middle = math.floor((low + high) / 2)
    if now - timeAt(times, middle) < windowMs then high = middle else low = middle + 1 end
  end
  return low
end

local answer, windows, isAdmitted = {}, {}, true
for index, key in ipairs(KEYS) do
  local limit, windowMs = tonumber(ARGV[index * 2]), tonumber(ARGV[index * 2 + 1])
  local times = redis.call('GET', key) or ''
  local aheadMs = #times > 0 and timeAt(times, #times / 6 - 1) - now or 0
  if aheadMs > 0 then
    times = setBack(times, aheadMs)
    redis.call('SET', key, times, 'PX', windowMs + spare)
  end
  times = string.sub(times, expiredCount(times, windowMs) * 6 + 1)
  local count = #times / 6
  local hasRoom = count < limit
  isAdmitted = isAdmitted and hasRoom
  windows[index] = times
  answer[#answer + 1] = hasRoom and 1 or 0
  answer[#answer + 1] = hasRoom and limit - count - 1 or 0
  answer[#answer + 1] = (count > 0 and timeAt(times, 0) or now) + windowMs - now
end
if isAdmitted then
  for index, key in ipairs(KEYS) do
    local windowMs = tonumber(ARGV[index * 2 + 1])
    redis.call('SET', key, windows[index] .. struct.pack('>I6', now), 'PX', windowMs + spare)
  end
end
return answer
`);
