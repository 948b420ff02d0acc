#pragma once
// Lengths of time on the command line.
#include <CLI/CLI.hpp>
#include <string>

namespace millrace::cli {

/// A check of options where nothing would count as not given: what is wrong with "".
std::string not_empty(const std::string& text);

/// For options in seconds: "6", "6s" and "200ms" are understood.
CLI::AsNumberWithUnit in_seconds();

}  // namespace millrace::cli
