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

bool is_of_engine(const Variant& variant, const std::string& engine) {
  const std::string& name = variant.algorithm;
  return name.starts_with(engine) && (name.size() == engine.size() || name[engine.size()] == '/');
}

std::string engine_of(const std::string& engines, const Variant& variant) {
  const auto name_at = [&](std::size_t begin) {
    return engines.substr(begin, engines.find_first_of(",@", begin) - begin);
  };
  for (std::size_t comma = engines.find(','); comma != std::string::npos;
       comma = engines.find(',', comma + 1))
    if (is_of_engine(variant, name_at(comma + 1))) return name_at(comma + 1);
  return name_at(0);
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
