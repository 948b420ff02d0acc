#include <algorithm>

#include "plan/phase_rule.h"
#include "plan/steps.h"

namespace millrace::plan {

Plan cut_into_phases(Plan plan, const Material& material) {
  for (const board::Processor& processor : material.board.processors)
    plan.stages.push_back(
        {.name = {}, .engine = material.options.engine, .processors = {processor}, .phases = {}});
  const auto& batches = material.options.batches;
  PhaseRule rule(material.board.processors.size());
  std::vector<std::size_t> inputs;
  for (std::size_t i = 0; i < material.network.layers.size(); ++i) {
    const std::size_t processor = material.mapping.processors[i].index;
    const std::int64_t batch = batches.empty() ? 1 : batches[i];
    inputs.clear();
    for (const LayerId before : material.topology.predecessors[i]) inputs.push_back(before.index);
    auto& phases = plan.stages[processor].phases;
    if (rule.add({processor, batch}, inputs) == phases.size())
      phases.push_back({.layers = {}, .batch = batch});
    phases.back().layers.emplace_back(i);
  }
  return plan;
}

Plan drop_empty_stages(Plan plan, const Material&) {
  std::erase_if(plan.stages, [](const Stage& stage) { return stage.phases.empty(); });
  std::sort(plan.stages.begin(), plan.stages.end(), [](const Stage& a, const Stage& b) {
    return a.phases[0].layers[0] < b.phases[0].layers[0];
  });
  for (std::size_t s = 0; s < plan.stages.size(); ++s)
    plan.stages[s].name = "stage" + std::to_string(s);
  return plan;
}

}  // namespace millrace::plan
