-- The window after the charge, or after a mere move (cost 0). id: its identity from now on, when it opens or moves.
if view ~= 1 then c = id end
if view ~= 1 or callerClock then
  life = reached + rate - now + 5000
  if callerClock and life < 3600000 then life = 3600000 end
end
is, a, b, changed = 1, reached, level + cost, true
