#include <algorithm>

#include "plan/steps.h"

namespace millrace::plan {
namespace {

/// Phases of all processors in one list, with what each must wait for. A phase runs in one piece:
/// it depends on all that any of its layers depends on, and on the phase before it on its
/// processor. Following layers alone would not do: with a1, a2 on one processor and b1, b2 on
/// another, edges b1 to a1 and a2 to b2, no layer waits for itself, but the phases {a1, a2} and
/// {b1, b2} wait for each other.
class PhaseList {
 public:
  explicit PhaseList(const Material& material)
      : material_(material),
        phase_of_(material.network.layers.size(), none),
        open_(material.board.processors.size(), none) {}

  /// Layers come in topological order.
  void add(LayerId layer) {
    std::size_t& open = open_[processor_of(layer)];
    if (open == none || phases_[open].phase.batch != batch_of(layer) ||
        would_wait_for_itself(layer, open))
      open = begin_phase(layer, open);
    phases_[open].phase.layers.push_back(layer);
    phase_of_[layer.index] = open;
    for (LayerId before : material_.topology.predecessors[layer.index])
      if (phase_of_[before.index] != open)
        phases_[open].waits_for.push_back(phase_of_[before.index]);
  }

  std::vector<Phase> of_processor(std::size_t processor) const {
    std::vector<Phase> result;
    for (const Entry& entry : phases_)
      if (entry.processor == processor) result.push_back(entry.phase);
    return result;
  }

 private:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  struct Entry {
    std::size_t processor;
    Phase phase;
    std::vector<std::size_t> waits_for;
  };

  std::size_t processor_of(LayerId layer) const {
    return material_.mapping.processors[layer.index].index;
  }

  std::int64_t batch_of(LayerId layer) const {
    const auto& batches = material_.options.batches;
    return batches.empty() ? 1 : batches[layer.index];
  }

  bool would_wait_for_itself(LayerId layer, std::size_t open) const {
    const auto& before = material_.topology.predecessors[layer.index];
    return std::any_of(before.begin(), before.end(), [&](LayerId producer) {
      return processor_of(producer) != processor_of(layer) &&
             waits_for(phase_of_[producer.index], open);
    });
  }

  bool waits_for(std::size_t phase, std::size_t other) const {
    std::vector<bool> seen(phases_.size(), false);
    std::vector<std::size_t> stack{phase};
    while (!stack.empty()) {
      const std::size_t next = stack.back();
      stack.pop_back();
      if (next == other) return true;
      if (seen[next]) continue;
      seen[next] = true;
      stack.insert(stack.end(), phases_[next].waits_for.begin(), phases_[next].waits_for.end());
    }
    return false;
  }

  std::size_t begin_phase(LayerId layer, std::size_t before) {
    phases_.push_back({processor_of(layer), {.layers = {}, .batch = batch_of(layer)}, {}});
    if (before != none) phases_.back().waits_for.push_back(before);
    return phases_.size() - 1;
  }

  const Material& material_;
  std::vector<Entry> phases_;
  std::vector<std::size_t> phase_of_;  // by layer
  std::vector<std::size_t> open_;      // by processor
};

}  // namespace

Plan cut_into_phases(Plan plan, const Material& material) {
  PhaseList phases(material);
  for (std::size_t i = 0; i < material.network.layers.size(); ++i) phases.add(LayerId(i));
  for (std::size_t p = 0; p < material.board.processors.size(); ++p)
    plan.stages.push_back({.name = {},
                           .processor = material.board.processors[p],
                           .engine = material.options.engine,
                           .phases = phases.of_processor(p)});
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
