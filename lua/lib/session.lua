-- Those inside, and those who were: seats, their times, and how they end.
--
-- Owns the meaning of two sorted sets: inside is number -> when the seat is free, ended is number -> 8 x serial
-- + why, in the order in which sessions ended. A seat's time runs on the room's clock, a pass's on the wall
-- clock; a seat is free only when both are over.

session.COMPLETED, session.LEFT, session.REVOKED, session.IDLE, session.CAPPED = 1, 2, 3, 4, 5
session.REQUEUED = 6

-- The seat of somebody inside, or nil.
function session.seat(n)
  return scores.get(line.inside, n) and seats.read(n) or nil
end

-- How somebody's session ended, or nil.
function session.ending(n)
  local score = scores.get(line.ended, n)
  return score and score % 8 or nil
end

local function terms(seat)
  return { seat.admitted_ms, seat.issued_ms, seat.expires_ms, seat.slot }
end

local function sit(n, seat, until_ms)
  local inside = scores.get(line.inside, n)
  if not inside or slots.of(n) ~= seat.slot then
    roster.moved(n)
  end
  if inside then
    slots.stand_up(n)
  else
    draw.seat(n)
  end
  slots.sit(n, seat.slot)
  scores.remove(line.ended, n)
  seats.write(n, seat, 0)
  scores.insert(line.inside, n, until_ms)
end

-- Ends a session, or ends it otherwise than it had ended.
function session.close(n, seat, why)
  roster.moved(n)
  if scores.get(line.inside, n) then
    slots.stand_up(n)
  end
  scores.remove(line.inside, n)
  line.ended_serial = line.ended_serial + 1
  scores.insert(line.ended, n, line.ended_serial * 8 + why)
  seats.write(n, seat, line.clock_ms)
  return claim.OVER_ENDED + why
end

-- Notes an ending for as long as a pass made now would be good: how good the real one is, is unknown.
function session.close_unknown(n, why)
  session.close(n, {
    entered_ms = line.clock_ms,
    admitted_ms = line.wall_ms,
    issued_ms = line.wall_ms,
    expires_ms = line.wall_ms + settings.session_ms(),
    slot = 0,
  }, why)
end

-- Gives a visitor their seat. Whoever may be nobody who comes back gets it for `session_first` only.
function session.enter(n, comes_back)
  local span_ms = config.session_ms
  if not comes_back then
    span_ms = min(span_ms, config.session_first_ms)
  end
  local seat = {
    entered_ms = line.clock_ms,
    admitted_ms = line.wall_ms,
    issued_ms = line.wall_ms,
    expires_ms = line.wall_ms + span_ms,
    slot = slots.choose(n, 0),
  }
  line.entered, line.last_entry_ms = line.entered + 1, line.wall_ms
  sit(n, seat, line.clock_ms + span_ms)
  return terms(seat)
end

-- Until when activity now keeps a seat, or so many idle times; nil if `session_max` is over.
local function renewed_until_ms(entered_ms, times)
  local until_ms = line.clock_ms + times * config.idle_ms
  if not config.session_max_ms then
    return until_ms
  end
  local cap_ms = entered_ms + config.session_max_ms
  if cap_ms > line.clock_ms then
    return min(until_ms, cap_ms)
  end
end

-- Extends a seat, or gives one back; never shortens what a pass in the world already says.
local function extend(n, seat, times)
  local until_ms = renewed_until_ms(seat.entered_ms, times)
  if not until_ms then
    return session.close(n, seat, session.CAPPED)
  end
  until_ms = max(until_ms, scores.get(line.inside, n) or 0)
  seat.slot = slots.choose(n, seat.slot)
  seat.issued_ms = line.wall_ms
  seat.expires_ms = max(seat.expires_ms, line.wall_ms + max(until_ms - line.clock_ms, 0))
  sit(n, seat, until_ms)
  return terms(seat)
end

-- Somebody inside asks again: the same terms, byte for byte, unless the pass has run out.
function session.claim_again(n, seat)
  if line.hung.size > 0 then
    scores.remove(line.hung, n)
  end
  if seat.expires_ms > line.wall_ms then
    return terms(seat)
  end
  return extend(n, seat, 1)
end

-- Somebody whose session is over asks again: an idle one resumes while there is a seat.
function session.resume(n, why)
  if why == session.IDLE then
    local seat = seats.read(n)
    if seat.at_ms + config.idle_ms > line.clock_ms
      and state.free_seats() > 0
      and renewed_until_ms(seat.entered_ms, 1)
    then
      return extend(n, seat, 1)
    end
  end
  return claim.OVER_ENDED + why
end

-- Somebody turns out to have, or to have had, a seat the line did not know of: they are nowhere else, and
-- one less is missing, unless a seat was held for them as admitted.
local function find_missing(n)
  if not claim.take_out(n) then
    line.missing = max(line.missing - 1, 0)
  end
  bits.set(line.used, n)
end

-- A pass in force was used.
function session.renewal(n, admitted_ms, slot, extends)
  if not state.given(n) then
    return claim.UNKNOWN
  end
  local seat, times = session.seat(n), 1 + extends
  if seat then
    return extend(n, seat, times)
  end
  local why = session.ending(n)
  if why then
    return session.resume(n, why)
  end
  find_missing(n)
  local age_ms = max(line.wall_ms - admitted_ms, 0)
  return extend(n, {
    entered_ms = max(line.clock_ms - age_ms, 0),
    admitted_ms = admitted_ms,
    issued_ms = line.wall_ms,
    expires_ms = 0,
    slot = slot,
  }, times)
end

-- An operator keeps somebody's seat for an idle time more; whether there was one.
function session.keep_longer(n)
  local seat = session.seat(n)
  return seat ~= nil and type(extend(n, seat, 2)) == 'table'
end

-- What became of a leave or an end.
session.FREED, session.ALREADY, session.UNKNOWN, session.STALE = 0, 1, 2, 3

-- A session ends by the word of the origin or an operator.
function session.finish(n, why)
  if not state.given(n) then
    return session.UNKNOWN
  end
  local completed = why == session.COMPLETED and 1 or 0
  local seat = session.seat(n)
  if seat then
    line.completed = line.completed + completed
    session.close(n, seat, why)
    if why == session.REQUEUED then
      join.requeued(n)
    end
    return session.FREED
  end
  local ending = session.ending(n)
  if ending then
    if ending == session.IDLE then
      line.completed = line.completed + completed
      session.close(n, seats.read(n), why)
    end
    return session.ALREADY
  end
  line.completed = line.completed + completed
  local standing = state.standing(n)
  local in_line = standing == state.WAITING or standing == state.AWAY or standing == state.ADMITTED
  if in_line and (why == session.REVOKED or why == session.LEFT or why == session.REQUEUED) then
    -- Of somebody in the line this takes the place; a turn that had come is owed.
    if claim.take_out(n) then
      release.owe(1)
    end
    bits.set(line.used, n)
  else
    find_missing(n) -- Otherwise there was a session, and the line has lost it.
  end
  session.close_unknown(n, why)
  if in_line and why == session.REQUEUED then
    join.requeued(n)
  end
  return in_line and session.FREED or session.ALREADY
end

-- Somebody gives up their seat or their place.
function session.leave(n)
  if not state.given(n) then
    return session.UNKNOWN
  end
  local seat = session.seat(n)
  if seat then
    session.close(n, seat, session.LEFT)
    return session.FREED
  end
  if session.ending(n) then
    return session.ALREADY
  end
  local over = n < line.base or n <= line.lapsed or bits.get(line.used, n)
  if over and not express.contains(n) then
    return session.ALREADY
  end
  if claim.take_out(n) then
    release.owe(1)
  end
  bits.set(line.used, n)
  return session.FREED
end

-- A node knows that a session is over. One that merely went idle may have been resumed since.
function session.merge(n, why)
  local seat, ending = session.seat(n), session.ending(n)
  local known = seat and why == session.IDLE
  if ending then
    known = ending ~= session.IDLE or why == session.IDLE
  end
  if known or not state.given(n) then
    return
  end
  if seat or ending then
    session.close(n, seats.read(n), why)
  else
    claim.take_out(n)
    bits.set(line.used, n)
    session.close_unknown(n, why)
  end
end

-- Frees the seats whose time is over.
function session.expire()
  local most = budget.next()
  local due = budget.found(scores.due(line.inside, line.clock_ms, most), most)
  scores.look(line.ended, due)
  seats.look(due)
  for _, n in ipairs(due) do
    local seat = seats.read(n)
    if seat.expires_ms > line.wall_ms then
      scores.insert(line.inside, n, line.clock_ms + seat.expires_ms - line.wall_ms)
    else
      local capped = not renewed_until_ms(seat.entered_ms, 1)
      session.close(n, seat, capped and session.CAPPED or session.IDLE)
    end
  end
end

-- Forgets old endings, oldest first; one whose pass is still good would open the door again.
function session.forget()
  local keep_ms, most = 2 * config.session_ms, budget.next()
  local function old(n)
    return n and seats.read(n).at_ms + keep_ms <= line.clock_ms
  end
  if not old(scores.first(line.ended, 1)[1]) then
    return
  end
  local log, due = scores.first(line.ended, most), {}
  seats.look(log)
  for _, n in ipairs(log) do
    if not old(n) then
      break
    end
    due[#due + 1] = n
  end
  for _, n in ipairs(budget.found(due, most)) do
    local seat = seats.read(n)
    if seat.expires_ms > line.wall_ms then
      session.close(n, seat, session.ending(n))
    else
      scores.remove(line.ended, n)
      seats.remove(n)
    end
  end
end
