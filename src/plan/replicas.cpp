#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "plan/steps.h"

namespace millrace::plan {
namespace {

Turn turn_at(const Plan& plan, const Endpoint& end) {
  return end.is_outside() ? Turn{} : plan.stages[end.stage].turn;
}

/// Rounded down for negative numbers too.
std::int64_t floor_of(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

void check_is_replicable(const Stage& stage) {
  if (stage.phases.size() > 1)
    throw InputError(stage.name,
                     fmt::format("cannot have replicas, because it has {} phases; map only layers "
                                 "that follow each other to {}",
                                 stage.phases.size(), stage.processor.name));
  if (stage.phases.front().batch > 1)
    throw InputError(stage.name,
                     "cannot have replicas and a batch, unless it is the only stage; choose one "
                     "of them");
}

Stage replica_of(const Stage& stage, const board::Processor& processor, const Turn& turn) {
  Stage replica = stage;
  replica.name = fmt::format("{}.{}", stage.name, turn.index);
  replica.processor = processor;
  replica.turn = turn;
  return replica;
}

}  // namespace

Plan add_replicas(Plan plan, const Material& material) {
  const bool is_whole = plan.stages.size() == 1;
  std::vector<Stage> stages;
  for (Stage& stage : plan.stages) {
    const auto on_its_processor = [&](const auto& entry) {
      return material.board[entry.first] == stage.processor;
    };
    const auto& replicas = material.options.replicas;
    const auto found = std::find_if(replicas.begin(), replicas.end(), on_its_processor);
    if (found == replicas.end() || found->second.empty()) {
      stages.push_back(std::move(stage));
      continue;
    }
    if (!is_whole) check_is_replicable(stage);
    const auto of = static_cast<std::int64_t>(found->second.size()) + 1;
    stages.push_back(replica_of(stage, stage.processor, {0, of}));
    for (const ProcessorId other : found->second) {
      const std::int64_t index = stages.back().turn.index + 1;
      stages.push_back(replica_of(stage, material.board[other], {index, of}));
    }
  }
  plan.stages = std::move(stages);
  return plan;
}

Turn turn_of(const Plan& plan, const Channel& channel) {
  const Turn from = turn_at(plan, channel.from);
  return from.of > 1 ? from : turn_at(plan, channel.to);
}

bool is_shared(const Plan& plan) {
  const auto count = static_cast<std::int64_t>(plan.stages.size());
  return count > 1 && plan.stages.front().turn.of == count;
}

std::int64_t turns_of(const Plan& plan) {
  std::int64_t turns = 1;
  for (const Stage& stage : plan.stages) turns = std::max(turns, stage.turn.of);
  return turns;
}

/// A writer makes frames from -(its lag) on, a reader begins with -(its lag); a replica with the
/// first of its turn behind that.
std::int64_t initial_tokens(const Plan& plan, const Channel& channel) {
  const std::int64_t lag = lag_of(plan, channel);
  const Turn from = turn_at(plan, channel.from), to = turn_at(plan, channel.to);
  if (from.of == to.of) return lag / from.of;
  if (to.of > 1) return floor_of(lag - to.index + to.of - 1, to.of);
  return floor_of(lag + from.index, from.of);
}

}  // namespace millrace::plan
