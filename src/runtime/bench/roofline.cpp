#include "runtime/bench/roofline.h"

#include <algorithm>

#include "runtime/peaks.h"
#include "schedule/schedule.h"

namespace millrace::runtime {
namespace {

std::vector<LayerId> layers_of(const plan::Stage& stage) {
  std::vector<LayerId> layers;
  for (const plan::Phase& phase : stage.phases)
    layers.insert(layers.end(), phase.layers.begin(), phase.layers.end());
  return layers;
}

}  // namespace

profile::Rooflines measure_rooflines(const Loaded& loaded) {
  const std::vector<board::Variant>& variants = loaded.plan.variants;
  const auto precision = [&](LayerId layer) {
    return variants.empty() ? board::Precision::f32 : variants[layer.index].precision;
  };
  profile::Rooflines result;
  const schedule::Schedule schedule = schedule::compile(loaded.plan);
  std::vector<std::size_t> place;  // by actor: of its processor
  for (const schedule::Actor& actor : schedule.actors) {
    auto& processors = result.processors;
    const auto found = std::find(processors.begin(), processors.end(), actor.processor);
    place.push_back(static_cast<std::size_t>(found - processors.begin()));
    if (found == processors.end()) processors.push_back(actor.processor);
  }
  // What a GPU could do at most is not measured, nor then what the whole plan could.
  if (std::ranges::any_of(result.processors,
                          [](const board::Processor& each) { return each.cores.empty(); }))
    return {};
  board::Board used = loaded.board;
  used.processors = result.processors;
  result.peaks = measure_peaks(used);
  for (std::size_t a = 0; a < schedule.actors.size(); ++a) {
    const schedule::Actor& actor = schedule.actors[a];
    const auto layers = layers_of(loaded.plan.stages[actor.stage]);
    result.stages.push_back(
        {actor.name,
         profile::roofline(loaded.network, layers, result.peaks[place[a]], precision),
         {},
         actor.replica > 0});
  }
  return result;
}

}  // namespace millrace::runtime
