#include "formats/fixed_inputs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "base/error.h"
#include "network/evaluate/evaluate.h"

namespace millrace::formats {
namespace {

template <class T>
std::optional<T> number_in(std::string_view text) {
  if (text == "true" || text == "false") return static_cast<T>(text == "true");
  T number{};
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc{} || parsed.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

/// Nothing if one of them is no such number.
template <class T>
std::optional<Array> numbers_in(std::string_view text, DataType type) {
  std::vector<T> numbers;
  for (;;) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::optional<T> number = number_in<T>(text.substr(0, comma));
    if (!number || !std::isfinite(static_cast<double>(*number))) return std::nullopt;
    numbers.push_back(*number);
    if (comma == text.size()) break;
    text.remove_prefix(comma + 1);
  }
  return make_array<T>(type, {std::ssize(numbers)}, numbers);
}

/// As int64 if all are whole, however they are written.
std::optional<Array> value_in(std::string_view text) {
  if (auto whole = numbers_in<std::int64_t>(text, DataType::int64)) return whole;
  const std::optional<Array> numbers = numbers_in<double>(text, DataType::float64);
  if (!numbers) return std::nullopt;
  constexpr double most = 1e15;
  const auto is_whole = [](double n) { return std::trunc(n) == n && std::abs(n) <= most; };
  if (!std::ranges::all_of(numbers->values<double>(), is_whole)) return numbers;
  return network::converted(*numbers, DataType::int64);
}

bool is_value(std::string_view text) { return value_in(text).has_value(); }

std::string text_of(const Array& value) {
  if (value.type == DataType::float64)
    return fmt::format("{}", fmt::join(value.values<double>(), ","));
  return fmt::format("{}", fmt::join(value.values<std::int64_t>(), ","));
}

}  // namespace

void add_fixed(ModelSource& source, const std::string& text, const std::string& place) {
  const std::size_t equals = text.rfind('=');
  const bool is_named = equals != std::string::npos && equals > 0;
  const std::optional<Array> value =
      is_named ? value_in(std::string_view(text).substr(equals + 1)) : std::nullopt;
  if (!value)
    throw InputError(place + " " + text,
                     "expected NAME=NUMBER or NAME=NUMBER,NUMBER..., such as sr=16000");
  if (!source.constants.emplace(text.substr(0, equals), *value).second)
    throw InputError(place + " " + text, "is the second value for this input; give one");
}

std::vector<std::string> fixed_texts(const ModelSource& source) {
  std::vector<std::string> texts;
  for (const auto& [name, value] : source.constants) texts.push_back(name + "=" + text_of(value));
  return texts;
}

std::string fixed_text(const ModelSource& source) {
  return fmt::format("{}", fmt::join(fixed_texts(source), " "));
}

void add_all_fixed(ModelSource& source, const std::string& text, const std::string& place) {
  for (const std::string& value : split_values(text, is_value)) add_fixed(source, value, place);
}

std::vector<std::string> split_values(const std::string& text, bool (*is_value)(std::string_view)) {
  std::vector<std::string> parts{""};
  for (const char c : text) {
    std::string& last = parts.back();
    const std::size_t equals = c == ' ' ? last.rfind('=') : std::string::npos;
    if (equals != std::string::npos && is_value(std::string_view(last).substr(equals + 1)))
      parts.emplace_back();
    else
      last += c;
  }
  return parts;
}

bool is_read_as_it_is(const ModelSource& source) {
  return source.shapes.empty() && source.constants.empty() && !source.size &&
         source.weights.empty() && source.divided.empty();
}

}  // namespace millrace::formats
