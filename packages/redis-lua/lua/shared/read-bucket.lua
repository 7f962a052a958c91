-- From k and values: is (see read-window), a at, b debt, c id, d charged, e expiresAt. The state of a bucket: format (2 bytes, 513), at, debt,
-- charged, id, expiresAt (doubles).
local value, version = values[k]
is = -2
if not value then
  -- MGET shows a key of another type as absent, and SET would overwrite it.
  is = type(redis.pcall('GET', keys[k])) == 'table' and -1 or 0
elseif #value == 42 then
  version, a, b, d, c, e = read('<I2ddddd', value)
  if version == 513 then is = 1 end
end
