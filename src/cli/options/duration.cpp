#include "cli/options/duration.h"

#include <map>
#include <string>

namespace millrace::cli {

CLI::AsNumberWithUnit in_seconds() {
  const std::map<std::string, double> units{{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}};
  auto validator = CLI::AsNumberWithUnit(units, CLI::AsNumberWithUnit::CASE_SENSITIVE);
  validator.description("");
  return validator;
}

}  // namespace millrace::cli
