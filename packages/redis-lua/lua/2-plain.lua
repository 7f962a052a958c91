-- Calls that only ask and charge windows and buckets, three at most in a step: kind p, and what 1-few.lua
-- leaves of kind t. In a straight line like those, for the same reason. Each
-- key is read once, all of them together, and written once, at its last step; a step sees what the steps before it did.
--
-- ARGV[4]: JSON [shared, template, keys, template, keys, ...], as few numbers as may be, because each of them costs. Steps that ask the same of
-- different keys share a template.
--   shared: 1 if a key occurs more than once, else 0
--   template: a number of these bits: 1 consume (not peek), 2 every cost is 1, 4 to 12 the charges, then for each charge, times 16, 128, 1024: 1 a bucket
--     (not a window), 2 a shadow limit; then for each charge
--     window  windowMs, most, offsetMs, cost (unless every cost is 1)
--     bucket  refillTokens, most, units, cost (unless every cost is 1)
--   keys: where no key is shared, how many charges use this template: they have the next keys in order; else the keys, one a charge, step
--     after step, negative while a later step has the key too
if kind == 'p' or kind == 't' then
  local format, read, unpack = string.format, struct.unpack, unpack
  local reply, size, last, id = { now }, 1, #keys, args[2] + 0
  groups = groups or cjson.decode(args[4])
  if last <= 4000 then
    values = values or call('MGET', unpack(keys))
  else
    values = {}
    for from = 1, last, 4000 do
      local got = call('MGET', unpack(keys, from, math.min(from + 3999, last)))
      for i = 1, #got do values[from + i - 1] = got[i] end
    end
  end
  -- Of keys that several steps share: what shared/read-* say, whether it is to be written, and the TTL that it must get.
  local shared, found, as, bs, cs, ds, es, dirty, lives = groups[1] == 1
  if shared then found, as, bs, cs, ds, es, dirty, lives = {}, {}, {}, {}, {}, {}, {}, {} end
  local before = 0
  for g = 2, #groups, 2 do
    local step, at = groups[g], groups[g + 1]
    local head = step[1]
    local rate1, most1, second1, cost1, rate2, most2, second2, cost2, rate3, most3, second3, cost3
    local consume, charges = head % 2 == 1, shared and #at or at
    local count = math.floor(head % 16 / 4)
    if head % 4 > 1 then
      cost1, cost2, cost3 = 1, 1, 1
      rate1, most1, second1, rate2, most2, second2, rate3, most3, second3 = unpack(step, 2, 10)
    else
      rate1, most1, second1, cost1, rate2, most2, second2, cost2, rate3, most3, second3, cost3 = unpack(step, 2, 13)
    end
    local bucket1, shadow1, asks1 = head % 32 > 15, head % 64 > 31, consume and cost1 > 0
    local bucket2, shadow2, asks2, bucket3, shadow3, asks3
    if count > 1 then bucket2, shadow2, asks2 = head % 256 > 127, head % 512 > 255, consume and cost2 > 0 end
    if count > 2 then bucket3, shadow3, asks3 = head % 2048 > 1023, head % 4096 > 2047, consume and cost3 > 0 end
    for where = 1, charges, count do
      local fault, faulty, more1, is1, a1, b1, c1, d1, e1, view1, reached1, level1, admits1, changed1, life1, more2, is2, a2, b2, c2, d2, e2, view2, reached2, level2, admits2, changed2, life2, more3, is3, a3, b3, c3, d3, e3, view3, reached3, level3, admits3, changed3, life3
      local k1, k2, k3 = before + where
      --@ plain-judge 1
      local allowed = admits1 or shadow1
      if count > 1 then
        k2 = before + where + 1
        --@ plain-judge 2
        allowed = allowed and (admits2 or shadow2)
        if count > 2 then
          k3 = before + where + 2
          --@ plain-judge 3
          allowed = allowed and (admits3 or shadow3)
        end
      end
      if fault then
        reply[size + 1], reply[size + 2] = fault, faulty
        size = size + 2
      end
      --@ plain-charge 1
      if count > 1 then
        --@ plain-charge 2
        if count > 2 then
          --@ plain-charge 3
        end
      end
    end
    before = before + charges
  end
  --@ send
end
