-- Pulled code and evidence: each place gets its address, its caption line and its link,
-- and no comment of the lesson reaches a page.
--
-- Metadata: `index` names the Lua file that the build makes from `snippet index`;
-- `machine`, where given, is the machine whose evidence was pulled in place of the one
-- that the directives name.

local stringify = pandoc.utils.stringify
local problem = dofile(pandoc.path.join {
  pandoc.path.directory(PANDOC_SCRIPT_FILE), 'problem.lua' })

local index = { regions = {}, programs = {}, machines = {} }
local machine        -- of the evidence, where the build chose one
local machines = {}  -- ids that the lesson's pulls name, each once, in order

local function read_meta(meta)
  if meta.index then index = dofile(stringify(meta.index)) end
  if meta.machine and stringify(meta.machine) ~= '' then
    machine = stringify(meta.machine)
  end
end

local function is_comment(raw)
  local inside = raw.format == 'html' and raw.text:match('^%s*<!%-%-(.*)%-%->%s*$')
  return inside and not inside:find('-->', 1, true)
end
local function pull_of(raw)
  return raw.format == 'html' and
      raw.text:match('^%s*<!%-%-%s*pull:%s*(.-)%s*%-%->%s*$') or nil
end
local function ends_pull(raw)
  return raw.format == 'html' and
      raw.text:match('^%s*<!%-%-%s*end pull%s*%-%->%s*$') ~= nil
end

local function machine_name(id) return index.machines[id] or id end

-- The address with the chosen machine in it and, for evidence, who printed it.
local function locate(address)
  local folder, name, rest = address:match('^transcripts/([^/#]+)/([^/#]+)%.md#(.*)$')
  if not folder then return address end
  if folder == 'snippets' then
    return address, 'snippets/' .. name .. '.cu', 'Printed by '
  end
  if folder == 'profiler' or folder == 'wrong_programs' then
    return address, address:match('^[^#]*'), 'Recorded in '
  end
  name = machine or name
  if not machines[name] then
    machines[name] = true
    machines[#machines + 1] = name
  end
  return 'transcripts/' .. folder .. '/' .. name .. '.md#' .. rest,
      machine_name(name), 'Recorded on '
end

-- "src/a.cu, lines 3–9" as inlines.
local function place(address)
  local region = index.regions[address]
  if not region then
    problem.stop('`' .. address .. '` is not in `snippet index`; run `snippet list` ' ..
      'for the regions that exist', address)
  end
  local file = address:match('^[^#]*')
  local lines = region.first == region.last and 'line ' .. region.first
      or 'lines ' .. region.first .. '–' .. region.last
  return { pandoc.Code(file), pandoc.Str(', ' .. lines) }, file .. ', ' .. lines, region
end

local shown = {}  -- how often each address has been shown, so that labels are unique

local function block(address, code)
  local where, label, link
  local located, origin, verb = locate(address)
  local classes = { 'listing' }
  if origin then
    local name = located:match('#(.*)$')
    where = { pandoc.Str(verb .. origin .. ': '), pandoc.Str(name) }
    label = verb .. origin .. ': ' .. name
    classes = { 'listing', 'evidence' }
  else
    local region
    where, label, region = place(address)
    link = region.link
  end
  shown[located] = (shown[located] or 0) + 1
  if shown[located] > 1 then label = label .. ' (' .. shown[located] .. ')' end
  local head = { pandoc.Span(where, { class = 'where' }) }
  if link then
    head[#head + 1] = pandoc.Space()
    head[#head + 1] = pandoc.Link('Open in Compiler Explorer', link, '',
      { class = 'explorer', ['aria-label'] = 'Open in Compiler Explorer: ' .. label })
  end
  return pandoc.Div({ pandoc.Plain(head), code },
    pandoc.Attr('', classes, { { 'data-address', located }, { 'data-label', label } }))
end

local function comments(blocks)
  local result = pandoc.List()
  local i = 1
  while i <= #blocks do
    local b = blocks[i]
    local address = b.t == 'RawBlock' and pull_of(b)
    if address then
      local code, last = blocks[i + 1], blocks[i + 2]
      if not (code and code.t == 'CodeBlock' and last and last.t == 'RawBlock' and
            ends_pull(last)) then
        problem.stop('a pull that is no single code block with its end; ' ..
          'run `snippet sync`', address)
      end
      result:insert(block(address, code))
      i = i + 3
    elseif b.t == 'RawBlock' then
      if b.text:match('^%s*<!%-%-%s*pull:') then
        problem.stop('a line that begins with a pulled value, which Markdown takes ' ..
          'for a block; move it behind a word', b.text:match('^%s*([^\n]*)'))
      end
      if not is_comment(b) or ends_pull(b) then
        problem.stop('raw HTML; the theme takes Markdown only',
          b.text:match('^%s*([^\n]*)'))
      end
      i = i + 1
    else
      result:insert(b)
      i = i + 1
    end
  end
  return result
end

local function values(inlines)
  local result = pandoc.List()
  local value, address
  for _, x in ipairs(inlines) do
    local opens = x.t == 'RawInline' and pull_of(x)
    if opens then
      if value then problem.stop('a pull inside a pull', opens) end
      value, address = pandoc.List(), opens
    elseif x.t == 'RawInline' and ends_pull(x) then
      if not value then problem.stop('`end pull` without its pull', x.text) end
      local located, origin = locate(address)
      if not origin then
        problem.stop('code is pulled as a block, not into a sentence', address)
      end
      result:insert(pandoc.Span(value, pandoc.Attr('', { 'pulled' }, {
        { 'data-address', located },
        { 'title', origin .. ': ' .. located:match('#(.*)$') } })))
      value = nil
    elseif x.t == 'RawInline' then
      if not is_comment(x) then
        problem.stop('raw HTML; the theme takes Markdown only', x.text)
      end
    else
      (value or result):insert(x)
    end
  end
  if value then problem.stop('a pull without its end', address) end
  return result
end

-- A block that the evidence chooses: its first pulled value decides.
local function when(div)
  if not div.classes:includes('when') then return nil end
  local first
  pandoc.walk_block(div, {
    Span = function(span)
      if span.classes:includes('pulled') and not first then first = span end
    end,
  })
  if not first then
    problem.stop('a `when` block without a pulled value to decide by', '{.when')
  end
  local text = stringify(first)
  local value = tonumber((text:gsub('[x%%]$', '')))
  local holds
  if div.classes:includes('untimed') then
    holds = value == nil
  else
    local conditions = {
      below = function(limit) return value < limit end,
      above = function(limit) return value > limit end,
      ['at-least'] = function(limit) return value >= limit end,
    }
    for name, holds_for in pairs(conditions) do
      local limit = div.attributes[name]
      if limit then
        if not tonumber(limit) then
          problem.stop('`' .. name .. '` takes a number', name .. '="' .. limit)
        end
        holds = holds ~= false and value ~= nil and holds_for(tonumber(limit))
      end
    end
  end
  if holds == nil then
    problem.stop('a `when` block needs below, above, at-least or .untimed', '{.when')
  end
  return holds and div.content or {}
end

local function spans(span)
  if not span.classes:includes('machine') then return nil end
  if #machines ~= 1 then
    problem.stop('`machine` names the one machine whose evidence the lesson pulls; ' ..
      'here are ' .. #machines, '.machine')
  end
  return pandoc.Str(machine_name(machines[1]))
end

local function links(link)
  local program = link.target:match('^explore:(.*)$')
  if program then
    if not index.programs[program] then
      problem.stop('no Compiler Explorer link for `' .. program .. '`', link.target)
    end
    link.target = index.programs[program]
    link.classes:insert('explorer')
    return link
  end
  local file = link.target:match('^file:(.*)$')
  if file then  -- of the repository, which a page may have left behind
    return link.content .. { pandoc.Str(' ('), pandoc.Code(file), pandoc.Str(')') }
  end
end

return {
  { Meta = read_meta },
  { Inlines = values },
  { Blocks = comments },
  { Div = when },
  { Span = spans, Link = links },
}
