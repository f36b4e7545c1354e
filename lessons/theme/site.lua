-- What a page says of the others: the lessons before and after it, or all of them.
--
-- Metadata: `previous` and `next` name a neighbour's Markdown file, `lessons` all of
-- them, separated by ':', for the index page, which lists them at its end.

local stringify = pandoc.utils.stringify

local function front_matter(path)
  local file = assert(io.open(path, 'r'))
  local text = file:read('a')
  file:close()
  return pandoc.read(text:match('^%-%-%-\n.-\n%-%-%-\n'), 'commonmark_x-smart').meta
end

local function page(path)
  return (path:match('([^/]+)%.md$')) .. '.html'
end

local function neighbour(path)
  return { href = page(path), title = front_matter(path).title }
end

function Pandoc(doc)
  for _, name in ipairs { 'previous', 'next' } do
    if doc.meta[name] then doc.meta[name] = neighbour(stringify(doc.meta[name])) end
  end
  local items = {}
  for path in stringify(doc.meta.lessons or ''):gmatch('[^:]+') do
    local meta = front_matter(path)
    items[#items + 1] = {
      pandoc.Header(2, { pandoc.Link(meta.title, page(path)) }),
      pandoc.Para { pandoc.Emph(meta.subtitle) },
      pandoc.Para(meta.description),
    }
  end
  if #items > 0 then
    doc.blocks:insert(pandoc.Div({ pandoc.OrderedList(items) }, { class = 'lessons' }))
  end
  return doc
end
