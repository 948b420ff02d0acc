#pragma once
// Lengths of time on the command line.
#include <CLI/CLI.hpp>
#include <string>

#include "base/units.h"

namespace millrace::cli {

/// "100ms", "0.5s", "250us"; more than 0. InputError naming `place`.
Time read_duration(const std::string& text, const std::string& place);

/// A check of options where nothing would count as not given: what is wrong with "".
std::string not_empty(const std::string& text);

/// For options in seconds: "6", "6s" and "200ms" are understood.
CLI::AsNumberWithUnit in_seconds();

}  // namespace millrace::cli
