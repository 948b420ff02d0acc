#include "api/json/bench.h"

#include <fmt/format.h>

#include "api/bench/summary.h"
#include "api/json/measured_now.h"
#include "base/json_text.h"
#include "report/energy.h"

namespace millrace::api {
namespace {

nlohmann::json latency_of(const BenchRow& row) {
  const std::vector<Time> sorted = latencies(row);
  nlohmann::json latency = {{"first_ms", milliseconds(row.first)},
                            {"mean_ms", milliseconds(mean_of(sorted))},
                            {"maximum_ms", milliseconds(sorted.back())}};
  for (const auto& [name, share] : latency_percentiles)
    latency[fmt::format("{}_ms", name)] = milliseconds(runtime::percentile(sorted, share));
  return latency;
}

nlohmann::json row_of(const BenchResult& result, const BenchRow& row) {
  const auto energy = millijoules(row);
  return {{"name", row.name},
          {"energy_mj", energy ? nlohmann::json(*energy) : nlohmann::json()},
          {"deployed_ms", milliseconds(row.deployed)},
          {"throughput_fps", median_rate(row)},
          {"plan_is", speedup(result, row)},
          {"rounds_fps", rates(row)},
          {"latency", latency_of(row)}};
}

nlohmann::json stage_of(const BenchResult& result, std::size_t index) {
  const runtime::StageStatistics& stage = result.stages[index];
  return {{"name", stage.name},
          {"alone_ms", milliseconds(median_alone(result, index))},
          {"busy_ms", milliseconds(stage.busy)},
          {"waiting_ms", milliseconds(stage.waiting)},
          {"frames", stage.frames},
          {"arena_bytes", stage.memory.arena.count},
          {"naive_bytes", stage.memory.naive.count},
          {"weights_bytes", stage.memory.weights.count},
          {"moved_bytes", stage.memory.moved.count},
          {"layer_by_layer_bytes", stage.memory.moved_layer_by_layer.count}};
}

}  // namespace

std::string bench_json(const BenchResult& result) {
  const auto none = nlohmann::json(), empty = nlohmann::json::array();
  nlohmann::json fields = {{"rows", empty},
                           {"stages", empty},
                           {"bottleneck", none},
                           {"share_of_stages_alone", none},
                           {"promised", none},
                           {"roofline", none},
                           {"energy_per_frame", report::energy_json(result.energy)}};
  for (const BenchRow& row : result.rows) fields["rows"].push_back(row_of(result, row));
  for (std::size_t s = 0; s < result.stages.size(); ++s)
    fields["stages"].push_back(stage_of(result, s));
  if (!result.stages.empty()) {
    fields["bottleneck"] = bottleneck(result);
    fields["share_of_stages_alone"] = share_of_allowed(result);
  }
  if (result.now) fields["promised"] = json_of(*result.now);
  if (!result.rooflines.stages.empty())
    fields["roofline"] = report::rooflines_json(rooflines_of(result));
  return json_document("bench", std::move(fields));
}

std::string ready_line(Time first) {
  return json_document("bench_slices", {{"ready", true}, {"first_ms", milliseconds(first)}}, -1);
}

std::string slice_line(const runtime::Load& load) {
  nlohmann::json latencies = nlohmann::json::array();
  for (const Time latency : load.latencies) latencies.push_back(milliseconds(latency));
  const nlohmann::json line = {
      {"frames", load.frames}, {"elapsed_s", seconds(load.elapsed)}, {"latencies_ms", latencies}};
  return json_text(line, -1) + "\n";
}

}  // namespace millrace::api
