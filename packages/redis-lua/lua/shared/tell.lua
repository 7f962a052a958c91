-- What the answer says of the ledger as it was: bits 2 if it counts, 4 if its anchor follows (`told`), because that is not `now` (bucket) or
-- the start of now's window.
bits, told = admits and 1 or 0, false
if view ~= 0 then
  bits = bits + 2
  if a > now or not bucket and second < 0 then bits, told = bits + 4, a end
end
