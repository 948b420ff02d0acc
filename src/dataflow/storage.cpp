#include "dataflow/storage.h"

#include <algorithm>
#include <numeric>

#include "dataflow/checked.h"

namespace millrace::dataflow {
namespace {

std::int64_t common_rate(const Channel& channel) {
  std::int64_t common = 0;
  for (std::int64_t rate : channel.production) common = std::gcd(common, rate);
  for (std::int64_t rate : channel.consumption) common = std::gcd(common, rate);
  return common;
}

/// The fullest that the channel gets if its producer fires only when its consumer needs tokens.
std::int64_t least_space(const Channel& channel, std::int64_t cycles) {
  constexpr std::int64_t most_firings = 10'000'000;
  std::int64_t tokens = channel.initial_tokens, fullest = tokens;
  std::size_t producing = 0, consuming = 0;
  const auto phases = static_cast<std::int64_t>(channel.consumption.size());
  const std::int64_t firings =
      std::min(checked_multiply(cycles, phases, channel.name), most_firings);
  for (std::int64_t firing = 0; firing < firings; ++firing) {
    const std::int64_t needed = channel.consumption[consuming];
    for (; tokens < needed; producing = (producing + 1) % channel.production.size()) {
      tokens = checked_add(tokens, channel.production[producing], channel.name);
      fullest = std::max(fullest, tokens);
    }
    tokens -= needed;
    consuming = (consuming + 1) % channel.consumption.size();
  }
  return std::max(fullest, *std::max_element(channel.production.begin(), channel.production.end()));
}

}  // namespace

Storage::Storage(const Graph& graph, const SizingOptions& options)
    : graph_(graph),
      options_(options),
      begin_(std::chrono::steady_clock::now()),
      steps_(graph.channels.size(), 0),
      ample_(graph.channels.size(), 0),
      least_(graph.channels.size(), 0) {
  const std::vector<std::int64_t> cycles = repetition_vector(graph);
  for (std::size_t c = 0; c < graph.channels.size(); ++c) {
    const Channel& channel = graph.channels[c];
    steps_[c] = common_rate(channel);
    if (channel.from == channel.to || steps_[c] == 0) continue;
    channels_.push_back(c);
    const auto& rates = channel.consumption;
    ample_[c] = checked_multiply(std::accumulate(rates.begin(), rates.end(), std::int64_t{0}),
                                 cycles[channel.to.index], channel.name);
    const std::int64_t space = least_space(channel, cycles[channel.to.index]);
    const std::int64_t steps = (space - channel.initial_tokens + steps_[c] - 1) / steps_[c];
    least_[c] = channel.initial_tokens + steps * steps_[c];
  }
}

bool Storage::must_stop() const {
  return tries_ >= options_.max_tries ||
         std::chrono::steady_clock::now() - begin_ >= options_.max_time;
}

std::optional<Trial> Storage::attempt(const Capacities& capacities) {
  ++tries_;
  const auto found = throughput(with_capacities(graph_, capacities));
  if (!found) return std::nullopt;
  Trial trial{found->is_live(), found->is_live() ? found->period() : Fraction(), {}};
  std::vector<std::size_t> spaces;  // in the order in which with_capacities adds them
  for (std::size_t c = 0; c < capacities.size(); ++c)
    if (capacities[c] > 0) spaces.push_back(c);
  for (const CycleStep& step : found->critical_cycle)
    if (step.channel.valid() && step.channel.index >= graph_.channels.size())
      trial.obstacles.push_back(spaces[step.channel.index - graph_.channels.size()]);
  std::sort(trial.obstacles.begin(), trial.obstacles.end());
  trial.obstacles.erase(std::unique(trial.obstacles.begin(), trial.obstacles.end()),
                        trial.obstacles.end());
  return trial;
}

}  // namespace millrace::dataflow
