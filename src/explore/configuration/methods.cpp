#include "explore/configuration/methods.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/random.h"
#include "explore/configuration/parameters.h"

namespace millrace::explore {
namespace {

constexpr double worth = 0.98;  // of the best option's throughput: its cuts are searched in full
constexpr std::size_t most_in_full = 2;  // of such options
constexpr double highest_threshold = 0.95, threshold_step = 0.1;
constexpr std::size_t enough_refined = 10;  // tuples handed to the local search
constexpr std::size_t most_cuts = 12;       // of a pattern whose cuts are searched
constexpr std::int64_t for_fine_tuning = 6, fewest_of_option = 4;

/// What an option's global search found.
struct Tried {
  MappingOption option;
  Configuration best;
  double throughput = 0;
};

/// Of the candidates from this number on.
std::optional<Tried> best_since(const Ledger& ledger, std::int64_t first,
                                const MappingOption& option) {
  std::optional<Tried> best;
  for (std::size_t i = static_cast<std::size_t>(first); i < ledger.order().size(); ++i) {
    const Configuration& configuration = ledger.order()[i];
    const double throughput = ledger[configuration].throughput;
    if (configuration.stages == option.stages && (!best || throughput > best->throughput))
      best = Tried{option, configuration, throughput};
  }
  return best;
}

Parameters slots_of(std::int64_t value, const MethodOptions& options) {
  return {{"slots", value, 1, std::max(value, options.most_slots)}};
}

Rate rate_of(Ledger& ledger, Configuration configuration) {
  return [&ledger, configuration](const Parameters& parameters) mutable -> std::optional<double> {
    configuration.slots = parameters.front().value;
    const auto score = ledger.ask(configuration);
    return score ? std::optional(score->throughput) : std::nullopt;
  };
}

/// The maximiser: with option E, the fastest processor by itself.
std::int64_t maximised_slots(Ledger& ledger, const MethodOptions& options,
                             const std::vector<MappingOption>& all) {
  const std::int64_t usual = ledger.ground().build.capacity;
  std::optional<std::pair<double, Configuration>> fastest;
  for (const MappingOption& option : all) {
    const Configuration alone{option.stages, {}, usual};
    if (option.stages.size() > 1 || option.stages[0].size() > 1 || !ledger.is_feasible(alone))
      continue;
    const double time = ledger.predictor().bottleneck(alone);
    if (!fastest || time < fastest->first) fastest = {time, alone};
  }
  if (!fastest) return usual;
  return maximise(slots_of(usual, options), rate_of(ledger, fastest->second)).front().value;
}

/// The global search of each option.
std::vector<Tried> try_options(Ledger& ledger, const std::vector<MappingOption>& all,
                               const CutPointOptions& options) {
  std::vector<Tried> tried;
  const std::int64_t share =
      std::max(fewest_of_option, ledger.left() / (2 * static_cast<std::int64_t>(all.size())));
  for (const MappingOption& option : all) {
    const std::int64_t before = ledger.count();
    ledger.allow(share);
    explore_cut_points(ledger, option, options);
    if (auto best = best_since(ledger, before, option)) tried.push_back(std::move(*best));
  }
  ledger.allow(std::nullopt);
  return tried;
}

/// The best of all first.
void add_patterns(Ledger& ledger, std::vector<Tried>& tried,
                  const std::vector<Configuration>& patterns) {
  const auto scores = ledger.ask(patterns);
  for (std::size_t i = 0; i < patterns.size(); ++i)
    if (scores[i])
      tried.push_back({{"pattern", patterns[i].stages}, patterns[i], scores[i]->throughput});
  std::stable_sort(tried.begin(), tried.end(),
                   [](const Tried& a, const Tried& b) { return a.throughput > b.throughput; });
}

/// With the threshold lowered until so many tuples were refined, or that found nothing better;
/// tuples that were measured before cost nothing.
void search_in_full(Ledger& ledger, const Tried& tried, CutPointOptions cut_points,
                    const MethodOptions& options) {
  cut_points.start = tried.best.cuts;
  double before = tried.throughput;
  for (double threshold = options.threshold.value_or(highest_threshold);
       threshold > 0 && !ledger.is_spent(); threshold -= threshold_step) {
    cut_points.threshold = threshold;
    const std::size_t refined = explore_cut_points(ledger, tried.option, cut_points);
    const double now = ledger.score_of_best().throughput;
    if (options.threshold || refined >= enough_refined || (refined > 0 && now <= before)) return;
    before = std::max(before, now);
  }
}

/// Stages, and those that run them.
std::pair<std::size_t, std::size_t> size_of(const Configuration& configuration) {
  std::size_t processors = 0;
  for (const Seat& seat : configuration.stages) processors += seat.size();
  return {configuration.stages.size(), processors};
}

/// Of those that are as good as the best, but for what measurements do not tell apart, one with the
/// fewest stages, and the fewest copies of them.
Configuration simplest_of_best(const Ledger& ledger) {
  Configuration simplest = ledger.best();
  const double least = (1 - usual_noise) * ledger.score_of_best().throughput;
  for (const Configuration& each : ledger.order())
    if (ledger[each].throughput >= least && size_of(each) < size_of(simplest)) simplest = each;
  return simplest;
}

Configuration fine_tuned(Ledger& ledger, Configuration configuration,
                         const MethodOptions& options) {
  FineTuning tuning;
  tuning.allowed_loss = options.allowed_loss;
  const Rate rate = rate_of(ledger, configuration);
  configuration.slots = fine_tune(slots_of(configuration.slots, options), rate, tuning)[0].value;
  return configuration;
}

/// One processor, or several in turn, for all layers.
Configuration whole(const Seat& seat, const Ledger& ledger) {
  return {{seat}, {}, ledger.ground().build.capacity};
}

/// The fastest processor, the fastest two, three, ...
std::vector<Configuration> interleavings(const Ledger& ledger) {
  std::vector<Configuration> result;
  Seat seat;
  for (const ProcessorId processor : processors_by_speed(ledger.ground())) {
    seat.push_back(processor);
    result.push_back(whole(seat, ledger));
  }
  return result;
}

double choose_count(std::size_t from, std::size_t count) {
  double result = 1;
  for (std::size_t i = 0; i < count; ++i)
    result *= static_cast<double>(from - i) / static_cast<double>(i + 1);
  return from < count ? 0 : std::round(result);
}

}  // namespace

Seat processors_by_speed(const Ground& ground) {
  Seat order;
  for (std::size_t p = 0; p < ground.board.processors.size(); ++p) order.emplace_back(p);
  const auto time = [&](ProcessorId processor) {
    double sum = 0;
    for (const auto& times : ground.problem.time) sum += times[processor.index];
    return sum;
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](ProcessorId a, ProcessorId b) { return time(a) < time(b); });
  return order;
}

std::optional<Configuration> search_cut_points(Ledger& ledger, const MethodOptions& options) {
  const std::vector<MappingOption> all = mapping_options(ledger.ground().board);
  CutPointOptions cut_points;
  cut_points.slots = maximised_slots(ledger, options, all);
  if (options.random_start) cut_points.random_start = options.seed;
  cut_points.local = false;
  cut_points.top = 1;
  std::vector<Tried> tried = try_options(ledger, all, cut_points);
  // Unlike processors share whole frames well too, which the board's options leave out.
  std::vector<Configuration> patterns = interleavings(ledger);
  for (Configuration& each : profile_patterns(ledger, options.seed, cut_points.slots))
    patterns.push_back(std::move(each));
  add_patterns(ledger, tried, patterns);
  if (tried.empty()) return ledger.best_if_any();
  cut_points.local = true;
  cut_points.top = options.top;
  std::size_t searched = 0;
  for (const Tried& each : tried) {
    if (each.throughput < worth * tried.front().throughput || each.best.cuts.empty() ||
        each.best.cuts.size() > most_cuts)
      continue;
    if (ledger.left() <= for_fine_tuning || searched++ == most_in_full) break;
    ledger.allow(ledger.left() - for_fine_tuning);
    search_in_full(ledger, each, cut_points, options);
    ledger.allow(std::nullopt);
  }
  return fine_tuned(ledger, simplest_of_best(ledger), options);
}

std::optional<Configuration> search_one_processor(Ledger& ledger, const MethodOptions&) {
  for (const ProcessorId processor : processors_by_speed(ledger.ground()))
    ledger.ask(whole({processor}, ledger));
  return ledger.best_if_any();
}

std::optional<Configuration> search_interleaving(Ledger& ledger, const MethodOptions&) {
  ledger.ask(interleavings(ledger));
  return ledger.best_if_any();
}

std::optional<Configuration> search_random(Ledger& ledger, const MethodOptions& options) {
  constexpr int most_in_vain = 1000;
  const std::vector<MappingOption> all = mapping_options(ledger.ground().board);
  const std::vector<std::size_t> positions = cut_positions(ledger.ground().problem);
  Random random(options.seed);
  for (int in_vain = 0; in_vain < most_in_vain && !ledger.is_spent(); ++in_vain) {
    const std::int64_t before = ledger.count();
    Configuration configuration{all[random.below(all.size())].stages, {}, 1};
    std::set<std::size_t> cuts;
    const std::size_t wanted = configuration.stages.size() - 1;
    if (positions.size() < wanted) continue;
    while (cuts.size() < wanted) cuts.insert(positions[random.below(positions.size())]);
    configuration.cuts.assign(cuts.begin(), cuts.end());
    configuration.slots +=
        static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(options.most_slots)));
    ledger.ask(configuration);
    if (ledger.count() > before) in_vain = 0;
  }
  return ledger.best_if_any();
}

std::optional<Configuration> search_single_cuts(Ledger& ledger, const MethodOptions&) {
  std::vector<Configuration> wanted;
  for (const MappingOption& option : mapping_options(ledger.ground().board)) {
    if (option.stages.size() != 2) continue;
    const std::vector<Seat> reversed(option.stages.rbegin(), option.stages.rend());
    for (const std::vector<Seat>& stages : {option.stages, reversed})
      for (std::size_t cut = 0; cut + 1 < ledger.ground().problem.layers; ++cut)
        wanted.push_back({stages, {cut}, ledger.ground().build.capacity});
  }
  ledger.ask(wanted);
  return ledger.best_if_any();
}

const std::vector<NamedMethod>& methods() {
  static const std::vector<NamedMethod> list{
      {"cut-points", search_cut_points},     {"one-processor", search_one_processor},
      {"interleaving", search_interleaving}, {"profile-genetic", search_profile_genetic},
      {"all-genetic", search_all_genetic},   {"random", search_random},
      {"single-cuts", search_single_cuts}};
  return list;
}

const NamedMethod* method_named(const std::string& name) {
  for (const NamedMethod& method : methods())
    if (name == method.name) return &method;
  return nullptr;
}

double tuples_of(const Ground& ground) {
  double sum = 0;
  for (const MappingOption& option : mapping_options(ground.board))
    if (option.stages.size() > 1)
      sum += choose_count(ground.problem.layers - 1, option.stages.size() - 1);
  return sum;
}

}  // namespace millrace::explore
