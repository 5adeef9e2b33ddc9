-- Whose turn it is, and how many at a time.
--
-- Owns the bucket, the frontier `released`, and releases: what was released when, an entry a second. From it
-- come claim windows and the honest rate. An entry's score is its second, its member three numbers of six
-- bytes: second, released, turns.

-- How far back the honest rate looks.
local RATE_SPAN_MS = 600000
-- No more is owed than this: 2^51.
local OWED_MAX = 2251799813685248

local SHAPE = '>I6I6I6'

local function entry(member)
  local second, released, turns = struct.unpack(SHAPE, member)
  return { second = second, released = released, turns = turns }
end

-- The last second that had ended `ago_ms` before now.
local function ago(ago_ms)
  if line.clock_ms >= ago_ms then
    local second = number.div(line.clock_ms - ago_ms, 1000) - 1
    local found =
      call('ZRANGE', key.releases, second, '-inf', 'BYSCORE', 'REV', 'LIMIT', 0, 1)
    if found[1] then
      return entry(found[1])
    end
  end
  return { released = line.before_released, turns = line.before_turns }
end

-- Nothing was released.
function release.wipe()
  call('UNLINK', key.releases)
  line.before_second, line.before_released, line.before_turns = 0, 0, 0
end

-- A pace was set: whole turns stay turns.
function release.change_pace(before)
  local pace = config.pace
  if (pace and pace.name) == (before and before.name) then
    return
  end
  if not pace then
    line.credit, line.owed, line.next_batch_ms, line.ahead = 0, 0, 0, 0
    return
  end
  local turns, owed, ahead = pace.depth, 0, 0
  if before then
    turns, owed = number.div(line.credit, before.cost), number.div(line.owed, before.cost)
    ahead = number.div(line.ahead, before.cost)
  end
  line.credit = min(turns, pace.depth) * pace.cost
  line.owed, line.ahead = min(owed * pace.cost, OWED_MAX), min(ahead * pace.cost, OWED_MAX)
  line.next_batch_ms = pace.interval_ms and line.clock_ms + pace.interval_ms or 0
end

-- So many turns are to come back.
function release.owe(turns)
  if config and config.pace then
    line.owed = min(line.owed + turns * config.pace.cost, OWED_MAX)
  end
end

-- Credits of a bucket that is full: of one that is slowed, a second of it, rounded up.
local function full()
  local pace, slowed = config.pace, adaptive.slowed()
  local second = slowed and max(math.ceil(slowed / 1000), 1) or pace.depth
  return min(pace.depth, second) * pace.cost
end

-- What those are worth who were called a while ago and have not come yet.
local function late()
  if line.claimable == 0 then
    return 0
  end
  local upto = ago(number.div(config.claim_window_ms, 2)).released
  return bits.count(line.live, line.lapsed + 1, upto) * config.pace.cost
end

-- What `fresh` credits come to with what is owed, and with what is late: at most half more, or half less.
local function settle(fresh, late_worth)
  local both, half = min(line.owed, line.ahead), floor(fresh / 2)
  line.owed, line.ahead = line.owed - both, line.ahead - both
  local due = line.owed + late_worth
  if due < line.ahead then
    local less = min(line.ahead - due, half)
    line.ahead = line.ahead - less
    return fresh - less
  end
  local back = min(due - line.ahead, half)
  local paid = min(back, line.owed)
  line.owed, line.ahead = line.owed - paid, line.ahead + back - paid
  return fresh + back
end

function release.refill(elapsed_ms)
  local pace = config.pace
  if not pace then
    return
  end
  if pace.count then
    local slowed = adaptive.slowed()
    if slowed then
      line.credit = min(line.credit, full())
    end
    -- A bucket that was full when the last exchange ended held nobody up, and gains nothing.
    if line.credit < full() then
      local fresh = slowed and adaptive.credits(slowed, pace.cost, elapsed_ms) or pace.count * elapsed_ms
      line.credit = line.credit + settle(fresh, late())
    end
  elseif line.clock_ms >= line.next_batch_ms then
    local late_worth = late()
    if line.credit > 0 then
      line.owed, line.ahead = 0, late_worth
    end
    line.credit = settle(pace.depth, late_worth)
    local intervals = number.div(line.clock_ms - line.next_batch_ms, pace.interval_ms)
    line.next_batch_ms = line.next_batch_ms + (intervals + 1) * pace.interval_ms
  end
end

-- Turns the pace allows now.
local function by_pace()
  local mode = config.mode
  if config.stops_nobody then
    return math.huge
  end
  if line.paused == 1 or mode == 'hold' or mode == 'closed' or draw.phase() ~= 'open' then
    return 0
  end
  return release.affordable()
end

-- Turns the bucket pays for.
function release.affordable()
  local pace = config.pace
  if not pace then
    return math.huge
  end
  if pace.count == 0 or pace.count and adaptive.slowed() == 0 then
    return 0
  end
  return number.div(line.credit, pace.cost)
end

-- Turns that may be given now.
function release.allowance()
  return min(by_pace(), state.free_seats())
end

-- Steps that are left for turns, by hand and by pace.
local steps = 0

-- So many there are.
function release.begin(most)
  steps = most
end

-- Names those who are here from one place to another, as far as there is room.
local function name(named, most, place, high)
  while #named < most do
    local n = bits.first_one(line.live, place, high)
    if not n then
      return
    end
    named[#named + 1], place = n, n + 1
  end
end

-- Who goes before the next of the ordinary line, or nil; then, so many of the ordinary line may go, up to which place.
-- `share`: what class visitors may have of turns for which both wait, or nil if nothing bounds them.
local function ahead(late, classed, place, wanted, share)
  if late then
    return late
  elseif not classed or not place then
    return classed, wanted, line.issued
  end
  local score = scores.get(line.classes, classed)
  if not class.precedes(score, place) then
    return nil, wanted, class.place(score) - 1
  elseif not share then
    return classed
  end
  local saved = line.class_balance + share
  if saved >= 1000 then
    line.class_balance = saved - 1000
    return classed
  end
  return nil, share > 0 and min(wanted, math.ceil((1000 - saved) / share)) or wanted, line.issued
end

-- Calls the next `wanted` who are here: late returners, then class visitors and the ordinary line in their order, by
-- class_share if the turns are `bound`. How many there were, and how many of them from the head. A step goes to the next
-- live place and over as many as are wanted. The first `most` are named.
local function give(wanted, most, bound)
  if wanted <= 0 or line.waiting == 0 or steps == 0 then
    return 0, 0, {}
  end
  -- Nobody joins them meanwhile.
  local late, l = scores.first(line.express, min(wanted, steps)), 1
  local classes, c = scores.first(line.classes, min(wanted, steps)), 1
  express.look(late)
  express.look(classes)
  local share = bound and config.class_share and config.class_share < 1000 and config.class_share or nil
  local ordinary, called, cursor, last, named = 0, 0, line.released, nil, {}
  while wanted > 0 and steps > 0 do
    local place = bits.first_one(line.live, cursor + 1, line.issued)
    local first, run, upto = ahead(late[l], classes[c], place, wanted, share)
    if first then
      if late[l] then
        l = l + 1
      else
        c = c + 1
      end
      express.call(first)
      if #named < most then
        named[#named + 1] = first
      end
      called, wanted = called + 1, wanted - 1
    elseif not place then
      break
    else
      local high = min(upto, place + run - 1)
      local count = bits.count(line.live, place, high)
      last, cursor = place, high
      name(named, most, place, high)
      ordinary, wanted = ordinary + count, wanted - count
      if share and classes[c] then
        line.class_balance = min(line.class_balance + count * share, 999)
      end
    end
    steps = steps - 1
  end
  if last then
    line.released = bits.last_one(line.live, last, cursor)
  end
  line.claimable = line.claimable + ordinary
  line.waiting = line.waiting - ordinary - called
  line.turns = line.turns + ordinary + called
  letters.called(ordinary + called, named)
  return ordinary + called, called, named
end

-- Calls as many as may be called, in the steps that are left; how many steps are left then. So many have come in this
-- exchange, and so much time went by since the one before.
function release.by_pace(arrived, elapsed_ms)
  local wanted, pace = release.allowance(), config.pace
  local bound = config.mode ~= 'bypass' and config.mode ~= 'shadow'
  local count = give(wanted, config.webhooks and letters.CALLED_MAX or 0, bound)
  local paid = count
  if config.mode == 'shadow' then
    paid = shadow.reckon(arrived, elapsed_ms)
  elseif line.shadow == 1 then
    shadow.forget()
  end
  if config.mode == 'bypass' then
    paid = 0 -- Nobody pays for turns that everybody has.
  end
  if pace then
    line.credit = line.credit - paid * pace.cost
    if pace.count and line.credit >= full() then
      -- Who is late held nobody up, either.
      line.owed, line.ahead, line.credit = 0, late(), full()
    end
  end
  if steps == 0 and count < wanted and line.waiting > 0 then
    budget.backlog = true
  end
  return steps
end

-- An operator calls so many, whatever rate, pause and hold say; never beyond the seats. How many came, how
-- many of them from express, the frontier before and now, and who.
function release.by_hand(wanted)
  local after = line.released
  if draw.is_closed() then
    wanted = 0
  end
  local count, called, named = give(min(wanted, state.free_seats()), MAX_NAMED, false)
  return { count, called, after, line.released, named }
end

-- The same as an answer: one list of numbers.
function release.answer(released)
  local named = released[5]
  local answer = { 1, released[1], released[2], released[3], released[4], #named }
  for i = 1, #named do
    answer[6 + i] = named[i]
  end
  return answer
end

-- Notes where the frontier is, if it moved.
function release.record()
  local last = call('ZRANGE', key.releases, -1, -1)[1]
  local stood = last and entry(last)
    or { released = line.before_released, turns = line.before_turns }
  if stood.released == line.released and stood.turns == line.turns then
    return
  end
  local second = number.div(line.clock_ms, 1000)
  if stood.second == second then
    call('ZREM', key.releases, last)
  end
  call('ZADD', key.releases, second, struct.pack(SHAPE, second, line.released, line.turns))
end

-- Forgets up to MAX_ITEMS seconds that nobody asks about any more.
local function forget(keep_ms)
  if line.clock_ms < keep_ms then
    return
  end
  local last = number.div(line.clock_ms - keep_ms, 1000) - 1
  local over = call('ZRANGE', key.releases, '-inf', last, 'BYSCORE', 'LIMIT', 0, MAX_ITEMS)
  if #over > 0 then
    local newest = entry(over[#over])
    line.before_second, line.before_released = newest.second, newest.released
    line.before_turns = newest.turns
    call('ZREMRANGEBYRANK', key.releases, 0, #over - 1)
  end
end

-- Moves `lapsed`; how many were still expected.
function release.lapse_to(place)
  local count = bits.count(line.live, line.lapsed + 1, place)
  if count > 0 then
    bits.clear_range(line.live, line.lapsed + 1, place)
  end
  line.claimable, line.lapsed = line.claimable - count, place
  return count
end

-- Ends the claim windows that are over.
function release.lapse()
  local window_ms = config.claim_window_ms
  local upto = ago(window_ms).released
  if upto > line.lapsed then
    sweep.no_shows(release.lapse_to(upto))
  end
  forget(max(window_ms, RATE_SPAN_MS))
  local most = budget.next()
  if line.clock_ms >= window_ms then
    local late = scores.due(line.called, line.clock_ms - window_ms, most)
    for _, n in ipairs(express.look(budget.found(late, most))) do
      express.remove(n)
      sweep.no_shows(1)
    end
  end
  most = budget.next()
  local strayed = scores.due(line.strayed, line.lapsed, most)
  for _, n in ipairs(express.look(budget.found(strayed, most))) do
    express.remove(n)
  end
  most = budget.rest()
  local away = scores.due(line.classes_away, class.below(line.lapsed), most)
  for _, n in ipairs(express.look(budget.found(away, most))) do
    express.remove(n)
  end
end

-- Turns given up to one and up to ten minutes ago.
function release.turns_ago()
  return ago(60000).turns, ago(RATE_SPAN_MS).turns
end
