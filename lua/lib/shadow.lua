-- What would have happened: the line of a room in which nobody is stopped.
--
-- Owns the fields `shadow_…` of the state: a line of counters alone, reckoned in mode shadow. Changes nothing about anybody.

local FIELDS = {
  'waiting', 'inside', 'freed', 'seats', 'entered', 'arrived', 'delayed', 'refused', 'turns', 'peak', 'waited_ms',
}

-- Reckons an exchange in which so many came and so much time went by: the turns that the bucket pays for.
function shadow.reckon(arrived, elapsed_ms)
  local inside, entered = line.inside.size, line.entered
  if line.shadow == 0 then
    shadow.forget()
    line.shadow, elapsed_ms = 1, 0
    line.shadow_inside, line.shadow_seats, line.shadow_entered = inside, inside, entered
  end
  local here = line.shadow_seats + entered - line.shadow_entered
  local left = max(here - inside, 0)
  local freed = line.shadow_freed + number.div(left * 1000 * line.shadow_inside, max(here, 1))
  local vacated = min(number.div(freed, 1000), line.shadow_inside)
  line.shadow_inside, line.shadow_freed = line.shadow_inside - vacated, freed % 1000
  line.shadow_seats, line.shadow_entered = inside, entered

  local by_pace = line.paused == 1 and 0 or release.affordable()
  local allowed = min(by_pace, max((config.seats or math.huge) - line.shadow_inside, 0))
  local space = max((config.max_waiting or math.huge) + allowed - line.shadow_waiting, 0)
  local joined = min(arrived, space)
  local turns = min(allowed, line.shadow_waiting + joined)
  line.shadow_waited_ms = line.shadow_waited_ms + line.shadow_waiting * elapsed_ms
  line.shadow_arrived = line.shadow_arrived + arrived
  line.shadow_refused = line.shadow_refused + arrived - joined
  -- Whoever waited before goes first.
  line.shadow_delayed = line.shadow_delayed + joined - max(turns - line.shadow_waiting, 0)
  line.shadow_turns = line.shadow_turns + turns
  line.shadow_waiting = line.shadow_waiting + joined - turns
  line.shadow_inside = line.shadow_inside + turns
  line.shadow_peak = max(line.shadow_peak, line.shadow_waiting)
  return turns
end

-- Whether the pace is what would hold somebody up.
function shadow.would_hold_up()
  return line.shadow_waiting > 0 and line.shadow_inside < (config.seats or math.huge)
end

-- What the minute has come to so far; nil if nothing is reckoned.
function shadow.minute()
  return line.shadow == 1 and {
    line.shadow_arrived, line.shadow_delayed, line.shadow_refused, line.shadow_turns,
    line.shadow_waiting, line.shadow_peak, line.shadow_waited_ms,
  } or nil
end

-- Another minute begins, with whoever waits.
function shadow.turn()
  line.shadow_arrived, line.shadow_delayed, line.shadow_refused, line.shadow_turns = 0, 0, 0, 0
  line.shadow_peak, line.shadow_waited_ms = line.shadow_waiting, 0
end

-- Nothing is reckoned.
function shadow.forget()
  line.shadow = 0
  for _, field in ipairs(FIELDS) do
    line['shadow_' .. field] = 0
  end
end
