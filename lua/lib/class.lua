-- Classes: who skips what, and the invites that prove it.
--
-- Owns the sorted set classes (number -> score of a class visitor who waits), classes_away (number -> standpoint of one
-- who is away) and what is in invites:0 and invites:1. A class number is `used` from the first moment on.
--
--   standpoint  place x 16 + (9 - rank)
--   score       the standpoint; with class_order strict, (9 - rank) x 2^44 more
--   invites     id -> epoch (six bytes), used, uses (four each), until_ms (six), revoked (one), then the class

local RANKS, RANK_MAX = 16, 9
local STRICT = 17592186044416 -- 2^44
-- An invite is good for no longer than this, and remembered for so long at least.
local INVITE_MS = 2678400000
-- Invites that are remembered at once.
local INVITES_MAX = 100000

local INVITED = '>I6I4I4I6B'

-- What became of somebody who asked for a class.
class.PLACED, class.ORDINARY, class.UNKNOWN, class.CROWDED = 1, 2, 3, 4
class.SPENT, class.REVOKED, class.EXPIRED = 5, 6, 7

-- Where a class visitor stands, as one number, whatever the order is.
function class.standpoint(place, rank)
  return place * RANKS + RANK_MAX - min(rank, RANK_MAX)
end

-- The same in the order in which the set is.
function class.score(standpoint)
  return line.class_strict == 1 and standpoint % RANKS * STRICT + standpoint or standpoint
end

-- From a score of either order.
function class.unscored(score)
  return score % STRICT
end

function class.place(score)
  return number.div(score % STRICT, RANKS)
end

function class.rank(score)
  return max(RANK_MAX - score % RANKS, 0)
end

-- The last standpoint below a place.
function class.below(place)
  return place * RANKS - 1
end

-- Whether somebody with this score goes before an ordinary visitor at a place.
function class.precedes(score, ordinary)
  return line.class_strict == 1 and class.rank(score) > 0 or class.place(score) <= ordinary
end

-- Those of a class who wait stand in the order that is set from now on. Nodes hear of it with the settings, and need no new list.
function class.reorder()
  local strict = config.class_order == 'strict' and 1 or 0
  if line.class_strict == strict then
    return
  end
  line.class_strict = strict
  if line.classes.size > 0 then
    scores.each(line.classes, function(_, score)
      return class.score(class.unscored(score))
    end)
  end
end

-- The class of a name, and its index from 1.
function class.find(name)
  for i, one in ipairs(config.classes or {}) do
    if one.name == name then
      return one, i
    end
  end
end

local function read(found)
  local epoch, used, uses, until_ms, revoked, at = struct.unpack(INVITED, found)
  -- A reset gives uses back, since it takes the places.
  return {
    epoch = epoch,
    used = epoch == line.epoch and used or 0,
    kept = used,
    uses = uses,
    until_ms = until_ms,
    revoked = revoked,
    class = found:sub(at),
  }
end

local function invited(id)
  local found = aging.get(line.invites, id)
  return found and read(found) or nil
end

local function put(id, epoch, used, one)
  aging.put(line.invites, id,
    struct.pack(INVITED, epoch, used, one.uses, one.until_ms, one.revoked) .. one.class)
end

-- Why an invite is not good, or nil.
local function refuses(invite)
  local left_ms = max(invite.until_ms - line.wall_ms, 0)
  local found = invited(invite.id)
  if left_ms == 0 or left_ms > INVITE_MS then
    return class.EXPIRED
  end
  if not found then
    return aging.size(line.invites) >= INVITES_MAX and class.CROWDED or nil
  end
  if found.revoked == 1 then
    return class.REVOKED
  end
  return invite.uses > 0 and found.used >= invite.uses and class.SPENT or nil
end

-- Whether a newcomer is of the class they ask for: what became of that, and a place and rank if they get one. Nobody's: nil.
function class.classify(keyed)
  if not keyed.class then
    return nil
  end
  local one = class.find(keyed.class)
  if not one then
    return class.UNKNOWN
  end
  local why = keyed.invite and refuses(keyed.invite)
  if why then
    return why
  end
  if one.skip == 0 and one.rank == 0 then
    return class.ORDINARY
  end
  if express.len() >= (line.prequeue_opens_ms > 0 and express.DRAWN_MAX or express.MAX) then
    return class.CROWDED
  end
  local n = line.issued + 1
  return class.PLACED, n - number.div(one.skip * max(n - line.released, 0), 1000), one.rank
end

-- An invite was used.
function class.spend(invite, name)
  local before = invited(invite.id)
  put(invite.id, line.epoch, (before and before.used or 0) + 1, {
    uses = invite.uses,
    until_ms = invite.until_ms,
    revoked = before and before.revoked or 0,
    class = name,
  })
end

-- An invite is no longer good; how often it was used.
function class.revoke(id)
  class.age()
  local before = invited(id)
  local one = before or { epoch = 0, kept = 0, used = 0, uses = 0, until_ms = 0, class = '' }
  one.revoked = 1
  put(id, one.epoch, one.kept, one)
  return one.used
end

-- Invites that may be forgotten are.
function class.age()
  aging.age(line.invites, INVITE_MS)
end

-- What is known of invites, of some if there are more than `most`: id in hex, used, uses, until_ms, revoked, class.
function class.found(most)
  local told, seen = {}, {}
  for nth = 0, 1 do
    local cursor = '0'
    repeat
      local page = call('HSCAN', key['invites:' .. nth], cursor, 'COUNT', most)
      cursor = page[1]
      for i = 1, #page[2], 2 do
        local hex = page[2][i]:gsub('.', function(c)
          return string.format('%02x', c:byte())
        end)
        if not seen[hex] then
          local one = read(page[2][i + 1])
          seen[hex] = true
          told[#told + 1] = { hex, one.used, one.uses, one.until_ms, one.revoked == 1, one.class }
        end
      end
    until cursor == '0' or #told >= most
  end
  return told
end
