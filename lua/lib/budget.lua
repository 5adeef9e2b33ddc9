-- How much an exchange does beside its batch's items.
--
-- Owns the steps that all duties of an exchange share. Each may take what those before it have left, but for a
-- share of every one that comes later: src/line/budget.rs has the table. Touches no key.

-- Steps of all duties of an exchange, the duties, and what is kept for each that comes later.
local MAX_STEPS, DUTIES, SHARE = 250, 7, 30

local left, kept = MAX_STEPS, DUTIES * SHARE

-- A duty took all it might: there may be more to do. Or to tell.
budget.backlog = false
-- A sweep was made.
budget.swept = false

-- A sweep was made: to a node that is up to date the bits are told in the next exchange.
function budget.sweep()
  budget.swept, budget.backlog = true, true
end

-- How many steps the next duty may take.
function budget.next()
  kept = kept - SHARE
  return budget.rest()
end

-- How many the duty at work may still take.
function budget.rest()
  return left - kept
end

-- The duty at work has taken so many.
function budget.take(steps)
  left = left - steps
end

-- The duty at work found this to be done, of `most` at most.
function budget.found(due, most)
  budget.take(#due)
  budget.backlog = budget.backlog or #due == most
  return due
end
