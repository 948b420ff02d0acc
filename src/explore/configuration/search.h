#pragma once
// `plan --search` with a search over whole configurations: docs/methods/search.md.
#include <functional>
#include <optional>
#include <string>

#include "base/operation/context.h"
#include "explore/choose.h"
#include "explore/configuration/methods.h"
#include "plan/origin.h"

namespace millrace::explore {

/// Left out: the usual. Only seed and fallback are of every search.
struct SearchOptions {
  std::string method = "auto";  // of methods(), or of choose()
  std::uint64_t seed = 1;
  std::optional<std::string> objective;   // "simulated" or "measured"
  std::optional<std::string> time_limit;  // "60s"
  std::optional<std::int64_t> candidates;
  std::optional<int> jobs;
  std::optional<std::string> log, resume;  // files
  std::optional<double> threshold, allowed_loss;
  std::optional<std::size_t> top;
  std::optional<std::string> start;  // "random", "20,53", or the journal of another search
  std::optional<std::string> option;  // a mapping option by its name: "PND-A"
  int streams = 1;                   // of a stage on one processor, at most
  std::optional<std::string> pre_time, post_time;  // "6.3ms"
  bool fallback = true;
  std::string precision;  // of the layers, for the journal
};

/// The names of all searches, for --search.
std::vector<std::string> search_names();
/// Whether it is one of methods(). InputError if not, and an option was given that only those have.
bool is_configuration_search(const SearchOptions& options);

/// Who says how good configurations are.
struct Objectives {
  /// By so many threads.
  std::function<Objective(const SearchContext& search_context, int threads)> simulated;
  /// Empty: nothing can be measured here.
  std::function<Objective(const SearchContext& search_context)> measured = {};
};

/// All that the search reads. Borrowed.
struct SearchPlace {
  const network::Network& network;
  const board::Board& board;
  const profile::Profile& profile;
  Context context = {};
  Objectives objectives = {};
  plan::ProcessingTimes processing = {};
};

/// The plan of the best configuration beside one processor alone, measured as `choose` says.
Choice search_configurations(const SearchPlace& place, const SearchOptions& options,
                             const ChooseOptions& choose);

}  // namespace millrace::explore
