-- When a room is open by its schedule, and the draw: at an opening everybody who came before it gets a place by lot.
--
-- Owns the fields draws_serial, draw_version, prequeue_opens_ms (0: none runs), prequeue_after, commitment (opens_ms, kid
-- and hash between spaces) and draws: a line for each draw, oldest first, of version, opens_ms, after, upto, kid, seed, hash
-- (or -) and whoever keeps their number (between commas, or -). draws is read when it is needed and not before.
-- Never computes a place: nodes do.

-- Draws that are remembered.
local DRAWS_KEPT = 16
-- Fewer have nothing to draw.
local FEWEST = 2
-- 2^31 - 1: products with what is below 2^20 are exact.
local PRIME = 2147483647

-- The lines of draws: each a list of its words.
local made

local function load()
  if not made then
    made = {}
    local text = line.draw_version > 0 and call('HGET', key.state, 'draws') or ''
    for row in (text or ''):gmatch('[^\n]+') do
      local words = {}
      for word in row:gmatch('%S+') do
        words[#words + 1] = word
      end
      made[#made + 1] = words
    end
  end
  return made
end

local function text_of(rows)
  local texts = {}
  for i, words in ipairs(rows) do
    texts[i] = table.concat(words, ' ')
  end
  return table.concat(texts, '\n')
end

local function save()
  call('HSET', key.state, 'draws', text_of(made))
end

-- Whether an event is on; when it ends (0: never).
local function on(event)
  if line.wall_ms < event.opens_ms then
    return nil
  end
  if event.closes_ms == 0 then
    return true
  end
  local later_ms = 0
  if event.every_ms > 0 then
    later_ms = number.div(line.wall_ms - event.opens_ms, event.every_ms) * event.every_ms
  end
  return line.wall_ms < event.closes_ms + later_ms
end

-- When it opens next, and from when on numbers are given for that; nil if never.
local function upcoming(event)
  local opens_ms = event.opens_ms
  if line.wall_ms >= opens_ms then
    if event.every_ms == 0 then
      return nil
    end
    local times = number.div(line.wall_ms - opens_ms, event.every_ms) + 1
    opens_ms = opens_ms + times * event.every_ms
  end
  return opens_ms, max(opens_ms - event.prequeue_ms, 0)
end

-- What the schedule says now: open, prequeue or closed; when it opens next, and whether there is a draw then.
local function by_schedule()
  local events = config.schedule
  if #events == 0 then
    return 'open'
  end
  local first, next_from, next_opens, draws, next_draws
  for _, event in ipairs(events) do
    if on(event) then
      return 'open'
    end
    local opens_ms, from_ms = upcoming(event)
    if opens_ms and from_ms <= line.wall_ms and (not first or opens_ms < first) then
      first, draws = opens_ms, event.draw
    end
    if opens_ms and (not next_from or from_ms < next_from) then
      next_from, next_opens, next_draws = from_ms, opens_ms, event.draw
    end
  end
  if first then
    return 'prequeue', first, draws
  end
  return 'closed', next_opens, next_draws
end

-- The same, as far as it counts. While a draw is due and nobody has brought its seed, it is still before the opening.
function draw.phase()
  if config.mode ~= 'auto' then
    return 'open'
  end
  local phase = by_schedule()
  return phase == 'open' and line.prequeue_opens_ms > 0 and 'prequeue' or phase
end

-- Whether nobody is let in at all, by the mode or by the schedule.
function draw.is_closed()
  return config.mode == 'closed' or draw.phase() == 'closed'
end

-- Whether a number, which stands nowhere, stands for another one since a draw.
function draw.contains(n)
  if line.draw_version == 0 then
    return false
  end
  for _, words in ipairs(load()) do
    if tonumber(words[3]) < n and n <= tonumber(words[4]) then
      return not (',' .. words[8] .. ','):find(',' .. number.text(n) .. ',', 1, true)
    end
  end
  return false
end

local function set_prequeue(opens_ms, after)
  if line.prequeue_opens_ms ~= opens_ms or line.prequeue_after ~= after then
    line.prequeue_opens_ms, line.prequeue_after = opens_ms, after
    line.draws_serial = line.draws_serial + 1
  end
end

-- A part of the seed, in bytes from 0, as a number.
local function part(seed, from, count)
  return tonumber(seed:sub(2 * from + 1, 2 * (from + count)), 16)
end

-- Those of the range who have a place of their own get another: as if they had come as the nth, whichever the seed says,
-- and had skipped the same part of those before them. Who they, and those who were called, are: in order.
local function redraw_head(after, upto, seed)
  local kept, moved, released = {}, {}, line.released
  local first, factor, last = part(seed, 0, 3), part(seed, 3, 2) + 1, part(seed, 5, 4)
  for _, set in ipairs({ line.express, line.strayed, line.classes, line.classes_away, line.called }) do
    for _, n in ipairs(set.size > 0 and scores.first(set, set.size) or {}) do
      if after < n and n <= upto then
        kept[#kept + 1] = n
        if set ~= line.called then
          moved[#moved + 1] = { set, n }
        end
      end
    end
  end
  for _, one in ipairs(moved) do
    local set, n = one[1], one[2]
    local mixed = (n % PRIME + first) % PRIME * factor % PRIME + last
    local nth = mixed % (upto - after) + 1
    local score = scores.get(set, n)
    local classed = set == line.classes or set == line.classes_away
    local place = classed and class.place(score) or score
    local now = upto + number.div(nth * max(place - released, 0), n - released)
    scores.insert(set, n, classed and score + (now - place) * 16 or now)
  end
  if #kept > 0 then
    line.head_changed = 1
  end
  table.sort(kept)
  return kept
end

-- Everybody above `after` is drawn.
local function hold(after, lot)
  local upto, seen = line.issued, state.seen()
  local all_over = after == line.released and line.lapsed == line.released
  local kept = redraw_head(after, upto, lot.seed)
  local here = bits.count(line.live, after + 1, upto)
  bits.clear_range(line.live, after + 1, upto)
  bits.set_range(line.used, after + 1, upto)
  line.issued = upto + (upto - after)
  bits.set_range(line.live, upto + 1, line.issued)
  bits.set_range(seen, upto + 1, line.issued)
  line.waiting = line.waiting - here + (upto - after)
  line.bits_version = line.bits_version + 1
  -- Nothing at or below `upto` is anybody's any more, or more than a line holds: it must not cost a bitmap.
  heal.pass_over(all_over and upto or max(line.issued - sweep.PLACES_MAX, 0))

  load()
  line.draw_version = line.draw_version + 1
  local promised_ms, _, promised = draw.commitment()
  local text = number.text
  for i, n in ipairs(kept) do
    kept[i] = text(n)
  end
  made[#made + 1] = {
    text(line.draw_version), text(lot.opens_ms), text(after), text(upto), lot.kid, lot.seed,
    promised_ms == lot.opens_ms and promised or '-', #kept > 0 and table.concat(kept, ',') or '-',
  }
  while #made > DRAWS_KEPT do
    table.remove(made, 1)
  end
  save()
  set_prequeue(0, 0)
end

-- What was promised last: opens_ms, kid, hash.
function draw.commitment()
  local opens_ms, kid, hash = (line.commitment or ''):match('^(%d+) (%S+) (%x+)$')
  return tonumber(opens_ms), kid, hash
end

-- Notes what begins and ends by the schedule, and draws when it is time.
function draw.follow(lot)
  local phase, opens_ms, draws = by_schedule()
  if lot and draws and lot.opens_ms == opens_ms and draw.commitment() ~= opens_ms then
    line.commitment = number.text(opens_ms) .. ' ' .. lot.kid .. ' ' .. lot.hash
    line.draws_serial = line.draws_serial + 1
  end
  if config.mode ~= 'auto' then
    return
  end
  local before = line.prequeue_opens_ms
  if phase == 'prequeue' and draws then
    -- An opening is drawn once, though the clock runs back.
    local last = line.draw_version > 0 and load()[#load()]
    if last and tonumber(last[2]) == opens_ms then
      set_prequeue(0, 0)
    else
      set_prequeue(opens_ms, before > 0 and line.prequeue_after or line.issued)
    end
  elseif phase == 'open' and before > 0 then
    local after = max(line.prequeue_after, line.released)
    if line.issued - after < FEWEST then
      set_prequeue(0, 0)
    elseif lot and lot.seed and lot.opens_ms == before then
      hold(after, lot)
    end
  else
    set_prequeue(0, 0)
  end
end

-- Numbers of the last epoch were drawn, those of this one were not.
function draw.begin_epoch()
  local draws = load()
  if line.prequeue_opens_ms > 0 or #draws > 0 then
    line.draws_serial = line.draws_serial + 1
  end
  line.prequeue_opens_ms, line.prequeue_after = 0, 0
  if #draws > 0 then
    made = {}
    save()
  end
end

-- All of it as a node is told, and as it tells: the counts, the pre-queue, the promise, then the draws.
function draw.told()
  local text = number.text
  local head = { text(line.draws_serial), text(line.draw_version), text(line.prequeue_opens_ms),
    text(line.prequeue_after), (line.commitment or '') ~= '' and line.commitment or '- - -' }
  local draws = text_of(load())
  return table.concat(head, ' ') .. (draws ~= '' and '\n' .. draws or '')
end

-- The later of two copies counts: brought by a node to a line that lost its memory. Whoever counts anew comes after.
function draw.merge(text)
  local head, rest = text:match('^([^\n]*)\n?(.*)$')
  local serial, version, opens_ms, after, promise = head:match('^(%d+) (%d+) (%d+) (%d+) (.*)$')
  if not serial or tonumber(serial) <= line.draws_serial then
    return
  end
  line.draws_serial, line.draw_version = tonumber(serial), tonumber(version)
  line.prequeue_opens_ms, line.prequeue_after = tonumber(opens_ms), tonumber(after)
  line.commitment = promise ~= '- - -' and promise or ''
  call('HSET', key.state, 'draws', rest)
  made = nil
  for _, words in ipairs(load()) do
    local low, high = max(line.base, tonumber(words[3]) + 1), min(line.issued, tonumber(words[4]))
    if low <= high then
      bits.set_range(line.used, low, high)
      bits.clear_range(line.live, low, high)
    end
  end
end
