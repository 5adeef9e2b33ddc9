-- A visitor shows up: seen, back, or wanting in.
--
-- Owns what a sign of life does to a place. Touches keys only through bits and scores. What becomes of
-- somebody is a code, or the terms of a pass: { admitted_ms, issued_ms, expires_ms, slot }.

claim.WAITING, claim.ADMITTED, claim.UNKNOWN, claim.STALE = 0, 1, 2, 3
claim.OVER_PASSED, claim.OVER_USED, claim.OVER_ENDED = 4, 5, 5 -- + why: 6 to 11
claim.AWAY = 12 -- passed over, and no room at the head yet
claim.INSIDE = 20 -- and the terms

-- An ordinary visitor is here, if the line did not know.
local function appear(place)
  if place > line.released and not bits.get(line.used, place) and bits.set(line.live, place) then
    line.waiting = line.waiting + 1
  end
end

-- An ordinary visitor was heard of.
function claim.mark(place)
  if state.given(place) and place >= line.base then
    bits.set(state.seen(), place)
    appear(place)
  end
end

-- Ordinary visitors were heard of, from all over the line. Most are live: only of the others it matters whether they are used.
function claim.mark_each(places)
  local heard, back = {}, {}
  bits.look(line.live, places)
  for _, place in ipairs(places) do
    if state.given(place) and place >= line.base then
      heard[#heard + 1] = place
      if not bits.get(line.live, place) then
        back[#back + 1] = place
      end
    end
  end
  bits.set_all(state.seen(), heard)
  bits.look(line.used, back)
  for _, place in ipairs(back) do
    appear(place)
  end
end

-- More of them than a list would be good for, as bits.
function claim.mark_all(bytes, from)
  local heard, spare = line['tmp:0'], line['tmp:1']
  if not bits.lay(heard, bytes, from, max(line.base, 1), line.issued) then
    return
  end
  bits.unite(state.seen(), heard, spare)
  bits.clear_range(heard, line.base, line.released)
  local low, high = max(heard.first, line.released + 1), bits.last_place(heard)
  if low > high then
    return
  end
  if bits.first_one(line.used, low, high) then
    bits.subtract(heard, line.used, spare)
  end
  local before = bits.count(line.live, low, high)
  bits.unite(line.live, heard, spare)
  line.waiting = line.waiting + bits.count(line.live, low, high) - before
end

-- To the head, once: `used` says that it was. While there is no room they stay where they are, and are to ask again.
local function late_return(n)
  if express.len() >= express.MAX then
    return claim.AWAY
  end
  bits.set(line.used, n)
  express.wait(n, line.released)
  line.waiting = line.waiting + 1
  return claim.WAITING
end

-- Somebody is here again. `vouched`: a node that was cut off saw them in time.
function claim.come_back(n, vouched)
  if not state.given(n) then
    return claim.UNKNOWN
  end
  local seat = session.seat(n)
  if seat then
    return session.claim_again(n, seat)
  end
  local why = session.ending(n)
  if why then
    return session.resume(n, why)
  end
  if express.contains(n) then
    express.mark(n)
    return scores.get(line.called, n) and claim.ADMITTED or claim.WAITING
  end
  if n < line.base then
    return claim.OVER_PASSED
  end
  if bits.get(line.used, n) then
    return claim.OVER_USED
  end
  claim.mark(n)
  if n > line.released then
    return claim.WAITING
  end
  if bits.get(line.live, n) then
    return claim.ADMITTED
  end
  if n > line.lapsed or vouched then
    return late_return(n)
  end
  return claim.OVER_PASSED
end

-- Takes somebody out of the line, wherever they stand in it; whether their turn had come.
function claim.take_out(n)
  if express.contains(n) then
    local called = scores.get(line.called, n) and true or false
    if express.waits(n) then
      line.waiting = line.waiting - 1
    end
    express.remove(n)
    return called
  end
  if not bits.clear(line.live, n) then
    return false
  end
  if n > line.released then
    line.waiting = line.waiting - 1
    return false
  end
  line.claimable = line.claimable - 1
  return true
end

local function enter(n, comes_back)
  claim.take_out(n)
  bits.set(line.used, n)
  return session.enter(n, comes_back)
end

-- Somebody wants in.
function claim.claim(n)
  local claimed = claim.come_back(n, false)
  return claimed == claim.ADMITTED and enter(n, true) or claimed
end

-- A claim of the batch, and a letter if it was an entry.
function claim.claim_and_tell(n, nth)
  local before = line.entered
  local claimed = claim.claim(n)
  if line.entered > before then
    letters.entered(n, claimed, batch.tags[nth - 1])
  end
  return claimed
end

-- Asks again for those of the batch's claims that had to wait: their turn came in this very exchange, or room at the head.
function claim.enter_claims(epoch, drawn, claims)
  if line.epoch == epoch and line.draw_version == drawn + 1 then
    return -- They waited, and wait where the draw has put them: under another number.
  end
  for i, n in ipairs(batch.claims) do
    if claims[i] == claim.WAITING or claims[i] == claim.AWAY then
      claims[i] = line.epoch == epoch and claim.claim_and_tell(n, i) or claim.STALE
    end
  end
end

-- Lets in those of the batch's newcomers whose turn came in this very exchange, as far as the budget goes.
function claim.enter_joins(joins)
  local left = budget.next()
  for nth, joined in ipairs(joins) do
    if joined.first then
      -- They have one answer, and a slot is one person's: the rest of a run claims.
      local people = #config.slots > 0 and 1 or joined.count
      local last = min(joined.first + people - 1, line.released, joined.first + left - 1)
      if joined.classed == class.PLACED then -- Called or not, whatever the frontier says.
        last = left > 0 and scores.get(line.called, joined.first) and joined.first or 0
      end
      local numbers = {}
      for n = joined.first, last do
        numbers[#numbers + 1] = n
      end
      bits.look(line.live, numbers)
      bits.look(line.used, numbers)
      for _, n in ipairs(numbers) do
        joined.terms = enter(n, joined.once)
        letters.entered(n, joined.terms, batch.tags[#batch.claims + nth - 1])
      end
      joined.entered = #numbers
      left = left - #numbers
    end
  end
end
