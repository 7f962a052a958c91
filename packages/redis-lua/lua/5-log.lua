-- Sliding logs: one sorted set a ledger, one entry a charge. Built only in calls that have one (`logs` is nil otherwise).
--
-- An entry: score = stored time; member = sequence (6 bytes), cost charged before it and after it (7 bytes each, modulo 2^53), stored time (7):
-- big-endian, so that entries of the same ms lie in the order of their sequence. What was used is then a difference
-- of two members, and the time of any unit of it a search by rank. Stored time = time + shift: a step back of the clock moves all
-- entries by changing the shift. The newest entry also carries the shift (7) and whether refunds lie apart (1), when either is not 0.
-- A sequence begins at a random number from 2^44 on, so that it is the entry's identity too; from n * 2^44 on is format n. Only the newest entry can be worth 0 (refunded while it
-- was the newest); it stays as the log's anchor until the next one is written.
-- Refunds of older entries lie apart, at negative scores: 6-refunds.lua.
local logs, viewLog, logWaits, makeRoom, appendLog, moveLog, findCharge, refundLog, refunds, readEntry, writeEntry, span
local M = 9007199254740992
-- Something in the log that is being read is not ours: the step is a fault, and as every read comes before its first write, nothing was written.
local foreign = false
if strings < #keys then
  logs = {}

  -- sequence, before, after, time; nil when it is not an entry.
  function readEntry(member)
    if member and #member >= 27 then
      local sequence, before, after, time = read('>I6I7I7I7', member)
      if sequence >= 17592186044416 and sequence < 35184372088832 and before < M and after < M and time < M then return sequence, before, after, time end
    end
    foreign = true
    return 0, 0, 0, 0
  end

  -- Charged cost between two points of the running sum.
  function span(from, to)
    return to >= from and to - from or to - from + M
  end

  -- Reads the newest and the first entry that counts; returns a fault or nil.
  function viewLog(k, windowMs)
    local log = logs[k]
    if log then return log.fault end
    log = { used = 0, at = now, behind = 0, shift = 0, back = 0, life = keep(2 * windowMs + 5000) }
    logs[k] = log
    local got = redis.pcall('ZREVRANGE', keys[k], 0, 0)
    if got.err then
      log.fault = -1
      return -1
    end
    local member = got[1]
    if not member then return nil end
    foreign = false
    log.sequence, log.before, log.after, log.time = readEntry(member)
    log.member, log.apart = member, false
    if #member == 35 then
      local apart
      log.shift, apart = read('>I7B', member, 28)
      log.apart = apart == 1
    elseif #member ~= 27 then
      foreign = true
    end
    local at = now + log.shift
    if log.time > at then
      log.back = log.time - at
      if log.back <= 2000 then log.behind = log.back end
      at = log.time
    end
    log.at, log.from = at, math.max(at - windowMs + 1, 0)
    log.live = log.time >= log.from
    if log.live and not foreign then
      local first = call('ZRANGEBYSCORE', keys[k], log.from, '+inf', 'LIMIT', 0, 1)[1]
      if first == member then
        log.first, log.base, log.firstAfter, log.firstTime = log.sequence, log.before, log.after, log.time
      else
        log.first, log.base, log.firstAfter, log.firstTime = readEntry(first)
      end
      log.span = span(log.base, log.after)
      log.used = log.span
      if log.apart and not foreign then log.used = log.span - refunds().live(k, log) end
    end
    if foreign or log.used < 0 then
      log.fault = -2
      return -2
    end
    return nil
  end

  -- The last entry whose sequence (by == 1) or charged cost before it, counted from the first that counts (by == 2), is at most
  -- `target`: sequence, before, after, time, rank. Guesses by proportion and halves in turn, so neither an even log nor an odd one takes long.
  local function seek(k, log, by, target)
    local key = keys[k]
    local function worth(sequence, before)
      return by == 1 and sequence or span(log.base, before)
    end
    local got = call('ZRANGEBYSCORE', key, log.from, '+inf', 'LIMIT', 0, 16)
    local low, high = 1, #got
    if high == 16 and worth(readEntry(got[16])) <= target then
      -- Ranks: value(low) <= target < value(high).
      local newest = call('ZCARD', key) - 1
      local offset = newest - call('ZCOUNT', key, log.from, '+inf') + 1
      low, high = offset + 15, newest
      local lowWorth, highWorth = worth(readEntry(got[16])), worth(log.sequence, log.before)
      if highWorth <= target then return log.sequence, log.before, log.after, log.time end
      local halve = false
      while high - low > 16 and not foreign do
        local width = high - low
        local middle = low + math.floor(width / 2)
        if not halve then
          middle = low + math.floor((target - lowWorth) / (highWorth - lowWorth) * width)
          middle = math.max(low + 1, math.min(high - 2, middle))
        end
        local pair = call('ZRANGE', key, middle, middle + 1)
        local here, after = worth(readEntry(pair[1])), worth(readEntry(pair[2]))
        if here > target then
          high, highWorth = middle, here
        elseif after > target then
          return readEntry(pair[1])
        else
          low, lowWorth = middle + 1, after
        end
        halve = high - low > width / 2
      end
      got = call('ZRANGE', key, low, high - 1)
      low, high = 1, #got
    end
    -- Within got: worth(low) <= target.
    while low < high do
      local middle = math.floor((low + high + 1) / 2)
      if worth(readEntry(got[middle])) <= target then low = middle else high = middle - 1 end
    end
    return readEntry(got[low])
  end

  -- The least wait after which `amount` of what is used no longer counts; 1 <= amount <= used.
  local function waitUntilFreed(k, log, amount, windowMs)
    local time
    if amount == log.used and log.after ~= log.before then
      time = log.time
    elseif amount == log.amount then
      time = log.amountTime
    else
      local unit = amount - 1
      if log.apart then unit = refunds().unit(k, log, unit) end
      if unit < span(log.base, log.firstAfter) then
        time = log.firstTime
      elseif unit >= span(log.base, log.before) then
        time = log.time
      else
        local _, _, _, found = seek(k, log, 2, unit)
        time = found
      end
      log.amount, log.amountTime = amount, time
    end
    return time + windowMs - log.at + log.behind
  end

  -- used, retryAfterMs, resetAfterMs, moreAfterMs as core's algorithm says them; retryAfterMs is 0 where the answer is "never".
  function logWaits(k, windowMs, budget, cost, admits, charged)
    local log = logs[k]
    local used, all = log.used, windowMs + log.behind
    if charged then
      return used + cost, 0, all, used > 0 and waitUntilFreed(k, log, 1, windowMs) or all
    end
    local retry, reset, more, over = 0, 0, 0, math.max(0, used - budget)
    if not admits and cost <= budget then retry = waitUntilFreed(k, log, cost - (budget - used), windowMs) end
    if used > 0 then
      reset = waitUntilFreed(k, log, used, windowMs)
      if budget > 0 then more = waitUntilFreed(k, log, over + 1, windowMs) end
    end
    return used, retry, reset, more
  end

  -- An entry as text.
  function writeEntry(sequence, before, after, time, shift, apart)
    local member = pack('>I6I7I7I7', sequence, before, after, time)
    if shift > 0 or apart then member = member .. pack('>I7B', shift, apart and 1 or 0) end
    return member
  end

  -- The new text of the newest entry. The new one is written first: a set without members would be gone with its TTL.
  local function rewriteNewest(k, log)
    local member = writeEntry(log.sequence, log.before, log.after, log.time, log.shift, log.apart)
    if member == log.member then return end
    call('ZADD', keys[k], log.time, member)
    wrote = true
    call('ZREM', keys[k], log.member)
    log.member = member
    if callerClock then call('PEXPIRE', keys[k], log.life) end
  end

  -- Drops entries that no longer count, 64 at most.
  local function trim(k, log)
    local expired = call('ZCOUNT', keys[k], 0, format('(%.0f', log.from))
    if log.apart then refunds().sweep(k, log) end
    if expired > 0 then
      local from = log.apart and call('ZCOUNT', keys[k], '-inf', '(0') or 0
      call('ZREMRANGEBYRANK', keys[k], from, from + math.min(expired, 64) - 1)
    end
  end

  function moveLog(k)
    local log = logs[k]
    log.shift, log.back = log.shift + log.back, 0
    rewriteNewest(k, log)
    call('PEXPIRE', keys[k], log.life)
  end

  -- The running sum tells 2^53-1 of live charges apart, refunded ones included. Where `cost` more would pass that, the log is rewritten
  -- without what was refunded; it says the same afterwards.
  function makeRoom(k, windowMs, cost)
    local log = logs[k]
    if log.live and cost > M - 1 - log.span then
      refunds().compact(k, log)
      logs[k] = nil
      viewLog(k, windowMs)
    end
  end

  -- Charges `cost`; returns the entry's sequence and its time.
  function appendLog(k, windowMs, cost, id)
    local log, key = logs[k], keys[k]
    if not log.live then
      -- Nothing counts any more: a new log.
      if log.sequence then call('UNLINK', key) end
      local sequence = 17592186044416 + id % 8796093022208
      local member = writeEntry(sequence, 0, cost, now, 0, false)
      call('ZADD', key, now, member)
      wrote = true
      call('PEXPIRE', key, log.life)
      logs[k] = nil
      viewLog(k, windowMs)
      return sequence, now
    end
    local isMoved, sequence = log.back > 2000, log.sequence + 1
    if isMoved then log.shift, log.back = log.shift + log.back, 0 end
    if sequence % 8 == 0 then trim(k, log) end
    local room = M - log.after
    local after = cost >= room and cost - room or log.after + cost
    local member = writeEntry(sequence, log.after, after, log.at, log.shift, log.apart)
    call('ZADD', key, log.at, member)
    wrote = true
    -- Renewed by the first entry of each window since 1970, for two windows: an entry is then always kept for at least one more.
    if callerClock or isMoved or log.behind > 0 or math.floor(log.at / windowMs) ~= math.floor(log.time / windowMs) then
      call('PEXPIRE', key, log.life + log.behind)
    end
    if log.before == log.after then call('ZREM', key, log.member) end
    if log.first == log.sequence and log.before == log.after then
      log.first, log.base, log.firstAfter, log.firstTime = sequence, log.after, after, log.at
    end
    log.sequence, log.before, log.after, log.time, log.member = sequence, log.after, after, log.at, member
    log.span, log.used = log.span + cost, log.used + cost
    log.amount = nil
    return sequence, log.at - log.shift
  end

  -- Reads the entry of a charge, so that its refund reads no more: sets log.sought and what is kept of it. Only the refund of an entry that is
  -- not the newest needs it.
  function findCharge(k, sequence)
    local log = logs[k]
    if not log.live or sequence >= log.sequence or sequence < log.first or log.sought == sequence then return end
    local found, before, after = seek(k, log, 1, sequence)
    log.sought, log.soughtBefore, log.soughtKept = sequence, before, 0
    if found == sequence and not foreign then
      log.soughtKept = span(before, after) - (log.apart and refunds().of(k, log, sequence) or 0)
    end
  end

  -- Gives back `amount` of the charge `sequence` at most; returns how much it was.
  function refundLog(k, sequence, charged, amount)
    local log = logs[k]
    if not log.live or sequence > log.sequence or sequence < log.first then return 0 end
    amount = math.min(amount, charged)
    if sequence == log.sequence then
      amount = math.min(amount, span(log.before, log.after))
      if amount == 0 then return 0 end
      log.after = log.after >= amount and log.after - amount or log.after - amount + M
    else
      findCharge(k, sequence)
      amount = math.min(amount, log.soughtKept)
      if amount == 0 then return 0 end
      refunds().put(k, log, sequence, log.soughtBefore, amount)
      log.apart = true
    end
    rewriteNewest(k, log)
    logs[k] = nil
    return amount
  end
end
