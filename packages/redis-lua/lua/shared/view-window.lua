-- The window that counts at `now`: view 0 fresh, 1 current, 2 moved (the clock was set back by more than two seconds and the window goes
-- with it), its start `reached`, what is used `level`. rate: windowMs. second: offsetMs, -1 for 'first-request'.
if is == 1 and now - a < rate and a - now <= 2000 then
  view, reached, level = 1, a, b
else
  view, reached, level = 0, now, 0
  if is == 1 and a > now then view, level = 2, b end
  -- x % y is exact here: x - floor(x / y) * y rounds nowhere while x < 2^53 (x / y comes nearer to the next integer than a double can tell
  -- only when x + 1 >= 2^53).
  if second >= 0 then reached = now - (now - second) % rate end
end
