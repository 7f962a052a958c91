-- The bucket at `now`: view 0 fresh, 1 current, 2 moved; the instant of evaluation `reached`, the debt then `level`. rate: refillTokens.
if is == 0 then
  view, reached, level = 0, now, 0
elseif a <= now then
  -- The product may pass 2^53 and be rounded then; it is compared before it is used.
  view, reached, level = 1, now, (now - a) * rate
  level = level >= b and 0 or b - level
elseif a - now <= 2000 then
  view, reached, level = 1, a, b
else
  view, reached, level = 2, now, b
end
