-- A consume of two or three windows and buckets that is alone in its call, all of them enforced and of cost 1, windows on the clock, keys distinct:
-- kind t. ARGV[4] is the template of 2-plain.lua alone. Here the commonest is answered, in a straight line; 2-plain.lua answers the rest.
local groups, values
if kind == 't' then
  local step, three, read = cjson.decode(args[4]), keys[3], struct.unpack
  values = call('MGET', unpack(keys))
  local head = step[1]
  local bucket1, bucket2, bucket3 = head % 32 > 15, head % 256 > 127, head % 2048 > 1023
  local rate1, most1, second1, rate2, most2, second2, rate3, most3, second3 = unpack(step, 2, 10)
  local value, version, age, a1, b1, c1, d1, e1, level1, a2, b2, c2, d2, e2, level2, a3, b3, c3, d3, e3, level3
  repeat
    --@ few-judge 1
    --@ few-judge 2
    if three then
      --@ few-judge 3
    end
    if level1 <= most1 and level2 <= most2 and (not three or level3 <= most3) then
      --@ few-charge 1
      --@ few-charge 2
      if not three then return pack('<ddddddd', now, level1 * 16 + 11, d1, c1, level2 * 16 + 11, d2, c2) end
      --@ few-charge 3
      return pack('<dddddddddd', now, level1 * 16 + 11, d1, c1, level2 * 16 + 11, d2, c2, level3 * 16 + 11, d3, c3)
    end
    level1, level2 = level1 * 16 + (level1 <= most1 and 3 or 2), level2 * 16 + (level2 <= most2 and 3 or 2)
    if not three then return pack('<ddd', now, level1, level2) end
    return pack('<dddd', now, level1, level2, level3 * 16 + (level3 <= most3 and 3 or 2))
  until true
  groups = { 0, step, #keys }
end
