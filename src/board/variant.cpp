#include "board/variant.h"

#include <fmt/format.h>

#include <array>

#include "base/error.h"

namespace millrace::board {
namespace {

constexpr std::array<const char*, 3> names{"f32", "bf16", "int8"};  // by Precision

}  // namespace

std::string to_text(Precision precision) { return names[static_cast<std::size_t>(precision)]; }

std::string to_text(const Variant& variant) {
  const std::string precision = to_text(variant.precision);
  return variant.algorithm.empty() ? precision : precision + ":" + variant.algorithm;
}

Precision read_precision(const std::string& text, const std::string& place) {
  for (std::size_t i = 0; i < names.size(); ++i)
    if (text == names[i]) return static_cast<Precision>(i);
  throw InputError(place, fmt::format("found '{}', expected f32, bf16 or int8", text));
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
