#include "link.h"

#include <openssl/evp.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "suggest.h"

namespace snippet {
namespace {

using Json = nlohmann::ordered_json;

std::string deflated(std::string_view bytes) {
  uLongf size = compressBound(bytes.size());
  std::string out(size, '\0');
  const int status = compress2(reinterpret_cast<Bytef*>(out.data()), &size,
                               reinterpret_cast<const Bytef*>(bytes.data()),
                               bytes.size(), Z_BEST_COMPRESSION);
  if (status != Z_OK) throw std::runtime_error("zlib cannot compress the program");
  out.resize(size);
  return out;
}

// RFC 4648, section 5, without padding.
std::string base64url(std::string_view bytes) {
  std::string out(4 * ((bytes.size() + 2) / 3) + 1, '\0');
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                                   reinterpret_cast<const unsigned char*>(bytes.data()),
                                   static_cast<int>(bytes.size()));
  out.resize(static_cast<std::size_t>(size));
  while (out.ends_with('=')) out.pop_back();
  std::replace(out.begin(), out.end(), '+', '-');
  std::replace(out.begin(), out.end(), '/', '_');
  return out;
}

std::string clientstate(std::string_view source, std::string_view compiler) {
  const Json compiled = {{"id", compiler}, {"options", kOptions}};
  const Json run = {{"id", compiler}, {"options", kOptions}, {"libs", Json::array()}};
  const Json session = {
      {"id", 1},
      {"language", "cuda"},
      {"source", source},
      {"compilers", Json::array({compiled})},
      {"executors",
       Json::array(
           {{{"compiler", run}, {"arguments", ""}, {"compilerOutputVisible", true}}})}};
  const Json state = {{"sessions", Json::array({session})}};
  return "https://godbolt.org/clientstate/" +
         base64url(deflated(state.dump(-1, ' ', /*ensure_ascii=*/true)));
}

// A string of Rison (a JSON for URLs): in single quotes, '!' before '!' and '\''.
std::string rison(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '!' || c == '\'') out += '!';
    out += c;
  }
  return out + "'";
}

// Percent-encoding that leaves Rison's own punctuation alone; a space is a '+'.
std::string percent_encoded(std::string_view text) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~!*()',:@$/";
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == ' ') {
      out += '+';
    } else if (kPlain.find(c) != kPlain.npos) {
      out += c;
    } else {
      out += {'%', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return out;
}

// The layout that the site's page keeps, in GoldenLayout's one-letter names: g content,
// h componentName, i componentState, j id, l type; type 2 is a row, 5 a component, and
// a state's '0' is true.
std::string fragment(std::string_view source, std::string_view compiler) {
  const std::string id(compiler), options = rison(kOptions);
  const std::string common =
      ",lang:cuda,libs:!(),options:" + options + ",source:1),l:'5')";
  return "https://godbolt.org/#" +
         percent_encoded(
             "g:!((g:!((h:codeEditor,i:(j:1,lang:cuda,source:" + rison(source) +
             "),l:'5'),(h:compiler,i:(compiler:" + id + ",j:1" + common +
             ",(h:executor,i:(compilationPanelShown:'0',compiler:" + id +
             ",compilerOutShown:'0'" + common + "),l:'2')),version:4");
}

void require_known(std::string_view compiler) {
  std::vector<std::string> ids;
  for (const Compiler& known : kCompilers) ids.emplace_back(known.id);
  if (std::find(ids.begin(), ids.end(), compiler) != ids.end()) return;
  const std::string meant = common::closest(compiler, ids);
  throw std::invalid_argument("'" + std::string(compiler) +
                              "' is no compiler of this tool's table" +
                              (meant.empty() ? "" : "; did you mean '" + meant + "'?"));
}

}  // namespace

std::string explorer_link(std::string_view source, std::string_view compiler) {
  require_known(compiler);
  std::string url;
  try {
    url = clientstate(source, compiler);
  } catch (const Json::type_error&) {
    throw std::invalid_argument("a link's program is UTF-8, and this one is not");
  }
  return url.size() <= kMaxUrl ? url : fragment(source, compiler);
}

}  // namespace snippet
