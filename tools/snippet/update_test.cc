#include "update.h"

#include <doctest/doctest.h>

#include <stdexcept>

#include "test_support.h"

using namespace snippet;

namespace {

const Files kSource = {{"src/a.cu",
                        "// snippet: x\n"
                        "  if (a) {\n"
                        "\n"
                        "    b();\n"
                        "  }\n"
                        "// end snippet\n"}};

std::string after(const std::string& file, const std::string& text,
                  const Files& sources = kSource) {
  const Updated result = updated(file, text, sources);
  CHECK(result.errors == "");
  const Updated again = updated(file, result.after, sources);
  CHECK(again.stale == 0);
  CHECK(again.after == result.after);
  return result.after;
}

std::string errors(const std::string& directive, const Files& sources = kSource) {
  return updated("l.md", "<!-- pull: " + directive + " -->\n<!-- end pull -->\n",
                 sources)
      .errors;
}

}  // namespace

TEST_CASE("in Markdown a region stands in a fence with its language, dedented") {
  CHECK(after("l.md", "a\n<!-- pull: src/a.cu#x -->\nold\n<!-- end pull -->\nb\n") ==
        "a\n<!-- pull: src/a.cu#x -->\n"
        "```cuda\nif (a) {\n\n  b();\n}\n```\n"
        "<!-- end pull -->\nb\n");
}

TEST_CASE("in a source a region stands plain, indented like its directive") {
  CHECK(after("p.cu", "f {\n    // pull: src/a.cu#x\n    // end pull\n}\n") ==
        "f {\n    // pull: src/a.cu#x\n"
        "    if (a) {\n\n      b();\n    }\n"
        "    // end pull\n}\n");
}

TEST_CASE("in lists and quotations every line gets the directive's prefix") {
  CHECK(after("l.md",
              "- a\n  - b\n\n    <!-- pull: src/a.cu#x -->\n    <!-- end pull -->\n") ==
        "- a\n  - b\n\n    <!-- pull: src/a.cu#x -->\n"
        "    ```cuda\n    if (a) {\n\n      b();\n    }\n    ```\n"
        "    <!-- end pull -->\n");
  CHECK(after("l.md", "> <!-- pull: src/a.cu#x -->\n> <!-- end pull -->\n") ==
        "> <!-- pull: src/a.cu#x -->\n"
        "> ```cuda\n> if (a) {\n>\n>   b();\n> }\n> ```\n"
        "> <!-- end pull -->\n");
  CHECK(after("l.md", "- <!-- pull: src/a.cu#x -->\n  <!-- end pull -->\n") ==
        "- <!-- pull: src/a.cu#x -->\n"
        "  ```cuda\n  if (a) {\n\n    b();\n  }\n  ```\n"
        "  <!-- end pull -->\n");
}

TEST_CASE("line endings, a byte-order mark and a missing last newline survive") {
  CHECK(after("l.md",
              "\xEF\xBB\xBF<!-- pull: src/a.cu#x -->\r\n<!-- end pull -->\nmixed\r\n"
              "last") ==
        "\xEF\xBB\xBF<!-- pull: src/a.cu#x -->\r\n"
        "```cuda\r\nif (a) {\r\n\r\n  b();\r\n}\r\n```\r\n"
        "<!-- end pull -->\nmixed\r\nlast");
  CHECK(after("l.md", "<!-- pull: src/a.cu#x -->\n<!-- end pull -->",
              {{"src/a.cu", "// snippet: x\r\na\r\n// end snippet\r\n"}}) ==
        "<!-- pull: src/a.cu#x -->\n```cuda\na\n```\n<!-- end pull -->");
}

TEST_CASE("tabs of a source survive") {
  CHECK(after("l.md", "<!-- pull: src/a.cu#x -->\n<!-- end pull -->\n",
              {{"src/a.cu", "\t// snippet: x\n\ta\n\t\tb\n\t// end snippet\n"}}) ==
        "<!-- pull: src/a.cu#x -->\n```cuda\na\n\tb\n```\n<!-- end pull -->\n");
}

TEST_CASE("a fence is longer than any run of backticks inside") {
  const Files sources = {
      {"a.md", "<!-- snippet: x -->\n````\n```\n<!-- end snippet -->\n"},
      {"b.xyz", "# snippet: x\n``\n# end snippet\n"}};
  CHECK(after("l.md", "<!-- pull: a.md#x -->\n<!-- end pull -->\n", sources) ==
        "<!-- pull: a.md#x -->\n`````markdown\n````\n```\n`````\n<!-- end pull -->\n");
  CHECK(after("l.md", "<!-- pull: b.xyz#x -->\n<!-- end pull -->\n", sources) ==
        "<!-- pull: b.xyz#x -->\n```\n``\n```\n<!-- end pull -->\n");
}

TEST_CASE("code that looks like a directive, or documents one, stays text") {
  const Files sources = {{"src/a.cu",
                          "// snippet: x\ns = R\"(\n<!-- end pull -->\n// end "
                          "pull\n)\";\n// end snippet\n"}};
  CHECK(after("l.md", "<!-- pull: src/a.cu#x -->\n<!-- end pull -->\n", sources) ==
        "<!-- pull: src/a.cu#x -->\n"
        "```cuda\ns = R\"(\n<!-- end pull -->\n// end pull\n)\";\n```\n"
        "<!-- end pull -->\n");
  CHECK(after("p.cu", "// pull: src/a.cu#x\n// end pull\n", sources) ==
        "// pull: src/a.cu#x\n"
        "s = R\"(\n<!-- end pull -->\n// end pull\n)\";\n"
        "// end pull\n");
  const std::string manual =
      "````\n<!-- pull: no/such.cu#x -->\n```cuda\n```\n<!-- end pull -->\n````\n";
  CHECK(after("l.md", manual) == manual);
}

TEST_CASE("the same name in two files is two regions") {
  CHECK(after("l.md",
              "<!-- pull: a.cu#x -->\n<!-- end pull -->\n"
              "<!-- pull: b.py#x -->\n<!-- end pull -->\n",
              {{"a.cu", "// snippet: x\na\n// end snippet\n"},
               {"b.py", "# snippet: x\nb\n# end snippet\n"}}) ==
        "<!-- pull: a.cu#x -->\n```cuda\na\n```\n<!-- end pull -->\n"
        "<!-- pull: b.py#x -->\n```python\nb\n```\n<!-- end pull -->\n");
}

TEST_CASE("only the places that differ are stale") {
  const Updated result = updated("l.md",
                                 "<!-- pull: a.cu#x -->\n```cuda\na\n```\n"
                                 "<!-- end pull -->\n"
                                 "<!-- pull: a.cu#x -->\n```cuda\nb\n```\n"
                                 "<!-- end pull -->\n",
                                 {{"a.cu", "// snippet: x\na\n// end snippet\n"}});
  CHECK(result.errors == "");
  CHECK(result.stale == 1);
}

TEST_CASE("an unknown region") {
  const Files sources = {{"a.cu", "// snippet: int8-inner\n// end snippet\n"},
                         {"b.cu", ""}};
  CHECK(errors("a.cu#int8-iner", sources) ==
        "l.md:1: no region 'int8-iner' in a.cu; did you mean 'int8-inner'?\n"
        "  <!-- pull: a.cu#int8-iner -->\n"
        "                  ^\n");
  CHECK(errors("a.cu#gate", sources) ==
        "l.md:1: no region 'gate' in a.cu; it marks 'int8-inner'\n"
        "  <!-- pull: a.cu#gate -->\n"
        "                  ^\n");
  CHECK(errors("b.cu#gate", sources) ==
        "l.md:1: no region 'gate' in b.cu; it marks none\n"
        "  <!-- pull: b.cu#gate -->\n"
        "                  ^\n");
}

TEST_CASE("a missing file is reported once, where it is pulled first") {
  CHECK(updated("l.md",
                "is <!-- pull: transcripts/p/m.md#a / b -->1<!-- end pull -->\n"
                "is <!-- pull: transcripts/p/m.md#a / c -->1<!-- end pull -->\n",
                {})
            .errors ==
        "l.md:1: cannot read transcripts/p/m.md\n"
        "  is <!-- pull: transcripts/p/m.md#a / b -->1<!-- end pull -->\n"
        "                ^\n");
  CHECK(errors("b.cu#x") ==
        "l.md:1: cannot read b.cu\n"
        "  <!-- pull: b.cu#x -->\n"
        "             ^\n");
}

TEST_CASE("wrong marks are reported once, and do not make names unknown") {
  const std::string pull = "<!-- pull: a.cu#x -->\n<!-- end pull -->\n";
  CHECK(updated("l.md", pull + pull, {{"a.cu", "// snippet: x\n"}}).errors ==
        "a.cu:1: region 'x' is opened here and never closed; add 'end snippet'\n"
        "  // snippet: x\n"
        "              ^\n");
}

TEST_CASE("a region that holds a directive is refused") {
  const Files sources = {
      {"p.cu", "// snippet: x\n// pull: a.cu#y\n// end pull\n// end snippet\n"},
      {"q.py", "# snippet: x\n// end pull\n# end snippet\n"}};
  const std::string expected =
      "region 'x' holds a directive; pull from where that one does\n";
  CHECK(errors("p.cu#x", sources) == "l.md:1: " + expected +
                                         "  <!-- pull: p.cu#x -->\n"
                                         "                  ^\n");
  CHECK(updated("o.cu", "// pull: q.py#x\n// end pull\n", sources).errors ==
        "o.cu:1: " + expected +
            "  // pull: q.py#x\n"
            "                ^\n");
}

TEST_CASE("a region inside a sentence is refused") {
  CHECK(
      updated("l.md", "a <!-- pull: src/a.cu#x --><!-- end pull -->\n", kSource)
          .errors ==
      "l.md:1: a region is no figure: put the directive and its end on lines of their "
      "own\n"
      "  a <!-- pull: src/a.cu#x --><!-- end pull -->\n"
      "                        ^\n");
}

TEST_CASE("evidence is pulled by value into sentences and by block into fences") {
  const Evidence evidence = {
      [](const std::string& file, const std::string& text, const std::string& address) {
        return file + "|" + text + "|" + address;
      },
      [](const std::string&, const std::string& text, const std::string& address) {
        return address + ":\n" + text + "\n";
      }};
  const Files files = {{"transcripts/p/rules.toml", ""},
                       {"transcripts/p/h200.md", "H"},
                       {"transcripts/p/t4.md", "T"},
                       {"transcripts/snippets/x.md", "X"}};
  const std::string document =
      "is <!-- pull: transcripts/p/h200.md#a / b -->0<!-- end pull -->\n\n"
      "<!-- pull: transcripts/p/h200.md#a -->\n<!-- end pull -->\n";
  const Updated recorded = updated("l.md", document, files, evidence);
  CHECK(recorded.errors == "");
  CHECK(recorded.after ==
        "is <!-- pull: transcripts/p/h200.md#a / b -->"
        "transcripts/p/h200.md|H|a / b<!-- end pull -->\n\n"
        "<!-- pull: transcripts/p/h200.md#a -->\n```text\na:\nH\n```\n"
        "<!-- end pull -->\n");
  const Updated other = updated("l.md", document, files, evidence, "t4");
  CHECK(other.errors == "");
  CHECK(other.after ==
        "is <!-- pull: transcripts/p/h200.md#a / b -->"
        "transcripts/p/t4.md|T|a / b<!-- end pull -->\n\n"
        "<!-- pull: transcripts/p/h200.md#a -->\n```text\na:\nT\n```\n"
        "<!-- end pull -->\n");
  // A program's recorded output is evidence too, but of no machine.
  const Updated printed = updated(
      "l.md", "is <!-- pull: transcripts/snippets/x.md#a --><!-- end pull -->\n", files,
      evidence, "t4");
  CHECK(printed.after ==
        "is <!-- pull: transcripts/snippets/x.md#a -->transcripts/snippets/x.md|X|a"
        "<!-- end pull -->\n");
}

TEST_CASE("what a snippet program printed is evidence of no machine") {
  const Evidence evidence = {
      [](const std::string& file, const std::string& text, const std::string& address) {
        return file + "|" + text + "|" + address;
      },
      {}};
  const Files files = {{"transcripts/snippets/p.md", "P"}};
  const Updated other = updated(
      "l.md", "is <!-- pull: transcripts/snippets/p.md#a / b -->0<!-- end pull -->\n",
      files, evidence, "t4");
  CHECK(other.errors == "");
  CHECK(other.after ==
        "is <!-- pull: transcripts/snippets/p.md#a / b -->"
        "transcripts/snippets/p.md|P|a / b<!-- end pull -->\n");
}

TEST_CASE("evidence that cannot be had says why, under that part of its address") {
  const Evidence evidence = {
      [](const std::string&, const std::string&, const std::string&) -> std::string {
        throw common::DiagnosticError({{"t", 0, 5, "no row 'b'", "a / b"}});
      },
      [](const std::string&, const std::string&, const std::string&) {
        return std::string();
      }};
  CHECK(updated("l.md", "is <!-- pull: transcripts/p/m.md#a / b --><!-- end pull -->\n",
                {{"transcripts/p/m.md", ""}}, evidence)
            .errors ==
        "l.md:1: no row 'b'\n"
        "  is <!-- pull: transcripts/p/m.md#a / b --><!-- end pull -->\n"
        "                                       ^\n");
}
