-- One way to stop: the place in the lesson, what is wrong, and the remedy.

local problem = {}

local function lines_of(path)
  local lines = {}
  local file = io.open(path, 'r')
  if not file then return lines end
  for line in file:lines() do lines[#lines + 1] = line end
  file:close()
  return lines
end

--- Stops the rendering with `message`, at the `nth` line of the lesson (default: the
--- first) that holds `needle`. Pandoc's tree has no positions, so the text is searched.
function problem.stop(message, needle, nth)
  local path = PANDOC_STATE.input_files[1] or 'lesson'
  local seen = 0
  for number, line in ipairs(lines_of(path)) do
    local column = needle and line:find(needle, 1, true)
    if column then
      seen = seen + 1
      if seen == (nth or 1) then
        error(string.format('%s:%d: %s\n  %s\n  %s^', path, number, message, line,
          line:sub(1, column - 1):gsub('[^\t]', ' ')), 0)
      end
    end
  end
  error(path .. ': ' .. message, 0)
end

return problem
