-- One charge of a step: what is stored, and whether it admits.
if shared then
  k = at[k - before]
  if k < 0 then k, more = -k, true end
  is = found[k]
  if is then a, b, c, d, e, changed, life = as[k], bs[k], cs[k], ds[k], es[k], dirty[k], lives[k] end
end
if bucket then
  if not is then
    --@ read-bucket
  end
  if is >= 0 then
    --@ view-bucket
  end
else
  if not is then
    --@ read-window
  end
  if is >= 0 then
    --@ view-window
  end
end
admits = is >= 0 and level <= most
if is < 0 and not fault then fault, faulty = is, place end
