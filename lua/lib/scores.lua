-- Numbers with a score, found by number and in the order of (score, number).
--
-- Owns the sorted sets inside, ended, express, strayed, called, present, spent, classes and classes_away; knows nothing of
-- what a score means. Changes gather in a table and reach Redis together, before the next question about an order or at
-- the end.

-- The highest number given when the script began: nobody above it is in a set yet, unless `known` says so.
local stored = 0

function scores.begin()
  stored = line.issued
end

-- A set, as it is and as it will be: its size, the scores that were asked for or changed, and whose changed.
-- If it is bare, whoever is not known is not there.
function scores.open(name)
  local size = call('ZCARD', key[name])
  return { key = key[name], size = size, bare = size == 0, known = {}, changed = {}, changes = 0 }
end

-- Reads many scores at once, to be asked for later.
function scores.look(set, numbers)
  if set.size == 0 then
    return
  end
  local args, wanted = {}, {}
  for _, n in ipairs(numbers) do
    if n <= stored and set.known[n] == nil then
      wanted[#wanted + 1] = n
      args[#args + 1] = number.pack(n)
    end
  end
  for i, score in ipairs(many('ZMSCORE', set.key, args)) do
    set.known[wanted[i]] = score and tonumber(score)
  end
end

-- A number's score, or false.
function scores.get(set, n)
  local score = set.known[n]
  if score ~= nil then
    return score
  end
  if set.bare or n > stored then
    return false
  end
  score = call('ZSCORE', set.key, number.pack(n))
  score = score and tonumber(score)
  set.known[n] = score
  return score
end

local function put(set, n, score)
  set.known[n], set.changes = score, set.changes + 1
  set.changed[set.changes] = n
end

function scores.insert(set, n, score)
  if not scores.get(set, n) then
    set.size = set.size + 1
  end
  put(set, n, score)
end

-- Takes a number out; whether it was there.
function scores.remove(set, n)
  if not scores.get(set, n) then
    return false
  end
  set.size = set.size - 1
  put(set, n, false)
  return true
end

-- Sends what is pending.
function scores.flush(set)
  if set.changes == 0 then
    return
  end
  local added, gone = {}, {}
  for _, n in ipairs(set.changed) do
    local score = set.known[n]
    if score then
      added[#added + 1] = number.text(score)
      added[#added + 1] = number.pack(n)
    else
      gone[#gone + 1] = number.pack(n)
    end
  end
  many('ZADD', set.key, added)
  many('ZREM', set.key, gone)
  set.changed, set.changes = {}, 0
end

-- Numbers, in the order in which Redis tells them and their scores.
local function told(set, found)
  local numbers = {}
  for i = 1, #found, 2 do
    local n = number.unpack(found[i])
    numbers[#numbers + 1], set.known[n] = n, tonumber(found[i + 1])
  end
  return numbers
end

-- Up to `most` of those with a score of at most `upto`, lowest first.
function scores.due(set, upto, most)
  if set.size == 0 then
    return {}
  end
  scores.flush(set)
  return told(
    set, call('ZRANGE', set.key, '-inf', upto, 'BYSCORE', 'LIMIT', 0, most, 'WITHSCORES'))
end

-- The first `most`, lowest first.
function scores.first(set, most)
  if set.size == 0 then
    return {}
  end
  scores.flush(set)
  return told(set, call('ZRANGE', set.key, 0, most - 1, 'WITHSCORES'))
end

-- Gives everybody the same score.
function scores.level(set, score)
  if set.size == 0 then
    return
  end
  scores.flush(set)
  local args = {}
  score = number.text(score)
  for _, member in ipairs(call('ZRANGE', set.key, 0, -1)) do
    args[#args + 1] = score
    args[#args + 1] = member
  end
  many('ZADD', set.key, args)
  set.known, set.bare, stored = {}, false, line.issued -- whoever was not stored is now
end

-- Gives everybody another score.
function scores.each(set, score)
  if set.size == 0 then
    return
  end
  scores.flush(set)
  local args, found = {}, call('ZRANGE', set.key, 0, -1, 'WITHSCORES')
  for i = 1, #found, 2 do
    args[#args + 1] = number.text(score(found[i], tonumber(found[i + 1])))
    args[#args + 1] = found[i]
  end
  many('ZADD', set.key, args)
  set.known, set.bare, stored = {}, false, line.issued -- whoever was not stored is now
end

-- All, as a node is told: six bytes of a number, its score in digits, between spaces.
function scores.told(set, low, most)
  if set.size == 0 then
    return ''
  end
  scores.flush(set)
  local found = call('ZRANGE', set.key, low, '+inf', 'BYSCORE', 'LIMIT', 0, most, 'WITHSCORES')
  return table.concat(found, ' ')
end

function scores.wipe(set)
  call('UNLINK', set.key)
  set.known, set.changed, set.changes, set.size, set.bare = {}, {}, 0, 0, true
end
