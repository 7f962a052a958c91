-- Puts 1 if it admits, plus 2 if there was a state, plus 8 if `renewed` is a new identity; then start, used and id as they were, and the new one.
-- Text from 2^52 on, because some clients misread integers just below 2^53.
size = size + 1
reply[size] = (admits and 1 or 0) + (is == 1 and 2 or 0) + (renewed and 8 or 0)
if is == 1 then
  reply[size + 1], reply[size + 2], reply[size + 3] = a, b < 4503599627370496 and b or format('%.0f', b), c
  size = size + 3
end
if renewed then
  size = size + 1
  reply[size] = renewed
end
