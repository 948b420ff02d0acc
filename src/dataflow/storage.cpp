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

constexpr std::size_t no_pool = static_cast<std::size_t>(-1);

}  // namespace

Storage::Storage(const Graph& graph, const SizingOptions& options)
    : graph_(graph),
      options_(options),
      begin_(std::chrono::steady_clock::now()),
      pool_of_(graph.channels.size(), no_pool),
      least_(graph.channels.size(), 0) {
  const std::vector<std::int64_t> cycles = repetition_vector(graph);
  for (const Pool& pool : options.pools) add(pool, cycles);
  for (std::size_t c = 0; c < graph.channels.size(); ++c)
    if (pool_of_[c] == no_pool && graph.channels[c].from != graph.channels[c].to &&
        common_rate(graph.channels[c]) > 0)
      add({.channels = {ChannelId(c)}}, cycles);
}

void Storage::add(const Pool& pool, const std::vector<std::int64_t>& cycles) {
  Shared shared;
  std::int64_t least = pool.least;
  for (const ChannelId id : pool.channels) {
    const Channel& channel = graph_[id];
    shared.channels.push_back(id.index);
    pool_of_[id.index] = pools_.size();
    const auto& rates = channel.consumption;
    const std::int64_t tokens = std::accumulate(rates.begin(), rates.end(), std::int64_t{0});
    shared.ample =
        std::max(shared.ample, checked_multiply(tokens, cycles[channel.to.index], channel.name));
    least = std::max(least, least_of(id.index, cycles));
  }
  if (shared.channels.size() == 1 && pool.least == 0)
    shared.step = common_rate(graph_.channels[shared.channels.front()]);
  shared.weight = pool.weight;
  pools_.push_back(std::move(shared));
  set_space(least_, pools_.size() - 1, least);
}

/// What the channel's two actors need by themselves.
std::int64_t Storage::least_of(std::size_t index, const std::vector<std::int64_t>& cycles) const {
  const Channel& channel = graph_.channels[index];
  if (channel.from == channel.to) return std::max<std::int64_t>(1, channel.initial_tokens);
  const std::int64_t step = std::max<std::int64_t>(1, common_rate(channel));
  const std::int64_t space = least_space(channel, cycles[channel.to.index]);
  const std::int64_t steps = (space - channel.initial_tokens + step - 1) / step;
  return channel.initial_tokens + steps * step;
}

void Storage::set_space(Capacities& capacities, std::size_t pool, std::int64_t space) const {
  for (const std::size_t channel : pools_[pool].channels) capacities[channel] = space;
}

std::int64_t Storage::total(const Capacities& capacities) const {
  const std::string place = "the sum of all capacities";
  std::int64_t sum = 0;
  for (std::size_t p = 0; p < pools_.size(); ++p)
    sum = checked_add(sum, checked_multiply(space(capacities, p), pools_[p].weight, place), place);
  return sum;
}

bool Storage::must_stop(double share) const {
  return static_cast<double>(tries_) >= share * static_cast<double>(options_.max_tries) ||
         std::chrono::steady_clock::now() - begin_ >= share * options_.max_time;
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
      trial.obstacles.push_back(pool_of_[spaces[step.channel.index - graph_.channels.size()]]);
  std::sort(trial.obstacles.begin(), trial.obstacles.end());
  trial.obstacles.erase(std::unique(trial.obstacles.begin(), trial.obstacles.end()),
                        trial.obstacles.end());
  return trial;
}

}  // namespace millrace::dataflow
