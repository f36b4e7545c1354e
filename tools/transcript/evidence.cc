#include "evidence.h"

#include "address.h"
#include "model.h"

namespace transcript {

std::string get(std::string_view evidence, std::string_view address,
                std::string_view name) {
  const Transcript transcript{std::string(evidence), std::string(name)};
  const Place place = Addresses(transcript).figure(address);
  return std::string(transcript.line(place.line).substr(place.begin, place.end - place.begin));
}

std::string block(std::string_view evidence, std::string_view address,
                  std::string_view name) {
  const Transcript transcript{std::string(evidence), std::string(name)};
  const LineRange range = Addresses(transcript).lines(address);
  std::string lines;
  for (std::size_t i = range.begin; i < range.end; ++i) {
    lines.append(transcript.line(i)).append("\n");
  }
  return lines;
}

}  // namespace transcript
