-- Windows and buckets in such a call: what shared/*.lua say, on the arrays.
local function store(k, algorithm, a, b, c, d, e, life)
  found[k], as[k], bs[k], cs[k], ds[k], es[k], lives[k] = 1, a, b, c, d, e, life
  if not dirty[k] then
    ordered = ordered + 1
    order[ordered] = k
  end
  dirty[k] = algorithm
end

-- view, start, used
local function viewWindow(k, rate, second)
  local is, a, b, view, reached, level = found[k], as[k], bs[k]
  --@ view-window
  return view, reached, level
end

local function chargeWindow(k, view, reached, level, cost, rate, id)
  local is, a, b, c, life, changed = found[k], as[k], bs[k], cs[k], lives[k]
  --@ charge-window
  store(k, 1, a, b, c, nil, nil, life)
end

-- view, instant of evaluation, debt
local function viewBucket(k, rate)
  local is, a, b, view, reached, level = found[k], as[k], bs[k]
  --@ view-bucket
  return view, reached, level
end

local function chargeBucket(k, view, reached, level, second, cost, rate, most, id)
  local is, a, b, c, d, e, life, changed = found[k], as[k], bs[k], cs[k], ds[k], es[k], lives[k]
  --@ charge-bucket
  store(k, 2, a, b, c, d, e, life)
end
