#pragma once
// Lengths of time on the command line.
#include <CLI/CLI.hpp>

namespace millrace::cli {

/// For options in seconds: "6", "6s" and "200ms" are understood.
CLI::AsNumberWithUnit in_seconds();

}  // namespace millrace::cli
