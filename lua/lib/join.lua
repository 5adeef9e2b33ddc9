-- Newcomers: a number each, once each, and not too often.
--
-- Owns what the hashes joined and limits hold. Never sees a device, an address or a user, only their keyed
-- hashes of 16 bytes.
--
--   joined  key -> flags (1 the key proves itself, 2 idempotency, 4 proof, 8 user, 16 of a device, 32 of a class),
--           number, joined_ms (six bytes each), then 16 bytes for each key the flags name; of a device, at_ms (six
--           bytes); of a class, its name
--   limits  subject (a byte), per_ms (four bytes), key -> window, its joins, those of the one before
--           (six, four and four bytes)

local FIRST, AT, WINDOW, SLOT = '>BI6I6', '>I6', '>I6I4I4', '>BI4'
local KEPT = { 'idempotency', 'proof', 'user' } -- in the order of their flags
local SUBJECTS = { address = 0, device = 1, user = 2 }

join.FULL, join.CLOSED, join.LIMITED, join.NAME_TAKEN = 2, 3, 4, 5

-- What is kept about the join that gave a key its number.
local function read(value)
  local flags, n, joined_ms, at = struct.unpack(FIRST, value)
  local first = { number = n, joined_ms = joined_ms, secret = flags % 2 == 1, value = value }
  for _, name in ipairs(KEPT) do
    flags = floor(flags / 2)
    if flags % 2 == 1 then
      first[name] = value:sub(at, at + 15)
      at = at + 16
    end
  end
  flags = floor(flags / 2)
  if flags % 2 == 1 then
    first.at_ms, at = struct.unpack(AT, value, at)
  end
  if floor(flags / 2) % 2 == 1 then
    first.class = value:sub(at)
  end
  return first
end

-- Whether it is by its device that a join is found again.
local function is_device(keyed)
  return keyed.device ~= nil and keyed.device == keyed.once
end

local function remember(keyed, n, classed)
  local flags, flag, kept = keyed.device and 0 or 1, 1, {}
  for _, name in ipairs(KEPT) do
    flag = 2 * flag
    flags = flags + (keyed[name] and flag or 0)
    kept[#kept + 1] = keyed[name]
  end
  if is_device(keyed) then
    flags = flags + 2 * flag
    kept[#kept + 1] = struct.pack(AT, line.clock_ms)
  end
  if classed == class.PLACED or classed == class.ORDINARY then
    flags = flags + 4 * flag
    kept[#kept + 1] = keyed.class
  end
  local value = struct.pack(FIRST, flags, n, line.wall_ms) .. table.concat(kept)
  aging.put(line.joined, keyed.once, value)
end

-- Where a limit counts a newcomer, or false if it does not.
local function slot(limit, keyed)
  local counted = keyed[limit.subject]
  return counted and limit.prefix .. counted or false
end

-- A window as it is at an index: its own, the joins counted in it and in the one before.
local function at_index(index, last, current, previous)
  local later = max(index - last, 0)
  if later == 0 then
    return last, current, previous
  end
  return index, 0, later == 1 and current or 0
end

-- How long until one more is within the limit; 0 if it is now.
local function retry_ms(limit, current, previous)
  local per_ms, most = limit.per_ms, limit.max
  local into_ms = line.clock_ms % per_ms
  if current + number.div(previous * (per_ms - into_ms), per_ms) < most then
    return 0
  end
  -- In this window the previous one fades; if that is not enough, in the next one this does.
  local function fades(count, room)
    return max(per_ms - number.div(max(room * per_ms - 1, 0), max(count, 1)), 0)
  end
  if current < most then
    return max(fades(previous, most - current) - into_ms, 1)
  end
  return per_ms - into_ms + fades(current, most)
end

-- Counts a join against every limit it falls under, unless one of them refuses it. `first`: the join that is
-- remembered under its key, if there is one. As long as that of a device is all there is to count, a limit on
-- devices keeps nothing of its own.
local function count_attempt(keyed, first)
  if config.mode == 'shadow' then
    return nil
  end
  local counted, device = {}, is_device(keyed)
  for i, limit in ipairs(config.join_limits) do
    local at = keyed.slots[i]
    if at then
      local per_ms, last, current, previous = limit.per_ms, 0, 0, 0
      local found, own = aging.get(line.limits, at), device and limit.subject == 'device'
      if found then
        last, current, previous = struct.unpack(WINDOW, found)
      end
      if own and first and first.at_ms then
        last, current, previous =
          at_index(number.div(first.at_ms, per_ms), last, current, previous)
        current = max(current, 1)
      end
      last, current, previous =
        at_index(number.div(line.clock_ms, per_ms), last, current, previous)
      local wait_ms = retry_ms(limit, current, previous)
      if wait_ms > 0 then
        return { code = join.LIMITED, subject = SUBJECTS[limit.subject], retry_ms = wait_ms }
      end
      -- Remembered for as long as it counts: two windows.
      local remembered = 2 * per_ms <= config.ticket_max_ms
      if not (own and not first and current + previous == 0 and remembered) then
        counted[#counted + 1] = { at, struct.pack(WINDOW, last, current + 1, previous) }
      end
    end
  end
  for _, entry in ipairs(counted) do
    aging.put(line.limits, entry[1], entry[2])
  end
end

-- Why nobody new is taken, or nil.
local function refusal(space)
  if config.mode == 'drain' or draw.is_closed() then
    return { code = join.CLOSED }
  end
  if space <= 0 then
    return { code = join.FULL }
  end
end

-- Gives up to `wanted` numbers.
local function give(wanted, space)
  local refused = refusal(space)
  if refused then
    return refused
  end
  local count, first = min(wanted, space), line.issued + 1
  line.issued, line.waiting = line.issued + count, line.waiting + count
  if count == 1 then
    bits.set(line.live, first)
    bits.set(state.seen(), first)
  else
    bits.set_range(line.live, first, line.issued)
    bits.set_range(state.seen(), first, line.issued)
  end
  return { first = first, count = count, entered = 0 }
end

-- A number at the head of the line. There is room: it was asked before.
local function give_classed(place, rank)
  line.issued, line.waiting = line.issued + 1, line.waiting + 1
  bits.set(line.used, line.issued)
  express.wait_classed(line.issued, class.standpoint(place, rank))
  return { first = line.issued, count = 1, entered = 0, place = place, rank = rank }
end

-- Whether a number stands for another one since a draw.
local function is_drawn(n)
  local standing = state.standing(n)
  return (standing == state.EXPIRED_PASSED or standing == state.EXPIRED_USED) and draw.contains(n)
end

-- Whether the number that a join gave can still do anything. Under which number it stands since a draw, nodes know.
local function is_over(first, keyed)
  local standing = state.standing(first.number)
  if is_drawn(first.number) then
    return keyed.over == first.number
  end
  return standing == state.UNKNOWN or standing >= state.COMPLETED
end

-- A key that has a number gets it again, and counts as here.
local function again(keyed, first)
  local drawn = is_drawn(first.number)
  if not drawn then
    claim.come_back(first.number, false)
  end
  local function same(name)
    return first[name] ~= nil and first[name] == keyed[name]
  end
  aging.put(line.joined, keyed.once, first.value)
  local _, index
  if first.class then
    _, index = class.find(first.class)
  end
  local their_own = first.secret or same('idempotency') or same('proof')
  return {
    number = first.number,
    joined_ms = first.joined_ms,
    proven = their_own and first.user == keyed.user, -- as somebody else they would be given another ticket
    standing = drawn and state.WAITING or state.standing(first.number),
    class = index or 0,
  }
end

local function join_keyed(keyed, space)
  local value = keyed.once and aging.get(line.joined, keyed.once)
  local first = value and read(value)
  local known = first and not is_over(first, keyed)
  local refused = not known and refusal(space)
  if not known and not refused and keyed.name and roster.refused(keyed.name[2]) then
    refused = { code = join.NAME_TAKEN }
  end
  -- Before it is counted: strangers must not fill a table.
  -- Whoever asks a second time, because the line could not tell, was counted the first time.
  refused = refused or not keyed.over and count_attempt(keyed, first)
  if refused then
    return refused
  end
  if known then
    return again(keyed, first)
  end
  local classed, place, rank = class.classify(keyed)
  local joined
  if classed == class.PLACED then
    joined = give_classed(place, rank)
  else
    joined = give(1, space)
  end
  joined.classed = classed
  if classed == class.CROWDED then
    line.class_overflow = line.class_overflow + 1
  elseif (classed == class.PLACED or classed == class.ORDINARY) and keyed.invite then
    class.spend(keyed.invite, keyed.class)
  end
  if keyed.once then
    remember(keyed, joined.first, classed)
    joined.once = true
  end
  if keyed.name then
    roster.give(joined.first, keyed.name)
  end
  return joined
end

-- Somebody was sent to the end of the line: a number there, found again by the one they had.
function join.requeued(from)
  local joined = give(1, max(sweep.PLACES_MAX - (line.issued - line.lapsed), 0))
  if not joined.first then
    return
  end
  local once = 'requeued' .. struct.pack('>I8', from)
  aging.get(line.joined, once)
  aging.put(line.joined, once, struct.pack(FIRST, 1, joined.first, line.wall_ms))
  roster.move(from, joined.first)
end

-- Reads at once what the batch's newcomers will be judged by.
local function look()
  local once, slots, numbers, invites = {}, {}, {}, {}
  for _, limit in ipairs(config.join_limits) do
    limit.prefix = struct.pack(SLOT, SUBJECTS[limit.subject], limit.per_ms)
  end
  for _, keyed in ipairs(batch.keyed) do
    once[#once + 1] = keyed.once
    invites[#invites + 1] = keyed.invite and keyed.invite.id
    keyed.slots = {}
    for i, limit in ipairs(config.join_limits) do
      local at = slot(limit, keyed)
      keyed.slots[i] = at
      slots[#slots + 1] = at or nil
    end
  end
  aging.look(line.joined, once)
  aging.look(line.limits, slots)
  aging.look(line.invites, invites)
  for _, field in ipairs(once) do
    local value = aging.get(line.joined, field)
    numbers[#numbers + 1] = value and read(value).number or nil
  end
  state.look(numbers)
end

-- Numbers that this exchange has given.
join.given = 0

-- Takes the batch's newcomers, in order.
function join.join()
  aging.age(line.joined, config.ticket_max_ms)
  local longest_ms = 0
  for _, limit in ipairs(config.join_limits) do
    longest_ms = max(longest_ms, limit.per_ms)
  end
  aging.age(line.limits, 2 * longest_ms)
  class.age()
  local space = max(sweep.PLACES_MAX - (line.issued - line.lapsed), 0)
  if config.max_waiting then
    space = min(space, max(config.max_waiting + release.allowance() - line.waiting, 0))
  end
  look()
  local names = 0
  for _, keyed in ipairs(batch.keyed) do
    names = names + (keyed.name and 1 or 0)
  end
  roster.make_room(names)
  local joins, nth = {}, 0
  for i, count in ipairs(batch.joins) do
    if count >= 0 then
      joins[i] = give(count, space)
    else
      nth = nth + 1
      joins[i] = join_keyed(batch.keyed[nth], space)
    end
    joins[i].epoch = line.epoch
    local given = joins[i].count or 0
    space, join.given = space - given, join.given + given
  end
  return joins
end
