-- Calls that only ask and charge windows and buckets, three at most in a step: kind p. In a straight line like part 1, for the same reason. Each
-- key is read once, all of them together, and written once, at its last step; a step sees what the steps before it did.
--
-- ARGV[4]: JSON [shared, template, keys, template, keys, ...]: steps that ask the same of different keys share a template.
--   shared: 1 if a key occurs in several steps. It is negative in `keys` then while a later step has it too.
--   template: 2 * charges, plus 1 for consume (not peek); then for each charge five numbers: 1 window or 2 bucket, plus 4 for a shadow limit, then
--     1 window  windowMs, offsetMs, cost, most
--     2 bucket  refillTokens, units, cost, most
--   keys: one a charge, step after step
if kind == 'p' then
  local groups, format, pack, read, unpack = cjson.decode(args[4]), string.format, struct.pack, struct.unpack, unpack
  local reply, size, last, id = { now }, 1, #keys, args[2] + 0
  local values
  if last <= 4000 then
    values = call('MGET', unpack(keys))
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
  for g = 2, #groups, 2 do
    local step, at = groups[g], groups[g + 1]
    local head, code1, rate1, second1, cost1, most1, code2, rate2, second2, cost2, most2, code3, rate3, second3, cost3, most3 = unpack(step, 1, 16)
    local consume = head % 2 == 1
    local count = (head - head % 2) / 2
    local asks1, bucket1, shadow1 = consume and cost1 > 0, code1 % 4 == 2, code1 > 4
    local asks2, bucket2, shadow2, asks3, bucket3, shadow3
    if count > 1 then asks2, bucket2, shadow2 = consume and cost2 > 0, code2 % 4 == 2, code2 > 4 end
    if count > 2 then asks3, bucket3, shadow3 = consume and cost3 > 0, code3 % 4 == 2, code3 > 4 end
    for where = 1, #at, count do
      local fault, faulty, more1, is1, a1, b1, c1, d1, e1, view1, reached1, level1, admits1, changed1, life1, more2, is2, a2, b2, c2, d2, e2, view2, reached2, level2, admits2, changed2, life2, more3, is3, a3, b3, c3, d3, e3, view3, reached3, level3, admits3, changed3, life3
      local k1, k2, k3 = at[where]
      --@ plain-judge 1
      local allowed = admits1 or shadow1
      if count > 1 then
        k2 = at[where + 1]
        --@ plain-judge 2
        allowed = allowed and (admits2 or shadow2)
        if count > 2 then
          k3 = at[where + 2]
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
  end
  return reply
end
