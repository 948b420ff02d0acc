#pragma once
// Which model, and in what it may be computed.
#include <CLI/CLI.hpp>

#include "api/setup.h"

namespace millrace::cli {

void bind_model(CLI::App& verb, api::Setup& setup);  // MODEL, and bind_input
void bind_known_inputs(CLI::App& verb, network::ModelSource& source);  // --shape, --fix
void bind_input(CLI::App& verb, api::Setup& setup);  // and --size, --weights; notes are heard
/// --engine-library and --engine-option.
void bind_engine_libraries(CLI::App& verb, api::Context& context);
/// --processors, --engine, --engine-library, --engine-option, --seed, --no-cache
void bind_processors(CLI::App& verb, api::Setup& setup);
void bind_variants(CLI::App& verb, api::VariantOptions& options);  // --precision, --max-error

}  // namespace millrace::cli
