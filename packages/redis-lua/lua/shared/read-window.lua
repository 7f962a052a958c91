-- From k and values: is (1 there, 0 absent, -1 a key of another type, -2 not a ledger), a start, b used, c id. The state of a window:
-- format (2 bytes, 513), start, used, id (doubles). An unknown format, or another length, is not a ledger.
local value, version = values[k]
is = -2
if not value then
  -- MGET shows a key of another type as absent, and SET would overwrite it.
  is = type(redis.pcall('GET', keys[k])) == 'table' and -1 or 0
elseif #value == 26 then
  version, a, b, c = read('<I2ddd', value)
  if version == 513 then is = 1 end
end
