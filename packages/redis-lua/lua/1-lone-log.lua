-- A consume of one sliding log, alone in its call: kind l. Here the commonest is answered: no log yet, or one whose newest entry carries nothing besides
-- and is not ahead of the clock; if that entry counts, the running sum does not begin anew, and what a refusal waits for lies in the first entry.
-- 3-call.lua answers the rest. ARGV: windowMs, budget, cost. 5-log.lua says what an entry holds. Identities lie in 2^44 .. 2^45-1
-- (17592186044416, 35184372088832), sums below 2^53 (9007199254740992).
if kind == 'l' then
  local key, windowMs, budget, cost, entry, read = keys[1], args[4] + 0, args[5] + 0, args[6] + 0, '>I6I7I7I7', struct.unpack
  repeat
    local got = redis.pcall('ZREVRANGE', key, '0', '0')
    local newest, from, sequence, before, after, time = got[1], math.max(now - windowMs + 1, 0)
    if newest then
      if #newest ~= 27 then break end
      sequence, before, after, time = read(entry, newest)
      if time > now or sequence < 17592186044416 or sequence >= 35184372088832 then break end
    elseif got.err then
      break
    end
    if not newest or time < from then
      -- Nothing counts: a new log, as appendLog begins it.
      if newest and (before >= 9007199254740992 or after >= 9007199254740992) then break end
      if cost > budget then return pack('<dddddd', now, 0, 0, 0, 0, 0) end
      if newest then call('UNLINK', key) end
      sequence = 17592186044416 + (args[2] + 1) % 8796093022208
      call('ZADD', key, now, pack(entry, sequence, 0, cost, now))
      -- An error now comes too late: the charge is written.
      local lives = redis.pcall('PEXPIRE', key, 2 * windowMs + 5000)
      if type(lives) == 'table' then return { err = 'LIMITERPARTIAL ' .. lives.err } end
      return pack('<dddddddd', now, 9, cost, 0, windowMs, windowMs, sequence, now)
    end
    if before >= after or after + cost >= 9007199254740992 then break end
    local first = call('ZRANGEBYSCORE', key, from, '+inf', 'LIMIT', '0', '1')[1]
    if not first or #first < 27 then break end
    local firstSequence, base, firstAfter, firstTime = read(entry, first)
    if firstSequence < 17592186044416 or firstSequence > sequence or base >= firstAfter or firstAfter > after or firstTime > time then break end
    local used, wait = after - base, firstTime + windowMs - now
    if cost > budget - used then
      if cost > budget or cost - (budget - used) > firstAfter - base then break end
      return pack('<dddddd', now, 0, used, wait, time + windowMs - now, wait)
    end
    sequence = sequence + 1
    if sequence % 8 == 0 then
      local expired = call('ZCOUNT', key, '0', string.format('(%.0f', from))
      if expired > 0 then call('ZREMRANGEBYRANK', key, '0', math.min(expired, 64) - 1) end
    end
    -- The charge comes last: an error of the server's before it has charged nothing.
    if math.floor(now / windowMs) ~= math.floor(time / windowMs) then call('PEXPIRE', key, 2 * windowMs + 5000) end
    call('ZADD', key, now, pack(entry, sequence, after, after + cost, now))
    return pack('<dddddddd', now, 9, used + cost, 0, windowMs, wait, sequence, now)
  until true
  groups = { 0, { 3, 3, windowMs, 0, cost, budget }, { 1 } }
end
