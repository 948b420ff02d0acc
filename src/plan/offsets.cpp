#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "plan/capacities.h"
#include "plan/steps.h"

namespace millrace::plan {
namespace {

std::int64_t largest_offset(const Plan& plan) {
  std::int64_t largest = 0;
  for (const Stage& stage : plan.stages)
    for (const Phase& phase : stage.phases) largest = std::max(largest, phase.offset);
  return largest;
}

std::int64_t batch_of(const Plan& plan, const Endpoint& end) {
  return end.is_outside() ? 1 : plan.stages[end.stage].phases[end.phase].batch;
}

std::int64_t replicas_at(const Plan& plan, const Endpoint& end) {
  return end.is_outside() ? 1 : plan.stages[end.stage].replicas();
}

/// The number of consecutive frames of which an end holds some at once.
std::int64_t span_at(const Plan& plan, const Endpoint& end) {
  return batch_of(plan, end) * replicas_at(plan, end);
}

/// Behind a writer that gives its batch in the last of so many cycles, a reader finds its own in
/// each of its cycles only if it is so far behind. A replica's cycles are as many frames apart as
/// there are replicas; with as many on both sides the batches of both begin together.
std::int64_t least_offset(const Plan& plan, const Channel& channel) {
  const std::int64_t replicas = replicas_at(plan, channel.from);
  const std::int64_t writer = batch_of(plan, channel.from), reader = batch_of(plan, channel.to);
  const bool alike = replicas == replicas_at(plan, channel.to);
  return (writer - (alike ? std::gcd(writer, reader) : 1)) * replicas;
}

/// Such that it needs nothing that other stages make in the same cycle; with one slot stages take
/// turns within a frame.
std::int64_t wanted_offset(const Plan& plan, const Channel& channel, const BuildOptions& options) {
  if (channel.from.stage == channel.to.stage || options.capacity == 1)
    return least_offset(plan, channel);
  return std::max(span_at(plan, channel.from), replicas_at(plan, channel.to));
}

/// The reader holds the slots of its batch until it has run. The caller is to hand over, and take,
/// at one time as many frames as come at one time. Of replicas that gather, whoever is free is to
/// find a batch, in all slots, while the others have theirs.
std::int64_t slots_of(const Plan& plan, const Channel& channel, const BuildOptions& options) {
  const std::int64_t offset = offset_of(plan, channel);
  const bool is_outer = channel.from.is_outside() || channel.to.is_outside();
  const std::int64_t more = batch_of(plan) - 1;
  const std::int64_t from = replicas_at(plan, channel.from), to = replicas_at(plan, channel.to);
  if (const std::int64_t most = std::max(from, to); most > 1) {
    if (is_outer || is_first_free(plan))
      return offset + more + most * (is_outer || more > 0 ? options.capacity + more : 1);
    const std::int64_t meeting = replicas_of(plan, channel);
    return rounded_up(offset, meeting) + more +
           meeting * std::max(batch_of(plan, channel.from), batch_of(plan, channel.to));
  }
  if (is_outer) return offset + options.capacity + more * (channel.to.is_outside() ? 2 : 1);
  const std::int64_t batch = batch_of(plan, channel.to);
  if (channel.from.stage == channel.to.stage) return offset + batch;
  return offset + batch + std::max<std::int64_t>(0, options.capacity - 2);
}

}  // namespace

std::int64_t offset_of(const Plan& plan, const Channel& channel) {
  const auto of = [&](const Endpoint& end) {
    return plan.stages[end.stage].phases[end.phase].offset;
  };
  const std::int64_t from = channel.from.is_outside() ? 0 : of(channel.from);
  if (!channel.to.is_outside()) return of(channel.to) - from;
  return largest_offset(plan) - from;
}

namespace {

/// Raises offsets until each phase is one behind all that it reads from other stages (a batch
/// behind those with a batch), or at the limit, which gives way only where batches could not be
/// gathered. Phases wait for each other in no circle, so this ends.
/// A replica works on every `replicas`-th frame only, so its offset is a multiple of so many.
Plan with_offsets(Plan plan, const Material& material, std::int64_t limit) {
  bool changed = true;
  while (changed) {
    changed = false;
    for (const Channel& channel : plan.channels) {
      if (channel.from.is_outside() || channel.to.is_outside()) continue;
      const std::int64_t before = plan.stages[channel.from.stage].phases[channel.from.phase].offset;
      const std::int64_t wanted = before + wanted_offset(plan, channel, material.options);
      const std::int64_t least =
          rounded_up(std::max(before + least_offset(plan, channel), std::min(limit, wanted)),
                     replicas_at(plan, channel.to));
      std::int64_t& offset = plan.stages[channel.to.stage].phases[channel.to.phase].offset;
      changed |= offset < least;
      offset = std::max(offset, least);
    }
  }
  return plan;
}

}  // namespace

/// Memory grows with the largest offset, so that bisection finds the largest one that fits in.
Plan set_offsets(Plan plan, const Material& material) {
  const auto fits = [&](const Plan& trial) {
    return slot_bytes(size_channels(trial, material), material.network) <=
           material.options.most_memory;
  };
  Plan best = with_offsets(plan, material, material.options.most_offset);
  if (fits(best)) return best;
  std::int64_t least = 0, above = largest_offset(best);
  best = with_offsets(plan, material, least);
  while (above - least > 1) {
    const std::int64_t middle = least + (above - least) / 2;
    Plan trial = with_offsets(plan, material, middle);
    if (fits(trial))
      best = std::move(trial), least = middle;
    else
      above = middle;
  }
  return best;
}

/// Between stages one slot more than the offset is enough for full speed: every circle in the graph
/// then has a token or a space for each stage that it passes through, so no circle takes longer per
/// token than the slowest stage. More slots absorb the jitter of real stages.
Plan size_channels(Plan plan, const Material& material) {
  std::map<SlotsKey, std::int64_t> slots;
  for (const Channel& channel : plan.channels) {
    std::int64_t& most = slots[slots_key(channel)];
    most = std::max(most, rounded_up(slots_of(plan, channel, material.options), replicas_of(plan)));
  }
  for (Channel& channel : plan.channels) channel.capacity = slots[slots_key(channel)];
  return plan;
}

}  // namespace millrace::plan
