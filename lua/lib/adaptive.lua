-- A rate that follows the origin's health.
--
-- Owns the controller, kept packed in the field `control` of the state: a list of whole numbers, in the order of MEMORY, and last
-- the histogram of the window that runs. The law is written down in src/line/adaptive.rs.

local MEMORY = {
  'base', 'rate', 'stopped', 'why', 'bad', 'clean', 'all_slow', 'lowered', 'level', 'done', 'p95_ms',
  'slow_share', 'error_share', 'carry', 'began_ms', 'completed', 'fast', 'slow', 'answers', 'errors',
}
-- Where the figures of a node have the histogram of the origin, answers, errors, and requests by their verdict.
local ORIGIN, BUCKETS = 32, 29
local ANSWERS, ERRORS, FAST, SLOW = 62, 63, 65, 66

local WINDOW_MS, WINDOW_MAX_MS, WINDOW_FEW_MS, COMPLETIONS_MS, MEAN_MS = 1000, 5000, 20000, 2000, 16000
local ENOUGH = 20
local SLOW_ALLOWED, WORST, AIM, LOWERED_MAX = 50, 3000, 1000000, 500000
local GROWTH, GROWTH_FREE, FALL, BACK = 20, 150, 60, 750
local FEW, ALL_SLOW_MAX, CLEAN = 5, 15, 10
local STARTING, GROWING, STEADY, TOO_SLOW, TOO_WRONG, FAILING, SILENT, FOLLOWING = 0, 1, 2, 3, 4, 5, 6, 7

-- The ends of the histogram's buckets in microseconds.
local ENDS_US = {
  1000, 1500, 2250, 3375, 5062, 7594, 11391, 17086, 25629, 38443, 57665, 86498, 129746, 194620, 291929, 437894,
  656841, 985261, 1477892, 2216838, 3325257, 4987885, 7481828, 11222741, 16834112, 25251168, 37876752, 56815129,
  85222693,
}

-- The controller's memory: read when it is needed, written if it changed.
local control, stood

local function memory()
  if control then
    return control
  end
  control, stood = {}, line.control
  local found = stood and stood ~= '' and cmsgpack.unpack(stood) or {}
  for i, name in ipairs(MEMORY) do
    control[name] = found[i] or 0
  end
  control.took = found[#MEMORY + 1] or {}
  for i = 1, BUCKETS do
    control.took[i] = control.took[i] or 0
  end
  return control
end

-- Into the state, before it is written.
function adaptive.flush()
  if not control then
    return
  end
  local list = {}
  for i, name in ipairs(MEMORY) do
    list[i] = control[name]
  end
  list[#MEMORY + 1] = control.took
  line.control = cmsgpack.pack(list)
end

-- What nodes counted may matter to the rate.
function adaptive.weigh(figures)
  if not config.steered or #figures == 0 then
    return
  end
  local c = memory()
  c.fast, c.slow = c.fast + figures[FAST], c.slow + figures[SLOW]
  c.answers, c.errors = c.answers + figures[ANSWERS], c.errors + figures[ERRORS]
  for i = 1, BUCKETS do
    c.took[i] = c.took[i] + figures[ORIGIN + i]
  end
end

-- Another window, from now on.
local function open(c, clock_ms, completed)
  c.began_ms, c.completed = clock_ms, completed
  c.fast, c.slow, c.answers, c.errors = 0, 0, 0, 0
  for i = 1, BUCKETS do
    c.took[i] = 0
  end
end

local function p95_us(c)
  local total, below, low = 0, 0, 0
  for i = 1, BUCKETS do
    total = total + c.took[i]
  end
  local wanted = 95 * total
  for i = 1, BUCKETS do
    local count, stop = c.took[i], ENDS_US[i]
    if count > 0 and 100 * (below + count) >= wanted then
      local part = number.div((wanted - 100 * below) * 1000, 100 * count)
      return low + number.div((stop - low) * part, 1000)
    end
    below, low = below + count, stop
  end
  return 0
end

local function share(part, of)
  return of > 0 and min(number.div(part * 1000, of), 1000) or 0
end

-- The shares of the window, and its p95, which agrees with them.
local function measure(c, target_ms)
  c.slow_share, c.error_share = share(c.slow, c.fast + c.slow), share(c.errors, c.answers)
  local p95_ms = number.div(p95_us(c), 1000)
  if c.slow_share > SLOW_ALLOWED then
    c.p95_ms = max(p95_ms, target_ms + 1)
  else
    c.p95_ms = min(p95_ms, target_ms)
  end
end

-- Why there should be no turns, if so.
local function collapse(c, allowed)
  c.all_slow = c.slow_share >= 900 and c.all_slow + 1 or 0
  local few = c.stopped == 1 and 1 or FEW
  if c.answers >= few and c.error_share >= 500 and c.error_share > allowed then
    return FAILING
  end
  local late = c.all_slow >= ALL_SLOW_MAX and c.all_slow < 2 * ALL_SLOW_MAX
  if c.slow >= few and c.answers * 4 < c.slow or late then
    return SILENT
  end
  return nil
end

local function start(c, low)
  c.stopped, c.base, c.rate = 0, low, low
  c.level, c.all_slow, c.why = 0, 0, STARTING
end

-- The level that the window says, and whether errors make it.
local function now_at(c, steered, span_ms)
  local slow = c.slow_share
  if slow > SLOW_ALLOWED then
    local by = number.div(3 * (slow - SLOW_ALLOWED) * span_ms, SLOW_ALLOWED)
    c.lowered = min(c.lowered + by, LOWERED_MAX)
  else
    local by = number.div(3 * (SLOW_ALLOWED - slow) * span_ms, SLOW_ALLOWED)
    c.lowered = max(c.lowered - by, 0)
  end
  local latency = number.div(c.p95_ms * 1000, steered.target_ms)
  if slow > SLOW_ALLOWED then
    latency = max(latency, 1000 + number.div((slow - SLOW_ALLOWED) * 2000, 950))
  end
  latency = number.div(min(latency, WORST) * AIM, AIM - c.lowered)
  local errors = number.div(c.error_share * 1000, steered.max_errors)
  return min(max(latency, errors), WORST), errors >= latency
end

-- Far below the last rate that was too much, or there was none.
local function grows_free(c)
  return c.bad == 0 or c.base * 10 < c.bad * 8
end

local function follow_latency(c, steered, span_ms, limits)
  local low, high = steered.low, steered.high
  local now, by_errors = now_at(c, steered, span_ms)
  local before = c.level == 0 and now or c.level
  c.level = number.div(before + now, 2)
  local ahead = max(3 * c.level - 2 * before, 0)
  local grown = c.base
  if c.level > 1000 then
    if c.clean > 3 and c.base > low then
      if grows_free(c) then
        c.base = max(number.div(c.base * BACK, 1000), low)
      end
      c.bad = c.base
    end
    c.clean = 0
    local over = min(c.level - 1000, 1000)
    c.base = c.base - number.div(number.div(c.base * FALL * over, 1000) * span_ms, 1000000)
  else
    c.clean = c.clean + 1
    if c.bad > 0 and c.clean > CLEAN then
      c.bad = c.bad + max(number.div(c.bad, 100), 1)
    end
    if c.bad > high then
      c.bad = 0
    end
    if ahead < 1000 and limits then
      local growth = grows_free(c) and GROWTH_FREE or GROWTH
      local room = min(2 * (1000 - ahead), 1000)
      local by = number.div(number.div(c.base * growth * room, 1000) * span_ms, 1000000)
      c.base = c.base + max(by, 1)
    end
  end
  c.base = min(max(c.base, low), high)
  local cut = number.div(min(max(ahead - 1000, 0), 2000), 2)
  c.rate = max(number.div(c.base * (1000 - cut), 1000), low)
  if c.level > 1000 then
    c.why = by_errors and TOO_WRONG or TOO_SLOW
  else
    c.why = c.base > grown and GROWING or STEADY
  end
end

local function follow_completions(c, steered, within)
  if within then
    c.base = min(steered.low + number.div(c.done * 1250, steered.completes), steered.high)
  else
    c.base = min(max(number.div(c.done * 750, steered.completes), steered.low), steered.high)
  end
  c.rate, c.why = c.base, FOLLOWING
end

-- Whether what holds people up is the rate.
local function is_limit()
  if line.paused == 1 then
    return false
  elseif config.mode == 'shadow' then
    return shadow.would_hold_up()
  end
  local lets_in = config.mode == 'auto' or config.mode == 'drain'
  return lets_in and line.waiting > 0 and state.free_seats() > 0
end

local function is_over(c, lasted_ms, steered)
  local some = max(c.fast + c.slow, c.answers)
  if c.stopped == 0 and some > 0 and some < FEW then
    return lasted_ms >= WINDOW_FEW_MS
  end
  if steered.signal == 'completions' then
    return lasted_ms >= COMPLETIONS_MS
  end
  return lasted_ms >= WINDOW_MAX_MS or lasted_ms >= WINDOW_MS and c.fast + c.slow >= ENOUGH
end

-- Judges the window that is over.
local function judge(c, steered, lasted_ms)
  local done = number.div(max(line.completed - c.completed, 0) * 1000000, lasted_ms)
  local weight = min(lasted_ms, MEAN_MS)
  c.done = number.div((MEAN_MS - weight) * c.done + weight * done, MEAN_MS)
  local empty = c.fast + c.slow + c.answers == 0
  local why
  if not empty then
    measure(c, steered.target_ms)
    why = collapse(c, steered.max_errors)
  end
  local within = empty
    or c.slow_share <= SLOW_ALLOWED and c.error_share <= steered.max_errors
  if why then
    if c.base > steered.low then
      c.bad = max(c.bad, c.base)
    end
    c.stopped, c.base, c.rate, c.why = 1, steered.low, 0, why
  elseif c.stopped == 1 then
    start(c, steered.low)
  elseif steered.signal == 'completions' then
    follow_completions(c, steered, within)
  elseif not empty then
    follow_latency(c, steered, min(lasted_ms, WINDOW_MAX_MS), is_limit())
  end
end

-- Judges the window that runs, if it is over.
function adaptive.adapt()
  local steered = config.steered
  if not steered then
    if line.control and memory().began_ms > 0 then
      open(control, 0, 0)
    end
    return
  end
  local c = memory()
  c.base = min(max(c.base, steered.low), steered.high)
  if c.stopped == 0 then
    c.rate = min(max(c.rate, steered.low), steered.high)
  end
  if c.began_ms == 0 then
    open(c, line.clock_ms, line.completed)
  end
  local lasted_ms = line.clock_ms - c.began_ms
  if is_over(c, lasted_ms, steered) then
    judge(c, steered, lasted_ms)
    open(c, line.clock_ms, line.completed)
  end
end

-- Turns in 1,000 s, if they are fewer than was set.
function adaptive.slowed()
  local steered = config and config.steered
  local rate = steered and memory().rate
  return rate and rate < steered.high and rate or nil
end

-- Credits that a time is worth at so many turns in 1,000 s, to the last millionth.
function adaptive.credits(rate, cost, elapsed_ms)
  local c = memory()
  local millionths = rate * cost * elapsed_ms + c.carry
  local credits = number.div(millionths, 1000000)
  c.carry = millionths - credits * 1000000
  return credits
end

-- For the reply: whether the rate is steered, what it is, why, p95, and two shares.
function adaptive.told()
  if not (config and config.steered) then
    return { 0, 0, 0, 0, 0, 0 }
  end
  local c = memory()
  return { 1, c.rate, c.why, c.p95_ms, c.slow_share, c.error_share }
end
