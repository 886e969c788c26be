/** Sliding windows in Redis: one script that checks the windows of requests, and occupies those that belong together or none of them. */
import { createScript } from "./script.ts";

/**
 * A window is a string of times, oldest first, six bytes each: of the structures that are exact it takes the least
 * memory, and the least time where limits are low. One with a high limit is a list of times, since a string is copied as
 * a whole with each request. Neither ever holds more than the limit, and both expire with their newest time.
 *
 * Keys: the windows of all requests. Arguments after the time, for each request: how many windows it has, and how many of
 * the first of them belong together; then, for each window: how many slots may be occupied, length in milliseconds, and
 * 1 if it is a list. The others of a request, together as well, are judged only if its first admit. Returns three numbers
 * for each window: whether it has room, or -1 if it was not judged, the slots occupied after this request, and the
 * milliseconds until the oldest leaves.
 *
 * If the clock of Redis was set back, the times of a window move with it: no one waits for longer than the window, and no
 * slot is free early.
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

-- The string's count and oldest time; what is left of it goes into kept.
local function openString(key, windowMs, kept)
  local times = redis.call('GET', key) or ''
  local aheadMs = #times > 0 and timeAt(times, #times / 6 - 1) - now or 0
  if aheadMs > 0 then
    times = setBack(times, aheadMs)
    redis.call('SET', key, times, 'PX', windowMs + spare)
  end
  times = string.sub(times, expiredCount(times, windowMs) * 6 + 1)
  kept[key] = times
  return #times / 6, #times > 0 and timeAt(times, 0) or now
end

local function setListBack(key, windowMs, byMs)
  local times = redis.call('LRANGE', key, 0, -1)
  redis.call('DEL', key)
  for first = 1, #times, 1000 do
    local moved = {}
    for index = first, math.min(first + 999, #times) do moved[#moved + 1] = math.max(0, times[index] - byMs) end
    redis.call('RPUSH', key, unpack(moved))
  end
  redis.call('PEXPIRE', key, windowMs + spare)
end

local function openList(key, windowMs)
  local newest = redis.call('LINDEX', key, -1)
  if newest and newest - now > 0 then setListBack(key, windowMs, newest - now) end
  local length = redis.call('LLEN', key)
  -- Few have left since the last request, and Redis finds an entry the faster the nearer it is to an end of the list.
  local low, step = 0, 1
  local function hasLeft(index)
    return index < length and now - redis.call('LINDEX', key, index) >= windowMs
  end
  while hasLeft(low + step - 1) do
    low, step = low + step, step * 2
  end
  local high = math.min(low + step - 1, length)
  while low < high do
    local middle = math.floor((low + high) / 2)
    if hasLeft(middle) then low = middle + 1 else high = middle end
  end
  if low > 0 then redis.call('LTRIM', key, low, -1) end
  return length - low, tonumber(redis.call('LINDEX', key, 0) or now)
end

local answer = {}

local function note(hasRoom, taken, resetMs)
  local at = #answer
  answer[at + 1], answer[at + 2], answer[at + 3] = hasRoom, taken, resetMs
end

-- The windows from first to last; the arguments of the first begin at at.
local function judge(first, last, at)
  local isAdmitted, kept = true, {}
  for index = first, last do
    local limit, windowMs = tonumber(ARGV[at + (index - first) * 3]), tonumber(ARGV[at + (index - first) * 3 + 1])
    local open = ARGV[at + (index - first) * 3 + 2] == '1' and openList or openString
    local count, oldest = open(KEYS[index], windowMs, kept)
    local hasRoom = count < limit
    isAdmitted = isAdmitted and hasRoom
    note(hasRoom and 1 or 0, hasRoom and count + 1 or count, oldest + windowMs - now)
  end
  if not isAdmitted then return false end
  for index = first, last do
    local key, windowMs = KEYS[index], tonumber(ARGV[at + (index - first) * 3 + 1])
    if kept[key] then
      redis.call('SET', key, kept[key] .. struct.pack('>I6', now), 'PX', windowMs + spare)
    else
      redis.call('RPUSH', key, now)
      redis.call('PEXPIRE', key, windowMs + spare)
    end
  end
  return true
end

local key, at = 1, 2
while at <= #ARGV do
  local count, together = tonumber(ARGV[at]), tonumber(ARGV[at + 1])
  at = at + 2
  if judge(key, key + together - 1, at) then
    judge(key + together, key + count - 1, at + together * 3)
  else
    for _ = together + 1, count do note(-1, 0, 0) end
  end
  key, at = key + count, at + count * 3
end
return answer
`);
