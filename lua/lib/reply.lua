-- What the node is told.
--
-- Owns the shapes of the reply, and the hashes nodes and answers: what each node was last told, in case it
-- did not hear it. src/store/redis/wire.rs reads the reply.
--
--   [1] msgpack, whole numbers: taken (0 applied, 1 repeated, 2 superseded, 3 settling, 4 unconfigured),
--       left_ms, run, wall_ms; epoch, clock_ms, issued, released, lapsed, waiting, admitted, inside, missing,
--       paused, turns, turns_1m, turns_10m, turns_since_ms, entered, completed, no_shows, dropped,
--       last_entry_ms, nodes, swept_by in six, six and four bytes, swept_ms, backlog, letters, letters_lost, shadow_waiting,
--       classed, class_overflow, class_balance, draw; then
--       bits version, from, head version, serial of the settings and version of the roster: 0 for what is not newer than
--       the node has;
--       last whether the rate follows the origin, turns in 1,000 s, why (src/line/adaptive.rs), p95_ms, thousandths slow, errors
--   [2] msgpack: { what became of the offer, { whole numbers } }; the numbers are, for leaves, ends, renewals,
--       returns, vouched, claims, commands, joins and spends, how many there are and then each, see below
--   [3] endings after the last one the node has: number and 8 x serial + why
--   [4] live from `from` on, [5] used from `from` on
--   [6] express, [7] strayed: number and place. [8] called: number and when
--   [9] the settings of the file as JSON. [10] msgpack: the overrides' serial, and a list of name, value, until_ms
--   [11] msgpack: letters for the node to deliver, a list of serial, at_ms, text
--   [12] msgpack: the roster, a list of number, whether inside, slot, name
--   [13] classes: number and score. [14] classes_away: number and standpoint
--   [15] draws, if they are newer: serial, version, opens_ms and after of the pre-queue, opens_ms, kid and hash of the promise
--       (or - - -); then a line for each draw, see lib/draw.lua
--
-- [3], [6] to [8], [13] and [14] are six bytes of a number and a score in digits, between spaces.
--
--   leave, end, spend          0 freed, 1 already, 2 unknown, 3 stale
--   renewal, return, vouched,  0 waiting, 1 admitted, 2 unknown, 3 stale, 4 passed, 5 used, 5 + why ended,
--     claim                    12 away and no room at the head, 20 inside and admitted_ms, issued_ms, expires_ms, slot
--   command                    0 done, 1 released and count, from express, after, upto, how many are named and each,
--                              2 ended and as to an end, 3 conflict, 4 repaired and how many
--   join                       0 given and epoch, first, count, entered, joined_ms, and 0, or 1 and terms; then
--                              the class: 0 none asked for, 1 and place and rank, 2 ordinary, 3 unknown, 4 crowded,
--                              5 spent, 6 revoked, 7 expired
--                              1 already and epoch, number, joined_ms, proven, standing, its class's index from 1 or 0
--                              2 full, 3 closed, 4 limited and subject (0 address, 1 device, 2 user), retry_ms,
--                              5 the name is taken
--   why                        1 completed, 2 left, 3 revoked, 4 idle, 5 capped, 6 requeued
--   standing                   0 unknown, 1 waiting, 2 away, 3 admitted, 4 active, 5 completed, 6 passed,
--                              7 used, 7 + why ended

reply.APPLIED, reply.REPEATED, reply.SUPERSEDED, reply.SETTLING, reply.UNCONFIGURED = 0, 1, 2, 3, 4

local NODE = '>I8I6' -- sequence, heard_ms; then what it says about itself
-- A node that has been silent this long will not repeat its last batch.
local NODE_MEMORY_MS = 3600000
-- One that was silent for this long at a sweep is not counted.
local NODE_SILENT_MS = 60000
local UUID = '>I6I6I4'

-- When the node that speaks was last heard of; nil if it never was. And what it said about itself.
local heard_before, about = nil, ''

-- The last sequence of the node that speaks.
function reply.last_sequence()
  local found, sequence = call('HGET', key.nodes, batch.node), 0
  if found then
    sequence, heard_before = struct.unpack(NODE, found)
    about = found:sub(15)
  end
  return sequence
end

-- This node has swept. Forgets nodes that have been silent for an hour, and counts those heard of in the
-- last minute.
function reply.swept()
  local found = call('HGETALL', key.nodes)
  line.swept_by, line.swept_ms, line.nodes_heard = batch.node, line.clock_ms, 0
  for i = 1, #found, 2 do
    local _, heard_ms = struct.unpack(NODE, found[i + 1])
    if heard_ms + NODE_SILENT_MS > line.clock_ms then
      line.nodes_heard = line.nodes_heard + 1
    elseif heard_ms + NODE_MEMORY_MS <= line.clock_ms then
      call('HDEL', key.nodes, found[i])
      call('HDEL', key.answers, found[i])
    end
  end
end

-- The numbers that answer a batch's items, one after the other.
local tape, length = {}, 0

local function put(value)
  length = length + 1
  tape[length] = value
end

local function put_all(values)
  for i = 1, #values do
    put(values[i])
  end
end

local function put_claimed(claimed)
  if type(claimed) == 'table' then
    put(claim.INSIDE)
    put_all(claimed)
  else
    put(claimed)
  end
end

local function put_joined(joined)
  if joined.first then
    put_all({ 0, joined.epoch, joined.first, joined.count, joined.entered, line.wall_ms })
    put(joined.terms and 1 or 0)
    put_all(joined.terms or {})
    put(joined.classed or 0)
    put_all({ joined.place, joined.rank })
  elseif joined.number then
    put_all({ 1, joined.epoch, joined.number, joined.joined_ms })
    put(joined.proven and 1 or 0)
    put(joined.standing)
    put(joined.class)
  else
    put(joined.code)
    if joined.code == join.LIMITED then
      put(joined.subject)
      put(joined.retry_ms)
    end
  end
end

-- The answers to a batch's items, packed.
local function packed(answers)
  local function list(items, each)
    items = items or {}
    put(#items)
    for _, item in ipairs(items) do
      each(item)
    end
  end
  list(answers.leaves, put)
  list(answers.ends, put)
  list(answers.renewals, put_claimed)
  list(answers.returns, put_claimed)
  list(answers.vouched, put_claimed)
  list(answers.claims, put_claimed)
  list(answers.commands, put_all)
  list(answers.joins, put_joined)
  list(answers.spends, put) -- last: what layout 1 kept ends before them
  return cmsgpack.pack({ answers.offered, tape })
end

-- Remembers what the node is told; what it is told if it was told before.
local function remember(answers, last)
  if batch.sequence > last then
    local told = packed(answers)
    if not heard_before or heard_before + NODE_SILENT_MS <= line.swept_ms then
      line.nodes_heard = line.nodes_heard + 1
    end
    about = batch.about ~= '' and batch.about or about
    call('HSET', key.nodes, batch.node, struct.pack(NODE, batch.sequence, line.clock_ms) .. about)
    call('HSET', key.answers, batch.node, told)
    return reply.APPLIED, told
  end
  if batch.sequence == last then
    return reply.REPEATED, call('HGET', key.answers, batch.node) or packed(answers)
  end
  return reply.SUPERSEDED, packed(answers)
end

-- What is newer than the node has: put into the reply; its versions. A line that settles knows less than the node: nothing. Bits are
-- not told in an exchange that has swept, if those that the node has were the line's until then.
local function update(told, taken)
  local have = batch.have
  if taken == reply.SETTLING then
    return { 0, 0, 0, 0, 0 }
  end
  local known = have.run == line.run
  if not known then
    have = { bits = 0, express = 0, ended = 0, settings = 0, roster = 0, draws = 0 }
  end
  local version, from, head, serial = 0, 0, 0, 0
  if have.ended < line.ended_serial then
    told[3] = scores.told(line.ended, (have.ended + 1) * 8, MAX_TOLD)
  end
  local withheld = budget.swept and known and have.bits == line.bits_version - 1
  if have.bits ~= line.bits_version and not withheld then
    version, from = line.bits_version, number.div(line.lapsed, 64) * 64
    told[4] = bits.copy(line.live, from, line.issued)
    told[5] = bits.copy(line.used, from, line.issued)
  end
  -- With bits always: they say of a class visitor only that the number is used.
  if have.express ~= line.head_version or version > 0 and line.head_changed == 1 then
    head = line.head_version
    told[6] = scores.told(line.express, '-inf', -1)
    told[7] = scores.told(line.strayed, '-inf', -1)
    told[8] = scores.told(line.called, '-inf', -1)
    told[13] = scores.told(line.classes, '-inf', -1)
    told[14] = scores.told(line.classes_away, '-inf', -1)
  end
  if config and have.settings ~= line.serial then
    serial, told[9], told[10] = line.serial, line.settings, orders.told()
  end
  local named = 0
  if have.roster ~= line.roster_version then
    named, told[12] = line.roster_version, roster.told()
  end
  if have.draws ~= line.draws_serial then
    told[15] = draw.told()
  end
  return { version, from, head, serial, named }
end

-- The whole reply. `last`: the node's last sequence, if the line went through the exchange.
function reply.reply(taken, left_ms, answers, last)
  local told = { '', '', '', '', '', '', '', '', '', '', '', '', '', '', '' }
  if last then
    taken, told[2] = remember(answers, last)
    told[11] = cmsgpack.pack(letters.hand_out(batch.wants))
  else
    told[2] = packed(answers)
  end
  local turns_1m, turns_10m = release.turns_ago()
  local high, middle, low = struct.unpack(UUID, line.swept_by or string.rep('\0', 16))
  local head = {
    taken, left_ms, line.run, line.wall_ms,
    line.epoch, line.clock_ms, line.issued, line.released, line.lapsed,
    line.waiting, state.admitted(), line.inside.size, line.missing, line.paused,
    line.turns, turns_1m, turns_10m, line.opened_ms,
    line.entered, line.completed, line.no_shows, line.dropped, line.last_entry_ms,
    line.nodes_heard, high, middle, low, line.swept_ms, budget.backlog and 1 or 0,
    line.letters, line.letters_lost, line.shadow_waiting, line.classes.size,
    line.class_overflow, line.class_balance, line.draw_version,
  }
  for _, version in ipairs(update(told, taken)) do
    head[#head + 1] = version
  end
  for _, figure in ipairs(adaptive.told()) do
    head[#head + 1] = figure
  end
  told[1] = cmsgpack.pack(head)
  return told
end
