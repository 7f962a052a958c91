-- The steps in order, then what is still to be written. An error of the server's at the first write (out of memory, read-only) faults the
-- whole call, and nothing was written. Should one come later, the answer says that part of the call was written.
local function reset(at)
  for i = 1, #at do
    local k = at[i]
    call('UNLINK', keys[k])
    wrote = true
    if k <= strings then
      values[k], found[k], dirty[k], lives[k] = false, 0, nil, nil
    elseif logs then
      logs[k] = nil
    end
  end
  put(1)
end

local function run()
  for g = 2, #groups, 2 do
    local step, at = groups[g], groups[g + 1]
    local head = step[1]
    if head == -1 then
      adjust(step, at)
    elseif head == -2 then
      reset(at)
    else
      local consume, count = head % 2 == 1, (head - head % 2) / 2
      for where = 0, #at - count, count do ask(step, at, where, count, consume) end
    end
  end
  flush()
end

local done, problem = pcall(run)
if done then
  --@ send
end
if not wrote then return error(problem, 0) end
return { err = 'LIMITERPARTIAL ' .. (type(problem) == 'table' and problem.err or tostring(problem)) }
