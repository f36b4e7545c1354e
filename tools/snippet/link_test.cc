#include "link.h"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <stdexcept>

#include "decode_link.h"

using namespace snippet;

namespace {

// Text that deflate cannot make smaller than the limit.
std::string incompressible(std::size_t size) {
  std::string text;
  unsigned state = 1;
  for (std::size_t i = 0; i < size; ++i) {
    state = state * 1664525 + 1013904223;
    text += static_cast<char>(' ' + (state >> 24) % 95);
  }
  return text;
}

void check_opens(const std::string& url, const std::string& source) {
  const Opened opened = decode_link(url);
  CHECK(opened.source == source);
  CHECK(opened.language == "cuda");
  CHECK(opened.compiler == "nvcc130u2");
  CHECK(opened.options == "-std=c++17 -O3 -arch=sm_75");
  CHECK(opened.executor == "nvcc130u2");
  CHECK(opened.executor_options == "-std=c++17 -O3 -arch=sm_75");
}

}  // namespace

TEST_CASE("a short program's link carries it to the server, byte for byte") {
  for (const std::string source :
       {"", "int main() {}\n", "// \xC3\xA9 \xF0\x9F\x98\x80\r\n\t\"\\\"'!%+#&\n"}) {
    const std::string url = explorer_link(source);
    CHECK(url.starts_with("https://godbolt.org/clientstate/"));
    CHECK(url.find_first_of("+=#") == url.npos);
    CHECK(url.size() <= 8000);
    check_opens(url, source);
  }
}

TEST_CASE("a program too long for that stands behind the '#'") {
  std::size_t longest = 0;
  for (std::size_t size = 6000; size < 8000; size += 50) {
    const std::string source = incompressible(size) + "'!\r\n\xC3\xA9";
    const std::string url = explorer_link(source);
    check_opens(url, source);
    if (url.starts_with("https://godbolt.org/clientstate/")) {
      CHECK(url.size() <= 8000);
      longest = std::max(longest, url.size());
    } else {
      CHECK(url.starts_with("https://godbolt.org/#g:"));
    }
  }
  CHECK(longest > 7900);
  CHECK(explorer_link(incompressible(7950)).starts_with("https://godbolt.org/#g:"));
}

TEST_CASE("the page's own form is what the page writes for the same panes") {
  const std::string source = incompressible(9000);
  const std::string url = explorer_link(source);
  const auto editor = url.find("source:'");
  const auto rest = url.find("'),l:'5'),(h:compiler");
  CHECK(url.substr(0, editor) ==
        "https://godbolt.org/#g:!((g:!((h:codeEditor,i:(j:1,lang:cuda,");
  CHECK(url.substr(rest) ==
        "'),l:'5'),(h:compiler,i:(compiler:nvcc130u2,j:1,lang:cuda,libs:!(),"
        "options:'-std%3Dc%2B%2B17+-O3+-arch%3Dsm_75',source:1),l:'5'),"
        "(h:executor,i:(compilationPanelShown:'0',compiler:nvcc130u2,"
        "compilerOutShown:'0',lang:cuda,libs:!(),"
        "options:'-std%3Dc%2B%2B17+-O3+-arch%3Dsm_75',source:1),l:'5')),l:'2')),"
        "version:4");
}

TEST_CASE("compilers outside the table are refused") {
  CHECK_THROWS_WITH_AS(explorer_link("", "nvcc130u1"),
                       "'nvcc130u1' is no compiler of this tool's table; did you mean "
                       "'nvcc130u2'?",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(explorer_link("", "g132"),
                       "'g132' is no compiler of this tool's table",
                       std::invalid_argument);
}

TEST_CASE("a program that is not UTF-8 is refused") {
  CHECK_THROWS_WITH_AS(explorer_link("\xFF"),
                       "a link's program is UTF-8, and this one is not",
                       std::invalid_argument);
}

TEST_CASE("any text comes back from its link") {
  CHECK(rc::check([] {
    const auto bytes = *rc::gen::container<std::string>(rc::gen::inRange<char>(1, 127));
    const auto times = *rc::gen::element<std::size_t>(1, 5000);
    std::string source;
    for (std::size_t i = 0; i < times && source.size() < 20000; ++i) {
      source += bytes + incompressible(times == 1 ? 0 : 100 + i % 7);
    }
    const Opened opened = decode_link(explorer_link(source));
    RC_ASSERT(opened.source == source);
  }));
}
