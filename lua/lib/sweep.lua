-- Time passes: periods turn, the silent are skipped, the dead part of the bitmaps is given back.
--
-- Owns the ring of seen bitmaps and `base`. A sweep is a few BITOPs, whoever is in the bitmaps; it costs the
-- same for a thousand absentees as for a million.

-- `base` is a multiple of this: 4 KiB of a bitmap.
local BASE_STEP = 32768
-- Below 64 KiB a bitmap is not worth moving.
local BASE_MIN_BITS = 524288
-- Places a line may hold from `lapsed` on, 21 x 2^19: no bitmap is longer than a third more.
sweep.PLACES_MAX = 11010048

-- Starts a new period when the last one is over; whether it did.
function sweep.turn_ring()
  if line.clock_ms - line.period_began_ms < config.period_ms then
    return false
  end
  line.ring, sweep.presumed = (line.ring + 1) % 3, false
  bits.wipe(state.seen())
  line.period_began_ms = line.clock_ms
  return true
end

-- Skips whoever has not been heard of in this period and the two before.
function sweep.sweep()
  local live, heard, silent = line.live, line['tmp:0'], line['tmp:1']
  bits.any(heard, line.seen[0], line.seen[1], line.seen[2])
  bits.keep(heard, live)
  if not config.keep then
    bits.differ(silent, live, heard)
    bits.unite(line.used, silent)
  end
  bits.become(live, heard)
  local claimable = bits.count(live, line.lapsed + 1, line.released)
  local waiting = bits.count(live, line.released + 1, line.issued) + express.waiting()
  local no_shows, dropped = line.claimable - claimable, line.waiting - waiting
  line.claimable, line.waiting, line.dropped = claimable, waiting, line.dropped + dropped
  sweep.no_shows(no_shows)
  line.bits_version = line.bits_version + 1
end

-- Whether everybody live was just heard of. Of whoever appears in a script the line has heard; but where views of nodes are
-- united, and where a period begins.
sweep.presumed = false

-- Everybody live was just heard of: once is enough, however many orders say so.
function sweep.presume_seen()
  if sweep.presumed then
    return
  end
  sweep.presumed = true
  bits.unite(state.seen(), line.live)
  express.heard_all()
end

-- Gives back what is below `lapsed` once it is a quarter of what there is.
function sweep.move_base()
  local dead, all = line.lapsed - line.base, line.issued - line.base
  if all <= BASE_MIN_BITS or dead < floor(all / 4) then
    return
  end
  local base = number.div(line.lapsed, BASE_STEP) * BASE_STEP
  for _, map in ipairs({ line.live, line.used, line.seen[0], line.seen[1], line.seen[2] }) do
    bits.drop_below(map, base)
  end
  line.base = base
end

-- So many turns came and were not taken.
function sweep.no_shows(count)
  line.no_shows = line.no_shows + count
  release.owe(count)
end
