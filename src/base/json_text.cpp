#include "base/json_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>

#include "base/printable.h"
#include "base/text/masked.h"

namespace millrace {
namespace {

double decimal_in(const std::string& text) {
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::string text_of(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

/// The same value without what moves cursors or turns the direction of writing: as "\\u009b". All
/// such characters have four digits, and those below a blank are written so by the library.
std::string without_controls(std::string text) {
  const auto is_ordinary = [](char c) { return c >= ' ' && c < '\x7f'; };
  if (std::ranges::all_of(text, is_ordinary)) return text;
  std::string result;
  for (std::string_view rest = text; !rest.empty();) {
    const auto [length, character] = first_character(rest);
    const std::string_view taken = rest.substr(0, std::max<std::size_t>(1, length));
    if (length > 0 && is_control(character))
      result += fmt::format("\\u{:04x}", character);
    else
      result += taken;
    rest.remove_prefix(taken.size());
  }
  return result;
}

template <class Json>
class JsonWriter {
 public:
  JsonWriter(int indent, nlohmann::json::error_handler_t not_utf8)
      : indent_(indent), not_utf8_(not_utf8) {}

  void write(const Json& value, int level = 0) {
    const bool is_number = value.is_number_float() && std::isfinite(value.template get<double>());
    if (is_number)
      text += text_of(value.template get<double>());
    else if (!value.is_structured() || value.empty())
      text += plain(value);
    else
      write_items(value, level);
  }

  std::string text;

 private:
  std::string plain(const Json& value) const {
    return without_controls(value.dump(-1, ' ', false, not_utf8_));
  }

  void begin_line(int level) {
    if (indent_ < 0) return;
    text += '\n';
    text.append(static_cast<std::size_t>(indent_ * level), ' ');
  }

  void write_items(const Json& value, int level) {
    const bool is_object = value.is_object();
    const char* separator = "";
    text += is_object ? '{' : '[';
    for (auto item = value.begin(); item != value.end(); ++item) {
      text += separator;
      separator = ",";
      begin_line(level + 1);
      if (is_object) text += plain(item.key()) + (indent_ < 0 ? ":" : ": ");
      write(*item, level + 1);
    }
    begin_line(level);
    text += is_object ? '}' : ']';
  }

  int indent_;
  nlohmann::json::error_handler_t not_utf8_;
};

}  // namespace

double rounded(double value) {
  constexpr int least_digits = 6, after_point = 3, all = 15;
  if (value == 0 || !std::isfinite(value)) return value;
  const int before_point = 1 + static_cast<int>(std::floor(std::log10(std::abs(value))));
  const int digits = std::max(least_digits, before_point + after_point);
  return digits > all ? value : decimal_in(fmt::format("{:.{}e}", value, digits - 1));
}

double shortest(float value) {
  return std::isfinite(value) ? decimal_in(fmt::format("{}", value)) : static_cast<double>(value);
}

template <class Json>
std::string json_text(const Json& document, int indent, nlohmann::json::error_handler_t not_utf8) {
  JsonWriter<Json> writer(indent, not_utf8);
  writer.write(document);
  return std::move(writer.text);
}
template std::string json_text(const nlohmann::json&, int, nlohmann::json::error_handler_t);
template std::string json_text(const nlohmann::ordered_json&, int, nlohmann::json::error_handler_t);

namespace {

void mask_texts(nlohmann::json& document) {
  if (document.is_string()) document = masked(document.get<std::string>());
  if (document.is_structured())
    for (nlohmann::json& item : document) mask_texts(item);
}

}  // namespace

std::string json_document(const char* kind, nlohmann::json fields, int indent) {
  round_numbers(fields);
  mask_texts(fields);
  fields["format"] = 1;
  fields["kind"] = kind;
  return json_text(fields, indent) + "\n";
}

}  // namespace millrace
