-- Numbers for sections, figures, tables, listings, equations and exercises, and the
-- text of the links that refer to them.

local stringify = pandoc.utils.stringify
local problem = dofile(pandoc.path.join {
  pandoc.path.directory(PANDOC_SCRIPT_FILE), 'problem.lua' })

local kinds = {
  fig = 'Figure', tbl = 'Table', lst = 'Listing', eq = 'Equation', ex = 'Exercise',
}
local names = {}   -- id -> "Figure 2"
local ids = {}     -- every id in the lesson
local counts = {}

local function own(id)
  if id == '' then return end
  if ids[id] then problem.stop('the id `' .. id .. '` is taken', '#' .. id, 2) end
  ids[id] = true
end

local function sections(doc)
  local base
  for _, b in ipairs(doc.blocks) do
    if b.t == 'Header' and (not base or b.level < base) then base = b.level end
  end
  local numbers = {}
  local previous = base and base - 1
  for i, b in ipairs(doc.blocks) do
    if b.t == 'Header' then
      if b.level > previous + 1 then
        problem.stop('a heading skips a level', stringify(b.content))
      end
      previous = b.level
      own(b.identifier)
      names[b.identifier] = '“' .. stringify(b.content) .. '”'
      if not b.classes:includes('unnumbered') then
        local depth = b.level - base + 1
        numbers[depth] = (numbers[depth] or 0) + 1
        for deeper = depth + 1, #numbers do numbers[deeper] = nil end
        local number = table.concat(numbers, '.')
        names[b.identifier] = 'Section ' .. number
        b.content:insert(1, pandoc.Space())
        b.content:insert(1, pandoc.Span(number, { class = 'number' }))
        doc.blocks[i] = b
      end
    end
  end
  return doc
end

local function number(div)
  own(div.identifier)
  local kind = div.classes:includes('exercise') and 'ex' or
      div.identifier:match('^(%l+)-')
  if not kinds[kind] then return nil end
  counts[kind] = (counts[kind] or 0) + 1
  local shown = tostring(counts[kind])
  if kind == 'eq' then shown = '(' .. shown .. ')' end
  local name = kinds[kind] .. ' ' .. shown
  names[div.identifier] = name
  div.attributes.kind = kinds[kind]
  div.attributes.label = name:gsub(' ', '\u{a0}')
  return div
end

-- The glossary's terms become link targets before any reference is read.
local function slug(text)
  return 'term-' .. text:lower():gsub('[^%w]+', '-'):gsub('^%-+', ''):gsub('%-+$', '')
end

local function glossary(div)
  if not div.classes:includes('glossary') then return nil end
  return pandoc.walk_block(div, {
    DefinitionList = function(list)
      for _, item in ipairs(list.content) do
        local id = slug(stringify(item[1]))
        own(id)
        item[1] = { pandoc.Span(item[1], { id = id }) }
      end
      return list
    end,
  })
end

local function terms(span)
  if not span.classes:includes('term') then return nil end
  local term = span.attributes.of or stringify(span.content)
  if not ids[slug(term)] then
    problem.stop('the glossary has no `' .. term .. '`', stringify(span.content) .. ']')
  end
  return pandoc.Link(span.content, '#' .. slug(term), '', { class = 'term' })
end

local function refer(link)
  local id = link.target:match('^#(.*)$')
  if not id then return nil end
  if not ids[id] then
    problem.stop('nothing in this lesson has the id `' .. id .. '`', '#' .. id)
  end
  if #link.content > 0 then return nil end
  if not names[id] then
    problem.stop('`#' .. id .. '` has no number to refer to; write a text in the [ ]',
      '#' .. id)
  end
  link.content = { pandoc.Str((names[id]:gsub(' ', '\u{a0}'))) }
  link.classes:insert('reference')
  return link
end

return {
  { Pandoc = sections },
  { Div = number },
  { Div = glossary },
  { Span = function(span) own(span.classes:includes('term') and '' or
      (span.identifier:match('^term%-') and '' or span.identifier)) end },
  { Span = terms },
  { Link = refer },
}
