-- One window or bucket, alone in its call: the commonest step, in a straight line. It stands above every function, because a call pays for
-- each function that the script defines before it returns.
--
-- ARGV: kind, seed, deadline, then by kind
--   w  windowMs, offsetMs (-1: first-request), cost, most      the window admits while used <= most
--   b  refillTokens, units, cost, level, lifeMs                the bucket admits while debt <= level
--   p  the call as JSON (2-plain.lua)
--   g  the call as JSON (3-call.lua)
-- A capital letter means that the caller's clock decides: ARGV[9] is its `now`. The deadline is in the server's clock always.
-- The answer: now, then what each step puts, as whole numbers.
local args, keys, call = ARGV, KEYS, redis.call
local kind = args[1]
-- Once a script: time stands still in a script, so a second reading would only cost.
local time = call('TIME')
local us = time[2] + 0
local now = time[1] * 1000 + (us - us % 1000) / 1000
if now > args[3] + 0 then return { err = string.format('LIMITERLATE %.0f', now) } end
local callerClock = kind ~= 'w' and kind ~= 'b' and kind ~= 'p' and kind ~= 'g'
if callerClock then kind, now = string.lower(kind), args[9] + 0 end

if kind == 'w' or kind == 'b' then
  local value, rate, second, cost, most = redis.pcall('GET', keys[1]), args[4] + 0, args[5], args[6] + 0, args[7] + 0
  local is, a, b, c, d, e, version = -2
  -- The commonest of them: the ledger is there, the clock is not behind, the numbers are small.
  if kind == 'w' then
    if value and #value == 26 then
      version, a, b, c = struct.unpack('<I2ddd', value)
      if version == 513 then
        local age = now - a
        if age >= 0 and age < rate and b < 4503599627370496 and not callerClock then
          if b > most then return { now, 2, a, b, c } end
          call('SET', keys[1], struct.pack('<I2ddd', 513, a, b + cost, c), 'KEEPTTL')
          return { now, 3, a, b, c }
        end
        is = 1
      end
    end
  elseif value and #value == 42 then
    version, a, b, d, c, e = struct.unpack('<I2ddddd', value)
    if version == 513 then
      local elapsed, sum = now - a, d + cost
      if elapsed >= 0 and b + sum < 4503599627370496 then
        local debt = elapsed * rate
        debt = debt >= b and 0 or b - debt
        if debt > most then return { now, 2, debt, d, c } end
        local owed = debt + second
        if owed <= (e - 5000 - now) * rate and not callerClock then
          call('SET', keys[1], struct.pack('<I2ddddd', 513, now, owed, sum, c, e), 'KEEPTTL')
          return { now, 3, debt, d, c }
        end
      end
      is = 1
    end
  end
  if not value then
    is = 0
  elseif type(value) == 'table' then
    is = -1
  end
  if is < 0 then return { now, is, 1 } end
  local reply, size, format, admits, renewed, view, reached, level, life, changed = { now }, 1, string.format
  second = second + 0
  if kind == 'b' then
    local lifeMs = args[8] + 0
    --@ view-bucket
    admits = level <= most
    renewed = (view == 2 or admits and (view == 0 or cost > 9007199254740991 - d)) and args[2] + 1
    --@ answer-bucket
    if admits or view == 2 then
      if not admits then cost, second = 0, 0 end
      --@ charge-bucket
      value = struct.pack('<I2ddddd', 513, a, b, d, c, e)
    end
  else
    --@ view-window
    admits = level <= most
    renewed = view ~= 1 and (admits or view == 2) and args[2] + 1
    --@ answer-window
    if admits or view == 2 then
      if not admits then cost = 0 end
      --@ charge-window
      value = struct.pack('<I2ddd', 513, a, b, c)
    end
  end
  if life then
    call('SET', keys[1], value, 'PX', life)
  elseif changed then
    call('SET', keys[1], value, 'KEEPTTL')
  end
  return reply
end
