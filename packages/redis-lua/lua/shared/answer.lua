-- Puts level * 16 + bits, where level is what was used, or owed in units of 1/refillMs token, before the step, and bits are 1 it admits,
-- 2 and 4 as shared/tell.lua says, 8 it was charged; then the anchor (4); then where the charge lies (8): the running sum of a bucket or 0, and
-- the identity. Numbers from 2^52 on are text, because some clients misread integers just below 2^53; a level from 2^48 on stands apart: -100 - bits, level.
if charged then bits = bits + 8 end
size = size + 1
if level < 281474976710656 then
  reply[size] = level * 16 + bits
else
  reply[size] = -100 - bits
  size = size + 1
  reply[size] = format('%.0f', level)
end
if told then
  size = size + 1
  reply[size] = told
end
if charged then
  local position = bucket and d or 0
  reply[size + 1] = position < 4503599627370496 and position or format('%.0f', position)
  reply[size + 2] = c
  size = size + 2
end
