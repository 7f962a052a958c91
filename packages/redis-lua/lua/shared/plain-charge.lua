-- One charge of a step: charges it where that was decided, answers, and writes what no later step of the call has too.
id = id + 1
if not fault then
  local charged, bits, told = asks and allowed and admits
  --@ tell
  if charged or asks and view == 2 then
    local cost, second = cost, second
    if not charged then cost, second = 0, 0 end
    if bucket then
      --@ charge-bucket
    else
      --@ charge-window
    end
  end
  --@ answer
end
if more then
  found[k], as[k], bs[k], cs[k], ds[k], es[k], dirty[k], lives[k] = is, a, b, c, d, e, changed, life
elseif changed then
  local value = bucket and pack('<I2ddddd', 513, a, b, d, c, e) or pack('<I2ddd', 513, a, b, c)
  if life then call('SET', keys[k], value, 'PX', life) else call('SET', keys[k], value, 'KEEPTTL') end
end
