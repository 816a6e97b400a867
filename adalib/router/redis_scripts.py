"""The two programs that run inside Redis, each in one atomic step.

`STEP` adds what a server closed to the sums of all servers, and `LEND` lends a server part of the
total in money. Both are written in Lua, which Redis runs without interruption. Whatever is read
from the store is checked first: others may write there, too.
"""

from __future__ import annotations

# `sound` is a number that can be one of ours, or nothing. `read` is a field of the first key; one
# that cannot be a sum is replaced by what this server last read.
_CHECKS = """
local now = redis.call('TIME')
now = now[1] * 1000 + math.floor(now[2] / 1000)
for k = 1, 2 do
  if KEYS[k] and redis.call('TYPE', KEYS[k]).ok ~= 'hash' then redis.call('DEL', KEYS[k]) end
end
local function sound(text, low)
  local value = tonumber(text or '')
  return value and value == value and value >= low and value < 1e300 and value
end
local function read(field, low, last)
  local text = redis.call('HGET', KEYS[1], field)
  return text and (sound(text, low) or tonumber(last)) or 0
end
local function exact(value) return string.format('%.17g', value) end
local function whole(value) return string.format('%d', value) end
"""

# KEYS: the sums, the servers, the number of this server's last step.
# ARGV: this server and the number of its step; questions, cost and change of the debt since the
# last step; the debt's floor; what the server has open (cost above the budgets, questions) and
# milliseconds until that expires; the three sums that it last read; what its open questions have
# cost; the most questions that it has seen open at a time.
STEP = (
    _CHECKS
    + """
local server, step, new_asked, new_spent, new_debt, floor, opened, open, life,
  last_asked, last_spent, last_debt, open_cost, most_seen = unpack(ARGV)
local asked, spent = read('asked', 0, last_asked), read('spent', 0, last_spent)
local debt = read('debt', -1e300, last_debt)
-- A step that was sent twice counts once.
if (sound(redis.call('GET', KEYS[3]), 0) or 0) < tonumber(step) then
  redis.call('SET', KEYS[3], step, 'PX', 86400000)
  asked, spent = asked + new_asked, spent + new_spent
  debt = math.max(debt + new_debt, tonumber(floor))
end
redis.call('HSET', KEYS[1], 'asked', whole(asked), 'spent', exact(spent), 'debt', exact(debt))
local entry = opened .. ' ' .. open .. ' ' .. whole(now + life) .. ' ' .. open_cost
redis.call('HSET', KEYS[2], server, entry)
-- Add up what the other servers have open; what a dead one had open becomes a debt.
local others, theirs, entries = 0, 0, redis.call('HGETALL', KEYS[2])
for k = 1, #entries, 2 do
  local name = entries[k]
  local above, count, expires, cost = string.match(entries[k + 1], '(%S+) (%S+) (%S+) (%S+)')
  above, count, cost = sound(above, -1e300), sound(count, 0), sound(cost, 0)
  if not (above and count and cost and sound(expires, now)) then
    redis.call('HDEL', KEYS[2], name)
    if cost and cost > 0 then
      spent, debt = spent + cost, debt + cost
      redis.call('HSET', KEYS[1], 'spent', exact(spent), 'debt', exact(debt))
    end
  elseif name ~= server then others, theirs = others + above, theirs + count end
end
local most = math.max(read('at_once', 0, most_seen), tonumber(most_seen), theirs + tonumber(open))
redis.call('HSET', KEYS[1], 'at_once', whole(most))
return {whole(asked), exact(spent), exact(debt), exact(others), theirs, whole(most)}
"""
)

# A server may spend what it was lent, also while Redis does not answer, until the loan expires.
# What it had put aside counts as spent if it does not come back.
# KEYS: the purse.
# ARGV: this server and the number of its step; dollars paid since the last step; what it would be
# lent; what of its loan it keeps; the total; the dollars spent that it last read; milliseconds
# until the loan expires; what it has put aside.
LEND = (
    _CHECKS
    + """
local server, step, paid, wanted, keeps, total, last_spent, lease, put_aside = unpack(ARGV)
local spent = math.max(read('spent', 0, last_spent), tonumber(last_spent))
if read('step ' .. server, 0, '0') < tonumber(step) then spent = spent + paid end
local others, fields = 0, redis.call('HGETALL', KEYS[1])
for k = 1, #fields, 2 do
  local other = string.match(fields[k], '^loan (%S+)$')
  if other and other ~= server then
    local lent, aside, expires = string.match(fields[k + 1], '(%S+) (%S+) (%S+)')
    lent, aside, expires = sound(lent, 0), sound(aside, 0), sound(expires, now)
    if lent and aside and expires then others = others + lent
    else
      spent = spent + (aside or 0)
      redis.call('HDEL', KEYS[1], fields[k], 'step ' .. other)
    end
  end
end
local lent = math.max(math.min(tonumber(wanted), total - spent - others), tonumber(keeps))
redis.call('HSET', KEYS[1], 'spent', exact(spent), 'step ' .. server, step)
local loan = exact(lent) .. ' ' .. put_aside .. ' ' .. whole(now + lease)
redis.call('HSET', KEYS[1], 'loan ' .. server, loan)
return {exact(spent), exact(lent)}
"""
)
