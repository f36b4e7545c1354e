-- Footnotes of a page. Pandoc 2.17 gives each the role doc-endnote, which has since been
-- withdrawn, so the page makes its own; in an e-book Pandoc's own can pop up.

if not FORMAT:match('^html') then return {} end

local notes = pandoc.List()

local function note(n)
  local number = tostring(#notes + 1)
  local back = pandoc.Link('↩\u{fe0e}', '#noted-' .. number, '',
    { class = 'footnote-back', role = 'doc-backlink',
      ['aria-label'] = 'Back to the text of note ' .. number })
  local last = n.content[#n.content]
  if last.t == 'Para' or last.t == 'Plain' then
    last.content:extend { pandoc.Space(), back }
  else
    n.content:insert(pandoc.Para { back })
  end
  notes:insert { pandoc.Div(n.content, { id = 'note-' .. number }) }
  return pandoc.Superscript { pandoc.Link(number, '#note-' .. number, '',
    { id = 'noted-' .. number, class = 'footnote-ref', role = 'doc-noteref',
      ['aria-label'] = 'Note ' .. number }) }
end

local function append(doc)
  if #notes == 0 then return nil end
  doc.blocks:extend {
    pandoc.RawBlock('html',
      '<section class="footnotes" role="doc-endnotes" aria-label="Notes">'),
    pandoc.OrderedList(notes),
    pandoc.RawBlock('html', '</section>'),
  }
  return doc
end

return { { Note = note }, { Pandoc = append } }
