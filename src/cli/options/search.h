#pragma once
// How `plan` searches.
#include <CLI/CLI.hpp>

#include "api/planning/search.h"

namespace millrace::cli {

/// Borrowed.
struct ChosenSearch {
  api::SearchOptions& search;
  std::string& fitness;
  explore::GeneticOptions& genetic;
};

/// --search and what the genetic one takes.
void bind_search(CLI::App& verb, const ChosenSearch& options);
/// What searches over whole configurations take.
void bind_configuration_search(CLI::App& verb, api::SearchOptions& options);

}  // namespace millrace::cli
