-- The steps in order, then what is still to be written. An error of the server's at the first write (out of memory, read-only) faults the
-- whole call, and nothing was written. Should one come later, the answer says that part of the call was written.
local function reset(at, count)
  for i = 1, count do
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
    if step[1] == 2 then
      adjust(step, at)
    elseif step[1] == 3 then
      reset(at, step[2])
    else
      for where = 0, #at - step[2], step[2] do ask(step, at, where) end
    end
  end
  flush()
end

local done, problem = pcall(run)
if done then return reply end
if not wrote then return error(problem, 0) end
return { err = 'LIMITERPARTIAL ' .. (type(problem) == 'table' and problem.err or tostring(problem)) }
