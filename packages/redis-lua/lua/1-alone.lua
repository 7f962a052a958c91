-- One window or bucket, alone in its call, the clock not behind: the commonest step, in a straight line. Everything else goes on to
-- the parts below, which answer the same; this part only answers sooner. It stands above every function, because a call pays
-- for each function that the script defines before it returns.
--
-- ARGV: kind, seed, deadline, then by kind
--   w  windowMs, offsetMs (-1: first-request), cost, most                the window admits while used <= most
--   b  refillTokens, units, cost, level, lifeMs                          the bucket admits while debt <= level
--   g  the call as JSON (see 2-call.lua)
-- A capital letter means that the caller's clock decides: ARGV[9] is its `now`. The deadline is in the server's clock always.
local args, keys, call = ARGV, KEYS, redis.call
local kind = args[1]
-- Once a script: time stands still in a script, so a second reading would only cost.
local time = call('TIME')
local us = time[2] + 0
local now = time[1] * 1000 + (us - us % 1000) / 1000
if now > args[3] + 0 then return { err = string.format('LIMITERLATE %.0f', now) } end
local callerClock = kind == 'W' or kind == 'B' or kind == 'G'
if callerClock then kind, now = string.lower(kind), args[9] + 0 end

if kind == 'w' then
  local value = redis.pcall('GET', keys[1])
  local windowMs, most = args[4] + 0, args[7] + 0
  local known = not value
  if value and #value == 25 then
    local format, start, used, id = struct.unpack('<Bddd', value)
    local age = now - start
    if format == 1 and used >= 0 and used < 4503599627370496 and age >= 0 and start >= 0 then
      if age < windowMs then
        if used > most then return { now, args[2], 2, start, used, id } end
        value = struct.pack('<Bddd', 1, start, used + args[6], id)
        if callerClock then
          call('SET', keys[1], value, 'PX', math.max(windowMs - age + 5000, 3600000))
        else
          call('SET', keys[1], value, 'KEEPTTL')
        end
        return { now, args[2], 3, start, used, id }
      end
      known = true
    end
  end
  if known then
    if most < 0 then return { now, args[2], 0 } end
    -- a % b is exact here: a - floor(a / b) * b with a < 2^53 rounds nowhere (a / b comes nearer to the next integer than a double
    -- can tell only when a + 1 >= 2^53).
    local start = now
    if args[5] ~= '-1' then start = now - (now - args[5]) % windowMs end
    local life = start + windowMs - now + 5000
    if callerClock and life < 3600000 then life = 3600000 end
    call('SET', keys[1], struct.pack('<Bddd', 1, start, args[6] + 0, args[2] + 1), 'PX', life)
    return { now, args[2], 1 }
  end
elseif kind == 'b' then
  local value = redis.pcall('GET', keys[1])
  if not value then
    if args[7] + 0 < 0 then return { now, args[2], 0 } end
    local life = args[8] + 0
    if callerClock and life < 3600000 then life = 3600000 end
    call('SET', keys[1], struct.pack('<Bddddd', 1, now, args[5] + 0, args[6] + 0, args[2] + 1, now + life), 'PX', life)
    return { now, args[2], 1 }
  elseif #value == 41 then
    local format, at, debt, charged, id, expiresAt = struct.unpack('<Bddddd', value)
    local elapsed, refill = now - at, args[4] + 0
    local sum = charged + args[6]
    if format == 1 and elapsed >= 0 and at >= 0 and debt >= 0 and debt < 4503599627370496 and charged >= 0 and sum < 4503599627370496 then
      -- elapsed * refill may pass 2^53 and be rounded then; it is compared before it is used.
      local left = elapsed * refill
      left = left >= debt and 0 or debt - left
      if left > args[7] + 0 then return { now, args[2], 2, at, debt, charged, id } end
      left = left + args[5]
      if left <= (expiresAt - 5000 - now) * refill and not callerClock then
        call('SET', keys[1], struct.pack('<Bddddd', 1, now, left, sum, id, expiresAt), 'KEEPTTL')
      else
        local rest = left % refill
        local life = math.max((left - rest) / refill + (rest > 0 and 5001 or 5000), args[8] + 0)
        if callerClock and life < 3600000 then life = 3600000 end
        call('SET', keys[1], struct.pack('<Bddddd', 1, now, left, sum, id, now + life), 'PX', life)
      end
      return { now, args[2], 3, at, debt, charged, id }
    end
  end
end
