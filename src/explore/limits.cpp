#include "explore/limits.h"

#include <fmt/format.h>

#include <map>

namespace millrace::explore {
namespace {

Verdict at_most(std::size_t count, const std::optional<int>& limit, const std::string& name) {
  if (!limit || count <= static_cast<std::size_t>(*limit)) return Verdict::yes();
  return Verdict::no(
      fmt::format("it needs {} subnets on {}, which has room for {}", count, name, *limit));
}

}  // namespace

Verdict within_limits(const plan::Plan& plan, const board::Board& board) {
  std::map<const board::Device*, std::size_t> together;
  for (const plan::Stage& stage : plan.stages)
    for (const board::Processor& processor : stage.processors) {
      const board::Device* device = board::device_of(board, processor);
      if (device == nullptr) continue;
      together[device] += stage.phases.size();
      const Verdict alone = at_most(stage.phases.size(), device->limits.subnets, processor.name);
      if (!alone) return alone;
    }
  for (const auto& [device, count] : together)
    if (const Verdict all = at_most(count, device->limits.subnets_together, device->name); !all)
      return all;
  return Verdict::yes();
}

}  // namespace millrace::explore
