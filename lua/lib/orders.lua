-- What operators ordered: settings in force instead of the file's, the book of all orders, and orders that come again.
--
-- Owns the hash overrides (name -> when it ends, a space, its value as JSON), the list audit and what is in asked:0 and
-- asked:1. Texts are kept as they come.

-- Entries of a book.
local BOOK_MAX = 1000
-- For so long an order is known again, and for as long again at most.
local ASKED_MS = 86400000

local ENTRY = '>I6I6I4' -- serial, at_ms, bytes of the note; then the note and what came of it

-- What is set: name -> { value, until_ms }. Read when the script begins.
function orders.load()
  line.overrides = {}
  if line.overrides_serial == 0 then
    return
  end
  local found = call('HGETALL', key.overrides)
  for i = 1, #found, 2 do
    local until_ms, value = found[i + 1]:match('^(%d+) (.*)$')
    line.overrides[found[i]] = { value, tonumber(until_ms) }
  end
end

local function put(name, value, until_ms)
  line.overrides[name] = { value, until_ms }
  call('HSET', key.overrides, name, number.text(until_ms) .. ' ' .. value)
end

local function drop(name)
  line.overrides[name] = nil
  call('HDEL', key.overrides, name)
end

-- Writes an order into the book.
function orders.write_down(note, result)
  line.book_serial = line.book_serial + 1
  call('RPUSH', key.audit,
    struct.pack(ENTRY, line.book_serial, line.wall_ms, #note) .. note .. result)
  call('LTRIM', key.audit, -BOOK_MAX, -1)
end

-- Writes down that a node's file says something else than the one before.
function orders.write_offer(from, to)
  local node = batch.node:gsub('.', function(c)
    return string.format('%02x', c:byte())
  end)
  orders.write_down('{"action":"configure","node":"' .. node .. '"}',
    '{"from":' .. (from or 'null') .. ',"to":' .. to .. '}')
end

-- What was in force before, as an object: null where the file was.
local function change(changes)
  local from = {}
  for i, one in ipairs(changes) do
    local name, value, for_ms = one[1], one[2], one[3]
    local before = line.overrides[name]
    from[i] = '"' .. name .. '":' .. (before and before[1] or 'null')
    if value then
      put(name, value, for_ms > 0 and line.clock_ms + for_ms or 0)
    elseif before then
      drop(name)
    end
  end
  line.overrides_serial = line.overrides_serial + 1
  settings.put_in_force()
  return '{"from":{' .. table.concat(from, ',') .. '}}'
end

-- Whatever was set for a time, and whose time is over, is no longer set.
function orders.end_overrides()
  local over = {}
  for name, set in pairs(line.overrides) do
    if set[2] > 0 and set[2] <= line.clock_ms then
      over[#over + 1] = name
    end
  end
  if #over > 0 then
    for _, name in ipairs(over) do
      drop(name)
    end
    line.overrides_serial = line.overrides_serial + 1
    settings.put_in_force()
  end
end

-- The later of two copies counts: brought by a node to a line that lost its memory.
function orders.merge(known)
  if not known or known[1] <= line.overrides_serial then
    return
  end
  call('UNLINK', key.overrides)
  line.overrides_serial, line.overrides = known[1], {}
  for _, set in ipairs(known[2]) do
    put(set[1], set[2], set[3])
  end
  settings.put_in_force()
end

-- What is set, as the node is told.
function orders.told()
  local set = {}
  for name, one in pairs(line.overrides) do
    set[#set + 1] = { name, one[1], one[2] }
  end
  return cmsgpack.pack({ line.overrides_serial, set })
end

local function pause(paused)
  local from, to = line.paused == 1 and 'true' or 'false', paused == 1 and 'true' or 'false'
  if line.paused ~= paused then
    line.paused = paused
    letters.write('{"paused":' .. to .. '}')
  end
  return '{"from":' .. from .. ',"to":' .. to .. '}'
end

-- Orders that end somebody's session, by kind: how, and the word for it.
local ENDS = {
  [5] = { session.REVOKED, 'revoked' },
  [8] = { session.COMPLETED, 'completed' },
  [10] = { session.REQUEUED, 'requeued' },
}

local function about(slip, word, done)
  return '{"number":' .. slip.number .. ',"' .. word .. '":' .. (done and 'true' or 'false') .. '}'
end

-- Keeps a seat for an idle time more.
local function extend(n, slip)
  local answer = { 0 }
  if not state.means(batch) then
    answer = { 2, session.STALE }
  elseif not state.given(n) then
    answer = { 2, session.UNKNOWN }
  elseif not session.keep_longer(n) then
    answer = { 2, session.ALREADY }
  end
  return answer, about(slip, 'extended', answer[1] == 0)
end

-- Kinds: 1 release, 2 pause, 3 resume, 4 reset, 5 revoke, 6 set, 7 repair, 8 complete, 9 extend, 10 requeue, 11 revoke an invite. The answer, and what came of it as JSON.
local function perform(kind, count, slip)
  local text = number.text
  if kind == 1 then
    local released = release.by_hand(count)
    return released, '{"released":' .. text(released[1]) .. ',"after":' .. text(released[3])
      .. ',"upto":' .. text(released[4]) .. '}'
  elseif kind == 2 or kind == 3 then
    return { 0 }, pause(kind == 2 and 1 or 0)
  elseif kind == 4 then
    local from = line.epoch
    state.begin_epoch(max(from + 1, number.div(line.wall_ms, 1000)))
    return { 0 }, '{"from":' .. text(from) .. ',"to":' .. text(line.epoch) .. '}'
  elseif ENDS[kind] then
    local done = session.STALE
    if state.means(batch) then
      done = session.finish(count, ENDS[kind][1])
    end
    return { 2, done }, about(slip, ENDS[kind][2], done == session.FREED)
  elseif kind == 9 then
    return extend(count, slip)
  elseif kind == 6 then
    return { 0 }, change(slip.set)
  elseif kind == 11 then
    local used = class.revoke(slip.id)
    return { 0 }, '{"invite":"' .. slip.invite .. '","used":' .. text(used) .. '}'
  end
  local wrong = heal.repair()
  return { 4, wrong }, '{"repaired":' .. text(wrong) .. '}'
end

local function carry_out(kind, count, slip)
  local answer, result = perform(kind, count, slip)
  if kind == 1 then
    answer = release.answer(answer)
  end
  if slip.note ~= '' then
    orders.write_down(slip.note, result)
  end
  return answer
end

-- Carries an order out, unless it was before. An answer is a list of numbers: its kind, and what belongs to it.
function orders.order(nth, kind, count)
  local slip = batch.slips[nth]
  if not slip.key then
    return carry_out(kind, count, slip)
  end
  aging.age(line.asked, ASKED_MS)
  local known = aging.get(line.asked, slip.key)
  if not known then
    local answer = carry_out(kind, count, slip)
    aging.put(line.asked, slip.key, slip.print .. cmsgpack.pack(answer))
    return answer
  end
  if known:sub(1, 16) == slip.print then
    return cmsgpack.unpack(known:sub(17))
  end
  return { 3 }
end
