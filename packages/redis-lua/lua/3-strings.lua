-- Windows and buckets: how a ledger is judged at `now`, and how it is written. view is 0 fresh, 1 current, 2 moved: the clock was set
-- back by more than two seconds and the ledger goes with it.
local function windowStart(windowMs, offsetMs)
  return offsetMs < 0 and now or now - (now - offsetMs) % windowMs
end

-- view, start, used
local function viewWindow(k, windowMs, offsetMs)
  if found[k] == 0 or now - a[k] >= windowMs then return 0, windowStart(windowMs, offsetMs), 0 end
  if a[k] - now > 2000 then return 2, windowStart(windowMs, offsetMs), b[k] end
  return 1, a[k], b[k]
end

local function writeWindow(k, view, start, used, windowMs, id)
  if view ~= 1 or callerClock then life[k] = keep(start + windowMs - now + 5000) end
  if view ~= 1 then c[k] = id end
  a[k], b[k], found[k] = start, used, 1
  touch(k, 1)
end

-- view, at, debt
local function viewBucket(k, refill)
  if found[k] == 0 then return 0, now, 0 end
  local at, debt = a[k], b[k]
  if at - now > 2000 then return 2, now, debt end
  if at >= now then return 1, at, debt end
  -- The product may pass 2^53 and be rounded then; it is compared before it is used.
  local refilled = (now - at) * refill
  return 1, now, refilled >= debt and 0 or debt - refilled
end

-- Writes `debt` as of `at`; what was charged and the identity are set by whoever calls.
local function writeBucket(k, at, debt, refill, lifeMs, isNew)
  if isNew or callerClock or debt > (e[k] - 5000 - at) * refill then
    life[k] = keep(math.max(ceil(debt, refill) + at - now + 5000, lifeMs))
    e[k] = now + life[k]
  end
  a[k], b[k], found[k] = at, debt, 1
  touch(k, 2)
end

local function chargeBucket(k, view, at, debt, units, cost, refill, lifeMs, id)
  -- The running sum begins anew, under a new identity, before it passes 2^53-1.
  if view == 1 and cost <= 9007199254740991 - d[k] then d[k] = d[k] + cost else d[k], c[k] = cost, id end
  writeBucket(k, at, debt + units, refill, lifeMs, view ~= 1)
end

local function moveBucket(k, debt, refill, lifeMs, id)
  c[k], d[k] = id, 0
  writeBucket(k, now, debt, refill, lifeMs, true)
end
