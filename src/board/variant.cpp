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

int bytes_per_element(Precision precision) {
  switch (precision) {
    case Precision::f32:
      return 4;
    case Precision::bf16:
    case Precision::f16:
      return 2;
    case Precision::int8:
      return 1;
  }
  return 4;
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
                     fmt::format("found '{}', expected an algorithm after the colon", text));
  return variant;
}

}  // namespace millrace::board
