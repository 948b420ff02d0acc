#include <nlohmann/json.hpp>

#include "base/json.h"
#include "plan/origin_file.h"
#include "plan/plan_file.h"
#include "plan/tensor_names.h"

namespace millrace::plan {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const Stage& stage, const network::Network& network) {
  Json phases = Json::array();
  for (const Phase& phase : stage.phases) {
    Json layers = Json::array();
    for (LayerId layer : phase.layers) layers.push_back(network[layer].name);
    Json& json = phases.emplace_back(Json{{"lag", phase.lag}});
    if (phase.batch != 1) json["batch"] = phase.batch;
    if (phase.predicted) json["predicted_ms"] = milliseconds(*phase.predicted);
    json["layers"] = std::move(layers);
  }
  Json result = {{"name", stage.name},
                 {"processor",
                  {{"name", stage.processor.name},
                   {"kind", board::to_text(stage.processor.kind)},
                   {"cores", stage.processor.cores}}},
                 {"engine", stage.engine}};
  if (stage.turn.of > 1) result["turn"] = {{"index", stage.turn.index}, {"of", stage.turn.of}};
  result["predicted_ms"] = milliseconds(stage.predicted);
  result["measured_ms"] = milliseconds(stage.measured);
  result["phases"] = std::move(phases);
  return result;
}

Json to_json(const Endpoint& end, const Plan& plan) {
  if (end.is_outside()) return "outside";
  return {{"stage", plan.stages[end.stage].name}, {"phase", end.phase}};
}

/// Of the layers that run in another one than these; empty: than the engine would choose.
Json variants_of(const std::vector<board::Variant>& variants,
                 const std::vector<board::Variant>& usual, const network::Network& network) {
  Json result = Json::object();
  for (std::size_t i = 0; i < variants.size(); ++i)
    if (variants[i] != (usual.empty() ? board::Variant{} : usual[i]))
      result[network.layers[i].name] = board::to_text(variants[i]);
  return result;
}

Json to_json(const network::Calibration& calibration) {
  Json ranges = Json::object();
  for (const auto& [tensor, range] : calibration.ranges) ranges[tensor] = {range.low, range.high};
  return {{"network", calibration.network}, {"ranges", std::move(ranges)}};
}

}  // namespace

void write_plan(const std::filesystem::path& path, const Plan& plan,
                const network::Network& network) {
  const TensorNames names(network);
  Json stages = Json::array(), channels = Json::array();
  for (const Stage& stage : plan.stages) stages.push_back(to_json(stage, network));
  for (const Channel& channel : plan.channels)
    channels.push_back({{"tensor", names[channel.tensor]},
                        {"from", to_json(channel.from, plan)},
                        {"to", to_json(channel.to, plan)},
                        {"capacity", channel.capacity}});
  Json document = {{"format", 2},
                   {"network", plan.network_name},
                   {"origin", to_json(plan.origin, path.parent_path())}};
  if (plan.measured > Time{}) document["measured_period_ms"] = milliseconds(plan.measured);
  document["stages"] = std::move(stages);
  document["channels"] = std::move(channels);
  if (Json variants = variants_of(plan.variants, {}, network); !variants.empty())
    document["variants"] = std::move(variants);
  if (Json others = variants_of(plan.one_frame_variants, plan.variants, network); !others.empty())
    document["one_frame_variants"] = std::move(others);
  if (plan.calibration) document["calibration"] = to_json(*plan.calibration);
  write_json(path, document);
}

}  // namespace millrace::plan
