-- Puts 1 if it admits, plus 2 if there was a state, plus 4 if that lies after now, plus 8 if `renewed` is a new identity; then the state as it
-- was at `now`: at (only when it lies after now), debt, charged, id; and the new identity.
size = size + 1
if is == 1 then
  if a <= now then
    reply[size] = (admits and 3 or 2) + (renewed and 8 or 0)
  else
    reply[size] = (admits and 7 or 6) + (renewed and 8 or 0)
    size = size + 1
    reply[size] = a
  end
  if level + d < 4503599627370496 then
    reply[size + 1], reply[size + 2], reply[size + 3] = level, d, c
  else
    reply[size + 1], reply[size + 2], reply[size + 3] = format('%.0f', level), format('%.0f', d), c
  end
  size = size + 3
else
  reply[size] = (admits and 1 or 0) + (renewed and 8 or 0)
end
if renewed then
  size = size + 1
  reply[size] = renewed
end
