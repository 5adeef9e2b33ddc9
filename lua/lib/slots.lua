-- Seats with names: which of them somebody gets, and when one is given up because nobody is on the line any more.
--
-- Owns the hash slots (number -> slot, of seats in use and of those over) and the meaning of the sorted set hung: number
-- -> when the seat is left. A slot is a place in the list of the settings, counted from 1; 0 is none.

-- Of every number that was asked for, its slot; and of every slot in use, its number: read when somebody asks.
local of, held = {}, nil

-- Reads many at once, to be asked for later.
function slots.look(numbers)
  if line.slotted == 0 then
    return
  end
  local wanted, fields = {}, {}
  for _, n in ipairs(numbers) do
    if not of[n] then
      of[n], wanted[#wanted + 1], fields[#fields + 1] = 0, n, number.text(n)
    end
  end
  for i, slot in ipairs(many('HMGET', key.slots, fields)) do
    of[wanted[i]] = tonumber(slot or 0)
  end
end

-- The slot of a seat, in use or over.
function slots.of(n)
  if line.slotted == 0 then
    return 0
  end
  if not of[n] then
    slots.look({ n })
  end
  return of[n]
end

-- Who sits where. There may be many more of those who sat than of those who sit, or, where slots were just set, of those
-- who sit without one: the fewer are looked through.
local function load()
  if held then
    return
  end
  held = {}
  if line.slotted == 0 then
    return
  end
  local numbers
  if line.slotted < line.inside.size then
    local found = call('HGETALL', key.slots)
    numbers = {}
    for i = 1, #found, 2 do
      local n = tonumber(found[i])
      of[n], numbers[#numbers + 1] = tonumber(found[i + 1]), n
    end
    scores.look(line.inside, numbers)
  else
    numbers = scores.first(line.inside, line.inside.size)
    slots.look(numbers)
  end
  for _, n in ipairs(numbers) do
    if of[n] > 0 and scores.get(line.inside, n) then
      held[of[n]] = n
    end
  end
end

-- Keeps the slot of a seat.
function slots.write(n, slot)
  local before = slots.of(n)
  if before == slot then
    return
  end
  of[n] = slot
  if slot == 0 then
    line.slotted = line.slotted - 1
    call('HDEL', key.slots, number.text(n))
  else
    line.slotted = line.slotted + (before == 0 and 1 or 0)
    call('HSET', key.slots, number.text(n), number.text(slot))
  end
end

-- Somebody sits in a slot, or in none.
function slots.sit(n, slot)
  if slot > 0 then
    load()
    held[slot] = n
  end
end

-- Nobody sits there any more: the slot is free. Asked before the seat is out of `inside`.
function slots.stand_up(n)
  local slot = slots.of(n)
  if slot > 0 then
    load()
    held[slot] = held[slot] ~= n and held[slot] or nil
  end
  if line.hung.size > 0 then
    scores.remove(line.hung, n)
  end
end

-- The slot of somebody who sits down, or sits: the one wanted, if it is theirs or free; else the lowest that is free.
function slots.choose(n, wanted)
  local count = config and #config.slots or 0
  if count == 0 then
    return 0
  end
  load()
  if wanted >= 1 and wanted <= count and (not held[wanted] or held[wanted] == n) then
    return wanted
  end
  if line.missing == 0 then -- Otherwise nobody knows which are free.
    for slot = 1, count do
      if not held[slot] or held[slot] == n then
        return slot
      end
    end
  end
  return 0
end

-- Somebody's last connection on a node has closed: their seat is left soon, unless they are heard of.
function slots.hang_up(n)
  if #config.slots > 0 and state.given(n) and scores.get(line.inside, n) then
    scores.insert(line.hung, n, line.clock_ms + config.slot_grace_ms)
  end
end

-- Those who closed their last connection and were not heard of since have left.
function slots.leave()
  local most = budget.rest()
  local due = budget.found(scores.due(line.hung, line.clock_ms, most), most)
  scores.look(line.ended, due)
  for _, n in ipairs(due) do
    session.close(n, seats.read(n), session.LEFT)
  end
end

-- Nobody has one.
function slots.wipe()
  call('UNLINK', key.slots)
  line.slotted, of, held = 0, {}, nil
end
