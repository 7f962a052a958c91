-- One window or bucket, alone in its call: the commonest step, in a straight line. It stands above every function, because a call pays for
-- each function that the script defines before it returns, and has few arguments, because each of them costs.
--
-- ARGV: kind, seed, deadline, then by kind
--   w  windowMs, most                        a window on the clock that admits cost 1 while used <= most
--   x  windowMs, most, cost, offsetMs        any window; offsetMs -1: first-request
--   b  refillTokens, most, units             a bucket that admits cost 1 while debt <= most; units: the charge in units of 1/refillMs token
--   c  refillTokens, most, units, cost       any bucket
--   l  windowMs, budget, cost               a sliding log (1-lone-log.lua)
--   t  a step of two or three as JSON (1-few.lua)
--   p  the call as JSON (2-plain.lua)
--   g  the call as JSON (3-call.lua)
-- A capital letter means that the caller's clock decides: ARGV[8] is its `now`. The deadline is in the server's clock always.
-- The answer: now, then what each step puts, as whole numbers: a fault (-1 a key of another type, -2 not a ledger) and the place of the
-- charge that has it, or what shared/answer.lua says. It is one string of little-endian doubles, because a table costs Redis and the client more
-- than all else that is said; a letter more (`xa`, `ca`, `pa`, `ga`) asks for a table, for a transport that carries text only.
local args, keys, call, pack = ARGV, KEYS, redis.call, struct.pack
local kind = args[1]
-- Once a script: time stands still in a script, so a second reading would only cost.
local time = call('TIME')
local us = time[2] + 0
local now = time[1] * 1000 + (us - us % 1000) / 1000
if now > args[3] + 0 then return { err = string.format('LIMITERLATE %.0f', now) } end
local bucket, callerClock, packed = kind == 'b', false, true
if not bucket and kind ~= 'w' and kind ~= 'p' and kind ~= 't' and kind ~= 'l' then
  if #kind > 1 then kind, packed = string.sub(kind, 1, 1), false end
  local lower = string.lower(kind)
  if lower ~= kind then kind, now, callerClock = lower, args[8] + 0, true end
  bucket = kind == 'b' or kind == 'c'
end

if bucket or kind == 'w' or kind == 'x' then
  local value, rate, most = redis.pcall('GET', keys[1]), args[4] + 0, args[5] + 0
  local is, a, b, c, d, e, version = -2
  -- The commonest of them: the ledger is there, the clock is not behind, the numbers are small.
  local commonest = packed and not callerClock
  if bucket then
    if value and #value == 42 then
      version, a, b, d, c, e = struct.unpack('<I2ddddd', value)
      if version == 513 then
        local elapsed, sum = now - a, d + (kind == 'b' and 1 or args[7])
        if commonest and elapsed >= 0 and b + sum < 281474976710656 then
          local debt = elapsed * rate
          debt = debt >= b and 0 or b - debt
          if debt > most then return pack('<dd', now, debt * 16 + 2) end
          local owed = debt + args[6]
          if owed <= (e - 5000 - now) * rate then
            call('SET', keys[1], pack('<I2ddddd', 513, now, owed, sum, c, e), 'KEEPTTL')
            return pack('<dddd', now, debt * 16 + 11, sum, c)
          end
        end
        is = 1
      end
    end
  elseif value and #value == 26 then
    version, a, b, c = struct.unpack('<I2ddd', value)
    if version == 513 then
      local age = now - a
      if commonest and kind == 'w' and age >= 0 and age < rate and b < 281474976710656 then
        if b > most then return pack('<dd', now, b * 16 + 2) end
        call('SET', keys[1], pack('<I2ddd', 513, a, b + 1, c), 'KEEPTTL')
        return pack('<dddd', now, b * 16 + 11, 0, c)
      end
      is = 1
    end
  end
  if not value then
    is = 0
  elseif type(value) == 'table' then
    is = -1
  end
  local reply, size, format, id, cost, second, admits, view, reached, level, life, changed, bits, told = { now }, 1, string.format, args[2] + 0, 1, 0
  if is < 0 then
    reply, size = { now, is, 1 }, 3
  else
    if bucket then
      second = args[6] + 0
      if kind == 'c' then cost = args[7] + 0 end
      --@ view-bucket
    else
      if kind == 'x' then cost, second = args[6] + 0, args[7] + 0 end
      --@ view-window
    end
    admits = level <= most
    local charged = admits
    --@ tell
    if admits or view == 2 then
      if not admits then cost, second = 0, 0 end
      if bucket then
        --@ charge-bucket
        value = pack('<I2ddddd', 513, a, b, d, c, e)
      else
        --@ charge-window
        value = pack('<I2ddd', 513, a, b, c)
      end
      if life then call('SET', keys[1], value, 'PX', life) else call('SET', keys[1], value, 'KEEPTTL') end
    end
    --@ answer
  end
  --@ send
end
