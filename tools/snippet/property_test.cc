#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <string>
#include <vector>

#include "dedent.h"
#include "lines.h"
#include "marks.h"
#include "test_support.h"

using namespace snippet;

namespace {

const std::vector<std::string> kNames = {"src/a.cu#x", "src/a.cu#x-y", "b.py#x"};

// Lines that mean something to a parser, and some that mean nothing.
rc::Gen<std::string> any_line() {
  return rc::gen::weightedOneOf<std::string>(
      {{6, rc::gen::elementOf(std::vector<std::string>{"",
                                                       " ",
                                                       "\t",
                                                       "text",
                                                       "    code",
                                                       "- item",
                                                       "  - item",
                                                       "1. item",
                                                       "> q",
                                                       "> - q",
                                                       "```",
                                                       "````cuda",
                                                       "~~~",
                                                       "  ```",
                                                       "> ```",
                                                       "# h",
                                                       "* * *",
                                                       "<!--",
                                                       "-->",
                                                       "<!-- a -->",
                                                       "a `b",
                                                       "```a`b",
                                                       "\\<!-- pull: a#b -->",
                                                       "`<!-- pull: a#b -->`",
                                                       "// pull: a#b",
                                                       "R\"(",
                                                       ")\"",
                                                       "/*",
                                                       "*/",
                                                       "\xEF\xBB\xBF",
                                                       "\r",
                                                       "\xC3\xA9\xFF",
                                                       "// snippet: z",
                                                       "// end snippet"})},
       {1,
        rc::gen::elementOf(std::vector<std::string>{
            "<!-- pull: src/a.cu#x -->", "<!-- end pull -->", "// end pull",
            "<!-- pull: src/a.cu#none -->", "<!-- pull:", "// snippet: Bad",
            "a <!-- pull: b.py#x -->1<!-- end pull --> b", "    <!-- end pull -->"})},
       {1, rc::gen::container<std::string>(rc::gen::inRange<char>(-128, 127))}});
}

rc::Gen<std::string> ending() {
  return rc::gen::weightedElement<std::string>({{3, "\n"}, {2, "\r\n"}});
}

// A whole directive with something inside, in some container.
std::string directive(bool markdown) {
  const std::string name = *rc::gen::elementOf(kNames);
  const std::string end = *ending();
  const auto stale = *rc::gen::container<std::vector<std::string>>(
      rc::gen::elementOf(std::vector<std::string>{"old", "", "  old", "// old"}));
  std::string inside;
  if (!markdown) {
    const std::string indent =
        *rc::gen::elementOf(std::vector<std::string>{"", "\t", "  "});
    for (const std::string& line : stale) inside += line + end;
    return indent + "// pull: " + name + end + inside + indent + "// end pull" + end;
  }
  const auto prefix =
      *rc::gen::elementOf(std::vector<std::pair<std::string, std::string>>{
          {"", ""}, {"> ", "> "}, {"- ", "  "}, {"> 1. ", ">    "}, {"  ", "  "}});
  const bool fenced = *rc::gen::arbitrary<bool>();
  if (fenced) inside += prefix.second + "```" + end;
  for (const std::string& line : stale) inside += prefix.second + line + end;
  if (fenced) inside += prefix.second + "```" + end;
  return end + prefix.first + "<!-- pull: " + name + " -->" + end + inside +
         prefix.second + "<!-- end pull -->" + end;
}

// A document: directives among lines that leave no fence or literal open, or anything.
std::string document(bool markdown, bool wild) {
  std::string text = *rc::gen::elementOf(std::vector<std::string>{"", "\xEF\xBB\xBF"});
  const int chunks = *rc::gen::inRange(0, 8);
  for (int i = 0; i < chunks; ++i) {
    if (*rc::gen::inRange(0, 3) == 0) {
      text += directive(markdown);
    } else if (wild) {
      text += *any_line() + *ending();
    } else {
      text += *rc::gen::elementOf(std::vector<std::string>{
                  "text", "- item", "", "\ttab ", "```", "caf\xC3\xA9"}) +
              *ending();
    }
  }
  if (*rc::gen::arbitrary<bool>()) text += "no last newline";
  return text;
}

Files sources() {
  std::string region;
  const auto lines = *rc::gen::container<std::vector<std::string>>(
      rc::gen::elementOf(std::vector<std::string>{
          "a", "  b", "\tc", "", "   ", "```", "  // ````",
          "s = \"<!-- end pull -->\";", "<!-- end pull", "// snippet: z", "x\ry"}));
  bool inner = false;
  const std::string end = *ending();
  const std::string indent =
      *rc::gen::elementOf(std::vector<std::string>{"", "  ", "\t"});
  for (const std::string& line : lines) {
    if (line == "// snippet: z" && inner) continue;
    inner = inner || line == "// snippet: z";
    region += indent + line + end;
  }
  if (inner) region += "// end snippet: z" + end;
  return {
      {"src/a.cu", "// snippet: x-y" + end + region + "// snippet: x" + end + "int i;" +
                       end + "// end snippet" + end + "// end snippet: x-y" + end},
      {"b.py", "# snippet: x" + end + "pass" + end + "# end snippet"}};
}

std::string outside(const std::string& text, const std::vector<Pull>& pulls) {
  std::string rest;
  std::size_t done = 0;
  for (const Pull& pull : pulls) {
    rest += text.substr(done, pull.begin - done) + "|";
    done = pull.end;
  }
  return rest + text.substr(done);
}

// What stands in a block, without what the tool puts around it.
std::vector<std::string> extracted(const std::string& text, const Pull& pull,
                                   bool markdown) {
  std::vector<std::string> lines;
  const std::string blank =
      pull.prefix.substr(0, pull.prefix.find_last_not_of(" \t") + 1);
  std::size_t at = pull.begin;
  while (at < pull.end) {
    const std::size_t end = text.find(pull.ending, at);
    REQUIRE(end < pull.end);
    std::string line = text.substr(at, end - at);
    if (line == blank) {
      line.clear();
    } else {
      REQUIRE(line.starts_with(pull.prefix));
      line.erase(0, pull.prefix.size());
    }
    lines.push_back(line);
    at = end + pull.ending.size();
  }
  if (!markdown) return lines;
  REQUIRE(lines.size() >= 2);
  return {lines.begin() + 1, lines.end() - 1};
}

std::vector<std::string> region(const Files& files, const Pull& pull) {
  std::vector<common::Diagnostic> errors;
  const std::string& text = files.at(pull.file);
  for (const Region& r : parse_marks(pull.file, text, errors)) {
    if (r.name == pull.name) return dedent(region_lines(pull.file, text, r));
  }
  return {"(none)"};
}

std::string name_of(bool markdown) {
  return markdown ? "d.md" : "d.cu";
}

}  // namespace

TEST_CASE("sync is idempotent, keeps what it does not own, and shows the region") {
  std::size_t pulled = 0;
  CHECK(rc::check([&] {
    const bool markdown = *rc::gen::arbitrary<bool>();
    const std::string file = name_of(markdown);
    const std::string before = document(markdown, /*wild=*/false);
    const Files files = sources();
    Resolver resolver(reader_of(files));
    std::vector<common::Diagnostic> errors;
    const Update first = update(file, before, resolver, errors);
    RC_PRE(errors.empty());
    const Update second = update(file, first.after, resolver, errors);
    RC_ASSERT(text_of(errors) == "");
    RC_ASSERT(second.stale.empty());
    RC_ASSERT(second.after == first.after);
    RC_ASSERT(outside(first.after, second.pulls) == outside(before, first.pulls));
    for (const Pull& pull : second.pulls) {
      RC_ASSERT(extracted(first.after, pull, markdown) == region(files, pull));
      ++pulled;
    }
  }));
  CHECK(pulled > 50);
}

TEST_CASE("whatever a document holds, it is read without a crash, and sync is stable") {
  CHECK(rc::check([] {
    const bool markdown = *rc::gen::arbitrary<bool>();
    const std::string file = name_of(markdown);
    const std::string before = document(markdown, /*wild=*/true);
    Files files = sources();
    files["src/a.cu"] += before;
    Resolver resolver(reader_of(files));
    std::vector<common::Diagnostic> errors;
    const Update first = update(file, before, resolver, errors);
    if (!errors.empty()) return;
    const Update second = update(file, first.after, resolver, errors);
    RC_ASSERT(text_of(errors) == "");
    RC_ASSERT(second.after == first.after);
    RC_ASSERT(outside(first.after, second.pulls) == outside(before, first.pulls));
  }));
}
