#pragma once
// How `plan` searches.
#include <CLI/CLI.hpp>

#include "api/planning/search.h"

namespace millrace::cli {

/// --search and what the genetic one takes.
void bind_search(CLI::App& verb, api::SearchOptions& search, explore::GeneticOptions& genetic);
/// What searches over whole configurations take.
void bind_configuration_search(CLI::App& verb, api::SearchOptions& options);

}  // namespace millrace::cli
