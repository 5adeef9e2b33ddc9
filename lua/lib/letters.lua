-- Letters: what happened in a room, for whoever wants to be told, until a node says that they were.
--
-- Owns the hash letters (serial -> when it happened in six bytes, and its text) and the sorted set due (serial -> from when
-- on any node may take it).

-- Letters that may wait. Beyond, those that have been due longest are thrown away.
local OUTBOX_MAX = 10000
-- Those whom one letter names.
letters.CALLED_MAX = 100
-- Letters that one reply hands out, and for how long they are the node's.
local MAX_LETTERS, LEASE_MS = 50, 60000

local function remove(serial)
  if call('HDEL', key.letters, number.text(serial)) == 1 then
    call('ZREM', key.due, number.pack(serial))
    line.letters = line.letters - 1
  end
end

-- Somebody wants to be told of this, if anybody wants to be told of anything.
function letters.write(text)
  if not config or not config.webhooks then
    return
  end
  line.letter_serial, line.letters = line.letter_serial + 1, line.letters + 1
  call('HSET', key.letters, number.text(line.letter_serial),
    struct.pack('>I6', line.wall_ms) .. text)
  call('ZADD', key.due, number.text(line.clock_ms), number.pack(line.letter_serial))
  if line.letters > OUTBOX_MAX then
    remove(number.unpack(call('ZRANGE', key.due, 0, 0)[1]))
    line.letters_lost = line.letters_lost + 1
  end
end

-- Somebody entered on these terms.
function letters.entered(n, terms, tag)
  if config.webhooks then
    local text = number.text
    letters.write('{"entered":' .. text(n) .. ',"epoch":' .. text(line.epoch)
      .. ',"admitted_ms":' .. text(terms[1]) .. ',"issued_ms":' .. text(terms[2])
      .. ',"expires_ms":' .. text(terms[3]) .. ',"slot":' .. text(terms[4]) .. ',"tag":' .. (tag or '{}') .. '}')
  end
end

-- So many were called.
function letters.called(count, called)
  if count > 0 and config.webhooks then
    local named = {}
    for i = 1, min(#called, letters.CALLED_MAX) do
      named[i] = number.text(called[i])
    end
    letters.write('{"called":[' .. table.concat(named, ',') .. '],"epoch":'
      .. number.text(line.epoch) .. ',"count":' .. number.text(count) .. '}')
  end
end

-- These were delivered, or given up.
function letters.forget(sent)
  for _, serial in ipairs(sent) do
    remove(serial)
  end
end

-- As many as a node would deliver now, those first that have been due longest: its own for a while.
function letters.hand_out(wants)
  local handed = {}
  if wants == 0 or line.letters == 0 then
    return handed
  end
  local due = call('ZRANGE', key.due, '-inf', line.clock_ms, 'BYSCORE', 'LIMIT', 0, min(wants, MAX_LETTERS))
  for i, member in ipairs(due) do
    local serial = number.unpack(member)
    local kept = call('HGET', key.letters, number.text(serial))
    local at_ms = struct.unpack('>I6', kept)
    call('ZADD', key.due, line.clock_ms + LEASE_MS, member)
    handed[i] = { serial, at_ms, kept:sub(7) }
  end
  return handed
end
