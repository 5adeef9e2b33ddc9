-- A room's past, minute by minute, for a day.
--
-- Owns the hash history: a minute's place in the ring -> its numbers, packed. What nodes counted in the minute that runs is
-- in `figures` of the state, packed likewise.

-- Minutes that are kept.
local MINUTES = 1500
-- A room whose pace nobody has set: 2^53 - 1.
local NO_RATE = 9007199254740991

-- Turns in a thousand seconds, as far as a pace says.
local function rate()
  local slowed = adaptive.slowed()
  if slowed then
    return slowed
  end
  local pace = config and config.pace
  if not pace then
    return NO_RATE
  end
  return number.div((pace.count or pace.depth) * 1000000, pace.interval_ms or pace.cost)
end

local function figures()
  return line.figures and line.figures ~= '' and cmsgpack.unpack(line.figures) or {}
end

-- A minute as it stands.
function history.now(minute)
  return {
    minute, line.epoch, line.waiting, state.admitted(), line.inside.size, line.issued, line.turns,
    line.entered, line.completed, line.no_shows, line.dropped, rate(), figures(), shadow.minute(),
  }
end

-- Closes the minute that ran, if another has begun: with the counters as the last exchange left them.
function history.turn()
  local minute, last = number.div(line.wall_ms, 60000), line.minute
  if minute == last then
    return
  end
  line.minute = minute
  if last > 0 then
    call('HSET', key.history, number.text(last % MINUTES), cmsgpack.pack(history.now(last)))
  end
  if line.figures then
    line.figures = ''
  end
  shadow.turn()
end

-- Adds what a node counted to the minute that runs.
function history.add(counted)
  if #counted == 0 then
    return
  end
  local sums = figures()
  for i, figure in ipairs(counted) do
    sums[i] = (sums[i] or 0) + figure
  end
  line.figures = cmsgpack.pack(sums)
end
