-- Loss: what a line does when its memory turns out to be older than its visitors' tickets.
--
-- Owns settling and the merging of what nodes know. Touches keys only through bits and scores.

-- Long enough for every node to be heard.
local SETTLE_MS = 2000
-- While a node says that there is more, for so long after it; and no longer than this.
local MORE_MS, SETTLE_MAX_MS = 1000, 10000
-- Wider than what can have been lost unseen.
local GAP = 100000
-- No room has ever had so many visitors.
local ISSUED_MAX = 10000000000
-- No clock has ever said so: 2^48.
local EPOCH_MAX = 281474976710656
-- A proof further above than this is a mistake.
local HEAL_MAX = 10000000

local function plausible(known)
  return known.issued <= ISSUED_MAX and known.epoch <= EPOCH_MAX
end

function heal.begin_settling()
  line.settling_until_ms, line.settling_taken = line.clock_ms + SETTLE_MS, 0
  line.settling_latest_ms = line.clock_ms + SETTLE_MAX_MS
end

function heal.is_settling()
  return line.settling_until_ms > 0
end

-- The frontier is here, if it was not yet.
local function pass_to(released)
  if released > line.released then
    local passed = bits.count(line.live, line.released + 1, released)
    line.waiting, line.claimable = line.waiting - passed, line.claimable + passed
    line.released = released
  end
end

-- Whatever is at or below this place is over.
function heal.pass_over(place)
  pass_to(place)
  if place > line.lapsed then
    release.lapse_to(place)
  end
end

-- Takes over whatever the node has seen and the line has not.
function heal.learn(known)
  if known.epoch < line.epoch or not plausible(known) then
    return
  end
  if known.epoch > line.epoch then
    state.begin_epoch(known.epoch)
  end
  local least = 0
  if known.issued > line.issued then
    if heal.is_settling() then
      line.issued = known.issued
    elseif known.issued - line.issued > HEAL_MAX then
      return
    else
      local first = line.issued + 1
      line.waiting = line.waiting + known.issued - line.issued
      bits.set_range(state.seen(), first, known.issued)
      bits.set_range(line.live, first, known.issued)
      line.issued = known.issued + GAP
      line.bits_version = line.bits_version + 1
    end
    least = max(line.issued - sweep.PLACES_MAX, 0)
  end
  pass_to(max(min(known.released, line.issued), least))
  local lapsed = max(min(known.lapsed, line.released), least)
  if lapsed > line.lapsed then
    release.lapse_to(lapsed)
  end
  if heal.is_settling() then
    sweep.move_base() -- Before a report is merged: what is over must not cost a bitmap.
  end
end

-- Counts anew what is otherwise kept as counters.
local function recount()
  local ordinary = bits.count(line.live, line.released + 1, line.issued)
  line.waiting = ordinary + express.waiting()
  line.claimable = bits.count(line.live, line.lapsed + 1, line.released)
end

-- A number that stands nowhere but in the bitmaps.
local function unplaced(n)
  return state.given(n)
    and not scores.get(line.inside, n)
    and not session.ending(n)
    and not express.contains(n)
end

-- Unites a node's view with what is here; `used` wins over `live`.
local function merge(report, known)
  local tmp, other = line['tmp:0'], line['tmp:1']
  sweep.presumed = false
  draw.merge(report.draws)
  if report.used ~= '' or report.live ~= '' then
    local issued, released = min(known.issued, line.issued), min(known.released, line.released)
    if bits.lay(tmp, report.used, report.used_from, max(line.base, 1), issued) then
      bits.unite(line.used, tmp, other)
    end
    if bits.lay(tmp, report.live, report.live_from, line.lapsed + 1, released) then
      bits.unite(line.live, tmp, other)
    end
    bits.subtract(line.live, line.used, other)
  end
  recount()
  local numbers = {}
  for i = 1, #report.express, 2 do
    numbers[#numbers + 1] = report.express[i]
  end
  for i = 1, #report.classes, 2 do
    numbers[#numbers + 1] = report.classes[i]
  end
  for _, n in ipairs(report.called) do
    numbers[#numbers + 1] = n
  end
  for i = 1, #report.ended, 2 do
    numbers[#numbers + 1] = report.ended[i]
  end
  state.look(numbers)
  for i = 1, #report.express, 2 do
    local n, place = report.express[i], report.express[i + 1]
    if unplaced(n) then
      bits.set(line.used, n)
      claim.take_out(n)
      express.wait(n, min(place, line.issued))
      line.waiting = line.waiting + 1
    end
  end
  for i = 1, #report.classes, 2 do
    local n, standpoint = report.classes[i], report.classes[i + 1]
    if unplaced(n) then
      bits.set(line.used, n)
      claim.take_out(n)
      local place = min(class.place(standpoint), line.issued)
      express.wait_classed(n, class.standpoint(place, class.rank(standpoint)))
      line.waiting = line.waiting + 1
    end
  end
  for _, n in ipairs(report.called) do
    if express.waits(n) or express.is_away(n) or unplaced(n) then
      bits.set(line.used, n)
      claim.take_out(n)
      express.call(n)
    end
  end
  for i = 1, #report.ended, 2 do
    session.merge(report.ended[i], report.ended[i + 1])
  end
  roster.merge(report.names)
  if report.paused then
    line.paused = 1
  end
  orders.merge(report.overrides)
end

-- Takes in what only a line that settles asks for.
local function hear_out(known, report)
  if known.epoch ~= line.epoch or not plausible(known) then
    return
  end
  line.settling_taken = max(line.settling_taken, min(known.taken, ISSUED_MAX))
  if report then
    if report.more then
      local until_ms = min(line.clock_ms + MORE_MS, line.settling_latest_ms)
      line.settling_until_ms = max(line.settling_until_ms, until_ms)
    end
    merge(report, known)
  end
end

-- Whoever may be here, is; numbering goes on where nobody can have been.
local function presume_everybody()
  bits.set_range(line.live, line.released + 1, line.issued)
  bits.subtract(line.live, line.used, line['tmp:0'])
  bits.set_range(state.seen(), line.lapsed + 1, line.issued)
  express.heard_all()
  line.period_began_ms = line.clock_ms
  line.issued = line.issued + GAP
  line.owed, line.ahead, line.credit = 0, 0, 0
  line.bits_version = line.bits_version + 1
  recount()
end

-- Whether the line may go on; ends the settling when its time is over and settings are known.
function heal.settled(known, report)
  if not heal.is_settling() then
    return true
  end
  hear_out(known, report)
  if line.clock_ms < line.settling_until_ms or not config then
    return false
  end
  local taken = line.settling_taken
  line.settling_until_ms, line.settling_latest_ms, line.settling_taken = 0, 0, 0
  if line.epoch == 0 then
    state.begin_epoch(number.div(line.wall_ms, 1000)) -- A room nobody knows: there was nothing to lose.
  else
    presume_everybody()
  end
  line.missing = max(taken - line.inside.size - state.admitted(), 0)
  line.missing_until_ms = line.clock_ms + config.session_ms
  return true
end

-- Whether all was counted anew already: whatever a script does leaves its counters right.
local repaired = false

-- Counts anew, by an operator's word; how many counters were wrong.
function heal.repair()
  if repaired then
    return 0
  end
  repaired = true
  local waiting, claimable = line.waiting, line.claimable
  bits.subtract(line.live, line.used, line['tmp:0'])
  recount()
  return (waiting ~= line.waiting and 1 or 0) + (claimable ~= line.claimable and 1 or 0)
end

function heal.forget_missing()
  if line.clock_ms >= line.missing_until_ms then
    line.missing = 0
  end
end
