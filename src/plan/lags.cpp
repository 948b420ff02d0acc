#include <algorithm>
#include <map>

#include "plan/steps.h"

namespace millrace::plan {
namespace {

bool is_outside(const Endpoint& end) { return end.stage == Endpoint::outside; }

/// Lags between stages: with one slot they take turns within a frame.
std::int64_t step_of(const BuildOptions& options) { return options.capacity > 1 ? 1 : 0; }

std::int64_t slots_of(const Plan& plan, const Channel& channel, const BuildOptions& options) {
  const std::int64_t lag = lag_of(plan, channel);
  if (is_outside(channel.from) || is_outside(channel.to)) return lag + options.capacity;
  if (channel.from.stage == channel.to.stage) return lag + 1;
  return lag + std::max<std::int64_t>(1, options.capacity - 1);
}

}  // namespace

std::int64_t lag_of(const Plan& plan, const Channel& channel) {
  const auto of = [&](const Endpoint& end) { return plan.stages[end.stage].phases[end.phase].lag; };
  const std::int64_t from = is_outside(channel.from) ? 0 : of(channel.from);
  if (!is_outside(channel.to)) return of(channel.to) - from;
  std::int64_t last = 0;
  for (const Stage& stage : plan.stages)
    for (const Phase& phase : stage.phases) last = std::max(last, phase.lag);
  return last - from;
}

/// Raises lags until each phase is one behind all that it reads from other stages, or at the limit.
/// Phases wait for each other in no circle, so this ends.
Plan set_lags(Plan plan, const Material& material) {
  const std::int64_t step = step_of(material.options), limit = material.options.most_lag;
  bool changed = true;
  while (changed) {
    changed = false;
    for (const Channel& channel : plan.channels) {
      if (is_outside(channel.from) || is_outside(channel.to)) continue;
      const std::int64_t before = plan.stages[channel.from.stage].phases[channel.from.phase].lag;
      const bool crosses = channel.from.stage != channel.to.stage;
      const std::int64_t least = std::min(limit, before + (crosses ? step : 0));
      std::int64_t& lag = plan.stages[channel.to.stage].phases[channel.to.phase].lag;
      changed |= lag < least;
      lag = std::max(lag, least);
    }
  }
  return plan;
}

/// Between stages one slot more than the lag is enough for full speed: every circle in the graph
/// then has a token or a space for each stage that it passes through, so no circle takes longer per
/// token than the slowest stage. More slots absorb the jitter of real stages.
Plan size_channels(Plan plan, const Material& material) {
  std::map<TensorId, std::int64_t> slots;
  for (const Channel& channel : plan.channels) {
    std::int64_t& most = slots[channel.tensor];
    most = std::max(most, slots_of(plan, channel, material.options));
  }
  for (Channel& channel : plan.channels) channel.capacity = slots[channel.tensor];
  return plan;
}

}  // namespace millrace::plan
