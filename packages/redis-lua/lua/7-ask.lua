-- Ask every limit of a step, then charge every limit that admits, or none. What it puts: a fault and the place of the charge that has it, or
-- for each charge
--   window, bucket  what shared/answer.lua says
--   log             1 if it admits, plus 8 if it is charged; used, retryAfterMs, resetAfterMs, moreAfterMs; then where the charge lies
local admitted, views, starts, sums = {}, {}, {}, {}
local waits1, waits2, waits3, waits4 = {}, {}, {}, {}

local function ask(step, at, where, count, consume)
  local allowed = true
  for j = 1, count do
    local f, k = 5 * j - 3, at[where + j]
    local algorithm, admits, fault = step[f] % 4, false
    if algorithm == 3 then fault = viewLog(k, step[f + 1]) else fault = found[k] or load(k, algorithm) end
    if fault and fault < 0 then
      put(fault)
      put(j)
      charges = charges + count
      return
    end
    if algorithm == 3 then
      admits = step[f + 3] == 0 or step[f + 3] <= step[f + 4] - logs[k].used
    else
      if algorithm == 1 then
        views[j], starts[j], sums[j] = viewWindow(k, step[f + 1], step[f + 2])
      else
        views[j], starts[j], sums[j] = viewBucket(k, step[f + 1])
      end
      admits = sums[j] <= step[f + 4]
    end
    admitted[j] = admits
    if not admits and step[f] < 4 then allowed = false end
  end
  if logs then
    foreign = false
    for j = 1, count do
      local f = 5 * j - 3
      if step[f] % 4 == 3 then
        local k, cost = at[where + j], step[f + 3]
        local charged = consume and allowed and admitted[j] and cost > 0
        if charged then makeRoom(k, step[f + 1], cost) end
        if not foreign then
          waits1[j], waits2[j], waits3[j], waits4[j] = logWaits(k, step[f + 1], step[f + 4], cost, admitted[j], charged)
        end
        if foreign then
          put(-2)
          put(j)
          charges = charges + count
          return
        end
      end
    end
  end
  for j = 1, count do
    local f, k = 5 * j - 3, at[where + j]
    local algorithm, rate, second, cost, admits = step[f] % 4, step[f + 1], step[f + 2], step[f + 3], admitted[j]
    local asked = consume and cost > 0
    local charged = asked and allowed and admits
    charges = charges + 1
    local id = seed + charges
    if algorithm == 3 then
      put((admits and 1 or 0) + (charged and 8 or 0))
      put(waits1[j])
      put(waits2[j])
      put(waits3[j])
      put(waits4[j])
      if charged then
        local sequence, time = appendLog(k, rate, cost, id)
        put(sequence)
        put(time)
      elseif asked and logs[k].back > 2000 then
        moveLog(k)
      end
    else
      local a, view, level, bucket, bits, told = as[k], views[j], sums[j], algorithm == 2
      --@ tell
      if charged or asked and view == 2 then
        local cost, second = cost, second
        if not charged then cost, second = 0, 0 end
        if bucket then
          chargeBucket(k, view, starts[j], level, second, cost, rate, step[f + 4], id)
        else
          chargeWindow(k, view, starts[j], level, cost, rate, id)
        end
      end
      local c, d = cs[k], ds[k]
      --@ answer
    end
  end
end
