// For tests: opens a link as the site would, compares what it carries with the program
// that it was made for, and writes that down for a compiler.
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>

#include "decode_link.h"
#include "file.h"
#include "link.h"

namespace {

void require(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error(what);
}

}  // namespace

int main(int argc, char** argv) try {
  require(argc == 5, "usage: open_link LINK PROGRAM SOURCE-OUT OPTIONS-OUT");
  std::string url = common::read_file(argv[1]);
  require(url.ends_with('\n'), "the link is no line");
  url.pop_back();
  require(url.size() <= snippet::kMaxUrl || url.starts_with("https://godbolt.org/#"),
          "the link is too long for the site's server");
  const snippet::Opened opened = snippet::decode_link(url);
  require(opened.source == common::read_file(argv[2]),
          std::string(argv[2]) + ": its link carries another text");
  require(opened.language == "cuda", "the link's language is not CUDA");
  require(opened.compiler == snippet::kCompilers[0].id, "the link's compiler");
  require(opened.executor == opened.compiler, "the link's executor");
  require(opened.executor_options == opened.options, "the link's executor's options");
  common::write_atomically(argv[3], opened.source);
  common::write_atomically(argv[4], opened.options);
  return 0;
} catch (const std::exception& error) {
  std::cerr << "open_link: " << error.what() << '\n';
  return 1;
}
