# From `snippet index` and the machines' names to the table that pulls.lua reads, with
# nothing in it that this lesson does not show. A JSON string is a Lua string too.
reduce inputs as $part ({}; . * $part)
| .programs as $programs
| def lua: to_entries | map("    [\(.key | @json)] = \(.value),\n") | add // "";
"return {\n  regions = {\n",
(.regions | with_entries(select("pull: \(.key) -->" as $use | $lesson | contains($use)))
 | map_values((.link // $programs[.file | select(startswith("snippets/"))].link
     // null) as $link
     | "{ first = \(.first), last = \(.last)\(
       if $link then ", link = \($link | @json)" else "" end) }") | lua),
"  },\n  programs = {\n",
(.programs | with_entries(select("(explore:\(.key))" as $use | $lesson | contains($use)))
 | map_values(.link | @json) | lua),
"  },\n  machines = {\n",
(.machines // {} | map_values(@json) | lua),
"  },\n}"
