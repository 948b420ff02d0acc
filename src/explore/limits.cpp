#include "explore/limits.h"

#include <fmt/format.h>

#include <map>

#include "plan/steps.h"

namespace millrace::explore {
namespace {

Verdict at_most(std::size_t count, const std::optional<int>& limit, const std::string& name) {
  if (!limit || count <= static_cast<std::size_t>(*limit)) return Verdict::yes();
  return Verdict::no(
      fmt::format("it needs {} subnets on {}, which has room for {}", count, name, *limit));
}

Verdict few_streams(const plan::Plan& plan, const board::Board& board,
                    const board::Processor& processor) {
  const std::int64_t most = most_streams(board, processor);
  for (const plan::Stage& stage : plan.stages)
    if (const std::int64_t streams = plan::streams_on(stage, processor); streams > most)
      return Verdict::no(fmt::format("{} has {} streams on {}, which takes {}", stage.name, streams,
                                     processor.name, most));
  return Verdict::yes();
}

/// Streams share theirs.
std::size_t subnets_on(const plan::Plan& plan, const board::Processor& processor) {
  std::size_t subnets = 0;
  for (const plan::Stage& stage : plan.stages)
    if (plan::streams_on(stage, processor) > 0)
      for (const plan::Phase& phase : stage.phases) subnets += phase.transfer ? 0u : 1u;
  return subnets;
}

}  // namespace

Verdict within_limits(const plan::Plan& plan, const board::Board& board) {
  std::map<const board::Device*, std::size_t> together;
  for (const board::Processor& processor : board.processors) {
    if (Verdict streams = few_streams(plan, board, processor); !streams) return streams;
    const board::Device* device = board::device_of(board, processor);
    if (device == nullptr) continue;
    const std::size_t subnets = subnets_on(plan, processor);
    together[device] += subnets;
    const Verdict alone = at_most(subnets, device->limits.subnets, processor.name);
    if (!alone) return alone;
  }
  for (const auto& [device, count] : together)
    if (const Verdict all = at_most(count, device->limits.subnets_together, device->name); !all)
      return all;
  return Verdict::yes();
}

std::int64_t most_streams(const board::Board& board, const board::Processor& processor) {
  const board::Device* device = board::device_of(board, processor);
  const bool is_core = processor.kind == board::ProcessorKind::cpu;
  if (device == nullptr) return plan::most_replicas;
  return device->limits.streams.value_or(is_core ? static_cast<int>(plan::most_replicas) : 1);
}

}  // namespace millrace::explore
