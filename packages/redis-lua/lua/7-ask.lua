-- Ask every limit of a step, then charge every limit that admits, or none. What it puts: a fault and the place of the charge that has it
-- (-1 a key of another type, -2 not a ledger), or for each charge
--   window, bucket  what shared/answer-window.lua and answer-bucket.lua say
--   log             1 if it admits, plus 2 if it is charged; used, retryAfterMs, resetAfterMs, moreAfterMs; then where the charge lies
local admitted, views, starts, sums = {}, {}, {}, {}
local waits1, waits2, waits3, waits4 = {}, {}, {}, {}

local function ask(step, at, where)
  local consume, count, allowed = step[1] == 1, step[2], true
  for j = 1, count do
    local f, k = 7 * j - 4, at[where + j]
    local algorithm, admits, fault = step[f], false
    if algorithm == 3 then fault = viewLog(k, step[f + 1]) else fault = found[k] or load(k, algorithm) end
    if fault and fault < 0 then
      put(fault)
      put(j)
      charges = charges + count
      return
    end
    if algorithm == 1 then
      views[j], starts[j], sums[j] = viewWindow(k, step[f + 1], step[f + 2])
      admits = sums[j] <= step[f + 4]
    elseif algorithm == 2 then
      views[j], starts[j], sums[j] = viewBucket(k, step[f + 1])
      admits = sums[j] <= step[f + 4]
    else
      admits = step[f + 3] == 0 or step[f + 3] <= step[f + 2] - logs[k].used
    end
    admitted[j] = admits
    if not admits and step[f + 5] == 1 then allowed = false end
  end
  if logs then
    foreign = false
    for j = 1, count do
      local f = 7 * j - 4
      if step[f] == 3 then
        local k, cost = at[where + j], step[f + 3]
        local charged = consume and allowed and admitted[j] and cost > 0
        if charged then makeRoom(k, step[f + 1], cost) end
        if not foreign then
          waits1[j], waits2[j], waits3[j], waits4[j] = logWaits(k, step[f + 1], step[f + 2], cost, admitted[j], charged)
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
    local f, k = 7 * j - 4, at[where + j]
    local algorithm, cost, admits = step[f], step[f + 3], admitted[j]
    local asked = consume and cost > 0
    local charged = asked and allowed and admits
    charges = charges + 1
    local id = seed + charges
    if algorithm == 3 then
      put((admits and 1 or 0) + (charged and 2 or 0))
      put(waits1[j])
      put(waits2[j])
      put(waits3[j])
      put(waits4[j])
      if charged then
        local sequence, time = appendLog(k, step[f + 1], cost, id)
        put(sequence)
        put(time)
      elseif asked and logs[k].back > 2000 then
        moveLog(k)
      end
    elseif algorithm == 1 then
      local moves = asked and (charged or views[j] == 2)
      local renewed = moves and views[j] ~= 1 and id
      answerWindow(k, admits, renewed)
      if moves then chargeWindow(k, views[j], starts[j], sums[j], charged and cost or 0, step[f + 1], renewed) end
    else
      local view, level = views[j], sums[j]
      local renewed = asked and (view == 2 or charged and (view == 0 or cost > 9007199254740991 - ds[k])) and id
      answerBucket(k, admits, level, renewed)
      if charged then
        chargeBucket(k, view, starts[j], level, step[f + 2], cost, step[f + 1], step[f + 6], renewed)
      elseif asked and view == 2 then
        chargeBucket(k, view, starts[j], level, 0, 0, step[f + 1], step[f + 6], renewed)
      end
    end
  end
end
