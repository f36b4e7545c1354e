-- Boxes of the lesson: questions, predictions, exercises, answers, notes.

local stringify = pandoc.utils.stringify

local titles = {
  question = 'The question',
  predict = 'Before you read on',
  falsify = 'What would have made this false',
  note = 'Note',
  warning = 'Warning',
  aside = false,  -- a margin note speaks for itself
}

local function title(words)
  return pandoc.Para { pandoc.Span(words, { class = 'title' }) }
end

local function answer(div)
  if not div.classes:includes('answer') then return nil end
  local summary = (div.attributes.title or 'Answer'):gsub('[&<]',
    { ['&'] = '&amp;', ['<'] = '&lt;' })
  local result = pandoc.List { pandoc.RawBlock('html',
    '<details class="answer"><summary>' .. summary .. '</summary>') }
  result:extend(div.content)
  result:insert(pandoc.RawBlock('html', '</details>'))
  return result
end

local function box(div)
  if div.classes:includes('exercise') then
    div.content:insert(1, title { pandoc.Str(div.attributes.label) })
    return pandoc.Div(div.content, pandoc.Attr(div.identifier, { 'box', 'exercise' }))
  end
  for class, words in pairs(titles) do
    if div.classes:includes(class) then
      if words then div.content:insert(1, title { pandoc.Str(words) }) end
      return pandoc.Div(div.content, pandoc.Attr(div.identifier, { 'box', class },
        { { 'role', 'note' } }))
    end
  end
end

return { { Div = answer }, { Div = box } }
