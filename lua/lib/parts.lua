-- The parts of the script and what they share.
--
-- Owns the names that every part may use; each file after this one fills one of the tables. A part has
-- the name of the file in src/line that it is the twin of, and does what that one does: where the two
-- differ, the model tests fail. Touches no key.
--
--   number    whole numbers as bytes and as text
--   bits      bitmaps indexed by place                        live, used, seen:0 .. seen:2, tmp:0, tmp:1
--   scores    sorted sets of numbers                          inside, ended, express, strayed, called, present,
--                                                             spent, hung, classes, classes_away
--   aging     hashes that forget by generations               joined:0, joined:1, limits:0, limits:1, asked:0, asked:1,
--                                                             invites:0, invites:1
--   state     the counters and clocks                         state
--   settings  what an operator has set
--   budget    how much an exchange does beside its batch
--   batch     what the node says: ARGV, read
--   slots     seats with names, and who hung up               slots, hung
--   seats     the times of seats                              seats
--   session   those inside, and how that ends
--   spend     passes that are good once
--   express   the head of the line
--   class     classes, and invites                            classes, classes_away, invites:0, invites:1
--   release   the bucket, the frontier, claim windows         releases
--   shadow    what would have happened
--   sweep     time passes, the silent are skipped
--   claim     a visitor shows up
--   roster    what visitors are called                        roster, named
--   join      newcomers
--   heal      what a line does that has lost something
--   orders    what operators ordered                          overrides, audit, asked:0, asked:1
--   letters   what somebody is to be told                     letters, due
--   history   the past, minute by minute                      history
--   adaptive  a rate that follows the origin
--   draw      schedules, and who is drawn to which place      the field draws of state
--   reply     what the node is told                           nodes, answers

local call = redis.call
local floor, min, max = math.floor, math.min, math.max

local number, bits, scores, aging, state, settings, batch = {}, {}, {}, {}, {}, {}, {}
local seats, session, spend, express, release, sweep = {}, {}, {}, {}, {}, {}
local claim, join, heal, reply, budget = {}, {}, {}, {}, {}
local orders, letters, history, shadow, class, adaptive, draw = {}, {}, {}, {}, {}, {}, {}
local slots, roster = {}, {}

-- The keys of a room, in the order of KEYS.
local NAMES = {
  'state', 'live', 'used', 'seen:0', 'seen:1', 'seen:2', 'inside', 'ended', 'seats', 'express', 'strayed',
  'called', 'present', 'releases', 'joined:0', 'joined:1', 'limits:0', 'limits:1', 'nodes', 'answers',
  'spent', 'overrides', 'audit', 'asked:0', 'asked:1', 'history', 'letters', 'due', 'slots', 'hung', 'roster',
  'named', 'classes', 'classes_away', 'invites:0', 'invites:1', 'tmp:0', 'tmp:1',
}

-- From a key's short name to its full one, as KEYS brought it.
local key = {}

-- The line: the fields of `state`, and beside them the bitmaps and sets, opened.
local line = {}

-- The settings in force, read; nil in a line that has none.
local config

-- Single items of a batch, endings that one reply tells, and whom a release names: MAX_ITEMS, MAX_TOLD and MAX_NAMED of
-- src/line/batch.rs.
local MAX_ITEMS, MAX_TOLD, MAX_NAMED = 250, 1000, 1000
-- Arguments of one command: Lua's stack holds 8,000. Whole threes, fours and pairs.
local MAX_ARGS = 6000

-- A command about any number of things, as often as its arguments need it; all its answers.
local function many(command, name, args)
  local answers = {}
  for first = 1, #args, MAX_ARGS do
    local found = call(command, name, unpack(args, first, min(first + MAX_ARGS - 1, #args)))
    if type(found) == 'table' then
      for i = 1, #found do
        answers[#answers + 1] = found[i]
      end
    end
  end
  return answers
end
