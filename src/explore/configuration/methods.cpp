#include "explore/configuration/methods.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "base/random.h"
#include "explore/configuration/interleaving.h"
#include "explore/configuration/tuning.h"

namespace millrace::explore {
namespace {

constexpr double worth = 0.98;  // of the best option's throughput: its cuts are searched in full
constexpr std::size_t most_in_full = 2;  // of such options
constexpr double highest_threshold = 0.95, threshold_step = 0.1;
constexpr std::size_t enough_refined = 10;  // tuples handed to the local search
constexpr std::size_t most_cuts = 12;       // of a pattern whose cuts are searched
constexpr std::int64_t for_fine_tuning = 40, fewest_of_option = 4;

/// What an option's global search found.
struct Tried {
  MappingOption option;
  Configuration best;
  double throughput = 0;
};

/// The option's best among the candidates from this number on.
std::optional<Tried> best_since(const CandidateCache& cache, std::int64_t first,
                                const MappingOption& option) {
  std::optional<Tried> best;
  for (std::size_t i = static_cast<std::size_t>(first); i < cache.order().size(); ++i) {
    const Configuration& configuration = cache.order()[i];
    const double throughput = cache[configuration].throughput;
    if (configuration.stages == option.stages && (!best || throughput > best->throughput))
      best = Tried{option, configuration, throughput};
  }
  return best;
}

/// The maximiser: with option E, the fastest processor by itself. Its slots and streams; threads
/// are as many as there are cores until the fine-tuner, since faster options need more than E.
Configuration maximised_alone(CandidateCache& cache, const MethodOptions& options) {
  const std::int64_t usual = cache.context().build.capacity;
  std::optional<std::pair<double, Configuration>> fastest;
  for (const MappingOption& option : mapping_options(cache.context().board)) {
    const Configuration alone{option.stages, {}, usual};
    if (option.stages.size() > 1 || option.stages[0].size() > 1 || !cache.is_feasible(alone))
      continue;
    const double time = cache.predictor().bottleneck(alone);
    if (!fastest || time < fastest->first) fastest = {time, alone};
  }
  if (!fastest) return {{}, {}, usual};
  TuningLimits limits = options.limits;
  limits.pre_threads = limits.post_threads = 0;
  return maximised(cache, fastest->second, limits);
}

/// The cuts that this option, or every option with as many stages, begins with; none: empty.
std::vector<std::size_t> start_of(const MappingOption& option, const StartTuples& starts) {
  for (const auto& [stages, cuts] : starts)
    if (stages.empty() ? cuts.size() + 1 == option.stages.size() : stages == option.stages)
      return cuts;
  return {};
}

/// The global search of each option.
std::vector<Tried> try_options(CandidateCache& cache, const std::vector<MappingOption>& all,
                               CutPointOptions options, const StartTuples& starts) {
  std::vector<Tried> tried;
  const std::int64_t share =
      std::max(fewest_of_option, cache.left() / (2 * static_cast<std::int64_t>(all.size())));
  for (const MappingOption& option : all) {
    const std::int64_t before = cache.count();
    cache.allow(share);
    options.start = start_of(option, starts);
    explore_cut_points(cache, option, options);
    if (auto best = best_since(cache, before, option)) tried.push_back(std::move(*best));
  }
  cache.allow(std::nullopt);
  return tried;
}

/// The best of all first.
void add_patterns(CandidateCache& cache, std::vector<Tried>& tried,
                  const std::vector<Configuration>& patterns) {
  const auto scores = cache.ask(patterns);
  for (std::size_t i = 0; i < patterns.size(); ++i)
    if (scores[i])
      tried.push_back({{"pattern", patterns[i].stages}, patterns[i], scores[i]->throughput});
  std::stable_sort(tried.begin(), tried.end(),
                   [](const Tried& a, const Tried& b) { return a.throughput > b.throughput; });
}

/// Unlike processors share whole frames well too, which the board's options leave out.
std::vector<Configuration> patterns_of(CandidateCache& cache, const MethodOptions& options,
                                       const CutPointOptions& cut_points) {
  std::vector<Configuration> patterns = interleavings(cache);
  for (Configuration& each : profile_patterns(cache, options.seed, cut_points.slots))
    patterns.push_back(std::move(each));
  for (Configuration& each : patterns) each = with_usual(cache.context(), each, cut_points);
  return patterns;
}

/// With the threshold lowered until so many tuples were refined, or that found nothing better;
/// tuples that were measured before cost nothing.
void search_in_full(CandidateCache& cache, const Tried& tried, CutPointOptions cut_points,
                    const MethodOptions& options) {
  cut_points.start = tried.best.cuts;
  double before = tried.throughput;
  for (double threshold = options.threshold.value_or(highest_threshold);
       threshold > 0 && !cache.is_spent(); threshold -= threshold_step) {
    cut_points.threshold = threshold;
    const std::size_t refined = explore_cut_points(cache, tried.option, cut_points);
    const double now = cache.score_of_best().throughput;
    if (options.threshold || refined >= enough_refined || (refined > 0 && now <= before)) return;
    before = std::max(before, now);
  }
}

/// Stages, and those that run them.
std::pair<std::size_t, std::size_t> size_of(const Configuration& configuration) {
  std::size_t processors = 0;
  for (const ProcessorGroup& group : configuration.stages) processors += group.size();
  return {configuration.stages.size(), processors};
}

/// Among those as good as the best, but for what measurements do not tell apart, one with the
/// fewest stages, and the fewest copies of them. `option`: these stages only; empty: any.
std::optional<Configuration> simplest_of_best(const CandidateCache& cache,
                                              const std::vector<ProcessorGroup>& option) {
  std::vector<Configuration> all = cache.order();
  std::erase_if(
      all, [&](const Configuration& each) { return !option.empty() && each.stages != option; });
  double most = 0;
  for (const Configuration& each : all) most = std::max(most, cache[each].throughput);
  std::erase_if(all, [&](const Configuration& each) {
    return cache[each].throughput < (1 - usual_noise) * most;
  });
  const auto is_simpler = [&](const Configuration& a, const Configuration& b) {
    return std::pair(size_of(a), -cache[a].throughput) <
           std::pair(size_of(b), -cache[b].throughput);
  };
  const auto simplest = std::min_element(all.begin(), all.end(), is_simpler);
  return simplest == all.end() ? std::nullopt : std::optional(*simplest);
}

/// Slots and streams to begin with.
CutPointOptions usual_numbers(CandidateCache& cache, const MethodOptions& options) {
  CutPointOptions result;
  const Configuration most = maximised_alone(cache, options);
  result.slots = most.slots;
  result.streams = most.streams.empty() ? 1 : most.streams.front();
  return result;
}

std::optional<Configuration> tuned(CandidateCache& cache, const MethodOptions& options,
                                   std::optional<Configuration> found) {
  if (!found) return std::nullopt;
  return fine_tuned(cache, std::move(*found), options.limits, options.allowed_loss);
}

double choose_count(std::size_t from, std::size_t count) {
  double result = 1;
  for (std::size_t i = 0; i < count; ++i)
    result *= static_cast<double>(from - i) / static_cast<double>(i + 1);
  return from < count ? 0 : std::round(result);
}

}  // namespace

std::vector<MappingOption> options_to_try(const SearchContext& context,
                                          const MethodOptions& options) {
  std::vector<MappingOption> all = mapping_options(context.board);
  if (!options.option.empty())
    std::erase_if(all, [&](const MappingOption& each) { return each.name != options.option; });
  return all;
}

ProcessorGroup processors_by_speed(const SearchContext& context) {
  ProcessorGroup order;
  for (std::size_t p = 0; p < context.board.processors.size(); ++p) order.emplace_back(p);
  const auto time = [&](ProcessorId processor) {
    double sum = 0;
    for (const auto& times : context.problem.time) sum += times[processor.index];
    return sum;
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](ProcessorId a, ProcessorId b) { return time(a) < time(b); });
  return order;
}

std::optional<Configuration> best_cut_points(CandidateCache& cache, const MethodOptions& options,
                                             std::int64_t reserve) {
  const std::vector<MappingOption> all = options_to_try(cache.context(), options);
  CutPointOptions cut_points = usual_numbers(cache, options);
  if (options.random_start) cut_points.random_start = options.seed;
  cut_points.local = false;
  cut_points.top = 1;
  std::vector<Tried> tried = try_options(cache, all, cut_points, options.starts);
  if (options.option.empty()) add_patterns(cache, tried, patterns_of(cache, options, cut_points));
  const std::vector<ProcessorGroup> wanted =
      options.option.empty() || all.empty() ? std::vector<ProcessorGroup>{} : all.front().stages;
  if (tried.empty()) return simplest_of_best(cache, wanted);
  cut_points.local = true;
  cut_points.top = options.top;
  std::size_t searched = 0;
  for (const Tried& each : tried) {
    if (each.throughput < worth * tried.front().throughput || each.best.cuts.empty() ||
        each.best.cuts.size() > most_cuts)
      continue;
    if (cache.left() <= reserve || searched++ == most_in_full) break;
    cache.allow(cache.left() - reserve);
    search_in_full(cache, each, cut_points, options);
    cache.allow(std::nullopt);
  }
  return simplest_of_best(cache, wanted);
}

std::optional<Configuration> search_cut_points(CandidateCache& cache,
                                               const MethodOptions& options) {
  return tuned(cache, options, best_cut_points(cache, options, for_fine_tuning));
}

std::optional<Configuration> search_fine_tuner(CandidateCache& cache,
                                               const MethodOptions& options) {
  const CutPointOptions usual = usual_numbers(cache, options);
  std::vector<Configuration> given;
  for (const MappingOption& option : options_to_try(cache.context(), options)) {
    const std::vector<std::size_t> cuts = start_of(option, options.starts);
    if (!cuts.empty() && cuts.size() + 1 == option.stages.size())
      given.push_back(with_usual(cache.context(), {option.stages, cuts}, usual));
  }
  std::optional<std::pair<double, Configuration>> best;
  const auto scores = cache.ask(given);
  for (std::size_t i = 0; i < given.size(); ++i)
    if (scores[i] && (!best || scores[i]->throughput > best->first))
      best = {scores[i]->throughput, given[i]};
  if (!best) return std::nullopt;
  return tuned(cache, options, std::move(best->second));
}

std::optional<Configuration> search_one_processor(CandidateCache& cache, const MethodOptions&) {
  for (const ProcessorId processor : processors_by_speed(cache.context()))
    cache.ask(whole({processor}, cache));
  return cache.best_if_any();
}

std::optional<Configuration> search_interleaving(CandidateCache& cache,
                                                 const MethodOptions& options) {
  cache.ask(interleavings(cache));
  return tuned(cache, options, cache.best_if_any());
}

std::optional<Configuration> search_random(CandidateCache& cache, const MethodOptions& options) {
  constexpr int most_in_vain = 1000;
  const std::vector<MappingOption> all = mapping_options(cache.context().board);
  const std::vector<std::size_t> positions = cut_positions(cache.context().problem);
  Random random(options.seed);
  for (int in_vain = 0; in_vain < most_in_vain && !cache.is_spent(); ++in_vain) {
    const std::int64_t before = cache.count();
    Configuration configuration{all[random.below(all.size())].stages, {}, 1};
    std::set<std::size_t> cuts;
    const std::size_t wanted = configuration.stages.size() - 1;
    if (positions.size() < wanted) continue;
    while (cuts.size() < wanted) cuts.insert(positions[random.below(positions.size())]);
    configuration.cuts.assign(cuts.begin(), cuts.end());
    Parameters parameters = parameters_of(cache.context(), configuration, options.limits);
    for (Parameter& each : parameters)
      each.value = each.least + static_cast<std::int64_t>(random.below(
                                    static_cast<std::uint64_t>(each.most - each.least + 1)));
    configuration = with_parameters(std::move(configuration), parameters);
    cache.ask(configuration);
    if (cache.count() > before) in_vain = 0;
  }
  return cache.best_if_any();
}

std::optional<Configuration> search_single_cuts(CandidateCache& cache, const MethodOptions&) {
  std::vector<Configuration> wanted;
  for (const MappingOption& option : mapping_options(cache.context().board)) {
    if (option.stages.size() != 2) continue;
    const std::vector<ProcessorGroup> reversed(option.stages.rbegin(), option.stages.rend());
    for (const std::vector<ProcessorGroup>& stages : {option.stages, reversed})
      for (std::size_t cut = 0; cut + 1 < cache.context().problem.layers; ++cut)
        wanted.push_back({stages, {cut}, cache.context().build.capacity});
  }
  cache.ask(wanted);
  return cache.best_if_any();
}

const std::vector<NamedMethod>& methods() {
  static const std::vector<NamedMethod> list{
      {"cut-points", search_cut_points},     {"one-processor", search_one_processor},
      {"interleaving", search_interleaving}, {"profile-genetic", search_profile_genetic},
      {"all-genetic", search_all_genetic},   {"tuning-genetic", search_tuning_genetic},
      {"fine-tuner", search_fine_tuner},     {"random", search_random},
      {"single-cuts", search_single_cuts}};
  return list;
}

const NamedMethod* method_named(const std::string& name) {
  for (const NamedMethod& method : methods())
    if (name == method.name) return &method;
  return nullptr;
}

double tuples_of(const SearchContext& context) {
  double sum = 0;
  for (const MappingOption& option : mapping_options(context.board))
    if (option.stages.size() > 1)
      sum += choose_count(context.problem.layers - 1, option.stages.size() - 1);
  return sum;
}

std::map<std::string, std::int64_t> subnets_of(const CandidateCache& cache) {
  const board::Board& board = cache.context().board;
  std::set<std::tuple<std::string, std::size_t, std::size_t>> subnets;
  for (const Configuration& each : cache.order())
    for (std::size_t stage = 0; stage < each.stages.size(); ++stage)
      for (const ProcessorId processor : each.stages[stage]) {
        const board::Device* device = board::device_of(board, board[processor]);
        subnets.emplace(
            device == nullptr ? board[processor].name : device->name,
            stage == 0 ? 0 : each.cuts[stage - 1] + 1,
            stage < each.cuts.size() ? each.cuts[stage] : cache.context().problem.layers);
      }
  std::map<std::string, std::int64_t> counts;
  for (const auto& subnet : subnets) ++counts[std::get<0>(subnet)];
  return counts;
}

}  // namespace millrace::explore
