#include "explore/configuration/tuning.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "explore/limits.h"

namespace millrace::explore {
namespace {

constexpr const char* slots_name = "slots";
constexpr const char* pre_name = "pre-processing threads";
constexpr const char* post_name = "post-processing threads";

std::string streams_name(std::size_t stage) { return fmt::format("streams of stage {}", stage); }

std::int64_t most_streams_of(const SearchContext& context, const ProcessorGroup& group,
                             std::int64_t most) {
  for (const ProcessorId processor : group)
    most = std::min(most, most_streams(context.board, context.board[processor]));
  return std::max<std::int64_t>(1, most);
}

std::int64_t streams_at(const Configuration& configuration, std::size_t stage) {
  return configuration.streams.empty() ? 1 : configuration.streams[stage];
}

Rate rate_of(CandidateCache& cache, const Configuration& configuration) {
  return [&cache, configuration](const Parameters& parameters) -> std::optional<double> {
    const auto score = cache.ask(with_parameters(configuration, parameters));
    return score ? std::optional(score->throughput) : std::nullopt;
  };
}

/// As many as there are: it has none of this name.
std::size_t number_of(const Parameters& parameters, const std::string& name) {
  return static_cast<std::size_t>(std::ranges::find(parameters, name, &Parameter::name) -
                                  parameters.begin());
}

/// Threads before and behind the network.
ParameterPairs threads_in(const Parameters& parameters) {
  const std::size_t pre = number_of(parameters, pre_name), post = number_of(parameters, post_name);
  if (std::max(pre, post) >= parameters.size()) return {};
  return {{pre, post}};
}

/// Pairs of streams whose stages lie on one processor, which takes several.
ParameterPairs shared_streams(const Configuration& configuration, const Parameters& parameters) {
  ParameterPairs pairs;
  for (std::size_t a = 0; a < configuration.stages.size(); ++a)
    for (std::size_t b = a + 1; b < configuration.stages.size(); ++b)
      if (configuration.stages[a] == configuration.stages[b])
        pairs.emplace_back(number_of(parameters, streams_name(a)),
                           number_of(parameters, streams_name(b)));
  std::erase_if(pairs, [&](const auto& pair) {
    return std::max(pair.first, pair.second) >= parameters.size();
  });
  return pairs;
}

}  // namespace

Parameters parameters_of(const SearchContext& context, const Configuration& configuration,
                         const TuningLimits& limits) {
  const std::int64_t slots = configuration.slots;
  Parameters result{{slots_name, slots, 1, std::max(slots, limits.slots)}};
  for (std::size_t stage = 0; stage < configuration.stages.size(); ++stage) {
    const std::int64_t now = streams_at(configuration, stage);
    const std::int64_t most =
        most_streams_of(context, configuration.stages[stage], std::max(now, limits.streams));
    if (most > 1) result.push_back({streams_name(stage), now, 1, most});
  }
  for (const auto& [name, now, most] :
       {std::tuple(pre_name, configuration.pre_threads, limits.pre_threads),
        std::tuple(post_name, configuration.post_threads, limits.post_threads)})
    if (most > 0) result.push_back({name, now > 0 ? now : most, 1, std::max(now, most)});
  return result;
}

Configuration with_parameters(Configuration configuration, const Parameters& parameters) {
  const auto take = [&](const std::string& name, std::int64_t& to) {
    const auto found = std::ranges::find(parameters, name, &Parameter::name);
    if (found != parameters.end()) to = found->value;
  };
  take(slots_name, configuration.slots);
  take(pre_name, configuration.pre_threads);
  take(post_name, configuration.post_threads);
  configuration.streams.resize(configuration.stages.size(), 1);
  for (std::size_t stage = 0; stage < configuration.stages.size(); ++stage)
    take(streams_name(stage), configuration.streams[stage]);
  if (std::ranges::all_of(configuration.streams, [](std::int64_t each) { return each == 1; }))
    configuration.streams.clear();
  return configuration;
}

Configuration maximised(CandidateCache& cache, Configuration configuration,
                        const TuningLimits& limits) {
  const Parameters first = parameters_of(cache.context(), configuration, limits);
  return with_parameters(configuration,
                         maximise(first, rate_of(cache, configuration), threads_in(first)));
}

Configuration fine_tuned(CandidateCache& cache, Configuration configuration,
                         const TuningLimits& limits, double allowed_loss) {
  const Parameters given = parameters_of(cache.context(), configuration, limits);
  Parameters first = given;
  for (const Parameter& each : first) first[0].value = std::max(first[0].value, each.value);
  first[0].most = std::max(first[0].most, first[0].value);
  const Rate rate = rate_of(cache, configuration);
  FineTuning tuning;
  tuning.allowed_loss = allowed_loss;
  tuning.largest = 0;
  // More slots need larger offsets, which memory bounds: a plan can be slower with them.
  const auto found = cache.ask(configuration);
  if (found && rate(first).value_or(0) < (1 - allowed_loss) * found->throughput) {
    first = given;
    tuning.largest = std::nullopt;
  }
  tuning.shared = shared_streams(configuration, first);
  tuning.together = threads_in(first);
  return with_parameters(std::move(configuration), fine_tune(first, rate, tuning));
}

std::vector<std::int64_t> first_streams(const SearchContext& context,
                                        const std::vector<ProcessorGroup>& stages,
                                        std::int64_t most) {
  if (most == 1) return {};
  std::vector<std::int64_t> streams;
  for (const ProcessorGroup& group : stages) {
    const board::Device* device = board::device_of(context.board, context.board[group.front()]);
    const bool by_subnet =
        device != nullptr && device->limits.granularity == board::Granularity::subnet;
    const auto sharers = std::ranges::count(stages, group);
    const std::int64_t wanted = by_subnet ? 2 : std::max<std::int64_t>(1, most / sharers);
    streams.push_back(most_streams_of(context, group, std::min(wanted, most)));
  }
  if (std::ranges::all_of(streams, [](std::int64_t each) { return each == 1; })) return {};
  return streams;
}

}  // namespace millrace::explore
