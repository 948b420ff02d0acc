#pragma once
// Models of times that are fitted.
#include <CLI/CLI.hpp>

#include "api/fit.h"

namespace millrace::cli {

void bind_fit(CLI::App& verb, api::FitOptions& options);  // --fit, --also, --board, --total

}  // namespace millrace::cli
