#include "cli/options/rules.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/quantity.h"
#include "base/split.h"

namespace millrace::cli {
namespace {

constexpr std::array<std::pair<std::string_view, double>, 7> seconds_of{
    {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}, {"min", 60}, {"h", 3600}, {"", 0}}};

struct Quantity {
  double value = 0;
  std::string_view unit;
};

/// Nothing: it does not begin with a number.
std::optional<Quantity> quantity_of(std::string_view text) {
  Quantity result;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), result.value);
  if (error != std::errc{}) return std::nullopt;
  result.unit = text.substr(static_cast<std::size_t>(stop - text.data()));
  while (result.unit.starts_with(' ')) result.unit.remove_prefix(1);
  return result;
}

bool is_time(std::string_view unit) { return unit == "s" || unit == "ms" || unit == "period"; }
bool is_size(std::string_view unit) { return unit == "MiB" || unit == "KiB"; }

/// A number of seconds, or of `unit` of memory.
std::string plain_number(const std::string& text, std::string_view unit) {
  const auto found = quantity_of(text);
  if (!found) return text;
  const std::string_view given = found->unit.empty() ? unit : found->unit;
  for (const auto& [name, seconds] : seconds_of)
    if (is_time(unit) && !name.empty() && given == name)
      return fmt::format("{:.15g}", found->value * seconds);
  if (!is_size(unit) || (given != "KiB" && given != "MiB" && given != "GiB")) return text;
  const Bytes bytes = read_bytes(fmt::format("{}{}", found->value, given), "a size");
  const double size = unit == "KiB" ? 1 << 10 : 1 << 20;
  return fmt::format("{:.15g}", static_cast<double>(bytes.count) / size);
}

CLI::Validator change(std::string (*convert)(const std::string&, std::string_view),
                      std::string_view unit) {
  return CLI::Validator(
      [convert, unit = std::string(unit)](std::string& text) {
        text = convert(text, unit);
        return std::string();
      },
      "");
}

/// From `least` to `most`; unlike CLI::Range it refuses what is not a number.
CLI::Validator between(double least, double most, bool is_whole) {
  const std::string range = fmt::format("[{:.15g} - {:.15g}]", least, most);
  return CLI::Validator(
      [=](std::string& text) {
        double value = 0;
        const bool fits = CLI::detail::lexical_cast(text, value) && value >= least &&
                          value <= most && (!is_whole || std::nearbyint(value) == value);
        return fits ? std::string() : fmt::format("Value {} not in range {}", text, range);
      },
      range);
}

/// A picture is drawn as SVG: a name that ends otherwise would say something else.
CLI::Validator svg_name() {
  return CLI::Validator(
      [](std::string& name) {
        const std::string ending = std::filesystem::path(name).extension().string();
        if (ending.empty() || ending == ".svg") return std::string();
        return fmt::format("'{}' ends in '{}', but the picture is drawn as SVG; name a file that "
                           "ends in .svg",
                           name, ending);
      },
      "");
}

void relate(CLI::App& verb, CLI::Option& option, const std::string& word) {
  const std::size_t equals = word.find('=');
  CLI::Option* other = verb.get_option_no_throw("--" + word.substr(equals + 1));
  if (other == nullptr) return;
  if (word.starts_with("not")) option.excludes(other);
  else option.needs(other);
}

/// "1..64"
void limit(CLI::Option& option, const std::string& word) {
  const std::size_t dots = word.find("..");
  const bool is_whole = option.get_type_name().find("INT") != std::string::npos;
  const double least = std::stod(word), most = std::stod(word.substr(dots + 2));
  option.check(between(least, most, is_whole));
}

void measure(CLI::Option& option, const std::string& unit) {
  const bool is_number = option.get_type_name() != "TEXT";
  option.transform(change(is_number ? plain_number : with_unit, unit));
  option.type_name(is_time(unit) ? "TIME" : "SIZE");
}

}  // namespace

std::string with_unit(const std::string& text, std::string_view unit) {
  const auto found = quantity_of(text);
  if (!found) return text;
  if (unit == "period" && found->unit == "fps" && found->value > 0)
    return fmt::format("{}us", 1e6 / found->value);
  for (const auto& [name, seconds] : seconds_of)
    if (found->unit == name && seconds >= 60)
      return fmt::format("{}s", found->value * seconds);
  if (!found->unit.empty()) return text;
  return fmt::format("{}{}", text, unit == "period" ? "ms" : unit);
}

void apply_rule(CLI::App& verb, CLI::Option& option, std::string_view rule) {
  for (const std::string& word : split(rule, ' ')) {
    if (word == ",") option.delimiter(',');
    else if (word == "required") option.required();
    else if (word == ".svg") option.check(svg_name());
    else if (word.find('=') != word.npos) relate(verb, option, word);
    else if (word.find('|') != word.npos) option.check(CLI::IsMember(split(word, '|')));
    else if (is_time(word) || is_size(word)) measure(option, word);
    else if (word.find("..") != word.npos) limit(option, word);
  }
}

}  // namespace millrace::cli
