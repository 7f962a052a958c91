-- Refund and settle: give back what a charge took, or charge more. Keys: the marker's (0: none), then one for each adjustment. Each
-- adjustment, from step[4] on, eleven numbers:
--   algorithm (0: nothing to do), give back 1 | charge 0, amount, charged, mark id, mark at, mark position, then
--   1 window  windowMs, offsetMs, most that settling may reach, 0
--   2 bucket  refillTokens, refillMs, most debt that settling may reach, debt of an empty bucket
--   3 log     windowMs, 0, most that settling may reach, 0
-- What it puts: a fault and the place of the adjustment; or 1 for closed; or 0, then given back and charged for each adjustment.
local function giveBackBucket(k, at, debt, amount, charged, markAt, position, rate, refillMs, whole)
  local units, refilled = charged * refillMs, math.max(0, at - markAt) * rate
  -- What refill has returned of that charge already, or what later charges stand in front of, is not given back.
  local notRefilled = refilled >= units and 0 or units - refilled
  local since = ds[k] - position
  local notCovered = since > (debt - debt % refillMs) / refillMs and 0 or debt - since * refillMs
  units = math.min(math.min(amount, charged) * refillMs, math.max(notRefilled, notCovered), debt)
  -- The anchor stays: as much less was owed there.
  if units > 0 then chargeBucket(k, 1, as[k], bs[k], -units, 0, rate, whole + units) end
  return (units - units % refillMs) / refillMs
end

local function adjust(step, at)
  local count, marker, ttl = step[2], at[1], step[3]
  local first = charges
  charges = charges + count
  local closed = false
  if marker ~= 0 then
    -- Its value is when it ends, by the clock that decides.
    local value = values[marker]
    if not value and type(redis.pcall('GET', keys[marker])) == 'table' then
      put(-1)
      put(0)
      return
    end
    if value and not tonumber(value) then
      put(-2)
      put(0)
      return
    end
    closed = value and now < tonumber(value)
  end
  for j = 1, count do
    local f = 11 * j - 7
    local algorithm, k, fault = step[f], at[j + 1]
    if algorithm == 3 then
      fault = viewLog(k, step[f + 7])
      if not fault and step[f + 1] == 1 then
        foreign = false
        findCharge(k, step[f + 4])
        if foreign then fault = -2 end
      end
    elseif algorithm > 0 then
      fault = found[k] or load(k, algorithm)
    end
    if fault and fault < 0 then
      put(fault)
      put(j)
      return
    end
  end
  if closed then
    put(1)
    return
  end
  put(0)
  if marker ~= 0 then
    values[marker] = format('%.0f', now + ttl)
    call('SET', keys[marker], values[marker], 'PX', keep(ttl))
    wrote = true
  end
  for j = 1, count do
    local f, given, more = 11 * j - 7, 0, 0
    local algorithm, k, gives, amount, charged, markId = step[f], at[j + 1], step[f + 1] == 1, step[f + 2], step[f + 3], step[f + 4]
    local id, rate, most = seed + first + j, step[f + 7], step[f + 9]
    if algorithm == 1 then
      local view, start, used = viewWindow(k, rate, step[f + 8])
      if gives then
        given = view == 1 and cs[k] == markId and math.min(amount, charged, used) or 0
        if given > 0 then chargeWindow(k, 1, start, used, -given, rate) end
      else
        more = math.min(amount, math.max(0, most - used))
        if more > 0 or view == 2 then chargeWindow(k, view, start, used, more, rate, id) end
      end
    elseif algorithm == 2 then
      local refillMs, whole = step[f + 8], step[f + 10]
      local view, reached, debt = viewBucket(k, rate)
      if gives then
        given = view == 1 and found[k] == 1 and cs[k] == markId
          and giveBackBucket(k, reached, debt, amount, charged, step[f + 5], step[f + 6], rate, refillMs, whole) or 0
      else
        local room = debt >= most and 0 or most - debt
        more = math.min(amount, (room - room % refillMs) / refillMs)
        if more > 0 or view == 2 then
          chargeBucket(k, view, reached, debt, more * refillMs, more, rate, whole - more * refillMs, id)
        end
      end
    elseif algorithm == 3 then
      if gives then
        given = refundLog(k, markId, charged, amount)
        viewLog(k, rate)
      else
        more = math.min(amount, math.max(0, most - logs[k].used))
        if more > 0 then
          makeRoom(k, rate, more)
          appendLog(k, rate, more, id)
        elseif logs[k].back > 2000 then
          moveLog(k)
        end
      end
    end
    put(given)
    put(more)
  end
end
