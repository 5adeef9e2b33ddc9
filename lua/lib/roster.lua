-- What visitors are called, in rooms that show it.
--
-- Owns the hashes roster (number -> name) and named (name, folded by the node -> number). A name is taken for as long as its
-- visitor waits or is inside; what is left of others goes at the next sweep.

-- Names that are kept.
local NAMES_MAX = 2500
-- Rosters go to the nodes no more often than this.
local PUBLISH_MS = 500

local text = number.text

-- The hash named has its entries by the folded name: by number they are found by looking through all, once a script.
local known

local function folds()
  if not known then
    known = {}
    local found = call('HGETALL', key.named)
    for i = 1, #found, 2 do
      known[found[i + 1]] = found[i]
    end
  end
  return known
end

local function remove_all(gone)
  if #gone == 0 then
    return
  end
  local folded, fields = {}, {}
  for i, n in ipairs(gone) do
    fields[i] = text(n)
    folded[i], folds()[fields[i]] = folds()[fields[i]], nil
  end
  many('HDEL', key.named, folded)
  many('HDEL', key.roster, fields)
  line.names, line.roster_changed = line.names - #fields, 1
end

-- All of them, by number.
local function all()
  local found, numbers, names = call('HGETALL', key.roster), {}, {}
  for i = 1, #found, 2 do
    local n = tonumber(found[i])
    numbers[#numbers + 1], names[n] = n, found[i + 1]
  end
  table.sort(numbers)
  return numbers, names
end

local function put(n, name, folded)
  local before = call('HGET', key.named, folded)
  if before and before ~= text(n) then
    line.names = line.names - call('HDEL', key.roster, before)
  end
  if known then
    known[before or ''] = nil
    known[text(n)] = folded
  end
  call('HSET', key.named, folded, text(n))
  line.names = line.names + call('HSET', key.roster, text(n), name)
  line.roster_changed = 1
end

-- Something else than the name has changed about a number.
function roster.moved(n)
  if line.names > 0 and line.roster_changed == 0 and call('HEXISTS', key.roster, text(n)) == 1 then
    line.roster_changed = 1
  end
end

-- If so many more names may be too many, those of everybody who neither waits nor is inside are forgotten: once for all newcomers of a
-- batch.
function roster.make_room(more)
  if config.roster and line.names + more > NAMES_MAX then
    roster.forget(true)
  end
end

-- Whether somebody who waits or is inside is called so, or there are too many names.
function roster.refused(folded)
  if not config.roster then
    return false
  end
  local found = line.names > 0 and call('HGET', key.named, folded)
  if found then
    local standing = state.standing(tonumber(found))
    if standing >= state.WAITING and standing <= state.ACTIVE then
      return true
    end
  end
  return line.names >= NAMES_MAX
end

-- A newcomer has a name.
function roster.give(n, name)
  if config.roster then
    put(n, name[1], name[2])
  end
end

-- A visitor has another number.
function roster.move(from, to)
  local name = line.names > 0 and call('HGET', key.roster, text(from))
  if not name then
    return
  end
  put(to, name, folds()[text(from)])
end

-- A node brings names to a line that lost its memory: number, name, folded.
function roster.merge(names)
  for _, one in ipairs(names) do
    local n, name, folded = one[1], one[2], one[3]
    if state.given(n) and line.names < NAMES_MAX
      and call('HEXISTS', key.roster, text(n)) == 0
      and call('HEXISTS', key.named, folded) == 0
    then
      put(n, name, folded)
    end
  end
end

-- Names of those who neither wait nor are inside are gone; of those who may come back to their seat only if there are too many.
function roster.forget(too_many)
  if line.names == 0 then
    return
  end
  local numbers, gone = all(), {}
  state.look_at_standings(numbers)
  for _, n in ipairs(numbers) do
    local standing = state.standing(n)
    local here = standing >= state.WAITING and standing <= state.ACTIVE
      or standing == state.EXPIRED_ENDED + session.IDLE and not too_many
    if not config.roster or not here then
      gone[#gone + 1] = n
    end
  end
  remove_all(gone)
end

-- Counts a version, at most twice a second.
function roster.publish()
  if line.roster_changed == 1 and line.clock_ms - line.roster_published_ms >= PUBLISH_MS then
    line.roster_version, line.roster_changed = line.roster_version + 1, 0
    line.roster_published_ms = line.clock_ms
  end
end

-- All, as a node is told: number, whether inside, slot, name.
function roster.told()
  local numbers, names = all()
  local list = {}
  scores.look(line.inside, numbers)
  slots.look(numbers)
  for i, n in ipairs(numbers) do
    local inside = scores.get(line.inside, n) and true or false
    list[i] = { n, inside, inside and slots.of(n) or 0, names[n] }
  end
  return cmsgpack.pack(list)
end

-- Nobody; the nodes are to know at once.
function roster.wipe()
  if line.names > 0 then
    line.roster_version = line.roster_version + 1
  end
  call('UNLINK', key.roster, key.named)
  known = nil
  line.names, line.roster_changed = 0, 0
end
