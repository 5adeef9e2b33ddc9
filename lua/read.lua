-- read: answers an operator's question about one room's line. Changes nothing but tmp:0, and that is gone when it ends.
--
-- KEYS  as exchange.lua, in the same order
-- ARGV  the question and two numbers: book before limit | history 0 0 | inside skip limit |
--       nodes 0 0 | health 0 0 | invites 0 limit
-- reply msgpack, see the end of this file; or { "layout", N } if the keys are of a newer layout than this script knows
--
-- Why it is a script: what it tells is of one moment.

for i, name in ipairs(NAMES) do
  key[name] = KEYS[i]
end

local question, first, second = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])

-- The last orders before one of them, newest first.
local function book(before, limit)
  local last = line.book_serial
  local from = before > 0 and min(before - 1, last) or last
  local found = call('LRANGE', key.audit, -(last - from + limit), -(last - from + 1))
  local entries = {}
  for i = #found, 1, -1 do
    local serial, at_ms, length = struct.unpack('>I6I6I4', found[i])
    entries[#entries + 1] = { serial, at_ms, found[i]:sub(17, 16 + length), found[i]:sub(17 + length) }
  end
  return entries
end

-- The past, minute by minute in no order, packed as it is kept; and the one that runs.
local function past()
  local found, minutes = call('HVALS', key.history), {}
  for i, minute in ipairs(found) do
    minutes[i] = cmsgpack.unpack(minute)
  end
  if line.minute > 0 then
    minutes[#minutes + 1] = history.now(line.minute)
  end
  return minutes
end

-- Who is inside, in the order in which their seats will be free.
local function inside(skip, limit)
  local members, found = call('ZRANGE', key.inside, skip, skip + limit - 1), {}
  for i, member in ipairs(members) do
    local n = number.unpack(member)
    local seat = seats.read(n)
    found[i] = { n, seat.admitted_ms, seat.issued_ms, seat.expires_ms, seat.slot }
  end
  return found
end

-- Nodes: 16 bytes in hex, how long ago, what each says.
local function nodes()
  local found, told = call('HGETALL', key.nodes), {}
  for i = 1, #found, 2 do
    local _, heard_ms = struct.unpack('>I8I6', found[i + 1])
    local id = found[i]:gsub('.', function(c)
      return string.format('%02x', c:byte())
    end)
    told[#told + 1] = { id, max(line.clock_ms - heard_ms, 0), found[i + 1]:sub(15) }
  end
  return told
end

-- Of those whose session is over, the last so many are looked for among those inside: there may be a million of either, and all
-- of Redis waits.
local ENDED_LOOKED = 10000

-- What must hold and does not, numbered as in src/line/check.rs.
local function health()
  local broken = {}
  local function hold(n, holds, what)
    if not holds then
      broken[#broken + 1] = { n, what }
    end
  end
  local text = number.text
  hold(1, line.base <= line.lapsed and line.lapsed <= line.released and line.released <= line.issued,
    'base ' .. text(line.base) .. ', lapsed ' .. text(line.lapsed) .. ', released '
      .. text(line.released) .. ', issued ' .. text(line.issued))
  call('BITOP', 'AND', key['tmp:0'], key.live, key.used)
  local both = call('BITCOUNT', key['tmp:0'])
  call('UNLINK', key['tmp:0'])
  hold(2, both == 0, text(both) .. ' are live and used')
  local stray = bits.count(line.live, 0, line.lapsed)
  hold(3, stray == 0, text(stray) .. ' are live at or below lapsed ' .. text(line.lapsed))
  local ordinary = bits.count(line.live, line.released + 1, line.issued)
  hold(4, line.waiting == ordinary + express.waiting(), 'waiting ' .. text(line.waiting) .. ' but '
    .. text(ordinary) .. ' live and ' .. text(express.waiting()) .. ' at the head')
  local claimable = bits.count(line.live, line.lapsed + 1, line.released)
  hold(5, line.claimable == claimable,
    'claimable ' .. text(line.claimable) .. ' but ' .. text(claimable) .. ' live')
  local function meet(one, other)
    return call('ZINTERCARD', 2, key[one], key[other])
  end
  local double = 0
  for _, seated in ipairs(many('ZMSCORE', key.inside, call('ZRANGE', key.ended, 0, ENDED_LOOKED - 1, 'REV'))) do
    double = double + (seated and 1 or 0)
  end
  hold(6, double == 0, text(double) .. ' are inside and have ended')
  local lists, both = { 'express', 'strayed', 'called', 'classes', 'classes_away' }, 0
  for i, one in ipairs(lists) do
    for k = i + 1, #lists do
      both = both + meet(one, lists[k])
    end
  end
  hold(7, both == 0 and meet('present', 'express') + meet('present', 'called') + meet('present', 'classes')
    == express.waiting() + line.called.size, 'the lists of the head disagree')
  double = 0
  for _, name in ipairs(lists) do
    double = double + meet('inside', name) + meet('ended', name)
  end
  hold(8, double == 0, text(double) .. ' stand in two places')
  return broken
end

local function answer()
  local layout = state.layout()
  if layout > state.LAYOUT then
    return { 'layout', number.text(layout) }
  end
  state.load()
  local found
  if question == 'book' then
    found = book(first, second)
  elseif question == 'history' then
    found = past()
  elseif question == 'inside' then
    found = inside(first, second)
  elseif question == 'nodes' then
    found = nodes()
  elseif question == 'invites' then
    found = class.found(second)
  else
    found = health()
  end
  return cmsgpack.pack(found)
end

return answer()
