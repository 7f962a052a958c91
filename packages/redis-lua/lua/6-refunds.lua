-- Refunds of log entries that are not the newest, kept apart from the entries so that a refund rewrites little: pages of at most 64
-- refunds at the scores -2, -3, ... and a directory at -1. A refund: sequence (6 bytes), the cost charged before that entry (7), amount (7).
-- The directory: format 1, next page number (4), then for each page its number (4), the first refund's sequence (6) and cost before (7), and
-- the sum of its refunds (7). A decision reads the directory, and one or two pages. Built when first needed.
if logs then
  local built
  function refunds()
    if built then return built end
    built = {}

    local function one(k, score)
      local text = call('ZRANGEBYSCORE', keys[k], score, score)[1]
      if not text or string.byte(text) ~= 1 then
        foreign = true
        return '\1'
      end
      return text
    end

    local function pageText(k, log, page)
      local text = log.texts[page.number]
      if not text then
        text = one(k, -2 - page.number)
        if (#text - 1) % 20 ~= 0 then
          foreign = true
          text = '\1'
        end
        log.texts[page.number] = text
      end
      return text
    end

    local function read(text, i)
      local sequence, before, amount = struct.unpack('>I6I7I7', text, 20 * i - 18)
      return sequence, before, amount
    end

    -- The last of `count` records whose sequence is at most `sequence`; 0 when there is none.
    local function search(count, sequence, sequenceAt)
      local low, high = 0, count
      while low < high do
        local middle = math.floor((low + high + 1) / 2)
        if sequenceAt(middle) <= sequence then low = middle else high = middle - 1 end
      end
      return low
    end

    local function inPage(text, sequence)
      return search((#text - 1) / 20, sequence, function(i) return (read(text, i)) end)
    end

    local function pageOf(log, sequence)
      return search(#log.pages, sequence, function(i) return log.pages[i].first end)
    end

    local function directory(k, log)
      if log.pages then return end
      log.pages, log.texts, log.nextPage = {}, {}, 0
      if not log.apart then return end
      local text = one(k, -1)
      if (#text - 5) % 24 ~= 0 then
        foreign = true
        return
      end
      log.nextPage = struct.unpack('>I4', text, 2)
      for i = 6, #text, 24 do
        local number, first, before, sum = struct.unpack('>I4I6I7I7', text, i)
        log.pages[#log.pages + 1] = { number = number, first = first, before = before, sum = sum }
      end
    end

    -- What was given back of the entries that count. Leaves where the live refunds begin: page, record, and the live part of that page.
    function built.live(k, log)
      directory(k, log)
      local pages = log.pages
      local page = pageOf(log, log.first - 1)
      log.page, log.record, log.part = math.max(page, 1), 1, pages[1] and pages[1].sum or 0
      local total = 0
      if page > 0 then
        local text = pageText(k, log, pages[page])
        log.record = inPage(text, log.first - 1) + 1
        log.part = 0
        for i = log.record, (#text - 1) / 20 do
          local _, _, amount = read(text, i)
          log.part = log.part + amount
        end
      end
      for i = log.page + 1, #pages do total = total + pages[i].sum end
      return total + log.part
    end

    -- Charged units that lie before the kept unit number `unit` (from 0), the refunded ones included. Of an entry the first units count
    -- as the refunded ones, which leaves its time alone. A whole page is skipped when even after it the unit lies behind the next page's first.
    function built.unit(k, log, unit)
      local pages = log.pages
      for i = log.page, #pages do
        local page, next, from, sum = pages[i], pages[i + 1], 1, pages[i].sum
        if i == log.page then from, sum = log.record, log.part end
        if next and unit + sum >= span(log.base, next.before) then
          unit = unit + sum
        elseif sum > 0 then
          local text = pageText(k, log, page)
          for record = from, (#text - 1) / 20 do
            local _, before, amount = read(text, record)
            if unit < span(log.base, before) then break end
            unit = unit + amount
          end
          return unit
        else
          return unit
        end
      end
      return unit
    end

    -- What was given back of the entry `sequence` already.
    function built.of(k, log, sequence)
      directory(k, log)
      local page = pageOf(log, sequence)
      if page == 0 then return 0 end
      local text = pageText(k, log, log.pages[page])
      local i = inPage(text, sequence)
      if i == 0 then return 0 end
      local found, _, amount = read(text, i)
      return found == sequence and amount or 0
    end

    local function replace(k, score, text)
      call('ZREMRANGEBYSCORE', keys[k], score, score)
      call('ZADD', keys[k], score, text)
    end

    local function writeDirectory(k, log)
      local parts = { struct.pack('>BI4', 1, log.nextPage) }
      for i = 1, #log.pages do
        local page = log.pages[i]
        parts[i + 1] = struct.pack('>I4I6I7I7', page.number, page.first, page.before, page.sum)
      end
      replace(k, -1, table.concat(parts))
    end

    -- Writes a page that holds the records of `text` and describes it.
    local function writePage(k, log, page, text)
      local sum = 0
      for i = 1, (#text - 1) / 20 do
        local _, _, amount = read(text, i)
        sum = sum + amount
      end
      page.first, page.before = read(text, 1)
      page.sum = sum
      log.texts[page.number] = text
      replace(k, -2 - page.number, text)
    end

    local function newPage(log, at)
      local page = { number = log.nextPage }
      log.nextPage = log.nextPage + 1
      table.insert(log.pages, at, page)
      return page
    end

    -- Notes `amount` more for the entry `sequence`.
    function built.put(k, log, sequence, before, amount)
      directory(k, log)
      local at = pageOf(log, sequence)
      local text = '\1'
      if at > 0 or log.pages[1] then
        at = math.max(at, 1)
        text = pageText(k, log, log.pages[at])
      else
        at = 1
        newPage(log, 1)
      end
      local i = inPage(text, sequence)
      local found, _, earlier
      if i > 0 then found, _, earlier = read(text, i) end
      local head = 1 + 20 * i
      local record = struct.pack('>I6I7I7', sequence, before, found == sequence and earlier + amount or amount)
      text = string.sub(text, 1, found == sequence and head - 20 or head) .. record .. string.sub(text, head + 1)
      wrote = true
      if #text > 1281 then
        -- A full page is halved; where refunds come in the order of their charges it stays full, and the next one begins.
        local cut = #text == head + 20 and 1281 or 641
        writePage(k, log, newPage(log, at + 1), '\1' .. string.sub(text, cut + 1))
        text = string.sub(text, 1, cut)
      end
      writePage(k, log, log.pages[at], text)
      writeDirectory(k, log)
    end

    -- Drops pages of which nothing counts any more, 8 at most.
    function built.sweep(k, log)
      local dropped = 0
      while dropped < 8 and log.pages[1] and (log.page > 1 or log.part == 0) do
        local page = table.remove(log.pages, 1)
        call('ZREMRANGEBYSCORE', keys[k], -2 - page.number, -2 - page.number)
        dropped = dropped + 1
        if log.page == 1 then log.record, log.part = 1, log.pages[1] and log.pages[1].sum or 0 else log.page = log.page - 1 end
        wrote = true
      end
      if dropped == 0 then return end
      if log.pages[1] then
        writeDirectory(k, log)
      else
        call('ZREMRANGEBYSCORE', keys[k], -1, -1)
        log.apart = false
      end
    end

    -- Writes the log anew: what counts, without what was refunded. The identities stay.
    function built.compact(k, log)
      local key, kept, sum = keys[k], {}, 0
      local newest = call('ZCARD', key) - 1
      local rank = newest - call('ZCOUNT', key, log.from, '+inf') + 1
      while rank <= newest do
        local members = call('ZRANGE', key, rank, rank + 999)
        for i = 1, #members do
          local sequence, before, after, time = readEntry(members[i])
          local cost = span(before, after)
          if log.apart and sequence ~= log.sequence then cost = cost - built.of(k, log, sequence) end
          if cost > 0 or sequence == log.sequence then
            local isNewest = sequence == log.sequence
            kept[#kept + 1] = time
            kept[#kept + 1] = writeEntry(sequence, sum, sum + cost, time, isNewest and log.shift or 0, false)
            sum = sum + cost
          end
        end
        rank = rank + 1000
      end
      if foreign then return end
      call('UNLINK', key)
      for i = 1, #kept, 1000 do call('ZADD', key, unpack(kept, i, math.min(i + 999, #kept))) end
      call('PEXPIRE', key, log.life)
      wrote = true
    end
    return built
  end
end
