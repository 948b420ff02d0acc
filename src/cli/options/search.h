#pragma once
// How `plan` searches.
#include <CLI/CLI.hpp>

#include "api/planning/search.h"
#include "application/application.h"

namespace millrace::cli {

/// --search and what the genetic one takes.
void bind_search(CLI::App& verb, api::SearchOptions& search, explore::GeneticOptions& genetic);
/// What searches over whole configurations take.
void bind_configuration_search(CLI::App& verb, api::SearchOptions& options);

/// --cut-points and --devices.
void bind_by_hand(CLI::App& verb, application::ByHand& mapping);

}  // namespace millrace::cli
