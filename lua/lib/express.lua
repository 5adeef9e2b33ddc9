-- The head of the line: visitors with a place of their own, kept one by one.
--
-- Owns the meaning of four sorted sets: express is number -> place of whoever waits, strayed the same of
-- whoever is away, called number -> when it was called, present number -> when somebody of express, classes or called
-- was last heard of. Those of a class are in sets of class.lua's.

-- 10,000 of them are a megabyte, and ten milliseconds to tell a node of.
express.MAX = 10000
-- So many at most where they will be drawn.
express.DRAWN_MAX = 2500
-- Lists of this kind go to the nodes no more often than this.
local PUBLISH_MS = 1000

function express.contains(n)
  return express.len() > 0
    and (scores.get(line.called, n) or express.waits(n) or express.is_away(n))
end

-- Waits here.
function express.waits(n)
  return scores.get(line.express, n) or scores.get(line.classes, n)
end

-- Would wait here, but is away.
function express.is_away(n)
  return scores.get(line.strayed, n) or scores.get(line.classes_away, n)
end

-- How many wait here.
function express.waiting()
  return line.express.size + line.classes.size
end

function express.len()
  return express.waiting() + line.strayed.size + line.classes_away.size + line.called.size
end

-- Reads where these numbers are at once; the numbers.
function express.look(numbers)
  for _, name in ipairs({ 'express', 'strayed', 'called', 'present', 'classes', 'classes_away' }) do
    scores.look(line[name], numbers)
  end
  return numbers
end

-- Puts somebody into express, heard of now.
function express.wait(n, place)
  scores.remove(line.strayed, n)
  scores.insert(line.express, n, place)
  scores.insert(line.present, n, line.clock_ms)
  line.head_changed = 1
end

-- Puts somebody of a class where they stand, heard of now.
function express.wait_classed(n, standpoint)
  scores.remove(line.classes_away, n)
  scores.insert(line.classes, n, class.score(standpoint))
  scores.insert(line.present, n, line.clock_ms)
  line.head_changed = 1
end

-- It is their turn.
function express.call(n)
  scores.remove(line.express, n)
  scores.remove(line.strayed, n)
  scores.remove(line.classes, n)
  scores.remove(line.classes_away, n)
  scores.insert(line.called, n, line.clock_ms)
  if not scores.get(line.present, n) then
    scores.insert(line.present, n, line.clock_ms) -- Being called is no sign of life.
  end
  line.head_changed = 1
end

function express.remove(n)
  scores.remove(line.express, n)
  scores.remove(line.strayed, n)
  scores.remove(line.classes, n)
  scores.remove(line.classes_away, n)
  scores.remove(line.called, n)
  scores.remove(line.present, n)
  line.head_changed = 1
end

-- Everybody here was just heard of.
function express.heard_all()
  scores.level(line.present, line.clock_ms)
end

-- One of the head was heard of.
function express.mark(n)
  local place, standpoint = scores.get(line.strayed, n), scores.get(line.classes_away, n)
  if place then
    express.wait(n, place)
    line.waiting = line.waiting + 1
  elseif standpoint then
    express.wait_classed(n, standpoint)
    line.waiting = line.waiting + 1
  elseif scores.get(line.present, n) then
    scores.insert(line.present, n, line.clock_ms)
  end
end

-- Those of the head who have been silent for as long as anybody in the bitmaps can be before a sweep
-- notices it.
function express.notice_strays()
  local most = budget.next()
  if line.clock_ms < config.silence_ms then
    return
  end
  local silent = scores.due(line.present, line.clock_ms - config.silence_ms, most)
  silent = budget.found(silent, most)
  for _, n in ipairs(express.look(silent)) do
    local place, score = scores.get(line.express, n), scores.get(line.classes, n)
    express.remove(n)
    if not place and not score then
      sweep.no_shows(1)
    else
      line.waiting, line.dropped = line.waiting - 1, line.dropped + 1
      if config.keep and place then
        scores.insert(line.strayed, n, place)
      elseif config.keep then
        scores.insert(line.classes_away, n, class.unscored(score))
      end
    end
  end
end

-- Counts a version, at most once a second.
function express.publish()
  if line.head_changed == 1 and line.clock_ms - line.head_published_ms >= PUBLISH_MS then
    line.head_version, line.head_changed = line.head_version + 1, 0
    line.head_published_ms = line.clock_ms
  end
end
