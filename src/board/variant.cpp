#include "board/variant.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "board/words.h"

namespace millrace::board {

std::string to_text(Precision precision) { return std::string(word_of(precisions, precision)); }

std::string to_text(const Variant& variant) {
  const std::string precision = to_text(variant.precision);
  return variant.algorithm.empty() ? precision : precision + ":" + variant.algorithm;
}

Precision read_precision(const std::string& text, const std::string& place) {
  const auto found = std::find(precisions.begin(), precisions.end(), text);
  if (found != precisions.end()) return static_cast<Precision>(found - precisions.begin());
  throw InputError(
      place, fmt::format("found '{}', expected one of {}", text, fmt::join(precisions, ", ")));
}

Variant read_variant(const std::string& text, const std::string& place) {
  const std::size_t colon = text.find(':');
  Variant variant{read_precision(text.substr(0, colon), place), {}};
  if (colon == std::string::npos) return variant;
  variant.algorithm = text.substr(colon + 1);
  if (variant.algorithm.empty())
    throw InputError(place,
                     fmt::format("found '{}', expected an algorithm behind the colon", text));
  return variant;
}

}  // namespace millrace::board
