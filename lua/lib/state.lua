-- The counters and clocks of a line.
--
-- Owns the hash `state`: read whole when the script begins, written at its end, the fields that changed and
-- no others. A field that is not there is 0. Names are those of src/line, a unit last.

-- The layout of every key of a room. To be raised with every change after which an older script would
-- read something else out of them than was meant.
state.LAYOUT = 4

local NUMBERS = {
  'layout', 'run', 'epoch', 'opened_ms', 'clock_ms', 'wall_ms',
  'settling_until_ms', 'settling_latest_ms', 'settling_taken', -- 0: does not settle
  'serial', 'paused', -- of the settings; 1: yes
  'issued', 'released', 'lapsed', 'base', 'waiting', 'claimable',
  'ring', 'period_began_ms', 'bits_version', -- which seen:n is written
  'head_version', 'head_changed', 'head_published_ms',
  'ended_serial', 'missing', 'missing_until_ms',
  'credit', 'owed', 'next_batch_ms',
  'before_second', 'before_released', 'before_turns', -- what stood before the oldest of `releases`
  'turns', 'entered', 'completed', 'no_shows', 'dropped', 'last_entry_ms',
  'joined_young', 'joined_since_ms', 'limits_young', 'limits_since_ms',
  'nodes_heard', 'swept_ms', -- since a minute before that sweep
  'overrides_serial', 'book_serial', 'asked_young', 'asked_since_ms',
  'minute', -- the one that runs
  'letter_serial', 'letters', 'letters_lost',
  'shadow', -- 1: is reckoned
  'shadow_waiting', 'shadow_inside', 'shadow_freed', 'shadow_seats', 'shadow_entered',
  'shadow_arrived', 'shadow_delayed', 'shadow_refused', 'shadow_turns', 'shadow_peak', 'shadow_waited_ms',
  'slotted', -- in the hash slots
  'names', 'roster_version', 'roster_changed', 'roster_published_ms',
  'class_strict', 'class_balance', 'class_overflow', 'invites_young', 'invites_since_ms',
  'draws_serial', 'draw_version', 'prequeue_opens_ms', 'prequeue_after', -- 0: no pre-queue runs
  'ahead', -- of the bucket
}
-- 20 digits; JSON; a node; packed twice; words twice
local TEXTS = { 'version', 'settings', 'swept_by', 'figures', 'control', 'commitment',
  'prequeue_seated' }

local FIELDS, before = {}, {}
for _, field in ipairs(NUMBERS) do
  FIELDS[#FIELDS + 1] = field
end
for _, field in ipairs(TEXTS) do
  FIELDS[#FIELDS + 1] = field
end

-- The sets and bitmaps that an epoch's end empties.
local BITMAPS = { 'live', 'used', 'tmp:0', 'tmp:1' }
local SETS = {
  'inside', 'ended', 'express', 'strayed', 'called', 'present', 'spent', 'hung', 'classes', 'classes_away',
}

-- Reads the layout: 0 if there is no line.
function state.layout()
  return tonumber(call('HGET', key.state, 'layout') or 0)
end

-- Reads the line.
function state.load()
  local found = call('HMGET', key.state, unpack(FIELDS))
  for i, field in ipairs(NUMBERS) do
    before[field] = found[i] and tonumber(found[i]) or 0
    line[field] = before[field]
  end
  for i, field in ipairs(TEXTS) do
    before[field] = found[#NUMBERS + i]
    line[field] = before[field]
  end
  for _, name in ipairs(BITMAPS) do
    line[name] = bits.open(name)
  end
  for _, name in ipairs(SETS) do
    line[name] = scores.open(name)
  end
  line.seen = { [0] = bits.open('seen:0'), bits.open('seen:1'), bits.open('seen:2') }
  line.joined, line.limits = aging.open('joined'), aging.open('limits')
  line.asked, line.invites = aging.open('asked'), aging.open('invites')
  scores.begin()
  orders.load()
  config = line.settings and settings.in_force() or nil
end

-- The bitmap of the period that runs.
function state.seen()
  return line.seen[line.ring]
end

-- Writes whatever changed.
function state.save()
  for _, name in ipairs(BITMAPS) do
    bits.flush(line[name])
  end
  for n = 0, 2 do
    bits.flush(line.seen[n])
  end
  for _, name in ipairs(SETS) do
    scores.flush(line[name])
  end
  aging.flush(line.joined)
  aging.flush(line.limits)
  aging.flush(line.asked)
  aging.flush(line.invites)
  seats.flush()
  adaptive.flush()
  local args = {}
  for _, field in ipairs(FIELDS) do
    local value = line[field]
    if value ~= before[field] then
      args[#args + 1] = field
      args[#args + 1] = type(value) == 'number' and number.text(value) or value
    end
  end
  if #args > 0 then
    call('HSET', key.state, unpack(args))
  end
end

-- Voids every number given so far. Settings, pause, credit and what limits joins stay, and so does what operators did
-- and what was written down: a reset is not a way around a rate.
function state.begin_epoch(epoch)
  for _, name in ipairs(BITMAPS) do
    bits.wipe(line[name])
  end
  for n = 0, 2 do
    bits.wipe(line.seen[n])
  end
  for _, name in ipairs(SETS) do
    scores.wipe(line[name])
  end
  seats.wipe()
  roster.wipe()
  release.wipe()
  aging.wipe(line.joined)
  line.epoch, line.opened_ms, line.period_began_ms = epoch, line.clock_ms, line.clock_ms
  line.settling_taken = 0 -- Seats of an epoch that is void are nobody's.
  line.issued, line.released, line.lapsed, line.base = 0, 0, 0, 0
  line.waiting, line.claimable, line.missing, line.missing_until_ms = 0, 0, 0, 0
  line.bits_version, line.head_version = line.bits_version + 1, line.head_version + 1
  line.head_changed, line.owed, line.ahead = 0, 0, 0
  line.turns, line.entered, line.completed = 0, 0, 0
  line.no_shows, line.dropped, line.last_entry_ms = 0, 0, 0
  shadow.forget()
  line.class_balance, line.class_overflow = 0, 0
  draw.begin_epoch()
end

-- Whether a batch's numbers are the line's: of this epoch, and of no time before the last draw.
function state.means(batch)
  return batch.epoch == line.epoch and batch.draw == line.draw_version
end

-- Admitted: may enter, with a seat reserved.
function state.admitted()
  return line.claimable + line.called.size
end

-- Seats that nobody holds, is admitted to, or is missing from.
function state.free_seats()
  if not config.seats or config.stops_nobody then
    return math.huge
  end
  if #config.slots > 0 and line.missing > 0 then
    return 0 -- Whose names are theirs is not known.
  end
  local taken = line.inside.size + state.admitted() + line.missing
  return max(config.seats - taken, 0)
end

-- Whether such a number was ever given.
function state.given(n)
  return n >= 1 and n <= line.issued
end

-- Standings: the table of src/line/mod.rs. Expired by an ending is EXPIRED_ENDED + why.
state.UNKNOWN, state.WAITING, state.AWAY, state.ADMITTED, state.ACTIVE = 0, 1, 2, 3, 4
state.COMPLETED, state.EXPIRED_PASSED, state.EXPIRED_USED, state.EXPIRED_ENDED = 5, 6, 7, 7

function state.standing(n)
  if not state.given(n) then
    return state.UNKNOWN
  end
  if scores.get(line.inside, n) then
    return state.ACTIVE
  end
  local why = session.ending(n)
  if why then
    return why == session.COMPLETED and state.COMPLETED or state.EXPIRED_ENDED + why
  end
  if scores.get(line.called, n) then
    return state.ADMITTED
  end
  if express.waits(n) then
    return state.WAITING
  end
  if express.is_away(n) then
    return state.AWAY
  end
  if n < line.base then
    return state.EXPIRED_PASSED
  end
  if bits.get(line.used, n) then
    return state.EXPIRED_USED
  end
  if n <= line.lapsed then
    return state.EXPIRED_PASSED
  end
  if not bits.get(line.live, n) then
    return state.AWAY
  end
  return n <= line.released and state.ADMITTED or state.WAITING
end

-- Reads in a few commands what marks of these numbers will need.
function state.look_at_bits(numbers)
  bits.look(line.used, numbers)
  bits.look(line.live, numbers)
  bits.look(state.seen(), numbers)
end

-- Reads in a few commands where these numbers stand: each is asked for in the sets until one has it.
function state.look_at_standings(numbers)
  for _, name in ipairs({ 'inside', 'ended', 'called', 'express', 'classes', 'strayed', 'classes_away' }) do
    local set, rest = line[name], {}
    scores.look(set, numbers)
    for _, n in ipairs(numbers) do
      if not scores.get(set, n) then
        rest[#rest + 1] = n
      end
    end
    numbers = rest
  end
  bits.look(line.used, numbers)
  bits.look(line.live, numbers)
end

-- Reads in a few commands whatever the questions about these numbers will need.
function state.look(numbers)
  if #numbers < 2 then
    return
  end
  for _, name in ipairs(SETS) do
    scores.look(line[name], numbers)
  end
  state.look_at_bits(numbers)
  seats.look(numbers)
end
