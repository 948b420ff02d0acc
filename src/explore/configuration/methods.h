#pragma once
// Searches over whole configurations, each a function over a cache: what is measured, in what
// order. docs/methods/search.md compares them.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "explore/choose.h"
#include "explore/configuration/candidate_cache.h"
#include "explore/configuration/cut_points.h"
#include "explore/configuration/tuning.h"

namespace millrace::explore {

/// Cuts to begin with: of an option with these stages, or without stages of any with so many cuts.
using StartTuples = std::vector<std::pair<std::vector<ProcessorGroup>, std::vector<std::size_t>>>;

struct MethodOptions {
  std::uint64_t seed = 1;
  std::optional<double> threshold = {};  // nothing: lowered until enough tuples are refined
  std::size_t top = 10;
  double allowed_loss = 0.01;  // of the throughput, for fewer slots, streams and threads
  TuningLimits limits = {};
  bool random_start = false;  // else balanced by the profile
  StartTuples starts = {};    // where options begin, instead
  std::string option = {};    // the only one, by its name; empty: all
};

/// The mapping options of the board, of them those that `options` names.
std::vector<MappingOption> options_to_try(const SearchContext& context,
                                          const MethodOptions& options);

/// What it ends with; what else it measured is in the cache. Nothing if it found nothing feasible.
using Method = std::optional<Configuration> (*)(CandidateCache&, const MethodOptions&);

struct NamedMethod {
  const char* name;
  Method run;
};

/// The thesis's three modules, one after the other, over all mapping options of the board: the
/// maximiser with one processor, the global search of each option, the full search of the best one
/// and of the next if it is within 2 %, the fine-tuner. The patterns of profile_patterns count as
/// options too, unless one option is named.
std::optional<Configuration> search_cut_points(CandidateCache& cache, const MethodOptions& options);

/// The same without the fine-tuner, which has `reserve` candidates left.
std::optional<Configuration> best_cut_points(CandidateCache& cache, const MethodOptions& options,
                                             std::int64_t reserve);

/// The same with a genetic search over slots, streams and threads in place of the fine-tuner: the
/// fastest, of those within the allowed loss the one with the fewest (the thesis's
/// fine-tuning-GA).
std::optional<Configuration> search_tuning_genetic(CandidateCache& cache,
                                                   const MethodOptions& options);

/// The tuples of `starts` as they are, and the fine-tuner for the best.
std::optional<Configuration> search_fine_tuner(CandidateCache& cache, const MethodOptions& options);

/// All layers on one processor: each in turn.
std::optional<Configuration> search_one_processor(CandidateCache& cache,
                                                  const MethodOptions& options);

/// The configurations of interleavings(), and the fine-tuner.
std::optional<Configuration> search_interleaving(CandidateCache& cache,
                                                 const MethodOptions& options);

/// The patterns of profile_patterns, and the fastest processor alone; the fine-tuner.
std::optional<Configuration> search_profile_genetic(CandidateCache& cache,
                                                    const MethodOptions& options);

/// A genetic search over option, cuts, slots, streams and threads at once, each individual
/// measured.
std::optional<Configuration> search_all_genetic(CandidateCache& cache,
                                                const MethodOptions& options);

std::optional<Configuration> search_random(CandidateCache& cache, const MethodOptions& options);

/// Every tuple of one cut behind any layer, of both orders of every two different processors or
/// groups that an option has.
std::optional<Configuration> search_single_cuts(CandidateCache& cache,
                                                const MethodOptions& options);

/// What the genetic search over layers finds by the profile, each run of layers on one processor a
/// stage: with several seeds, runs joined until the board can run it. Nothing is measured.
std::vector<Configuration> profile_patterns(CandidateCache& cache, std::uint64_t seed,
                                            std::int64_t slots);

/// The fastest with the whole network first; those that cannot run it last.
ProcessorGroup processors_by_speed(const SearchContext& context);

/// The list, by the names that `plan --search` knows. Null if there is none of this name.
const std::vector<NamedMethod>& methods();
const NamedMethod* method_named(const std::string& name);

/// What a search ended with.
struct Found {
  std::string method;
  Configuration configuration;
  std::int64_t candidates = 0;  // that it asked about
  Time took{};
  bool is_wanted = false;  // it is chosen, be one processor faster or not
};

/// Its plan beside the one of a single processor, measured and compared as choose() does.
Choice choose_found(const SearchContext& context, const Found& found, const ChooseOptions& options);

/// By device: the different ranges of layers that the candidates' stages run there. An SDK that
/// compiles whole subnets builds an engine for each of them.
std::map<std::string, std::int64_t> subnets_of(const CandidateCache& cache);

/// The tuples of cuts that exist: of all mapping options, behind any layer.
double tuples_of(const SearchContext& context);

}  // namespace millrace::explore
