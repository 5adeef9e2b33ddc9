-- Hashes that forget by themselves, without walking their entries.
--
-- Owns joined, limits, asked and invites, each :0 and :1: two generations each, of which `state` says the young
-- one. What is written goes into the young one, what is read may come from either. When a generation is
-- over, the old one is dropped whole and its key becomes the young one.

function aging.open(name)
  return { name = name, known = {}, aged = {}, dirty = {}, pending = false, new = 0 }
end

local function keys(map)
  local young = line[map.name .. '_young']
  return key[map.name .. ':' .. young], key[map.name .. ':' .. (1 - young)]
end

-- Reads many entries at once, to be asked for later.
function aging.look(map, fields)
  local young, old = keys(map)
  local wanted, missing = {}, {}
  for _, field in ipairs(fields) do
    if map.known[field] == nil then
      map.known[field] = false
      wanted[#wanted + 1] = field
    end
  end
  for i, value in ipairs(many('HMGET', young, wanted)) do
    map.known[wanted[i]] = value
    missing[#missing + 1] = not value and wanted[i] or nil
  end
  for i, value in ipairs(many('HMGET', old, missing)) do
    map.known[missing[i]], map.aged[missing[i]] = value, value and true
  end
end

-- An entry, or false.
function aging.get(map, field)
  if map.known[field] == nil then
    aging.look(map, { field })
  end
  return map.known[field]
end

function aging.put(map, field, value)
  map.new = map.new + (map.known[field] and 0 or 1)
  map.known[field], map.dirty[field], map.pending = value, true, true
end

-- How many there are.
function aging.size(map)
  local young, old = keys(map)
  return call('HLEN', young) + call('HLEN', old) + map.new
end

-- Starts a generation if the last one began `lifetime_ms` ago or more.
function aging.age(map, lifetime_ms)
  if line.clock_ms - line[map.name .. '_since_ms'] < lifetime_ms then
    return
  end
  aging.flush(map) -- What was written before is of the generation before.
  map.known, map.aged = {}, {}
  local _, old = keys(map)
  call('UNLINK', old)
  line[map.name .. '_young'] = 1 - line[map.name .. '_young']
  line[map.name .. '_since_ms'] = line.clock_ms
end

-- Sends what is pending.
function aging.flush(map)
  if not map.pending then
    return
  end
  local young, old = keys(map)
  local set, gone = {}, {}
  for field in pairs(map.dirty) do
    set[#set + 1] = field
    set[#set + 1] = map.known[field]
    gone[#gone + 1] = map.aged[field] and field or nil
  end
  many('HSET', young, set)
  many('HDEL', old, gone)
  map.dirty, map.pending, map.new = {}, false, 0
end

-- Nobody is remembered, and nothing has begun.
function aging.wipe(map)
  local young, old = keys(map)
  call('UNLINK', young, old)
  line[map.name .. '_young'], line[map.name .. '_since_ms'] = 0, 0
  map.known, map.aged, map.dirty, map.pending = {}, {}, {}, false
end
