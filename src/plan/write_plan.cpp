#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>

#include "base/json.h"
#include "base/json_text.h"
#include "plan/origin_file.h"
#include "plan/plan_file.h"
#include "plan/tensor_names.h"

namespace millrace::plan {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const board::Processor& processor) {
  return {{"name", processor.name},
          {"kind", board::to_text(processor.kind)},
          {"cores", processor.cores}};
}

/// One number, or with replicas a list of them.
template <class Value>
Json by_replica(std::span<const ReplicaEvidence> replicas, const Value& value) {
  if (replicas.size() == 1) return milliseconds(value(replicas.front()));
  Json list = Json::array();
  for (const ReplicaEvidence& replica : replicas) list.push_back(milliseconds(value(replica)));
  return list;
}

std::string text_of_space(const std::string& space) { return space.empty() ? "host" : space; }

Json phases_of(const Stage& stage, std::span<const ReplicaEvidence> replicas,
               const network::Network& network, const TensorNames& names) {
  Json phases = Json::array();
  for (std::size_t p = 0; p < stage.phases.size(); ++p) {
    const Phase& phase = stage.phases[p];
    Json layers = Json::array();
    for (LayerId layer : phase.layers) layers.push_back(network[layer].name);
    Json& json = phases.emplace_back(Json{{"offset", phase.offset}});
    if (phase.batch != 1) json["batch"] = phase.batch;
    const bool is_known = std::all_of(replicas.begin(), replicas.end(), [&](const auto& replica) {
      return replica.phases[p].has_value();
    });
    if (is_known)
      json["predicted_ms"] =
          by_replica(replicas, [&](const ReplicaEvidence& each) { return *each.phases[p]; });
    const auto border = [p](const ReplicaEvidence& replica) {
      return replica.borders.empty() ? BorderTimes{} : replica.borders[p];
    };
    const auto has_none = [&](const auto& replica) { return border(replica) == BorderTimes{}; };
    if (!std::ranges::all_of(replicas, has_none)) {
      json["in_ms"] = by_replica(replicas, [&](const auto& each) { return border(each).in; });
      json["out_ms"] = by_replica(replicas, [&](const auto& each) { return border(each).out; });
    }
    if (phase.transfer)
      json["transfer"] = {{"tensor", names[phase.transfer->tensor]},
                          {"from", text_of_space(phase.transfer->from)},
                          {"to", text_of_space(phase.transfer->to)}};
    else
      json["layers"] = std::move(layers);
  }
  return phases;
}

Json to_json(const Feeding& feeding) {
  Json json = {{"ms", milliseconds(feeding.time)}};
  if (!feeding.core.empty()) json["core"] = feeding.core;
  return json;
}

Json to_json(const Stage& stage, std::span<const ReplicaEvidence> replicas,
             const network::Network& network, const TensorNames& names) {
  Json result = {{"name", stage.name}};
  if (stage.processors.size() == 1) {
    result["processor"] = to_json(stage.processors.front());
  } else {
    for (const board::Processor& processor : stage.processors)
      result["processors"].push_back(to_json(processor));
    result["dispatch"] = to_text(stage.dispatch);
  }
  result["engine"] = stage.engine;
  if (!stage.space.empty()) result["space"] = stage.space;
  result["predicted_ms"] =
      by_replica(replicas, [](const ReplicaEvidence& each) { return each.predicted; });
  result["measured_ms"] =
      by_replica(replicas, [](const ReplicaEvidence& each) { return each.measured; });
  if (std::ranges::any_of(replicas, [](const auto& each) { return each.feeding != Feeding{}; }))
    for (const ReplicaEvidence& each : replicas) result["feeding"].push_back(to_json(each.feeding));
  result["phases"] = phases_of(stage, replicas, network, names);
  return result;
}

Json to_json(const Endpoint& end, const Plan& plan) {
  if (end.is_outside()) return "outside";
  return {{"stage", plan.stages[end.stage].name}, {"phase", end.phase}};
}

/// Variants of the layers that run in another one than these; empty: than the engine would choose.
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
  for (const auto& [tensor, range] : calibration.ranges)
    ranges[tensor] = {shortest(range.low), shortest(range.high)};
  Json document{{"network", calibration.network}, {"ranges", std::move(ranges)}};
  for (const auto& [tensor, means] : calibration.means)
    for (const float mean : means) document["means"][tensor].push_back(shortest(mean));
  return document;
}

}  // namespace

Json to_json(const PlanFile& file, const network::Network& network,
             const std::filesystem::path& folder) {
  const auto& [plan, given_origin, evidence] = file;
  Origin origin = given_origin;
  origin.network = plan.network_hash;
  check_evidence(evidence, plan);
  const TensorNames names(network);
  Json stages = Json::array(), channels = Json::array();
  std::span<const ReplicaEvidence> left = evidence.replicas;
  for (const Stage& stage : plan.stages) {
    stages.push_back(to_json(stage, left.first(stage.processors.size()), network, names));
    left = left.subspan(stage.processors.size());
  }
  for (const Channel& channel : plan.channels) {
    channels.push_back({{"tensor", names[channel.tensor]},
                        {"from", to_json(channel.from, plan)},
                        {"to", to_json(channel.to, plan)},
                        {"capacity", channel.capacity}});
    if (!channel.space.empty()) channels.back()["space"] = channel.space;
  }
  Json document = {
      {"format", 3}, {"network", plan.network_name}, {"origin", to_json(origin, folder)}};
  if (evidence.period > Time{}) document["measured_period_ms"] = milliseconds(evidence.period);
  document["stages"] = std::move(stages);
  document["channels"] = std::move(channels);
  if (Json variants = variants_of(plan.variants, {}, network); !variants.empty())
    document["variants"] = std::move(variants);
  if (Json others = variants_of(plan.one_frame_variants, plan.variants, network); !others.empty())
    document["one_frame_variants"] = std::move(others);
  if (plan.calibration) document["calibration"] = to_json(*plan.calibration);
  return document;
}

void write_plan(const std::filesystem::path& path, const PlanFile& file,
                const network::Network& network, const std::filesystem::path& folder) {
  write_json(path, to_json(file, network, folder.empty() ? path.parent_path() : folder));
}

void write_plans(const std::filesystem::path& path, const PlanOf& first, const PlanOf& crops) {
  Json document = to_json(first.file, first.network, path.parent_path());
  document["crops"] = to_json(crops.file, crops.network, path.parent_path());
  write_json(path, document);
}

}  // namespace millrace::plan
