#include <algorithm>
#include <limits>
#include <set>
#include <tuple>

#include "explore/configuration/methods.h"
#include "explore/evolution/sga.h"
#include "explore/mapping/search.h"

namespace millrace::explore {
namespace {

constexpr int restarts = 8;                // of the profile-based search
constexpr int most_in_vain = 30;           // generations without a new candidate
constexpr int enough_without_better = 10;  // generations of the search over the other numbers
constexpr std::int64_t for_tuning = 200;   // candidates, of which the search of cuts takes none

/// A configuration has a stage for each run of layers on one processor.
Configuration runs_of(const std::vector<ProcessorId>& processors, std::int64_t slots) {
  Configuration configuration{{{processors.front()}}, {}, slots};
  for (std::size_t layer = 1; layer < processors.size(); ++layer) {
    if (processors[layer] == processors[layer - 1]) continue;
    configuration.cuts.push_back(layer - 1);
    configuration.stages.push_back({processors[layer]});
  }
  return configuration;
}

/// The stage joins the one before or behind it.
Configuration joined(Configuration configuration, std::size_t stage, bool with_next) {
  const auto at = static_cast<std::ptrdiff_t>(stage);
  configuration.stages.erase(configuration.stages.begin() + at);
  configuration.cuts.erase(configuration.cuts.begin() + (with_next ? at : at - 1));
  for (std::size_t s = 0; s + 1 < configuration.stages.size();)  // neighbours may be alike now
    if (configuration.stages[s] == configuration.stages[s + 1]) {
      configuration.stages.erase(configuration.stages.begin() + static_cast<std::ptrdiff_t>(s));
      configuration.cuts.erase(configuration.cuts.begin() + static_cast<std::ptrdiff_t>(s));
    } else {
      ++s;
    }
  return configuration;
}

/// Two stages joined: such that it seems to fit, if that can be, and then with the least bottleneck
/// by the profile. Precondition: there are two.
Configuration joined_best(const Predictor& predictor, const Configuration& configuration) {
  std::optional<std::tuple<bool, double, Configuration>> best;
  for (std::size_t stage = 0; stage < configuration.stages.size(); ++stage)
    for (const bool with_next : {false, true}) {
      if (with_next ? stage + 1 == configuration.stages.size() : stage == 0) continue;
      Configuration other = joined(configuration, stage, with_next);
      const bool too_many = !predictor.may_fit(other);
      const double time = predictor.bottleneck(other);
      if (!best || std::pair(too_many, time) < std::pair(std::get<0>(*best), std::get<1>(*best)))
        best = {too_many, time, std::move(other)};
    }
  return std::get<2>(std::move(*best));
}

/// Until the board can run it.
Configuration simplified(CandidateCache& cache, Configuration configuration) {
  while (configuration.stages.size() > 1 && !cache.is_feasible(configuration))
    configuration = joined_best(cache.predictor(), configuration);
  return configuration;
}

/// Option, cuts, slots, streams and threads as genes.
struct WholeSpace {
  CandidateCache* cache = nullptr;
  std::vector<MappingOption> options;
  std::vector<std::size_t> positions;
  TuningLimits limits = {};

  /// Behind the option and the cuts: the parameters, of which an option has at most so many.
  static constexpr std::size_t first_parameter = most_stages, most_parameters = most_stages + 3;

  Configuration decoded(const Genome& genes) const {
    Configuration result;
    result.stages = options[genes[0]].stages;
    std::set<std::size_t> cuts;
    for (std::size_t gene = 0; cuts.size() + 1 < result.stages.size(); ++gene) {
      // Equal cuts move on; genes are as many as the longest option needs.
      std::size_t at = genes[1 + gene % (most_stages - 1)];
      while (!cuts.insert(positions[at]).second) at = (at + 1) % positions.size();
    }
    result.cuts.assign(cuts.begin(), cuts.end());
    Parameters parameters = parameters_of(cache->context(), result, limits);
    for (std::size_t p = 0; p < parameters.size(); ++p) {
      const std::int64_t gene = genes[first_parameter + p];
      parameters[p].value =
          parameters[p].least + gene % (parameters[p].most - parameters[p].least + 1);
    }
    return with_parameters(std::move(result), parameters);
  }

  double cost(const Genome&, const std::optional<Score>& score) const {
    return score ? -score->throughput : 0.0;
  }
  Genome sizes() const {
    const std::int64_t largest =
        std::max({limits.slots, limits.streams, limits.pre_threads, limits.post_threads});
    Genome sizes(first_parameter + most_parameters, static_cast<std::uint32_t>(largest));
    sizes.front() = static_cast<std::uint32_t>(options.size());
    for (std::size_t cut = 0; cut + 1 < most_stages; ++cut)
      sizes[1 + cut] = static_cast<std::uint32_t>(positions.size());
    return sizes;
  }
};

/// The other numbers of a configuration whose option and cuts stay.
struct TuningSpace {
  CandidateCache* cache = nullptr;
  Configuration found = {};
  Parameters parameters = {};
  double allowed_loss = 0;

  Configuration decoded(const Genome& genes) const {
    Parameters chosen = parameters;
    for (std::size_t p = 0; p < chosen.size(); ++p) {
      chosen[p].value = value_of(genes, p);
      chosen[0].value = std::max(chosen[0].value, chosen[p].value);  // slots, as the fine-tuner's
    }
    return with_parameters(found, chosen);
  }
  /// The throughput, less at most the allowed loss for what it takes.
  double cost(const Genome& genes, const std::optional<Score>& score) const {
    double share = 0;
    for (std::size_t p = 0; p < parameters.size(); ++p)
      share += static_cast<double>(value_of(genes, p)) / static_cast<double>(parameters[p].most);
    const double price = allowed_loss * share / static_cast<double>(parameters.size());
    return score ? -score->throughput * (1 - price) : 0.0;
  }
  Genome sizes() const {
    Genome sizes;
    for (const Parameter& each : parameters)
      sizes.push_back(static_cast<std::uint32_t>(each.most - each.least + 1));
    return sizes;
  }
  std::int64_t value_of(const Genome& genes, std::size_t p) const {
    return parameters[p].least + genes[p];
  }
};

/// Until so many generations bring no new candidate, or none that is better than the best.
template <class Space>
Sga evolved(const Space& space, const CandidateCache& cache, std::uint64_t seed,
            int most_without_better) {
  const auto costs = [&space](std::span<const Genome> genomes) {
    std::vector<Configuration> configurations;
    for (const Genome& genes : genomes) configurations.push_back(space.decoded(genes));
    const auto scores = space.cache->ask(configurations);
    std::vector<GenomeCases::Cases> result;
    for (std::size_t g = 0; g < genomes.size(); ++g)
      result.push_back({space.cost(genomes[g], scores[g])});
    return result;
  };
  Sga search(space.sizes(), costs, {.seed = seed});
  int without_better = 0;
  for (int in_vain = 0; in_vain < most_in_vain && !cache.is_spent(); ++in_vain) {
    const std::int64_t before = cache.count();
    const double best = search.least_cost();
    search.next_generation();
    without_better = search.least_cost() < best ? 0 : without_better + 1;
    if (without_better == most_without_better) break;
    if (cache.count() > before) in_vain = 0;
  }
  return search;
}

}  // namespace

std::vector<Configuration> profile_patterns(CandidateCache& cache, std::uint64_t seed,
                                            std::int64_t slots) {
  std::vector<Configuration> patterns;
  GeneticOptions options;
  options.population = 200;
  options.epochs = 200;
  options.aim.build = cache.context().build;
  options.ranks = cache.ranks();
  for (int start = 0; start < restarts && cache.context().problem.layers > 0; ++start) {
    options.seed = seed + static_cast<std::uint64_t>(start);
    const SearchResult found = genetic(cache.context().problem, options);
    const Configuration pattern = simplified(cache, runs_of(found.mapping.processors, slots));
    if (cache.is_feasible(pattern) &&
        std::find(patterns.begin(), patterns.end(), pattern) == patterns.end())
      patterns.push_back(pattern);
  }
  return patterns;
}

std::optional<Configuration> search_profile_genetic(CandidateCache& cache,
                                                    const MethodOptions& options) {
  for (const ProcessorId processor : processors_by_speed(cache.context()))
    if (cache.ask({{{processor}}, {}, cache.context().build.capacity})) break;
  cache.ask(profile_patterns(cache, options.seed, cache.context().build.capacity));
  if (cache.empty()) return std::nullopt;
  return fine_tuned(cache, cache.best(), options.limits, options.allowed_loss);
}

std::optional<Configuration> search_all_genetic(CandidateCache& cache,
                                                const MethodOptions& options) {
  WholeSpace space{&cache, mapping_options(cache.context().board),
                   cut_positions(cache.context().problem), options.limits};
  if (space.positions.size() < most_stages) return search_random(cache, options);
  evolved(space, cache, options.seed, std::numeric_limits<int>::max());
  return cache.best_if_any();
}

std::optional<Configuration> search_tuning_genetic(CandidateCache& cache,
                                                   const MethodOptions& options) {
  const auto found = best_cut_points(cache, options, std::min(for_tuning, cache.left() / 2));
  if (!found || cache.is_spent()) return found;
  const TuningSpace space{&cache, *found, parameters_of(cache.context(), *found, options.limits),
                          options.allowed_loss};
  const Sga search = evolved(space, cache, options.seed, enough_without_better);
  return search.least_cost() < 0 ? space.decoded(search.best()) : found;
}

}  // namespace millrace::explore
