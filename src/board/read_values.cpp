#include "board/read_values.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/file.h"
#include "board/words.h"

namespace millrace::board {

double read_number(const YamlView& view, const Bounds& bounds) {
  const double value = view.number();
  if (value < bounds.low || value > bounds.high || (bounds.above && value == bounds.low))
    view.fail(fmt::format("found {}, expected a number {} {}, at most {}", value,
                          bounds.above ? "above" : "from", bounds.low, bounds.high));
  return value;
}

int read_count(const YamlView& view, int low, int high) {
  return static_cast<int>(view.integer(low, high));
}

double read_giga(const YamlView& view) {
  return std::round(read_number(view, {0, 1e6, true}) * 1e9);
}

Time read_microseconds(const YamlView& view) {
  return time_from_seconds(read_number(view, {0, 1e9}) * 1e-6);
}

Milliwatts read_power(const YamlView& view) { return {read_number(view, {0, 1e7})}; }

Bytes read_size(const YamlView& view) {
  struct SizeUnit {
    std::string_view key;
    double bytes;
  };
  constexpr std::array units{SizeUnit{"size_kib", 0x1p10}, SizeUnit{"size_mib", 0x1p20},
                             SizeUnit{"size_gib", 0x1p30}};
  std::optional<Bytes> size;
  for (const SizeUnit& unit : units) {
    if (!view.has(unit.key)) continue;
    const YamlView number = view.at(unit.key);
    if (size) number.fail("found a second size, expected one; remove it");
    size = Bytes{std::llround(read_number(number, positive) * unit.bytes)};
  }
  if (!size) view.fail("the size is missing; give size_kib, size_mib or size_gib");
  return *size;
}

std::vector<std::string> read_texts(const YamlView& view) {
  std::vector<std::string> texts;
  for (const YamlView& item : view.items()) texts.push_back(item.text());
  return texts;
}

std::size_t read_word(const YamlView& view, std::span<const std::string_view> words) {
  const std::string text = view.text();
  const auto found = std::find(words.begin(), words.end(), text);
  if (found == words.end())
    view.fail(fmt::format("found '{}', expected one of {}{}", text, fmt::join(words, ", "),
                          did_you_mean(text, words)));
  return static_cast<std::size_t>(found - words.begin());
}

Precision read_precision(const YamlView& view) {
  return static_cast<Precision>(read_word(view, precisions));
}

std::string Names::add(const YamlView& view) { return add(view, view.text()); }

std::string Names::add(const YamlView& view, std::string name) {
  constexpr std::size_t longest = 200;
  if (name.empty() || name.size() > longest)
    view.fail(fmt::format("found a name of {} characters, expected 1 to {}", name.size(), longest));
  if (std::find(names_.begin(), names_.end(), name) != names_.end())
    view.fail(fmt::format("a second {} '{}'; each needs a name of its own", what_, name));
  return names_.emplace_back(std::move(name));
}

std::string Names::refer(const YamlView& view) const {
  std::string name = view.text();
  if (std::find(names_.begin(), names_.end(), name) != names_.end()) return name;
  const std::vector<std::string_view> known(names_.begin(), names_.end());
  view.fail(fmt::format("'{}' is no {} of this file, which has {}{}", name, what_,
                        known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", ")),
                        did_you_mean(name, known)));
}

Origins read_origins(const YamlView& view, const Names& sources) {
  if (!view.has("source")) return {};
  const YamlView source = view.at("source");
  if (!source.is_map()) return {sources.refer(source), {}};
  Origins origins;
  for (const std::string& key : source.keys()) {
    if (key == "other") {
      origins.all = sources.refer(source.at(key));
      continue;
    }
    if (!view.has(key))
      source.at(key).fail(fmt::format("there is no key '{}' next to it; remove it", key));
    origins.by_key[key] = sources.refer(source.at(key));
  }
  return origins;
}

}  // namespace millrace::board
