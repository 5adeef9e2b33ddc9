-- What the node says: ARGV, read whole before anything is written.
--
-- Owns the shapes of the arguments; src/store/redis/wire.rs writes them. Touches no key.
--
--   ARGV[1]  msgpack, whole numbers: layout, wall_ms, run (0 0: the server's own), sequence, epoch,
--            known: epoch, issued, released, lapsed, taken; have: run, bits, express, ended, settings;
--            report (0 none, 1 there is one, 1 more if it says paused, 2 more if it is a part and another follows); the first places of the next two and
--            of ARGV[6]; how many letters the node would deliver; have: roster, draws; the last draw it knows of
--   ARGV[2]  the node, 16 bytes
--   ARGV[3]  the offer: empty; or its version in 20 digits and the settings as JSON; or "!" and what is
--            wrong with them
--   ARGV[4]  msgpack, lists of whole numbers, pairs one after the other: marks, present, leaves,
--            ends (number, why), renewals (number, admitted_ms, slot, extend), returns, vouched, claims,
--            commands (kind, count), joins (how many, or -1: the next of ARGV[5]),
--            of the report: express (number, place), called, ended (number, why); spends; sent letters; figures;
--            hang-ups; of the report: classes (number, standpoint); of keyed joins the number that is over, or 0
--   ARGV[5]  keyed joins: a byte that says which keys follow (1 once, 2 idempotency, 4 address,
--            8 device, 16 user, 32 proof), then 16 bytes each; 64: a class follows, its length in a byte and its name;
--            128: an invite follows, its id in 16 bytes, how often it may be used in four, until_ms in six
--   ARGV[6]  marks beyond those above, as bits: the highest bit of the first byte is the first place
--   ARGV[7]  the report's live, likewise
--   ARGV[8]  the report's used, likewise
--   ARGV[9]  JSON: for each command its note, key and print in hex if it may come again, and what it sets as a list
--            of name, value (false: the file's) and for how long; empty if there are no commands
--   ARGV[10] what the node says about itself; empty is nothing
--   ARGV[11] JSON: a list of whose (of claims, then of joins, from 0) and the tag; empty is none
--   ARGV[12] JSON: the report's overrides: their serial, and a list of name, value and when it ends; empty is none
--   ARGV[13] JSON: names of keyed joins (which of them, from 1; name; the same folded), and of the report (number, name,
--            folded); empty is none
--   ARGV[14] the lot: opens_ms, kid, hash and seed (or -) between spaces, hash and seed in hex; empty is none
--   ARGV[15] the report's draws, as [15] of the reply; empty is none

local KEYED = { 'once', 'idempotency', 'address', 'device', 'user', 'proof' }

local function offer(text)
  if text == '' then
    return nil
  end
  if text:sub(1, 1) == '!' then
    return { problems = text:sub(2) }
  end
  return { version = text:sub(1, 20), text = text:sub(21) }
end

local function bytes_of(hex)
  return (hex:gsub('%x%x', function(two)
    return string.char(tonumber(two, 16))
  end))
end

local function slips(text)
  local read = text ~= '' and cjson.decode(text) or {}
  for _, slip in ipairs(read) do
    slip.key, slip.print = slip.key and bytes_of(slip.key), slip.print and bytes_of(slip.print)
    slip.id = slip.invite and bytes_of(slip.invite)
  end
  return read
end

local function tags(text)
  local found = {}
  for _, tag in ipairs(text ~= '' and cjson.decode(text) or {}) do
    found[tag[1]] = found[tag[1]] or tag[2]
  end
  return found
end

local function keyed(bytes)
  local joins, at = {}, 1
  while at <= #bytes do
    local flags, one = bytes:byte(at), {}
    at = at + 1
    for _, name in ipairs(KEYED) do
      if flags % 2 == 1 then
        one[name] = bytes:sub(at, at + 15)
        at = at + 16
      end
      flags = floor(flags / 2)
    end
    if flags % 2 == 1 then
      local length = bytes:byte(at)
      one.class = bytes:sub(at + 1, at + length)
      at = at + 1 + length
    end
    if flags >= 2 then
      one.invite = { id = bytes:sub(at, at + 15) }
      one.invite.uses, one.invite.until_ms, at = struct.unpack('>I4I6', bytes, at + 16)
    end
    joins[#joins + 1] = one
  end
  return joins
end

local function lot(text)
  local opens_ms, kid, hash, seed = text:match('^(%d+) (%S+) (%x+) (%S+)$')
  if opens_ms then
    return { opens_ms = tonumber(opens_ms), kid = kid, hash = hash, seed = seed ~= '-' and seed or nil }
  end
end

function batch.read()
  local head, lists = cmsgpack.unpack(ARGV[1]), cmsgpack.unpack(ARGV[4])
  batch.wall_ms, batch.run, batch.sequence, batch.epoch = head[2], head[3], head[4], head[5]
  batch.known =
    { epoch = head[6], issued = head[7], released = head[8], lapsed = head[9], taken = head[10] }
  batch.have =
    { run = head[11], bits = head[12], express = head[13], ended = head[14], settings = head[15],
      roster = head[21], draws = head[22] }
  batch.node, batch.offer, batch.keyed = ARGV[2], offer(ARGV[3]), keyed(ARGV[5])
  batch.marks, batch.present, batch.leaves, batch.ends = lists[1], lists[2], lists[3], lists[4]
  batch.renewals, batch.returns, batch.vouched = lists[5], lists[6], lists[7]
  batch.claims, batch.commands, batch.joins, batch.spends = lists[8], lists[9], lists[10], lists[14]
  batch.sent, batch.figures, batch.wants = lists[15], lists[16], head[20]
  batch.slips, batch.about, batch.tags = slips(ARGV[9]), ARGV[10], tags(ARGV[11])
  batch.hangups = lists[17]
  for i, n in ipairs(lists[19]) do
    batch.keyed[i].over = n > 0 and n or nil
  end
  local names = ARGV[13] ~= '' and cjson.decode(ARGV[13]) or { {}, {} }
  for _, one in ipairs(names[1]) do
    batch.keyed[one[1]].name = { one[2], one[3] }
  end
  batch.mark_bits, batch.mark_from = ARGV[6], head[17]
  batch.draw, batch.lot = head[23], lot(ARGV[14])
  if head[16] > 0 then
    batch.report = {
      paused = (head[16] - 1) % 2 == 1,
      more = head[16] > 2,
      live = ARGV[7],
      live_from = head[18],
      used = ARGV[8],
      used_from = head[19],
      express = lists[11],
      called = lists[12],
      ended = lists[13],
      classes = lists[18],
      overrides = ARGV[12] ~= '' and cjson.decode(ARGV[12]) or nil,
      names = names[2],
      draws = ARGV[15],
    }
  end
end
