#include <cmath>

#include "base/file.h"
#include "base/json_text.h"
#include "workload/program_file.h"
#include "workload/words.h"

namespace millrace::workload {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const Side& side) {
  if (side.along < 0) return {{"count", side.pipe_up}, {"stride", side.stride}};
  return {{"pipe_up", side.pipe_up},
          {"pipeline", side.pipeline},
          {"pipe_down", side.pipe_down},
          {"stride", side.stride},
          {"along", side.along}};
}

Json json_of(const Joint& joint, const std::vector<Region>& buffers) {
  Json walk = Json::array(), tile = Json::array();
  for (std::size_t i = 0; i < joint.walk_size; ++i)
    walk.push_back({{"count", joint.walk[i].count},
                    {"first", joint.walk[i].first},
                    {"next", joint.walk[i].next}});
  for (std::size_t i = 0; i < joint.side_count; ++i) tile.push_back(json_of(joint.sides[i]));
  Json json{{"buffer", buffers[static_cast<std::size_t>(joint.buffer)].name},
            {"element_bytes", joint.element},
            {"start", joint.start},
            {"period", joint.period},
            {"frequency", frequency(joint)},
            {"repeat", joint.repeat},
            {"walk", walk},
            {"tile", tile}};
  if (joint.ring.count > 1)
    json["ring"] = {{"count", joint.ring.count}, {"stride", joint.ring.stride}};
  if (joint.ring.count > 1 && joint.ring.every > 1) json["ring"]["every"] = joint.ring.every;
  return json;
}

Json json_of(const TileWindow& window) {
  return {{"kernel", window.kernel},
          {"strides", window.strides},
          {"dilations", window.dilations},
          {"pads", window.pads},
          {"pads_end", window.pads_end},
          {"channels", window.channels},
          {"count_padding", window.count_padding}};
}

Json json_of(const TileSteps& steps) {
  return {{"type", steps.is_signed ? "int8" : "uint8"},
          {"zero", steps.zero},
          {"scale", static_cast<double>(steps.scale)}};
}

Json json_of(const TileScaling& scaling) {
  return {{"input", json_of(scaling.input)},
          {"weights", json_of(scaling.weights)},
          {"output", json_of(scaling.output)},
          {"by_channel", scaling.by_channel}};
}

/// Without its ends where it has none.
Json json_of(const TileActivation& activation) {
  Json json{{"slope", activation.slope}};
  if (std::isfinite(activation.low)) json["low"] = activation.low;
  if (std::isfinite(activation.high)) json["high"] = activation.high;
  return json;
}

Json json_of(const Link& link, const std::vector<Region>& buffers) {
  Json sources = Json::array();
  for (const Joint& joint : link.sources) sources.push_back(json_of(joint, buffers));
  Json json{{"name", link.name},
            {"kind", kind_words[static_cast<std::size_t>(link.kind)]},
            {"unit", link.unit},
            {"delay", link.delay},
            {"period", link.period}};
  if (link.kind == LinkKind::processing) {
    json["operation"] = operation_words[static_cast<std::size_t>(link.operation)];
    json["macs"] = link.macs;
    if (link.layer) json["layer"] = *link.layer;
    if (slides(link.operation)) json["window"] = json_of(link.window);
    if (link.activation) json["activation"] = json_of(*link.activation);
    if (link.scaling) json["scaling"] = json_of(*link.scaling);
  }
  json["sources"] = sources;
  json["sink"] = json_of(link.sink, buffers);
  return json;
}

Json json_of(const Region& buffer, const std::vector<TileMemory>& memories) {
  Json json{{"name", buffer.name},
            {"memory", memories[static_cast<std::size_t>(buffer.memory)].name},
            {"offset", buffer.offset},
            {"rows", buffer.rows},
            {"row_bytes", buffer.row_bytes}};
  if (buffer.tensor) json["tensor"] = *buffer.tensor;
  if (buffer.constant) json["constant"] = true;
  return json;
}

Json json_of(const Workload& workload, const std::vector<TileMemory>& memories) {
  Json buffers = Json::array(), links = Json::array();
  for (const Region& buffer : workload.buffers) buffers.push_back(json_of(buffer, memories));
  for (const Link& link : workload.links) links.push_back(json_of(link, workload.buffers));
  Json json{
      {"name", workload.name}, {"layer", workload.layer}, {"overlapped", workload.overlapped}};
  if (!workload.remark.empty()) json["remark"] = workload.remark;
  json["buffers"] = buffers;
  json["links"] = links;
  return json;
}

}  // namespace

Json to_json(const Program& program) {
  Json memories = Json::array(), workloads = Json::array();
  for (const TileMemory& memory : program.memories)
    memories.push_back({{"name", memory.name}, {"size_bytes", memory.size.count}});
  for (const Workload& workload : program.workloads)
    workloads.push_back(json_of(workload, program.memories));
  Json network{{"name", program.network}, {"hash", program.network_hash}};
  if (program.ends) {
    network["inputs"] = program.ends->inputs;
    network["outputs"] = program.ends->outputs;
  }
  return {{"format", 1},
          {"kind", "workload"},
          {"network", network},
          {"memories", memories},
          {"workloads", workloads}};
}

void write_program(const std::filesystem::path& path, const Program& program) {
  const std::string text = json_text(to_json(program), 1) + "\n";
  const nlohmann::json document = nlohmann::json::parse(text);
  static_cast<void>(program_of(JsonView(document, "the program of " + program.network)));
  write_file(path, text);
}

}  // namespace millrace::workload
