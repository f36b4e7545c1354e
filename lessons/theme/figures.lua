-- Figures, tables, listings and equations as they stand on a page.
--
-- Metadata: `figures` names the folders, separated by ':', where a figure's SVG and,
-- for a plot, its data as NAME.tsv are.

local stringify = pandoc.utils.stringify
local problem = dofile(pandoc.path.join {
  pandoc.path.directory(PANDOC_SCRIPT_FILE), 'problem.lua' })

local folders = {}

local function read_meta(meta)
  for folder in stringify(meta.figures or ''):gmatch('[^:]+') do
    folders[#folders + 1] = folder
  end
end

local function slurp(name)
  for _, folder in ipairs(folders) do
    local file = io.open(pandoc.path.join { folder, name }, 'r')
    if file then
      local text = file:read('a')
      file:close()
      return text
    end
  end
end

local function escape(text)
  return (text:gsub('[&<>"]',
    { ['&'] = '&amp;', ['<'] = '&lt;', ['>'] = '&gt;', ['"'] = '&quot;' }))
end

-- An HTML element around blocks. Pandoc 3 has a tree node for figures and 2.17 has none.
local function element(tag, attributes, blocks)
  local open = '<' .. tag
  for _, a in ipairs(attributes) do
    if a[2] and a[2] ~= '' then open = open .. ' ' .. a[1] .. '="' .. escape(a[2]) .. '"' end
  end
  local result = pandoc.List { pandoc.RawBlock('html', open .. '>') }
  result:extend(blocks)
  result:insert(pandoc.RawBlock('html', '</' .. tag .. '>'))
  return result
end

-- What may be wider than a phone scrolls by itself, and by the keyboard too.
local function scroller(block, class, label)
  return pandoc.Div({ block }, pandoc.Attr('', { 'scroller', class },
    { { 'role', 'group' }, { 'tabindex', '0' }, { 'aria-label', label } }))
end

local function is_scroller(block) return block.t == 'Div' and block.classes[1] == 'scroller' end

-- The first row and the first column head the others, and say so.
local function heads(tbl)
  for _, row in ipairs(tbl.head.rows) do
    for _, cell in ipairs(row.cells) do cell.attributes.scope = 'col' end
  end
  for _, body in ipairs(tbl.bodies) do
    body.row_head_columns = 1
    for _, row in ipairs(body.body) do row.cells[1].attributes.scope = 'row' end
  end
  return tbl
end

local function scrollers(blocks)
  for i, b in ipairs(blocks) do
    if b.t == 'CodeBlock' then
      blocks[i] = scroller(b, 'code', 'Code')
    elseif b.t == 'Table' then
      blocks[i] = scroller(heads(b), 'table', 'Table')
    elseif b.t == 'Para' and #b.content == 1 and b.content[1].t == 'Math' and
        b.content[1].mathtype == 'DisplayMath' then
      blocks[i] = scroller(b, 'formula', 'Formula')
    end
  end
  return blocks
end

-- Removes the last paragraph of a div, its caption, and returns it with its number.
local function take_caption(div)
  local last = div.content[#div.content]
  if not last or last.t ~= 'Para' or #div.content < 2 then
    problem.stop('no caption: it is the last paragraph of its block',
      '#' .. div.identifier)
  end
  div.content:remove()
  return pandoc.Plain(pandoc.List {
    pandoc.Span({ pandoc.Str(div.attributes.label) }, { class = 'number' }),
    pandoc.Space() } .. last.content)
end

local function data_table(text, label)
  local rows = pandoc.List()
  for line in text:gmatch('[^\n]+') do
    local row = pandoc.List()
    for cell in (line .. '\t'):gmatch('([^\t]*)\t') do
      row:insert { pandoc.Plain { pandoc.Str(cell) } }
    end
    rows:insert(row)
  end
  local head = rows:remove(1)
  local aligns, widths = {}, {}
  for column = 1, #head do
    aligns[column] = column == 1 and pandoc.AlignLeft or pandoc.AlignRight
    widths[column] = 0
  end
  local table = pandoc.utils.from_simple_table(
    pandoc.SimpleTable({}, aligns, widths, head, rows))
  local summary = pandoc.RawBlock('html', '<summary>Data</summary>')
  return element('details', { { 'class', 'data' } },
    { summary, scroller(heads(table), 'table', 'Data of ' .. label) })
end

local function picture(div)
  local first = div.content[1]
  local image = first and first.t == 'Para' and #first.content == 1 and first.content[1]
  if not image or image.t ~= 'Image' then
    problem.stop('a figure begins with one image, alone in its paragraph',
      '#' .. div.identifier)
  end
  local alternative = stringify(image.caption)
  if alternative == '' then
    problem.stop('an image without a text alternative', image.src)
  end
  local name = image.src:match('([^/]+)%.svg$')
  local svg = name and slurp(name .. '.svg')
  if not svg then
    problem.stop('no such drawing; the theme inlines SVG from lessons/figures', image.src)
  end
  local begin = svg:find('<svg', 1, true)
  svg = '<svg role="img" aria-label="' .. escape(alternative) .. '"' ..
      svg:sub(begin + #'<svg')
  if FORMAT:match('^epub') then  -- no style sheet gives the plots their colours there
    svg = svg:gsub('var%(%-%-[%w-]+, (#%x+)%)', '%1')
  end
  local content = pandoc.List { pandoc.RawBlock('html', svg) }
  local data = slurp(name .. '.tsv')
  local caption = take_caption(div)
  local below = pandoc.List { caption }
  if data then below:extend(data_table(data, div.attributes.label)) end
  content:extend(element('figcaption', {}, below))
  return element('figure', { { 'class', 'picture' }, { 'id', div.identifier } }, content)
end

-- A captioned listing becomes the pulled listing inside, with the caption and the id.
local function captioned(div)
  local kind = div.attributes.kind
  if kind == 'Figure' then return picture(div) end
  if kind == 'Equation' then
    for _, b in ipairs(div.content) do
      if is_scroller(b) then b.attributes['aria-label'] = div.attributes.label end
    end
    div.content:insert(pandoc.Para { pandoc.Span(
      { pandoc.Str(div.attributes.label:match('%(.*$')) }, { class = 'number' }) })
    return pandoc.Div(div.content, pandoc.Attr(div.identifier, { 'equation' }))
  end
  if kind ~= 'Listing' and kind ~= 'Table' then return nil end
  local caption = take_caption(div)
  local inner = div.content[1]
  if inner.t == 'Div' and inner.classes:includes('listing') then
    inner.identifier = div.identifier
    inner.attributes['data-label'] =
        div.attributes.label .. ': ' .. inner.attributes['data-label']
    inner.content:insert(1, caption)
    return div.content
  end
  for _, b in ipairs(div.content) do
    if is_scroller(b) then b.attributes['aria-label'] = div.attributes.label end
  end
  local content = element('figcaption', {}, { caption })
  content:extend(div.content)
  return element('figure', { { 'class', 'tabular' }, { 'id', div.identifier } }, content)
end

local function listing(div)
  if not div.classes:includes('listing') then return nil end
  local code = div.content:remove()
  code.attributes.role = 'region'
  code.attributes['aria-label'] = div.attributes['data-label']
  local head = div.content:remove()
  div.content:insert(pandoc.Div({ head }, { class = 'head' }))
  local content = element('figcaption', {}, div.content)
  content:insert(code)
  return element('figure', { { 'class', table.concat(div.classes, ' ') },
    { 'id', div.identifier }, { 'data-address', div.attributes['data-address'] } },
    content)
end

return {
  { Meta = read_meta },
  { Blocks = scrollers },
  { Div = captioned },
  { Div = listing },
}
