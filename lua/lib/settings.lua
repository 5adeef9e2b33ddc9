-- What an operator has set, read from the JSON in which it travels and is kept.
--
-- Owns the names of the settings. They were judged before they were sent: whatever arrives here is in
-- range. Touches no key.

-- The defaults, for a line that has no settings yet and must know how long a pass may last.
settings.DEFAULT = [[{"mode":"auto","pace":null,"max_active":null,"max_waiting":100000,"claim_window_ms":120000,"session_idle_ms":300000,"session_max_ms":1800000,"session_first_ms":30000,"heartbeat_timeout_ms":150000,"on_absence":"keep","ticket_max_ms":86400000,"join_limits":[],"webhooks":false,"slots":[],"slot_grace_ms":10000,"roster":false,"classes":[],"class_order":"skip","class_share":1000,"adaptive":null,"schedule":[]}]]

-- What operators may set otherwise.
local OF_THE_LINE = {
  mode = true, pace = true, max_active = true, max_waiting = true, claim_window_ms = true,
  session_idle_ms = true, session_max_ms = true, heartbeat_timeout_ms = true, webhooks = true,
  adaptive = true,
  schedule = true,
}

-- How fast visitors are released: { cost, depth, … }; nil leaves only the seats as a limit.
local function pace(given)
  if not given then
    return nil
  end
  if given.Rate then
    local rate = given.Rate.rate
    return {
      name = table.concat({ 'rate', rate.count, rate.per_ms, given.Rate.burst }, ' '),
      count = rate.count,
      cost = rate.per_ms,
      depth = given.Rate.burst,
    }
  end
  local turns = given.Batch
  return {
    name = table.concat({ 'batch', turns.batch, turns.interval_ms, turns.windows }, ' '),
    cost = 1,
    depth = turns.batch,
    interval_ms = turns.interval_ms,
    window_ms = turns.interval_ms * turns.windows,
  }
end

-- Turns in 1,000 s, between one and a million a second.
local function per_1000s(count, per_ms)
  return min(max(number.div(count * 1000000, per_ms), 1), 1000000000)
end

-- How the rate follows the origin, with its bounds; nil if it does not.
local function steered(given, limits)
  if not (given and limits and limits.count and limits.count > 0) then
    return nil
  end
  given.high = per_1000s(limits.count, limits.cost)
  given.low = min(per_1000s(given.min.count, given.min.per_ms), given.high)
  return given
end

-- Events; a time that is not set is 0.
local function schedule(events)
  for _, event in ipairs(events) do
    for _, name in ipairs({ 'closes_ms', 'every_ms' }) do
      event[name] = type(event[name]) == 'number' and event[name] or 0
    end
  end
  return events
end

-- Settings as JSON, with what operators have set instead: name -> { value as JSON, … }. What is not of the line is
-- left to others.
function settings.read(text, overrides)
  local read = cjson.decode(text)
  for name, set in pairs(overrides or {}) do
    if OF_THE_LINE[name] then
      read[name] = cjson.decode('[' .. set[1] .. ']')[1]
    end
  end
  if overrides and overrides.boost then
    read.pace, read.adaptive = cjson.decode(overrides.boost[1]), nil
  end
  for name, value in pairs(read) do
    if value == cjson.null then
      read[name] = nil
    end
  end
  -- A layout before had none of these.
  read.slots, read.slot_grace_ms = read.slots or {}, read.slot_grace_ms or 10000
  read.seats = read.max_active
  if #read.slots > 0 then
    read.seats = min(read.max_active or #read.slots, #read.slots)
  end
  read.pace = pace(read.pace)
  read.steered = steered(read.adaptive, read.pace)
  read.schedule = schedule(read.schedule or {})
  read.claim_window_ms = read.pace and read.pace.window_ms or read.claim_window_ms
  local idle, most = read.session_idle_ms, read.session_max_ms
  read.session_ms = idle and most and min(idle, most) or idle or most or 0
  read.idle_ms = idle or most or 0
  read.period_ms = floor(read.heartbeat_timeout_ms / 2)
  read.silence_ms = floor(read.heartbeat_timeout_ms * 3 / 2)
  read.keep = read.on_absence == 'keep'
  read.stops_nobody = read.mode == 'bypass' or read.mode == 'shadow'
  return read
end

-- How long a seat lasts from its last activity on, by the defaults if nothing is set yet.
function settings.session_ms()
  return (config or settings.read(settings.DEFAULT)).session_ms
end

-- What became of an offer, in a letter and what belongs to it: Taken, Older than the version in force,
-- Invalid with what is wrong (judged by the node), or nothing if there was none.
function settings.take(offer)
  if not offer then
    return ''
  end
  if offer.problems then
    return 'I' .. offer.problems
  end
  if line.settings and offer.version < line.version then
    return 'O' .. line.version
  end
  local before = line.settings
  line.version = offer.version
  if before == offer.text then
    return 'T'
  end
  orders.write_offer(before, offer.text)
  line.settings = offer.text
  if before then
    settings.put_in_force()
  else
    line.serial, config = 1, settings.in_force()
    release.change_pace(nil)
    class.reorder()
  end
  return 'T'
end

-- What the file says and what operators have set instead, read together.
function settings.in_force()
  return settings.read(line.settings, line.overrides)
end

local function shut(mode)
  return mode == 'hold' or mode == 'closed'
end

-- The same, from now on: something of either has changed.
function settings.put_in_force()
  if not line.settings then
    return
  end
  local old = config
  config, line.serial = settings.in_force(), line.serial + 1
  release.change_pace(old.pace)
  class.reorder()
  if old.heartbeat_timeout_ms ~= config.heartbeat_timeout_ms then
    sweep.presume_seen()
  end
  if shut(old.mode) and not shut(config.mode) then
    letters.write('{"opened":true}')
  end
end
