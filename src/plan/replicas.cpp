#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "plan/steps.h"

namespace millrace::plan {
namespace {

void check_is_replicable(const Stage& stage) {
  if (stage.phases.size() > 1)
    throw InputError(stage.name,
                     fmt::format("cannot have replicas, because it has {} phases; map only layers "
                                 "that follow each other to {}",
                                 stage.phases.size(), stage.processors.front().name));
  if (stage.phases.front().batch > 1)
    throw InputError(stage.name,
                     "cannot have replicas and a batch, unless it is the only stage; choose one "
                     "of them");
}

}  // namespace

Plan add_replicas(Plan plan, const Material& material) {
  const bool is_whole = plan.stages.size() == 1;
  for (Stage& stage : plan.stages) {
    const auto on_its_processor = [&](const auto& entry) {
      return material.board[entry.first] == stage.processors.front();
    };
    const auto& replicas = material.options.replicas;
    const auto found = std::find_if(replicas.begin(), replicas.end(), on_its_processor);
    if (found == replicas.end() || found->second.empty()) continue;
    if (!is_whole) check_is_replicable(stage);
    stage.dispatch = is_whole ? Dispatch::first_free : Dispatch::round_robin;
    for (const ProcessorId other : found->second) stage.processors.push_back(material.board[other]);
  }
  return plan;
}

std::int64_t replicas_of(const Plan& plan) {
  std::int64_t most = 1;
  for (const Stage& stage : plan.stages) most = std::max(most, stage.replicas());
  return most;
}

std::int64_t replicas_of(const Plan& plan, const Channel& channel) {
  std::int64_t most = 1;
  for (const Endpoint& end : {channel.from, channel.to})
    if (!end.is_outside()) most = std::max(most, plan.stages[end.stage].replicas());
  return most;
}

std::size_t actors_in(const Plan& plan) {
  std::size_t count = 0;
  for (const Stage& stage : plan.stages) count += stage.processors.size();
  return count;
}

std::size_t phases_in(const Plan& plan) {
  std::size_t count = 0;
  for (const Stage& stage : plan.stages) count += stage.processors.size() * stage.phases.size();
  return count;
}

bool is_first_free(const Plan& plan) {
  return plan.stages.size() == 1 && plan.stages.front().dispatch == Dispatch::first_free;
}

std::string name_of(const Stage& stage, std::size_t replica) {
  return stage.processors.size() == 1 ? stage.name : fmt::format("{}.{}", stage.name, replica);
}

const char* to_text(Dispatch dispatch) {
  return dispatch == Dispatch::round_robin ? "round robin" : "first free";
}

}  // namespace millrace::plan
