-- One charge of a step, if the ledger is there, the clock is not behind it, its numbers are small and its TTL lasts; else leaves the loop around
-- it. level: what is used or owed. a to e: the state after the charge (read-window.lua), d 0 for a window.
value = values[place]
if not value then break end
if bucket then
  if #value ~= 42 then break end
  version, a, b, d, c, e = read('<I2ddddd', value)
  age, d = now - a, d + 1
  if version ~= 513 or age < 0 or b + d >= 281474976710656 then break end
  level = age * rate
  level = level >= b and 0 or b - level
  b = level + second
  if b > (e - 5000 - now) * rate then break end
else
  if #value ~= 26 then break end
  version, a, level, c = read('<I2ddd', value)
  age, b, d = now - a, level + 1, 0
  if version ~= 513 or age < 0 or age >= rate or b >= 281474976710656 then break end
end
