#include "dataflow/sdf3_numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "dataflow/checked.h"

namespace millrace::dataflow {
namespace {

constexpr std::size_t most_numbers = 1'000'000;
constexpr int most_decimals = 9;

std::string trimmed(const std::string& text) {
  const char* blanks = " \t\r\n";
  const auto begin = text.find_first_not_of(blanks);
  return begin == std::string::npos ? ""
                                    : text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

/// For messages: what was found, cut short.
std::string shown(const std::string& text) {
  constexpr std::size_t enough = 40;
  return text.size() <= enough ? text : text.substr(0, enough) + "...";
}

/// A text of digits with an optional sign. Fails in three ways, each with its own sentence.
std::int64_t parse_integer(const std::string& text, const Expected& expected,
                           const std::string& place) {
  std::int64_t value = 0;
  const char* begin = text.data() + (text.starts_with('+') ? 1 : 0);
  const auto [end, error] = std::from_chars(begin, text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range)
    throw InputError(place, fmt::format("found the {} {}, which exceeds 64 bits; make it smaller",
                                        expected.what, shown(text)));
  if (error != std::errc() || end != text.data() + text.size())
    throw InputError(place, fmt::format("found the {} '{}', expected a {}number", expected.what,
                                        shown(text), expected.decimals ? "" : "whole "));
  if (value < 0 || text.starts_with('-'))
    throw InputError(place, fmt::format("found the negative {} {}, expected 0 or more",
                                        expected.what, shown(text)));
  return value;
}

void append(Sequence& sequence, std::string text, const Expected& expected,
            const std::string& place) {
  std::size_t count = 1;
  if (const auto star = text.find('*'); star != std::string::npos) {
    const auto times = parse_integer(trimmed(text.substr(0, star)), {"repetition"}, place);
    count = static_cast<std::size_t>(times);
    text = trimmed(text.substr(star + 1));
  }
  if (count > most_numbers - std::min(most_numbers, sequence.digits.size()))
    throw InputError(place, fmt::format("its sequence of {}s has more than {} numbers; make it "
                                        "shorter",
                                        expected.what, most_numbers));
  int decimals = 0;
  const auto point = text.find('.');
  if (expected.decimals && point != std::string::npos) {
    text.erase(text.find_last_not_of('0') + 1);
    decimals = static_cast<int>(text.size() - point - 1);
    text.erase(point, 1);
    if (decimals > most_decimals)
      throw InputError(place, fmt::format("found the {} with {} decimals, at most {} are possible",
                                          expected.what, decimals, most_decimals));
  }
  sequence.digits.insert(sequence.digits.end(), count, parse_integer(text, expected, place));
  sequence.decimals.insert(sequence.decimals.end(), count, decimals);
}

}  // namespace

std::vector<std::int64_t> Sequence::scaled(int scale, const std::string& place) const {
  std::vector<std::int64_t> result = digits;
  for (std::size_t i = 0; i < result.size(); ++i)
    for (int power = decimals[i]; power < scale; ++power)
      result[i] = checked_multiply(result[i], 10, place);
  return result;
}

Sequence parse_sequence(const std::string& text, const Expected& expected,
                        const std::string& place) {
  Sequence sequence;
  std::size_t begin = 0;
  for (;;) {
    const std::size_t comma = text.find(',', begin);
    append(sequence, trimmed(text.substr(begin, comma - begin)), expected, place);
    if (comma == std::string::npos) return sequence;
    begin = comma + 1;
  }
}

std::int64_t parse_count(const std::string& text, const char* what, const std::string& place) {
  return parse_integer(trimmed(text), {what}, place);
}

std::string sequence_text(const std::vector<std::int64_t>& values) {
  std::string text;
  for (std::size_t i = 0; i < values.size();) {
    std::size_t end = i;
    while (end < values.size() && values[end] == values[i]) ++end;
    if (!text.empty()) text += ',';
    const bool repeats = end - i > 1;
    text += repeats ? fmt::format("{}*{}", end - i, values[i]) : fmt::to_string(values[i]);
    i = end;
  }
  return text;
}

}  // namespace millrace::dataflow
