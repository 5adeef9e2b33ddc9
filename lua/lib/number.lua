-- Whole numbers, as bytes and as text.
--
-- Owns how a number is written. Lua's numbers are doubles: whole ones are exact below 2^53, and nothing
-- here reaches that. Touches no key.

-- Division as in Rust, exact for whole numbers below 2^53.
function number.div(a, b)
  return floor(a / b)
end

-- Plain digits: tostring would write 1e+15, and takes longer.
function number.text(n)
  return string.format('%d', n)
end

-- Numbers as bytes, as far as they were needed.
local packed = {}

-- As a member of a sorted set: six bytes, big-endian. At an equal score members stand in the order of
-- their bytes, and so of their numbers; and a visitor inside costs 24 bytes less than with 16 digits.
function number.pack(n)
  local bytes = packed[n]
  if not bytes then
    bytes = struct.pack('>I6', n)
    packed[n] = bytes
  end
  return bytes
end

function number.unpack(bytes)
  local n = struct.unpack('>I6', bytes)
  packed[n] = bytes
  return n
end
