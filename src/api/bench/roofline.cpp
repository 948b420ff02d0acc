#include "api/bench/roofline.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "runtime/peaks.h"

namespace millrace::api {
namespace {

std::vector<LayerId> layers_of(const plan::Stage& stage) {
  std::vector<LayerId> layers;
  for (const plan::Phase& phase : stage.phases)
    layers.insert(layers.end(), phase.layers.begin(), phase.layers.end());
  return layers;
}

}  // namespace

report::Rooflines measure_rooflines(const Loaded& loaded) {
  const std::vector<board::Variant>& variants = loaded.plan.variants;
  const auto precision = [&](LayerId layer) {
    return variants.empty() ? board::Precision::f32 : variants[layer.index].precision;
  };
  report::Rooflines result;
  std::vector<std::size_t> place;  // by stage: of its processor
  for (const plan::Stage& stage : loaded.plan.stages) {
    auto& processors = result.processors;
    const auto found = std::find(processors.begin(), processors.end(), stage.processor);
    place.push_back(static_cast<std::size_t>(found - processors.begin()));
    if (found == processors.end()) processors.push_back(stage.processor);
  }
  board::Board used = loaded.board;
  used.processors = result.processors;
  result.peaks = runtime::measure_peaks(used);
  for (std::size_t s = 0; s < loaded.plan.stages.size(); ++s) {
    const plan::Stage& stage = loaded.plan.stages[s];
    result.stages.push_back(
        {stage.name,
         profile::roofline(loaded.network, layers_of(stage), result.peaks[place[s]], precision),
         {},
         stage.turn.index > 0});
  }
  return result;
}

}  // namespace millrace::api
