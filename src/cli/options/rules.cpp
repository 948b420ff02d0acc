#include "cli/options/rules.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>

#include "base/split.h"
#include "base/text/given_unit.h"

namespace millrace::cli {
namespace {

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
  option.type_name(is_unit_of_time(unit) ? "TIME" : "SIZE");
}

}  // namespace

void apply_rule(CLI::App& verb, CLI::Option& option, std::string_view rule) {
  for (const std::string& word : split(rule, ' ')) {
    if (word == ",") option.delimiter(',');
    else if (word == "required") option.required();
    else if (word == ".svg") option.check(svg_name());
    else if (word.find('=') != word.npos) relate(verb, option, word);
    else if (word.find('|') != word.npos) option.check(CLI::IsMember(split(word, '|')));
    else if (is_unit_of_time(word) || is_unit_of_size(word)) measure(option, word);
    else if (word.find("..") != word.npos) limit(option, word);
  }
}

}  // namespace millrace::cli
