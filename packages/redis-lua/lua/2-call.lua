-- The call: its steps, what they have read so far, and what is still to be written. Windows and buckets are read once, at the
-- start, and written once, at the end, however many steps touch them; a step sees what the steps before it did.
--
-- groups: { template, keys, template, keys, ... }: steps that ask the same of different keys share a template.
--   ask     { 1 consume | 0 peek, charges, then for each charge: algorithm, six numbers }; keys: one a charge, step after step
--             1 window  windowMs, offsetMs, cost, most, enforce, 0
--             2 bucket  refillTokens, units, cost, level, enforce, lifeMs
--             3 log     windowMs, budget, cost, 0, enforce, 0
--   adjust  { 2, adjustments, 0, marker ttlMs, then for each: see 7-adjust.lua }; keys: the marker's or 0, then one an adjustment
--   reset   { 3, ledgers }; keys: one a ledger
local format, pcall, unpack, seed = string.format, pcall, unpack, args[2] + 0
local groups, strings
if kind == 'w' then
  groups = { { 1, 1, 1, args[4] + 0, args[5] + 0, args[6] + 0, args[7] + 0, 1, 0 }, { 1 } }
  strings = 1
elseif kind == 'b' then
  groups = { { 1, 1, 2, args[4] + 0, args[5] + 0, args[6] + 0, args[7] + 0, 1, args[8] + 0 }, { 1 } }
  strings = 1
else
  groups = cjson.decode(args[4])
  -- The first `strings` keys hold strings (windows, buckets, markers), the others logs.
  strings = groups[1]
end

-- The answer: now, the seed, then what each step puts. Text from 2^52 on, because some clients misread integers just below 2^53.
local reply, size, charges, wrote = { now, args[2] }, 2, 0, false
local function put(number)
  size = size + 1
  reply[size] = number < 4503599627370496 and number or format('%.0f', number)
end

-- What is known of each string key, as parallel arrays: found 1 | 0 absent | -1 of another type | -2 not a ledger. A window: a start,
-- b used, c id. A bucket: a at, b debt, c id, d charged, e expiresAt. dirty: 1 | 2, the algorithm that will write it;
-- life: the TTL that it must get, nil to keep the one that it has.
local values, found, a, b, c, d, e, dirty, life, order, ordered = {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, 0
for from = 1, strings, 4000 do
  local to = math.min(from + 3999, strings)
  local got = call('MGET', unpack(keys, from, to))
  for i = from, to do values[i] = got[i - from + 1] end
end

local function whole(number)
  return number >= 0 and number < 9007199254740992 and number % 1 == 0
end

local function load(k, algorithm)
  local value, is = values[k], -2
  if not value then
    -- MGET shows a key of another type as absent, and SET would overwrite it.
    is = type(redis.pcall('GET', keys[k])) == 'table' and -1 or 0
  elseif algorithm == 1 then
    if #value == 25 then
      local version
      version, a[k], b[k], c[k] = struct.unpack('<Bddd', value)
      -- A window may have started before 1970, by less than its length.
      if version == 1 and whole(a[k] + 4398046511104) and whole(b[k]) and whole(c[k]) then is = 1 end
    end
  elseif #value == 41 then
    local version
    version, a[k], b[k], d[k], c[k], e[k] = struct.unpack('<Bddddd', value)
    if version == 1 and whole(a[k]) and whole(b[k]) and whole(c[k]) and whole(d[k]) and e[k] == e[k] then is = 1 end
  end
  found[k] = is
  return is
end

local function touch(k, algorithm)
  if not dirty[k] then
    ordered = ordered + 1
    order[ordered] = k
  end
  dirty[k] = algorithm
end

local function flush()
  for i = 1, ordered do
    local k = order[i]
    local value = dirty[k] == 1 and struct.pack('<Bddd', 1, a[k], b[k], c[k])
      or dirty[k] == 2 and struct.pack('<Bddddd', 1, a[k], b[k], d[k], c[k], e[k])
    if value then
      dirty[k] = nil
      if life[k] then call('SET', keys[k], value, 'PX', life[k]) else call('SET', keys[k], value, 'KEEPTTL') end
      wrote = true
    end
  end
end

-- ceil(x / y), exact: x - x % y divides evenly.
local function ceil(x, y)
  local rest = x % y
  return (x - rest) / y + (rest > 0 and 1 or 0)
end

local function keep(ms)
  return callerClock and ms < 3600000 and 3600000 or ms
end
