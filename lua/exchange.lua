-- exchange: applies one node's batch to one room's line, and says what became of it.
--
-- KEYS  state live used seen:0 seen:1 seen:2 inside ended seats express strayed called present releases
--       joined:0 joined:1 limits:0 limits:1 nodes answers spent overrides audit asked:0 asked:1 history
--       letters due slots hung roster named classes classes_away invites:0 invites:1 tmp:0 tmp:1
--       in this order, each as anteroom:{ROOM}:NAME: one hash tag, so one slot of a cluster
-- ARGV  fifteen, see lib/batch.lua: the head, the node, the offer, the lists, the keyed joins, three bitmaps,
--       orders, the node about itself, tags, the report's overrides, names, the lot, the report's draws
-- reply fifteen strings, see lib/reply.lua; or { "layout", N } if the keys are of a newer layout than this script
--       knows: then nothing was touched
--
-- Why it is one script: numbers are given once, seats never twice, and every periodic duty is done by
-- whichever node comes first, because nothing happens between the first read and the last write. No
-- leader, no lock, no time of any node's own.
--
-- The order is that of src/line/mod.rs, "The exchange, in order", and so are the rules. All input is read
-- before the first write, and after it nothing can fail: Redis does not undo half a script. The first line of
-- the whole, #!lua, makes Redis refuse it altogether when memory is short.

for i, name in ipairs(NAMES) do
  key[name] = KEYS[i]
end

-- The most the room's clock moves in one exchange: longer is an outage, and counts against nobody.
local TICK_MAX_MS = 2000

-- When, and on whose memory, this happens: by the server itself, unless the caller turns the clock.
local function moment()
  if batch.run > 0 then
    return batch.wall_ms, batch.run
  end
  local now = call('TIME')
  local wall_ms = tonumber(now[1]) * 1000 + floor(tonumber(now[2]) / 1000)
  -- Of the 40 digits of the run id, 13 are exact as a number. Never 0.
  local run = tonumber(call('INFO', 'server'):match('run_id:(%x+)'):sub(1, 13), 16)
  return wall_ms, max(run, 1)
end

-- Moves the room's clock; by how much.
local function tick(wall_ms)
  local elapsed_ms = min(max(wall_ms - line.wall_ms, 0), TICK_MAX_MS)
  line.wall_ms = wall_ms
  if line.clock_ms == 0 then
    line.clock_ms = wall_ms
    return 0
  end
  line.clock_ms = line.clock_ms + elapsed_ms
  return elapsed_ms
end

-- An answer to each of a list, or to each so many of it.
local function each(list, width, answer)
  local answers = {}
  for i = 1, #list, width do
    answers[#answers + 1] = answer(list[i], list[i + 1], list[i + 2], list[i + 3])
  end
  return answers
end

-- What the batch says about numbers. Of another epoch, or of a time before the last draw, they are stale.
local function hear(answers)
  history.add(batch.figures)
  adaptive.weigh(batch.figures)
  letters.forget(batch.sent)
  local stale = not state.means(batch)
  local function list(items, width, code, answer)
    return each(items, width, stale and function() return code end or answer)
  end
  if not stale then
    local numbers = {}
    for _, items in ipairs({ batch.present, batch.leaves, batch.spends, batch.returns, batch.vouched,
      batch.claims, batch.hangups }) do
      for _, n in ipairs(items) do
        numbers[#numbers + 1] = n
      end
    end
    for width, items in pairs({ [2] = batch.ends, [4] = batch.renewals }) do
      for i = 1, #items, width do
        numbers[#numbers + 1] = items[i]
      end
    end
    claim.mark_each(batch.marks)
    state.look(numbers)
    if batch.mark_bits ~= '' then
      claim.mark_all(batch.mark_bits, batch.mark_from)
    end
    each(batch.present, 1, express.mark)
  end
  answers.leaves = list(batch.leaves, 1, session.STALE, session.leave)
  answers.ends = list(batch.ends, 2, session.STALE, session.finish)
  answers.spends = list(batch.spends, 1, session.STALE, spend.spend)
  answers.renewals = list(batch.renewals, 4, claim.STALE, session.renewal)
  answers.returns = list(batch.returns, 1, claim.STALE, function(n)
    return claim.come_back(n, false)
  end)
  answers.vouched = list(batch.vouched, 1, claim.STALE, function(n)
    return claim.come_back(n, true)
  end)
  local nth = 0
  answers.claims = list(batch.claims, 1, claim.STALE, function(n)
    nth = nth + 1
    return claim.claim_and_tell(n, nth)
  end)
  if not stale then
    each(batch.hangups, 1, slots.hang_up)
  end
end

-- Everything that follows once the line has settings and its memory.
local function go_on(elapsed_ms, fresh, answers)
  local waited = line.waiting > 0
  history.turn()
  orders.end_overrides()
  local turned = sweep.turn_ring()
  if fresh then
    hear(answers)
  end
  express.notice_strays()
  if turned then
    sweep.sweep()
    budget.sweep()
    reply.swept()
    roster.forget()
  else
    sweep.move_base()
  end
  release.lapse()
  session.forget()
  spend.forget()
  session.expire()
  slots.leave()
  adaptive.adapt()
  release.refill(elapsed_ms)
  heal.forget_missing()
  local epoch, drawn, steps = line.epoch, line.draw_version, budget.next()
  release.begin(steps)
  if fresh then
    local nth = 0
    answers.commands = each(batch.commands, 2, function(kind, count)
      nth = nth + 1
      return orders.order(nth, kind, count)
    end)
  end
  draw.follow(batch.lot)
  if fresh then
    answers.joins = join.join()
  end
  budget.take(steps - release.by_pace(join.given, elapsed_ms))
  if fresh then
    claim.enter_claims(epoch, drawn, answers.claims)
    claim.enter_joins(answers.joins)
  end
  release.record()
  express.publish()
  roster.publish()
  if waited and line.waiting == 0 then
    letters.write('{"emptied":true}')
  end
end

-- The line before: read, and written back with its reply.
local function exchange()
  batch.read()
  local layout = state.layout()
  if layout > state.LAYOUT then
    return { 'layout', number.text(layout) }
  end
  if layout == 0 then
    call('UNLINK', unpack(KEYS)) -- A line without a memory: what is left of one is nobody's.
  end
  state.load()
  line.layout = state.LAYOUT
  local wall_ms, run = moment()
  local elapsed_ms = tick(wall_ms)
  if line.run ~= run then
    line.run = run
    heal.begin_settling()
  end
  heal.learn(batch.known)
  local last = reply.last_sequence()
  local fresh = batch.sequence > last
  local answers = { offered = '' }
  if fresh or heal.is_settling() then
    answers.offered = settings.take(batch.offer)
  end
  local told
  if not heal.settled(batch.known, batch.report) then
    local left_ms = max(line.settling_until_ms - line.clock_ms, 0)
    told = reply.reply(reply.SETTLING, left_ms, answers)
  elseif not config then
    told = reply.reply(reply.UNCONFIGURED, 0, answers)
  else
    go_on(elapsed_ms, fresh, answers)
    told = reply.reply(nil, 0, answers, last)
  end
  call('UNLINK', key['tmp:0'], key['tmp:1'])
  state.save()
  return told
end

return exchange()
