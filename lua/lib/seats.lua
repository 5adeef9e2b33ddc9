-- Seats in use, and those of sessions that are over: their times, in a hash of buckets.
--
-- Owns seats. A seat's slot is beside it, see slots. Knows nothing of what the times mean: session does. A field is number / 32; its value are the
-- seats of those of its numbers that have one or had one, first a byte of each, then 30 bytes of each in the
-- same order:
--
--   byte        number % 32
--   30 bytes    when it ended, when it was entered (room's clock), when its pass was given, last renewed,
--               and runs out (wall clock): six bytes each, big-endian; a seat in use has not ended: 0
--
-- One field a number would cost 80 bytes more each.

local BUCKET, RECORD, SHAPE = 32, 30, '>I6I6I6I6I6'

-- Buckets as Redis has them, and for each what changed: offset -> record, or false if it is gone.
local buckets, changes = {}, {}

-- Reads many seats at once, to be asked for later.
function seats.look(numbers)
  local wanted, seated = {}, {}
  for _, n in ipairs(numbers) do
    if scores.get(line.inside, n) or scores.get(line.ended, n) then
      local index = floor(n / BUCKET)
      seated[#seated + 1] = n
      if not buckets[index] then
        buckets[index] = ''
        wanted[#wanted + 1] = number.text(index)
      end
    end
  end
  for i, records in ipairs(many('HMGET', key.seats, wanted)) do
    buckets[tonumber(wanted[i])] = records
  end
  slots.look(seated)
end

local function bucket(index)
  if not buckets[index] then
    buckets[index] = call('HGET', key.seats, number.text(index)) or ''
  end
  return buckets[index]
end

-- A number's seat, in use or not: it has one.
function seats.read(n)
  local index, offset = floor(n / BUCKET), n % BUCKET
  local records, at = changes[index] and changes[index][offset], 1
  if not records then
    records = bucket(index)
    local count = #records / (RECORD + 1)
    local nth = records:find(string.char(offset), 1, true)
    at = count + (nth - 1) * RECORD + 1
  end
  local ended_ms, entered_ms, admitted_ms, issued_ms, expires_ms = struct.unpack(SHAPE, records, at)
  return {
    at_ms = ended_ms,
    entered_ms = entered_ms,
    admitted_ms = admitted_ms,
    issued_ms = issued_ms,
    expires_ms = expires_ms,
    slot = slots.of(n),
  }
end

local function put(n, record)
  local index = floor(n / BUCKET)
  local change = changes[index]
  if not change then
    change = {}
    changes[index] = change
  end
  change[n % BUCKET] = record
end

-- Keeps a seat that ended at a time, or is in use: 0.
function seats.write(n, seat, at_ms)
  slots.write(n, seat.slot)
  put(n, struct.pack(
    SHAPE, at_ms, seat.entered_ms, seat.admitted_ms, seat.issued_ms, seat.expires_ms))
end

-- Forgets a seat.
function seats.remove(n)
  slots.write(n, 0)
  put(n, false)
end

-- A bucket with its changes in it.
local function changed(records, change)
  local offsets, times, count = {}, {}, #records / (RECORD + 1)
  for nth = 1, count do
    local offset = records:byte(nth)
    if change[offset] == nil then
      offsets[#offsets + 1] = string.char(offset)
      times[#times + 1] = records:sub(count + (nth - 1) * RECORD + 1, count + nth * RECORD)
    end
  end
  for offset, record in pairs(change) do
    if record then
      offsets[#offsets + 1] = string.char(offset)
      times[#times + 1] = record
    end
  end
  return table.concat(offsets) .. table.concat(times)
end

-- Sends what changed.
function seats.flush()
  local set, gone = {}, {}
  for index, change in pairs(changes) do
    local records = changed(bucket(index), change)
    if records == '' then
      gone[#gone + 1] = number.text(index)
    else
      set[#set + 1] = number.text(index)
      set[#set + 1] = records
    end
  end
  many('HSET', key.seats, set)
  many('HDEL', key.seats, gone)
end

-- Nobody is inside, nobody was.
function seats.wipe()
  call('UNLINK', key.seats)
  slots.wipe()
  buckets, changes = {}, {}
end
