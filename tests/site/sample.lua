return {
  regions = {
    ["src/sample.cu#inner"] = { first = 3, last = 7, link = "https://godbolt.org/clientstate/eJyrVkrOT0lVsjI20lHKTSwpSk1RslIqS8wpTlWqBQBAOgT0" },
    ["src/sample.cu#launch"] = { first = 12, last = 12 },
  },
  programs = { ["src/sample.cu"] = "https://godbolt.org/clientstate/eJyrVkrOT0lVsjI20lHKTSwpSk1RslIqS8wpTlWqBQBAOgT0" },
  machines = { ["nvidia-h200"] = "NVIDIA H200" },
}
