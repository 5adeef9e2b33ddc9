-- Passes that are good once: which of them were spent.
--
-- Owns the meaning of the sorted set spent: number -> until when that is remembered, on the room's clock. Goes
-- by number, because whatever a pass becomes, renewed or resumed, it is the same one.

local function remember(n)
  scores.insert(line.spent, n, line.clock_ms + 2 * config.session_ms)
end

-- A pass is used up, once.
function spend.spend(n)
  if not state.given(n) then
    return session.UNKNOWN
  end
  if scores.get(line.spent, n) then
    return session.ALREADY
  end
  remember(n)
  return session.FREED
end

-- Forgets those of which no pass can be good any more: the line knows of no seat, in use or over. In the steps that the
-- endings before have left.
function spend.forget()
  local most = budget.rest()
  local due = budget.found(scores.due(line.spent, line.clock_ms, most), most)
  scores.look(line.inside, due)
  scores.look(line.ended, due)
  for _, n in ipairs(due) do
    if scores.get(line.inside, n) or scores.get(line.ended, n) then
      remember(n)
    else
      scores.remove(line.spent, n)
    end
  end
end
