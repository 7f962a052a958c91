-- Every other call, kind g, and what 1-lone-log.lua leaves of kind l: one that has logs, refunds, settlements or resets. Windows and buckets are
-- read once, at the start, and written once, at the end, however many steps touch them; a step sees what the steps before it did.
--
-- ARGV[4]: JSON [strings, template, keys, template, keys, ...]
--   strings: so many keys, the first ones, hold strings (windows, buckets, markers); the others are logs
--   ask     as in 2-plain.lua, with any number of charges, and 3 log: windowMs, 0, cost, budget; no key is negative
--   adjust  { -1, adjustments, marker ttlMs, then for each: see 8-adjust.lua }; keys: the marker's or 0, then one an adjustment
--   reset   { -2 }; keys: one a ledger
local format, read, pcall, unpack, seed = string.format, struct.unpack, pcall, unpack, args[2] + 0
groups = groups or cjson.decode(args[4])
local strings = groups[1]
local reply, size, charges, wrote = { now }, 1, 0, false
local function put(number)
  size = size + 1
  reply[size] = number < 4503599627370496 and number or format('%.0f', number)
end

-- What is known of each string key: shared/read-window.lua and read-bucket.lua say what the letters mean. dirty: 1 | 2, the algorithm that
-- will write it; lives: the TTL that it must get, nil to keep the one that it has.
values = {}
local found, as, bs, cs, ds, es, dirty, lives, order, ordered = {}, {}, {}, {}, {}, {}, {}, {}, {}, 0
for from = 1, strings, 4000 do
  local to = math.min(from + 3999, strings)
  local got = call('MGET', unpack(keys, from, to))
  for i = from, to do values[i] = got[i - from + 1] end
end

local function load(k, algorithm)
  local is, a, b, c, d, e
  if algorithm == 1 then
    --@ read-window
  else
    --@ read-bucket
  end
  found[k], as[k], bs[k], cs[k], ds[k], es[k] = is, a, b, c, d, e
  return is
end

local function flush()
  for i = 1, ordered do
    local k = order[i]
    local value = dirty[k] == 1 and pack('<I2ddd', 513, as[k], bs[k], cs[k])
      or dirty[k] == 2 and pack('<I2ddddd', 513, as[k], bs[k], ds[k], cs[k], es[k])
    if value then
      dirty[k] = nil
      if lives[k] then call('SET', keys[k], value, 'PX', lives[k]) else call('SET', keys[k], value, 'KEEPTTL') end
      wrote = true
    end
  end
end

-- The TTL of a log or marker.
local function keep(ms)
  return callerClock and ms < 3600000 and 3600000 or ms
end
