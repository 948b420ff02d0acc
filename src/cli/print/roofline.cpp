#include "cli/print/roofline.h"

#include <nlohmann/json.hpp>

namespace millrace::cli {
namespace {

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
