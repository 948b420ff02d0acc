#pragma once
// Ranges of real numbers on the command line.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string>

namespace millrace::cli {

/// From `least` to `most`; unlike CLI::Range it refuses what is not a number.
inline CLI::Validator between(double least, double most) {
  const std::string range = fmt::format("[{:.15g} - {:.15g}]", least, most);
  return CLI::Validator(
      [=](std::string& text) {
        double value = 0;
        const bool fits = CLI::detail::lexical_cast(text, value) && value >= least && value <= most;
        return fits ? std::string() : fmt::format("Value {} not in range {}", text, range);
      },
      "FLOAT in " + range);
}

}  // namespace millrace::cli
