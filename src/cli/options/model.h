#pragma once
// Which model, and in what it may be computed.
#include <CLI/CLI.hpp>

#include "api/model.h"

namespace millrace::cli {

void bind_model(CLI::App& verb, api::ModelOptions& options);  // MODEL, and bind_input
void bind_input(CLI::App& verb, api::ModelOptions& options);  // --shape, --size, --weights
/// --processors, --engine, --seed, --no-cache
void bind_processors(CLI::App& verb, api::ModelOptions& options);
void bind_cache(CLI::App& verb, bool& use_cache);  // --no-cache
void bind_variants(CLI::App& verb, api::VariantOptions& options);  // --precision, --max-error

}  // namespace millrace::cli
