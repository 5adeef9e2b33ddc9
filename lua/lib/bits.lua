-- Bitmaps indexed by place.
--
-- Owns live, used, seen:0 .. seen:2 and, for work in between, tmp:0 and tmp:1. Knows nothing of what a bit
-- means. Bit i of a string is place base + i, in Redis's order: the first is the highest of its byte.
-- Places below base are zero and stay so.
--
-- For work in between a bitmap may be of a part of the line alone: its bit 0 is then the place `first`. What is done with a part takes time
-- by its length, however long the line is.
--
-- Single bits are read and written in words of 32 places that are kept in a table and reach Redis together,
-- before the next command about a range or at the end: a thousand neighbours are 32 words in one command.

local WORD = 32

-- What each bit of a word is worth.
local WORTH = {}
for i = 0, WORD - 1 do
  WORTH[i] = 2 ^ (WORD - 1 - i)
end

-- A word's place in a string, for BITFIELD. The same words are asked for in several bitmaps, and written again.
local offsets = {}
local function offset(word)
  local text = offsets[word]
  if not text then
    text = string.format('#%d', word)
    offsets[word] = text
  end
  return text
end

function bits.open(name)
  return { key = key[name], words = {}, dirty = {}, pending = false }
end

-- The place of its bit 0.
local function origin(map)
  return map.first or line.base
end

-- Sends what is pending.
function bits.flush(map)
  if not map.pending then
    return
  end
  local args, count = {}, 0
  for word in pairs(map.dirty) do
    args[count + 1], args[count + 2], args[count + 3], args[count + 4] =
      'SET', 'u32', offset(word), number.text(map.words[word])
    count = count + 4
  end
  many('BITFIELD', map.key, args)
  map.dirty, map.pending = {}, false
end

-- The same, and forgets what was read: many bits are about to change.
local function settle(map)
  bits.flush(map)
  map.words = {}
end

-- Reads many single bits at once, to be asked for later.
function bits.look(map, places)
  local args, wanted, count = {}, {}, 0
  local words, base, issued = map.words, line.base, line.issued
  for _, place in ipairs(places) do
    local word = floor((place - base) / WORD)
    if place >= base and place <= issued and not words[word] then
      args[count + 1], args[count + 2], args[count + 3] = 'GET', 'u32', offset(word)
      count = count + 3
      wanted[#wanted + 1], words[word] = word, 0
    end
  end
  for i, value in ipairs(many('BITFIELD_RO', map.key, args)) do
    words[wanted[i]] = value
  end
end

-- The word of a place, its value, and what the place's bit is worth in it.
local function find(map, place)
  local index = place - line.base
  local word = floor(index / WORD)
  local value = map.words[word]
  if not value then
    value = call('BITFIELD_RO', map.key, 'GET', 'u32', offset(word))[1]
    map.words[word] = value
  end
  return word, value, WORTH[index % WORD]
end

-- Whether a bit is set.
function bits.get(map, place)
  if place < line.base then
    return false
  end
  local _, value, worth = find(map, place)
  return value % (2 * worth) >= worth
end

-- Sets or clears a bit; whether that changed anything.
local function put(map, place, bit)
  if place < line.base then
    return false
  end
  local word, value, worth = find(map, place)
  if (value % (2 * worth) >= worth) == bit then
    return false
  end
  map.words[word], map.dirty[word], map.pending = bit and value + worth or value - worth, true, true
  return true
end

function bits.set(map, place)
  return put(map, place, true)
end

function bits.clear(map, place)
  return put(map, place, false)
end

-- Sets many single bits, of which nothing is known or asked.
function bits.set_all(map, places)
  if #places == 0 then
    return
  end
  settle(map)
  local args, count = {}, 0
  for _, place in ipairs(places) do
    args[count + 1], args[count + 2], args[count + 3], args[count + 4] =
      'SET', 'u1', number.text(place - line.base), '1'
    count = count + 4
  end
  many('BITFIELD', map.key, args)
end

-- Bytes that are written at once where there are many alike.
local BLOCK = 65536
local blocks = {}

-- So many of the same byte, at most a block of them. string.rep goes byte by byte: a megabyte takes it 8 ms, and .. copies.
local function alike(byte, count)
  if count < 1024 then
    return string.rep(string.char(byte), count)
  end
  local block = blocks[byte]
  if not block then
    block = string.char(byte)
    while #block < BLOCK do
      block = block .. block
    end
    blocks[byte] = block
  end
  return count < BLOCK and block:sub(1, count) or block
end

-- Sets or clears a range: whole bytes at once, odd bits at the ends.
local function fill(map, low, high, bit)
  local from, upto = low - origin(map), high - origin(map)
  local function field(offset, width)
    if width > 0 then
      call('BITFIELD', map.key, 'SET', 'u' .. width, offset, bit * (2 ^ width - 1))
    end
  end
  local first, after = math.ceil(from / 8), floor((upto + 1) / 8)
  if first >= after then
    return field(from, upto - from + 1)
  end
  field(from, first * 8 - from)
  field(after * 8, upto + 1 - after * 8)
  -- The last block first: the string grows once.
  while after > first do
    local count = (after - first - 1) % BLOCK + 1
    after = after - count
    call('SETRANGE', map.key, after, alike(bit * 255, count))
  end
end

-- The last place that a bitmap holds a bit for.
function bits.last_place(map)
  return origin(map) + call('STRLEN', map.key) * 8 - 1
end

function bits.set_range(map, low, high)
  low = max(low, line.base)
  if low <= high then
    settle(map)
    fill(map, low, high, 1)
  end
end

function bits.clear_range(map, low, high)
  settle(map)
  low, high = max(low, origin(map)), min(high, bits.last_place(map))
  if low <= high then
    fill(map, low, high, 0)
  end
end

-- How many bits of a range are set.
function bits.count(map, low, high)
  low = max(low, line.base)
  if low > high then
    return 0
  end
  bits.flush(map)
  return call('BITCOUNT', map.key, low - line.base, high - line.base, 'BIT')
end

-- The first set bit of a range, or nil.
function bits.first_one(map, low, high)
  low = max(low, line.base)
  if low > high then
    return nil
  end
  bits.flush(map)
  local found = call('BITPOS', map.key, 1, low - line.base, high - line.base, 'BIT')
  if found >= 0 then
    return line.base + found
  end
end

-- The last set bit of a range in which there is one: Redis has no command for it, so the range is halved.
function bits.last_one(map, low, high)
  if bits.get(map, high) then
    return high
  end
  while low < high do
    local middle = math.ceil((low + high) / 2)
    local found = bits.first_one(map, middle, high)
    low, high = found or low, found and high or middle - 1
  end
  return low
end

-- spare := of a bitmap what a part is of.
local function copy_beside(spare, map, part)
  local from, upto = (part.first - line.base) / 8, (bits.last_place(part) + 1 - line.base) / 8 - 1
  call('SET', spare.key, call('GETRANGE', map.key, from, upto))
end

-- map := map OR other, which may be a part.
function bits.unite(map, other, spare)
  settle(map)
  bits.flush(other)
  if not other.first then
    call('BITOP', 'OR', map.key, map.key, other.key)
    return
  end
  copy_beside(spare, map, other)
  call('BITOP', 'OR', spare.key, spare.key, other.key)
  call('SETRANGE', map.key, (other.first - line.base) / 8, call('GET', spare.key))
end

-- map := one OR two OR three
function bits.any(map, one, two, three)
  bits.wipe(map)
  for _, other in ipairs({ one, two, three }) do
    bits.flush(other)
  end
  call('BITOP', 'OR', map.key, one.key, two.key, three.key)
end

-- map := map AND other
function bits.keep(map, other)
  settle(map)
  bits.flush(other)
  call('BITOP', 'AND', map.key, map.key, other.key)
end

-- map := one XOR other
function bits.differ(map, one, other)
  settle(map)
  bits.flush(one)
  bits.flush(other)
  call('BITOP', 'XOR', map.key, one.key, other.key)
end

-- map, which may be a part, := map AND NOT other. NOT alone would end with the string. Often the two have nothing in common.
function bits.subtract(map, other, spare)
  settle(map)
  bits.flush(other)
  if map.first then
    copy_beside(spare, other, map)
    call('BITOP', 'AND', spare.key, map.key, spare.key)
  else
    call('BITOP', 'AND', spare.key, map.key, other.key)
  end
  if call('BITPOS', spare.key, 1) >= 0 then
    bits.differ(map, map, spare)
  end
end

-- map := other, which is empty then.
function bits.become(map, other)
  bits.wipe(map)
  bits.flush(other)
  if call('EXISTS', other.key) == 1 then
    call('RENAME', other.key, map.key)
  end
  other.words = {}
end

-- map := a part: the bits of a string whose first is the place `from`, a multiple of 8, as far as they lie between low and high; whether
-- there are any.
function bits.lay(map, bytes, from, low, high)
  bits.wipe(map)
  if from < line.base then
    bytes, from = bytes:sub((line.base - from) / 8 + 1), line.base
  end
  local most = max(floor((high - from) / 8) + 1, 0)
  if #bytes > most then
    bytes = bytes:sub(1, most)
  end
  if #bytes == 0 then
    return false
  end
  map.first = from
  call('SET', map.key, bytes)
  bits.clear_range(map, from, low - 1)
  bits.clear_range(map, high + 1, bits.last_place(map))
  return true
end

-- The bytes from a place, base + a multiple of 8, to another.
function bits.copy(map, from, upto)
  bits.flush(map)
  return call('GETRANGE', map.key, (from - line.base) / 8, floor((upto - line.base) / 8))
end

function bits.wipe(map)
  call('UNLINK', map.key)
  map.words, map.dirty, map.pending, map.first = {}, {}, false, nil
end

-- Forgets the places below `base`, which is about to move there.
function bits.drop_below(map, base)
  settle(map)
  local rest = call('GETRANGE', map.key, (base - line.base) / 8, -1)
  if #rest > 0 then
    call('SET', map.key, rest)
  else
    call('UNLINK', map.key)
  end
end
