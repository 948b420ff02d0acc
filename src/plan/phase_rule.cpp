#include "plan/phase_rule.h"

#include <algorithm>

namespace millrace::plan {
namespace {

/// Whether that changed anything.
bool raise(std::span<std::size_t> to, std::span<const std::size_t> from) {
  bool changed = false;
  for (std::size_t p = 0; p < to.size(); ++p) {
    changed |= to[p] < from[p];
    to[p] = std::max(to[p], from[p]);
  }
  return changed;
}

}  // namespace

std::size_t PhaseRule::add(const Layer& layer, std::span<const std::size_t> inputs) {
  const std::size_t here = layer.processor;
  const auto open = [&] { return Place{here, phases(here) - 1}; };
  if (phases(here) == 0 || phases_[here].batches.back() != layer.batch ||
      would_wait_for_itself(open(), inputs))
    begin_phase(layer);
  places_.push_back(open());
  for (const std::size_t input : inputs)
    if (places_[input].processor != here) add_wait(open(), places_[input]);
  return open().phase;
}

bool PhaseRule::would_wait_for_itself(const Place& open, std::span<const std::size_t> inputs) {
  return std::any_of(inputs.begin(), inputs.end(), [&](std::size_t input) {
    const Place& before = places_[input];
    return before.processor != open.processor && waits_of(before)[open.processor] > open.phase;
  });
}

void PhaseRule::begin_phase(const Layer& layer) {
  Phases& here = phases_[layer.processor];
  const std::size_t phase = here.batches.size();
  here.batches.push_back(layer.batch);
  here.waits.resize((phase + 1) * processors_);
  if (phase == 0) return;
  const auto waits = waits_of({layer.processor, phase});
  raise(waits, waits_of({layer.processor, phase - 1}));
  waits[layer.processor] = phase;
}

/// What waits for the open phase now waits for all that this one waits for; on each processor these
/// are its last phases, since each waits for the one before it.
void PhaseRule::add_wait(const Place& open, const Place& before) {
  const auto waits = waits_of(open);
  const std::size_t own = waits[open.processor];
  bool changed = raise(waits, waits_of(before));
  changed |= waits[before.processor] < before.phase + 1;
  waits[before.processor] = std::max(waits[before.processor], before.phase + 1);
  waits[open.processor] = own;
  if (!changed) return;
  for (std::size_t p = 0; p < processors_; ++p)
    for (std::size_t phase = phases(p); p != open.processor && phase-- > 0;) {
      const auto others = waits_of({p, phase});
      if (others[open.processor] <= open.phase) break;
      raise(others, waits);
    }
}

}  // namespace millrace::plan
