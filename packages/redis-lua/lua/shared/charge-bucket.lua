-- The bucket after the charge, or after a mere move (cost and second 0). second: the charge in units of 1/refillMs token. most + second: the
-- debt of an empty bucket. id: its identity from now on, when it is created or moves, or before the running sum would pass 2^53-1.
-- A TTL lasts for what is owed and 5 s at least, for twice the time to fill and 5 s when it is set; it is kept while it lasts.
if view ~= 1 or cost > 9007199254740991 - d then c, d = id, cost else d = d + cost end
b = level + second
if view ~= 1 or callerClock or b > (e - 5000 - reached) * rate then
  local rest = b % rate
  life = math.max((b - rest) / rate + (rest > 0 and 1 or 0) + reached - now, math.floor(2 * (most + second) / rate)) + 5000
  if callerClock and life < 3600000 then life = 3600000 end
  e = now + life
end
is, a, changed = 1, reached, true
