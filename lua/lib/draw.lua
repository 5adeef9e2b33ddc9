-- When a room is open by its schedule, and the draw: at an opening everybody who came before it gets a place by lot.
--
-- Owns the fields draws_serial, draw_version, prequeue_opens_ms (0: none runs), prequeue_after, prequeue_seated (numbers that
-- were let in, with a comma after each, after a - if these are all, else nothing), commitment (opens_ms, kid and hash between spaces) and draws: a line for each draw, oldest first, of version, opens_ms, after, upto, kid, seed, hash
-- (or -), whoever was not drawn (between commas, or -) and whoever has a place of their own (number:place, likewise). draws is read
-- when it is needed and not before. Never computes an ordinary visitor's place: nodes do.

-- Draws that are remembered.
local DRAWS_KEPT = 16
-- Fewer have nothing to draw.
local FEWEST = 2
-- Two generators: what each is multiplied with, and the rest of what it then is.
local ONE, ONE_TIMES, TWO, TWO_TIMES = 2147483563, 40014, 2147483399, 40692
-- In one number, in order: behind how many somebody is (below 2^34), 15 - rank (16 of them), the how manyth they came in.
local NTH, RANKS = 32768, 16
-- What the numbers of those who were seated in a pre-queue begin with, if all of them were noted.
local NOTED = '-'
-- Of so many bytes of them no more are noted.
local SEATED_BYTES = 65536
-- Neighbours of which it is cheaper to write a range than each.
local MANY = 32

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

-- Since when an event is on, if it is.
local function on(event)
  if line.wall_ms < event.opens_ms then
    return nil
  end
  local later_ms = 0
  if event.every_ms > 0 then
    later_ms = number.div(line.wall_ms - event.opens_ms, event.every_ms) * event.every_ms
  end
  if event.closes_ms > 0 and line.wall_ms >= event.closes_ms + later_ms then
    return nil
  end
  return event.opens_ms + later_ms
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

-- In every other mode an operator's word counts.
local function is_followed()
  return config.mode == 'auto' or config.mode == 'hold'
end

-- Whether there was a draw at an opening.
local function had(opens_ms)
  for _, words in ipairs(load()) do
    if tonumber(words[2]) == opens_ms then
      return true
    end
  end
  return false
end

-- At which opening those of the pre-queue are drawn, if it has come: at the one they came for, while that is on, else at the last with
-- a draw that is. Nobody is drawn at an opening that had its draw, though the clock runs back: its seed has been shown.
local function due()
  local found
  for _, event in ipairs(config.schedule) do
    local opens_ms = event.draw and on(event)
    if opens_ms and not had(opens_ms) then
      if opens_ms == line.prequeue_opens_ms then
        return opens_ms
      end
      found = max(found or 0, opens_ms)
    end
  end
  return found
end

-- The same as by_schedule, as far as it counts: whoever comes to a room on hold waits, even while the schedule says closed. While a draw is
-- due and nobody has brought its seed, it is still before the opening.
function draw.phase()
  local phase = by_schedule()
  if not is_followed() or phase == 'closed' and config.mode == 'hold' then
    return 'open'
  end
  return phase == 'open' and line.prequeue_opens_ms > 0 and due() and 'prequeue' or phase
end

-- Whether nobody is let in at all, by the mode or by the schedule.
function draw.is_closed()
  return config.mode == 'closed' or draw.phase() == 'closed'
end

-- By draw, whoever of its range was not drawn.
local apart = {}

local function is_apart(words, n)
  local found = apart[words]
  if not found then
    found = {}
    for _, list in ipairs({ words[8], words[9] }) do
      for digits in list:gmatch('(%d+):?%d*') do
        found[digits] = true
      end
    end
    apart[words] = found
  end
  return found[number.text(n)]
end

-- Whether a number, which stands nowhere, stands for another one since a draw.
function draw.contains(n)
  if line.draw_version == 0 then
    return false
  end
  for _, words in ipairs(load()) do
    if tonumber(words[3]) < n and n <= tonumber(words[4]) and not is_apart(words, n) then
      return true
    end
  end
  return false
end

local function set_prequeue(opens_ms, after)
  if opens_ms == 0 then
    line.prequeue_seated = ''
  elseif line.prequeue_opens_ms == 0 then
    line.prequeue_seated = NOTED
  end
  if line.prequeue_opens_ms ~= opens_ms or line.prequeue_after ~= after then
    line.prequeue_opens_ms, line.prequeue_after = opens_ms, after
    line.draws_serial = line.draws_serial + 1
  end
end

-- Four bytes of the seed, as a number.
local function part(seed, from)
  return tonumber(seed:sub(2 * from + 1, 2 * from + 8), 16)
end

-- Thousandths of what was before a number that somebody at a place skips.
local function skipped(n, place)
  local before = n - line.released
  return number.div(1000 * min(max(n - max(place, line.released), 0), before), before)
end

-- What somebody of a class skips: as the class with their rank that would have put them nearest to where they stand, of two as near the one
-- that skips more. If there is none, what they did skip.
local function skip_of(n, place, theirs)
  local nearest, skip
  for _, one in ipairs(theirs) do
    local far = math.abs(n - number.div(one.skip * (n - line.released), 1000) - place)
    if not nearest or far < nearest or far == nearest and one.skip > skip then
      nearest, skip = far, one.skip
    end
  end
  return skip or skipped(n, place)
end

-- Whoever of the range has a place of their own, in order; by number, what they skip, their rank, and where they are found.
local function find_head(after, upto)
  local numbers, skip, rank, set_of, of_rank = {}, {}, {}, {}, {}
  for r = 0, 9 do
    of_rank[r] = {}
  end
  for _, one in ipairs(config.classes or {}) do
    if one.skip > 0 or one.rank > 0 then
      table.insert(of_rank[one.rank], one)
    end
  end
  for _, set in ipairs({ line.express, line.strayed }) do
    for _, n in ipairs(scores.first(set, set.size)) do
      if after < n and n <= upto then
        numbers[#numbers + 1], rank[n], set_of[n] = n, 9, set
        skip[n] = skipped(n, set.known[n])
      end
    end
  end
  for _, set in ipairs({ line.classes, line.classes_away }) do
    local known = set.known
    for _, n in ipairs(scores.first(set, set.size)) do
      if after < n and n <= upto then
        local score = known[n]
        local r = class.rank(score)
        local theirs = of_rank[r]
        numbers[#numbers + 1], rank[n], set_of[n] = n, r, set
        skip[n] = #theirs == 1 and theirs[1].skip or skip_of(n, class.place(score), theirs)
      end
    end
  end
  table.sort(numbers)
  return numbers, skip, rank, set_of
end

-- The places of those at the head, by number; and all of them, in order. So many others are drawn, and all get places above `upto`.
local function deal(numbers, skip, rank, others, upto, seed)
  local one, two = part(seed, 0) % (ONE - 1) + 1, part(seed, 4) % (TWO - 1) + 1
  local function below(count)
    one, two = one * ONE_TIMES % ONE, two * TWO_TIMES % TWO
    return (one - two - 1) % (ONE - 1) % count
  end
  local count = #numbers
  local shuffled = {}
  for i = 1, count do
    shuffled[i] = numbers[i]
  end
  for i = count, 2, -1 do
    local other = below(i) + 1
    shuffled[i], shuffled[other] = shuffled[other], shuffled[i]
  end
  local all = max(others, count)
  local first, order, sorted, last = count > 0 and below(all) or 0, {}, true, 0
  for nth = 0, count - 1 do
    local n = shuffled[nth + 1]
    local came = floor((nth * all + first) / count)
    local behind = came - floor(skip[n] * came / 1000)
    local one_number = (behind * RANKS + 15 - rank[n]) * NTH + nth
    sorted, last = sorted and last <= one_number, one_number
    order[nth + 1] = one_number
  end
  if not sorted then
    table.sort(order)
  end
  local place_of, places = {}, {}
  for i, one_number in ipairs(order) do
    local place = upto + i + min(floor(one_number / (RANKS * NTH)), others)
    place_of[shuffled[one_number % NTH + 1]], places[i] = place, place
  end
  return place_of, places
end

-- Puts those at the head where they stand since.
local function put_head(numbers, set_of, place_of)
  for _, n in ipairs(numbers) do
    local set, now = set_of[n], place_of[n]
    if set == line.classes or set == line.classes_away then
      local score = set.known[n]
      now = score + (now - class.place(score)) * RANKS
    end
    scores.insert(set, n, now)
  end
end

-- These places, in order, are nobody's in the ordinary line.
local function close(places)
  local single, from = {}, 1
  for i = 1, #places do
    if places[i + 1] ~= places[i] + 1 then
      if i - from >= MANY then
        bits.set_range(line.used, places[from], places[i])
      else
        for k = from, i do
          single[#single + 1] = places[k]
        end
      end
      from = i + 1
    end
  end
  bits.set_all(line.used, single)
  bits.subtract(line.live, line.used, line['tmp:0'])
end

-- Whoever of the range was called or is inside, in order.
local function find_kept(after, upto)
  local kept, seated = {}, {}
  local function keep(set, numbers)
    for _, n in ipairs(numbers) do
      if after < n and n <= upto and scores.get(set, n) and not seated[n] then
        kept[#kept + 1], seated[n] = n, true
      end
    end
  end
  keep(line.called, scores.first(line.called, line.called.size))
  local noted = line.prequeue_seated or ''
  if noted:sub(1, 1) == NOTED then
    local numbers = {}
    for n in noted:gmatch('%d+') do
      numbers[#numbers + 1] = tonumber(n)
    end
    scores.look(line.inside, numbers)
    keep(line.inside, numbers)
  else
    keep(line.inside, scores.first(line.inside, line.inside.size))
  end
  table.sort(kept)
  return kept
end

-- Somebody has a seat: of those in the pre-queue it is noted, because all who are inside may be too many to look through. If they are many
-- themselves, all are looked through after all: a pre-queue that is put off for days must not cost every exchange.
function draw.seat(n)
  local noted = line.prequeue_seated or ''
  if line.prequeue_opens_ms > 0 and n > line.prequeue_after and noted:sub(1, 1) == NOTED then
    line.prequeue_seated = #noted < SEATED_BYTES and noted .. number.text(n) .. ',' or ''
  end
end

local function listed(numbers, text)
  local texts = {}
  for i, n in ipairs(numbers) do
    texts[i] = text(n)
  end
  return #texts > 0 and table.concat(texts, ',') or '-'
end

-- Everybody above `after` is drawn.
local function hold(after, lot)
  local upto, seen = line.issued, state.seen()
  local all_over = after == line.released and line.lapsed == line.released
  local head, skip, rank, set_of = find_head(after, upto)
  local kept = find_kept(after, upto)
  local others = upto - after - #kept - #head
  local place_of, places = deal(head, skip, rank, others, upto, lot.seed)
  local here = bits.count(line.live, after + 1, upto)
  bits.clear_range(line.live, after + 1, upto)
  bits.set_range(line.used, after + 1, upto)
  line.issued = upto + others + #head
  bits.set_range(line.live, upto + 1, line.issued)
  bits.set_range(seen, upto + 1, line.issued)
  if #head > 0 then
    put_head(head, set_of, place_of)
    close(places)
    line.head_changed = 1
  end
  line.waiting = line.waiting - here + others
  line.bits_version = line.bits_version + 1
  -- Nothing at or below `upto` is anybody's any more, or more than a line holds: it must not cost a bitmap.
  heal.pass_over(all_over and upto or max(line.issued - sweep.PLACES_MAX, 0))

  load()
  line.draw_version = line.draw_version + 1
  local promised_ms, _, promised = draw.commitment()
  local text = number.text
  made[#made + 1] = {
    text(line.draw_version), text(lot.opens_ms), text(after), text(upto), lot.kid, lot.seed,
    promised_ms == lot.opens_ms and promised or '-', listed(kept, text), listed(head, function(n)
      return string.format('%d:%d', n, place_of[n])
    end),
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
  if not is_followed() then
    return
  end
  local before = line.prequeue_opens_ms
  if phase == 'prequeue' and draws then
    if had(opens_ms) then
      set_prequeue(0, 0)
    else
      set_prequeue(opens_ms, before > 0 and line.prequeue_after or line.issued)
    end
  elseif phase == 'open' and before > 0 then
    local after, due_ms = max(line.prequeue_after, line.released), due()
    if due_ms and line.issued - after >= FEWEST then
      if lot and lot.seed and lot.opens_ms == due_ms then
        hold(after, lot)
      else
        set_prequeue(due_ms, line.prequeue_after)
      end
    elseif due_ms or config.mode ~= 'hold' then -- To a room on hold no opening comes.
      set_prequeue(0, 0)
    end
  end
  -- Else none has begun, or it was put off: whoever came is drawn with those who come later.
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

-- Those of draws that came back who are at the head stand where they were put, if their turn there is not over.
local function reopen(lists)
  local numbers, places, place_of, here, set_of = {}, {}, {}, {}, {}
  for _, list in ipairs(lists) do
    for n, place in list:gmatch('(%d+):(%d+)') do
      n, place = tonumber(n), tonumber(place)
      if line.lapsed < place and place <= line.issued then
        numbers[#numbers + 1], place_of[n], places[#places + 1] = n, place, place
      end
    end
  end
  if #places > 0 then
    bits.set_all(line.used, places)
    bits.subtract(line.live, line.used, line['tmp:0'])
  end
  for _, n in ipairs(express.look(numbers)) do
    for _, set in ipairs({ line.express, line.strayed, line.classes, line.classes_away }) do
      if scores.get(set, n) then
        here[#here + 1], set_of[n] = n, set
        line.head_changed = 1
      end
    end
  end
  put_head(here, set_of, place_of)
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
  line.prequeue_seated = line.inside.size == 0 and NOTED or ''
  line.commitment = promise ~= '- - -' and promise or ''
  call('HSET', key.state, 'draws', rest)
  made = nil
  local heads = {}
  for _, words in ipairs(load()) do
    local before, upto = tonumber(words[3]), tonumber(words[4])
    local low, high = max(line.base, before + 1), min(line.issued, upto)
    if low <= high then
      bits.set_range(line.used, low, high)
      bits.clear_range(line.live, low, high)
    end
    if 2 * upto - before > line.lapsed then -- There is no higher place in it.
      heads[#heads + 1] = words[9]
    end
  end
  reopen(heads)
end
