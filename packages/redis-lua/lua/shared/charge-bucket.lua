-- The bucket after the charge, or after a mere move (cost 0, second 0). renewed: the new identity, when it is created, moves, or before the
-- running sum would pass 2^53-1. second: the charge in units of 1/refillMs token. The TTL is kept while it lasts for what is owed and 5 s.
if renewed then c, d = renewed, cost else d = d + cost end
level = level + second
if view ~= 1 or callerClock or level > (e - 5000 - reached) * rate then
  local rest = level % rate
  life = math.max((level - rest) / rate + (rest > 0 and 5001 or 5000) + reached - now, lifeMs)
  if callerClock and life < 3600000 then life = 3600000 end
  e = now + life
end
is, a, b, changed = 1, reached, level, true
