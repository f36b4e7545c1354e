#include "decode_link.h"

#include <zlib.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace snippet {
namespace {

std::string from_base64url(const std::string& text) {
  const std::string alphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string bytes;
  unsigned bits = 0, held = 0;
  for (const char c : text) {
    const std::size_t digit = alphabet.find(c);
    if (digit == alphabet.npos) throw std::invalid_argument("not URL-safe base64");
    bits = bits << 6 | static_cast<unsigned>(digit);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes += static_cast<char>(bits >> held & 0xFF);
  }
  return bytes;
}

// The zlib format only, as the site: no gzip, no raw deflate.
std::string inflated(std::string bytes) {
  z_stream stream;
  std::memset(&stream, 0, sizeof stream);
  if (inflateInit(&stream) != Z_OK) throw std::runtime_error("inflateInit");
  stream.next_in = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::string out;
  int status = Z_OK;
  while (status == Z_OK) {
    char chunk[4096];
    stream.next_out = reinterpret_cast<Bytef*>(chunk);
    stream.avail_out = sizeof chunk;
    status = inflate(&stream, Z_NO_FLUSH);
    out.append(chunk, sizeof chunk - stream.avail_out);
  }
  inflateEnd(&stream);
  if (status != Z_STREAM_END) throw std::invalid_argument("not a zlib stream");
  return out;
}

std::string unquoted(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+') {
      out += ' ';
    } else if (text[i] == '%') {
      out += static_cast<char>(std::stoi(text.substr(i + 1, 2), nullptr, 16));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

// Rison (without the outer parentheses) into JSON, which the library then reads.
std::string json_of(const std::string& rison) {
  std::string json = "{", nesting = "{";
  const auto quote = [](const std::string& text) {
    return nlohmann::json(text).dump();
  };
  std::size_t i = 0;
  while (i < rison.size()) {
    const char c = rison[i++];
    if (c == '\'') {
      std::string text;
      for (; rison.at(i) != '\''; ++i) {
        if (rison[i] == '!') ++i;
        text += rison.at(i);
      }
      ++i;
      json += quote(text);
    } else if (c == '!') {
      if (rison.at(i++) != '(') throw std::invalid_argument("no such literal");
      json += '[';
      nesting += '[';
    } else if (c == '(') {
      json += '{';
      nesting += '{';
    } else if (c == ')') {
      json += nesting.back() == '{' ? '}' : ']';
      nesting.pop_back();
    } else if (c == ',' || c == ':') {
      json += c;
    } else {
      std::string word(1, c);
      while (i < rison.size() && std::strchr(" '!:(),*@$", rison[i]) == nullptr) {
        word += rison[i++];
      }
      const bool number = word.find_first_not_of("0123456789") == word.npos;
      json += number ? word : quote(word);
    }
  }
  if (nesting != "{") throw std::invalid_argument("unbalanced Rison");
  return json + "}";
}

}  // namespace

Opened decode_link(const std::string& url) {
  const std::string state = "https://godbolt.org/clientstate/";
  const std::string fragment = "https://godbolt.org/#";
  if (url.starts_with(state)) {
    const std::string text = inflated(from_base64url(url.substr(state.size())));
    for (const char c : text) {
      if (static_cast<unsigned char>(c) > 126) throw std::invalid_argument("not ASCII");
    }
    const auto session = nlohmann::json::parse(text).at("sessions").at(0);
    const auto compiler = session.at("compilers").at(0);
    const auto executor = session.at("executors").at(0).at("compiler");
    return {session.at("source"),   session.at("language"), compiler.at("id"),
            compiler.at("options"), executor.at("id"),      executor.at("options")};
  }
  if (!url.starts_with(fragment)) throw std::invalid_argument("not the site's");
  const auto layout =
      nlohmann::json::parse(json_of(unquoted(url.substr(fragment.size()))));
  if (layout.at("version") != 4) throw std::invalid_argument("not version 4");
  Opened opened;
  for (const auto& pane : layout.at("g").at(0).at("g")) {
    const std::string name = pane.at("h");
    const auto& with = pane.at("i");
    if (name == "codeEditor") {
      opened.source = with.at("source");
      opened.language = with.at("lang");
    } else {
      if (with.at("source") != 1) throw std::invalid_argument("of another editor");
      (name == "compiler" ? opened.compiler : opened.executor) = with.at("compiler");
      (name == "compiler" ? opened.options : opened.executor_options) =
          with.at("options");
    }
  }
  return opened;
}

}  // namespace snippet
