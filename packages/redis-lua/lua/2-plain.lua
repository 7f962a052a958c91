-- Calls of windows and buckets only, asked and charged: kind p. In a straight line like part 1, for the same reason. Each key is read
-- once, all of them together, and written once, at its last step; a step sees what the steps before it did.
--
-- ARGV[4]: JSON [shared, template, keys, template, keys, ...]: steps that ask the same of different keys share a template.
--   shared: 1 if a key occurs in several steps. It is negative in `keys` then while a later step has it too.
--   template: 1 consume | 0 peek, charges, then for each charge: algorithm, six numbers
--     1 window  windowMs, offsetMs, cost, most, enforce, 0
--     2 bucket  refillTokens, units, cost, level, enforce, lifeMs
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
  -- Of the charges of one step with several.
  local is1, a1, b1, c1, d1, e1, view1, reached1, level1, admits1
  for g = 2, #groups, 2 do
    local step, at = groups[g], groups[g + 1]
    local consume, count = step[1] == 1, step[2]
    if count == 1 then
      local algorithm, rate, second, cost, most, lifeMs = step[3], step[4], step[5], step[6], step[7], step[9]
      local asks = consume and cost > 0
      for i = 1, #at do
        local k, more, is, a, b, c, d, e, view, reached, level, admits, changed, life = at[i], false
        id = id + 1
        if shared then
          if k < 0 then k, more = -k, true end
          is = found[k]
          if is then a, b, c, d, e, changed, life = as[k], bs[k], cs[k], ds[k], es[k], dirty[k], lives[k] end
        end
        if algorithm == 2 then
          if not is then
            --@ read-bucket
          end
          if is >= 0 then
            --@ view-bucket
            admits = level <= most
            local renewed = asks and (view == 2 or admits and (view == 0 or cost > 9007199254740991 - d)) and id
            --@ answer-bucket
            if asks and (admits or view == 2) then
              local cost, second = admits and cost or 0, admits and second or 0
              --@ charge-bucket
            end
          end
        else
          if not is then
            --@ read-window
          end
          if is >= 0 then
            --@ view-window
            admits = level <= most
            local renewed = asks and view ~= 1 and (admits or view == 2) and id
            --@ answer-window
            if asks and (admits or view == 2) then
              local cost = admits and cost or 0
              --@ charge-window
            end
          end
        end
        if is < 0 then
          reply[size + 1], reply[size + 2] = is, 1
          size = size + 2
        end
        if more then
          found[k], as[k], bs[k], cs[k], ds[k], es[k], dirty[k], lives[k] = is, a, b, c, d, e, changed, life
        elseif changed then
          local value = d and pack('<I2ddddd', 513, a, b, d, c, e) or pack('<I2ddd', 513, a, b, c)
          if life then call('SET', keys[k], value, 'PX', life) else call('SET', keys[k], value, 'KEEPTTL') end
        end
      end
    else
      if not is1 then is1, a1, b1, c1, d1, e1, view1, reached1, level1, admits1 = {}, {}, {}, {}, {}, {}, {}, {}, {}, {} end
      for where = 0, #at - count, count do
        local allowed, fault, faulty, f = true, false, 0, 3
        for j = 1, count do
          local k, rate, second, is, a, b, c, d, e, view, reached, level = at[where + j], step[f + 1], step[f + 2]
          if shared then
            if k < 0 then k = -k end
            is = found[k]
            if is then a, b, c, d, e = as[k], bs[k], cs[k], ds[k], es[k] end
          end
          if step[f] == 2 then
            if not is then
              --@ read-bucket
            end
            if is >= 0 then
              --@ view-bucket
            end
          else
            if not is then
              --@ read-window
            end
            if is >= 0 then
              --@ view-window
            end
          end
          local admits = is >= 0 and level <= step[f + 4]
          if is < 0 and not fault then fault, faulty = is, j end
          if not admits and step[f + 5] == 1 then allowed = false end
          is1[j], a1[j], b1[j], c1[j], d1[j], e1[j], view1[j], reached1[j], level1[j], admits1[j] = is, a, b, c, d, e, view, reached, level, admits
          f = f + 7
        end
        if fault then
          reply[size + 1], reply[size + 2] = fault, faulty
          size = size + 2
        end
        f = 3
        for j = 1, count do
          local k, more, is, a, b, c, d, e, admits, changed, life = at[where + j], false, is1[j], a1[j], b1[j], c1[j], d1[j], e1[j], admits1[j]
          id = id + 1
          if shared then
            if k < 0 then k, more = -k, true end
            changed, life = dirty[k], lives[k]
          end
          if not fault then
            local rate, second, cost, view, reached, level, lifeMs = step[f + 1], step[f + 2], step[f + 3], view1[j], reached1[j], level1[j], step[f + 6]
            local asks = consume and cost > 0
            local charged = asks and allowed and admits
            if step[f] == 2 then
              local renewed = asks and (view == 2 or charged and (view == 0 or cost > 9007199254740991 - d)) and id
              --@ answer-bucket
              if asks and (charged or view == 2) then
                if not charged then cost, second = 0, 0 end
                --@ charge-bucket
              end
            else
              local renewed = asks and view ~= 1 and (charged or view == 2) and id
              --@ answer-window
              if asks and (charged or view == 2) then
                if not charged then cost = 0 end
                --@ charge-window
              end
            end
          end
          if more then
            found[k], as[k], bs[k], cs[k], ds[k], es[k], dirty[k], lives[k] = is, a, b, c, d, e, changed, life
          elseif changed then
            local value = d and pack('<I2ddddd', 513, a, b, d, c, e) or pack('<I2ddd', 513, a, b, c)
            if life then call('SET', keys[k], value, 'PX', life) else call('SET', keys[k], value, 'KEEPTTL') end
          end
          f = f + 7
        end
      end
    end
  end
  return reply
end
