-- Returns the answer: the `size` numbers of `reply`, packed in portions that `unpack` can take, or as a table.
if not packed then return reply end
local text = ''
for from = 1, size, 4000 do
  local to = math.min(from + 3999, size)
  text = text .. pack('<' .. string.rep('d', to - from + 1), unpack(reply, from, to))
end
return text
