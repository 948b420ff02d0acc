#include "cli/options/duration.h"

#include <map>

namespace millrace::cli {

std::string not_empty(const std::string& text) {
  return text.empty() ? "found nothing, expected a time, such as 100ms" : std::string();
}

CLI::AsNumberWithUnit in_seconds() {
  const std::map<std::string, double> units{{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}};
  auto validator = CLI::AsNumberWithUnit(units, CLI::AsNumberWithUnit::CASE_SENSITIVE);
  validator.description("");
  return validator;
}

}  // namespace millrace::cli
