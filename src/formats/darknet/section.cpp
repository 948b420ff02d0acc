#include "formats/darknet/section.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/error.h"
#include "base/file.h"

namespace millrace::formats::darknet {
namespace {

template <class Number>
std::optional<Number> parse(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  Number number{};
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc{} || parsed.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

/// Options that say what is computed. All others are for training, and Darknet takes the first.
constexpr std::string_view computing =
    "activation anchors batch_normalize channels classes coords dilation filters from group_id "
    "groups height letter_box layers mask num output pad padding scale scale_wh scale_x_y side "
    "size softmax sqrt stride stride_x stride_y width";

bool is_computing(std::string_view name) {
  const std::vector<std::string_view> names = split(computing, ' ');
  return std::ranges::find(names, name) != names.end();
}

std::int64_t whole(const Section& section, std::string_view name, std::string_view text,
                   const Range& range) {
  const auto number = parse<std::int64_t>(text);
  if (!number || *number < range.least || *number > range.most)
    section.fail_at(name, fmt::format("found '{}', expected a whole number from {} to {}", text,
                                      range.least, range.most));
  return *number;
}

double real(const Section& section, std::string_view name, std::string_view text) {
  const auto number = parse<double>(text);
  if (!number || !std::isfinite(*number))
    section.fail_at(name, fmt::format("found '{}', expected a number", text));
  return *number;
}

}  // namespace

const Option* Section::find(std::string_view name) const {
  const auto found = std::ranges::find(options_, name, &Option::name);
  return found == options_.end() ? nullptr : &*found;
}

void Section::add(Option option) {
  constexpr std::size_t most_options = 1000;
  if (options_.size() == most_options)
    throw InputError(fmt::format("{}: line {}", file_, option.line),
                     fmt::format("[{}] has more than {} options; is this a Darknet configuration?",
                                 kind_, most_options));
  const Option* before = find(option.name);
  if (before == nullptr) {
    options_.push_back(std::move(option));
  } else if (before->value != option.value && is_computing(option.name)) {
    throw InputError(fmt::format("{}: line {}", file_, option.line),
                     fmt::format("'{}' is '{}' here and '{}' in line {}; remove one", option.name,
                                 option.value, before->value, before->line));
  }
}

std::int64_t Section::integer(std::string_view name, std::int64_t fallback, Range range) const {
  const Option* option = find(name);
  return option == nullptr ? fallback : whole(*this, name, option->value, range);
}

std::int64_t Section::needed(std::string_view name, Range range) const {
  if (!has(name)) fail(fmt::format("lacks '{}', which has no default; add it", name));
  return integer(name, 0, range);
}

double Section::number(std::string_view name, double fallback) const {
  const Option* option = find(name);
  return option == nullptr ? fallback : real(*this, name, option->value);
}

std::string Section::text(std::string_view name, std::string_view fallback) const {
  const Option* option = find(name);
  return option == nullptr ? std::string(fallback) : option->value;
}

std::vector<std::int64_t> Section::integers(std::string_view name, Range range) const {
  std::vector<std::int64_t> result;
  if (const Option* option = find(name))
    for (const std::string_view part : split(option->value, ','))
      result.push_back(whole(*this, name, part, range));
  return result;
}

std::vector<double> Section::numbers(std::string_view name) const {
  std::vector<double> result;
  if (const Option* option = find(name))
    for (const std::string_view part : split(option->value, ','))
      result.push_back(real(*this, name, part));
  return result;
}

void Section::only(std::string_view words) const {
  const std::vector<std::string_view> known = split(words, ' ');
  for (const Option& option : options_) {
    if (std::ranges::find(known, option.name) != known.end()) continue;
    const std::string near = did_you_mean(option.name, known);
    if (near.empty()) continue;
    fail_at(option.name, fmt::format("is not an option of [{}] that Millrace knows{}; remove it if "
                                     "the network does not need it",
                                     kind_, near));
  }
}

void Section::refuse(std::initializer_list<std::string_view> names) const {
  for (const std::string_view name : names)
    if (has(name) && parse<double>(text(name, "")) != 0)
      fail_at(name,
              fmt::format("is '{}'; this form of [{}] is not supported, only networks without "
                          "it are",
                          text(name, ""), kind_));
}

std::string Section::place() const { return fmt::format("{}: line {}: [{}]", file_, line_, kind_); }

void Section::fail(const std::string& text) const { throw InputError(place(), text); }

void Section::fail_at(std::string_view name, const std::string& text) const {
  const Option* option = find(name);
  throw InputError(
      fmt::format("{}: line {}: {}", file_, option == nullptr ? line_ : option->line, name), text);
}

}  // namespace millrace::formats::darknet
