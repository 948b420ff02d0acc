#include "base/yaml.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <system_error>

#include "base/error.h"
#include "base/excerpt.h"
#include "base/file.h"
#include "base/text/masked.h"

namespace millrace {
namespace {

/// Finite or not; nothing if the text is no number.
std::optional<double> number_in(const std::string& text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (stop != end || error == std::errc::invalid_argument) return std::nullopt;
  return error == std::errc::result_out_of_range ? HUGE_VAL : value;
}

bool is_plain_text(const YamlNode& node) {
  constexpr std::array words{"true", "false", "True", "False", "TRUE", "FALSE"};
  return node.quoted ||
         (!number_in(node.text) && std::find(words.begin(), words.end(), node.text) == words.end());
}

std::string found_in(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::none:
      return "nothing";
    case YamlNode::Kind::list:
      return "a list";
    case YamlNode::Kind::map:
      return "keys with values";
    case YamlNode::Kind::scalar:
      break;
  }
  constexpr std::size_t most = 40;
  return fmt::format("'{}'", excerpt(masked(node.text), most));
}

const YamlNode* find(const YamlNode& map, std::string_view key) {
  for (const YamlNode& item : map.items)
    if (map.kind == YamlNode::Kind::map && item.key == key) return &item;
  return nullptr;
}

/// "; did you mean 'clocks_mhz'?", or what else to do about an unknown key.
std::string advice(const std::string& key, std::span<const std::string_view> known) {
  for (std::string_view word : known)
    if (word.size() > key.size() && word.substr(0, key.size()) == key && word[key.size()] == '_')
      return fmt::format("; a name says its unit: did you mean '{}'?", word);
  const std::string near = did_you_mean(key, known);
  return near.empty() ? fmt::format("; known are {}", fmt::join(known, ", ")) : near;
}

}  // namespace

YamlNode read_yaml(const std::filesystem::path& path) {
  return parse_yaml(read_file(path), path.string());
}

std::string YamlView::place() const {
  const std::string line = node_->line > 0 ? fmt::format(": line {}", node_->line) : "";
  return fmt::format("{}{}{}{}", file_, line, path_.empty() ? "" : ": ", path_);
}

void YamlView::fail(const std::string& text) const { throw InputError(place(), text); }

void YamlView::fail_expecting(std::string_view what) const {
  fail(fmt::format("found {}, expected {}", found_in(*node_), what));
}

bool YamlView::has(std::string_view key) const { return find(*node_, key) != nullptr; }

YamlView YamlView::at(std::string_view key) const {
  if (!is_map()) fail_expecting(fmt::format("keys with values, among them '{}'", key));
  const YamlNode* found = find(*node_, key);
  if (found == nullptr) fail(fmt::format("the key '{}' is missing", key));
  return {*found, file_, fmt::format("{}{}{}", path_, path_.empty() ? "" : ".", key)};
}

std::vector<std::string> YamlView::keys() const {
  if (!is_map()) fail_expecting("keys with values");
  std::vector<std::string> keys;
  for (const YamlNode& item : node_->items) keys.push_back(item.key);
  return keys;
}

std::vector<YamlView> YamlView::items() const {
  if (node_->kind != YamlNode::Kind::list) fail_expecting("a list");
  std::vector<YamlView> views;
  for (std::size_t i = 0; i < node_->items.size(); ++i)
    views.emplace_back(node_->items[i], file_, fmt::format("{}[{}]", path_, i));
  return views;
}

bool YamlView::is_text() const {
  return node_->kind == YamlNode::Kind::scalar && is_plain_text(*node_);
}

std::string YamlView::scalar() const {
  if (node_->kind != YamlNode::Kind::scalar) fail_expecting("text or a number");
  return node_->text;
}

std::string YamlView::text() const {
  if (!is_text())
    fail_expecting(node_->kind == YamlNode::Kind::scalar ? "text; put it in quotes" : "text");
  return node_->text;
}

double YamlView::number() const {
  std::optional<double> value;
  if (node_->kind == YamlNode::Kind::scalar && !node_->quoted) value = number_in(node_->text);
  if (!value) fail_expecting("a number; its unit is in the name of its key");
  if (!std::isfinite(*value)) fail_expecting("a finite number");
  return *value;
}

std::string YamlView::path() const {
  const std::filesystem::path found = text();
  if (found.empty()) fail("found nothing, expected a path");
  return found.is_absolute() ? found.string()
                             : (std::filesystem::path(file_).parent_path() / found).string();
}

std::string YamlView::name_or_path() const {
  std::string found = path();
  std::error_code ignored;
  const bool is_name = std::filesystem::path(text()).extension().empty();
  return is_name && !std::filesystem::exists(found, ignored) ? text() : found;
}

std::int64_t YamlView::integer(std::int64_t low, std::int64_t high) const {
  const std::int64_t value = integer();
  if (value < low || value > high)
    fail(fmt::format("found {}, expected an integer from {} to {}", value, low, high));
  return value;
}

std::int64_t YamlView::integer() const {
  constexpr double largest = 9007199254740992;  // up to here every integer is a double
  const double value = number();
  if (value != std::floor(value) || std::abs(value) > largest) fail_expecting("an integer");
  return static_cast<std::int64_t>(value);
}

bool YamlView::boolean() const {
  const bool plain = node_->kind == YamlNode::Kind::scalar && !node_->quoted;
  if (!plain || (node_->text != "true" && node_->text != "false")) fail_expecting("true or false");
  return node_->text == "true";
}

void YamlView::only(std::span<const std::string_view> known) const {
  if (!is_map()) fail_expecting("keys with values");
  for (const YamlNode& item : node_->items) {
    if (std::find(known.begin(), known.end(), item.key) != known.end()) continue;
    at(item.key).fail("unknown key" + advice(item.key, known));
  }
}

}  // namespace millrace
