#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "plan/steps.h"

namespace millrace::plan {
namespace {

/// Both are small: what is above most_replicas stays there.
std::int64_t together(std::int64_t a, std::int64_t b) {
  return a > most_replicas || b > most_replicas ? most_replicas + 1 : std::lcm(a, b);
}

}  // namespace

Plan split_by_streams(Plan plan, const Material& material) {
  const auto& streams = material.options.streams;
  if (streams.empty()) return plan;
  std::vector<Stage> stages;
  for (const Stage& stage : plan.stages) {
    std::map<std::int64_t, std::vector<Phase>> parts;
    for (const Phase& phase : stage.phases)
      parts[streams[phase.layers.front().index]].push_back(phase);
    for (auto& [count, phases] : parts) {
      Stage& part = stages.emplace_back(stage);
      part.processors.assign(static_cast<std::size_t>(count), stage.processors.front());
      part.phases = std::move(phases);
    }
  }
  plan.stages = std::move(stages);
  return plan;
}

Plan add_replicas(Plan plan, const Material& material) {
  const auto& replicas = material.options.replicas;
  for (Stage& stage : plan.stages) {
    const auto found = std::ranges::find_if(replicas, [&](const auto& entry) {
      return material.board[entry.first] == stage.processors.front();
    });
    if (found == replicas.end()) continue;
    const std::vector<board::Processor> streams = std::exchange(stage.processors, {});
    for (const board::Processor& own : streams) {
      stage.processors.push_back(own);
      for (const ProcessorId other : found->second)
        stage.processors.push_back(material.board[other]);
    }
  }
  Stage& first = plan.stages.front();
  if (plan.stages.size() == 1 && first.replicas() > 1) first.dispatch = Dispatch::first_free;
  return plan;
}

std::int64_t replicas_of(const Plan& plan) {
  std::int64_t all = 1;
  for (const Stage& stage : plan.stages) all = together(all, stage.replicas());
  return all;
}

std::int64_t replicas_of(const Plan& plan, const Channel& channel) {
  std::int64_t all = 1;
  for (const Endpoint& end : {channel.from, channel.to})
    if (!end.is_outside()) all = together(all, plan.stages[end.stage].replicas());
  return all;
}

std::set<std::string> shared_processors(const Plan& plan) {
  std::set<std::string> seen, shared;
  for (const Stage& stage : plan.stages)
    for (const board::Processor& processor : stage.processors)
      if (!seen.insert(processor.name).second) shared.insert(processor.name);
  return shared;
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

std::int64_t streams_on(const Stage& stage, const board::Processor& processor) {
  return std::count(stage.processors.begin(), stage.processors.end(), processor);
}

std::string name_of(const Stage& stage, std::size_t replica) {
  return stage.processors.size() == 1 ? stage.name : fmt::format("{}.{}", stage.name, replica);
}

const char* to_text(Dispatch dispatch) {
  return dispatch == Dispatch::round_robin ? "round robin" : "first free";
}

}  // namespace millrace::plan
