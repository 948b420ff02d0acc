#include "cli/roofline.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "runtime/peaks.h"

namespace millrace::cli {
namespace {

std::vector<LayerId> layers_of(const plan::Stage& stage) {
  std::vector<LayerId> layers;
  for (const plan::Phase& phase : stage.phases)
    layers.insert(layers.end(), phase.layers.begin(), phase.layers.end());
  return layers;
}

nlohmann::json to_json(const report::StageRoofline& stage) {
  return {{"name", stage.stage},
          {"operations", stage.roofline.operations},
          {"bytes", stage.roofline.bytes.count},
          {"arithmetic_ms", milliseconds(stage.roofline.arithmetic)},
          {"limit_ms", milliseconds(stage.roofline.limit)},
          {"measured_ms", milliseconds(stage.measured)},
          {"share", report::share(stage)}};
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

nlohmann::json rooflines_json(const report::Rooflines& rooflines) {
  nlohmann::json stages = nlohmann::json::array(), processors = nlohmann::json::array();
  for (const report::StageRoofline& stage : rooflines.stages) stages.push_back(to_json(stage));
  for (std::size_t i = 0; i < rooflines.processors.size(); ++i)
    processors.push_back(
        {{"name", rooflines.processors[i].name}, {"peaks", peaks_json(rooflines.peaks[i])}});
  return {{"processors", processors},
          {"stages", stages},
          {"total", to_json(report::total(rooflines))},
          {"limit_fps", report::limit_fps(rooflines)},
          {"throughput_fps", rooflines.measured_fps}};
}

nlohmann::json peaks_json(const board::Peaks& peaks) {
  nlohmann::json result = {{"memory_bytes_per_s", peaks.bytes}};
  for (const auto& [precision, operations] : peaks.operations)
    result["operations_per_s"][board::to_text(precision)] = operations;
  return result;
}

}  // namespace millrace::cli
