// A libFuzzer target: marks and directives of any bytes. What can be brought up to date
// stays as it is when that is done again, and nothing outside the directives moves.
//   ninja fuzz_snippet && ./fuzz_snippet -dict=tools/snippet/fuzz.dict
#include <cstdint>
#include <cstdlib>

#include "test_support.h"

using namespace snippet;

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

std::string outside(const std::string& text, const std::vector<Pull>& pulls) {
  std::string rest;
  std::size_t done = 0;
  for (const Pull& pull : pulls) {
    require(done <= pull.begin && pull.begin <= pull.end && pull.end <= text.size());
    rest += text.substr(done, pull.begin - done) + "|";
    done = pull.end;
  }
  return rest + text.substr(done);
}

}  // namespace

// The first byte chooses the kind of document; a NUL parts the document from a source
// `s.cu`, whose regions it may pull.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string file = data[0] % 2 == 0 ? "d.md" : "d.cu";
  const std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t part = bytes.find('\0');
  const std::string text = bytes.substr(0, part);
  const std::string source = part == bytes.npos ? "" : bytes.substr(part + 1);

  std::vector<common::Diagnostic> errors;
  for (const Region& region : parse_marks("s.cu", source, errors)) {
    require(region.begin <= region.end && region.end <= source.size());
  }
  Resolver resolver(reader_of({{"s.cu", source}}));
  const Update first = update(file, text, resolver, errors);
  text_of(errors);
  if (!errors.empty()) return 0;
  const Update second = update(file, first.after, resolver, errors);
  require(errors.empty() && second.after == first.after);
  require(outside(first.after, second.pulls) == outside(text, first.pulls));
  return 0;
}
