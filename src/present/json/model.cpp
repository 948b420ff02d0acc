#include "present/json/model.h"

#include "base/json_text.h"
#include "formats/zoo.h"

namespace millrace::present {
namespace {

nlohmann::json layer_of(const network::Network& network, LayerId id) {
  const network::Layer& layer = network[id];
  const network::Cost cost = network::cost_of(network, id);
  return {{"name", layer.name},
          {"operator", network::name_of(layer.op)},
          {"output", shape_of_output(network, layer)},
          {"macs", cost.macs},
          {"parameters", cost.parameters},
          {"read_bytes", cost.read.count},
          {"written_bytes", cost.written.count}};
}

nlohmann::json ports_of(const network::Network& network, const std::vector<TensorId>& tensors) {
  nlohmann::json ports = nlohmann::json::array();
  for (const TensorId id : tensors)
    ports.push_back({{"name", network[id].name},
                     {"type", network::to_text(network[id].type)},
                     {"shape", network::to_text(network[id].shape)}});
  return ports;
}

nlohmann::json support_of(const network::Network& network, const product::Support& engine) {
  nlohmann::json refused = nlohmann::json::object(), precisions = refused;
  for (const auto& [layer, reason] : engine.refused) refused[network[layer].name] = reason;
  for (const auto& [precision, count] : engine.precisions)
    precisions[board::to_text(precision)] = count;
  nlohmann::json result = {
      {"supported", engine.supported}, {"refused", refused}, {"variants", precisions}};
  if (!engine.device.empty()) result["device"] = engine.device;
  if (!engine.plain_loops) return result;
  nlohmann::json layers = nlohmann::json::array();
  for (const LayerId layer : engine.plain_loops->layers) layers.push_back(network[layer].name);
  result["plain_loops"] = {{"layers", layers}, {"share", engine.plain_loops->share}};
  return result;
}

}  // namespace

std::string shape_of_output(const network::Network& network, const network::Layer& layer) {
  for (const TensorId output : layer.outputs)
    if (output.valid()) return network::to_text(network[output].shape);
  return "-";
}

std::string inspection_json(const network::Network& network,
                            const std::vector<product::Support>& engines) {
  nlohmann::json layers = nlohmann::json::array(), support = nlohmann::json::object();
  for (std::size_t i = 0; i < network.layers.size(); ++i)
    layers.push_back(layer_of(network, LayerId(i)));
  for (const product::Support& engine : engines)
    support[engine.engine] = support_of(network, engine);
  const network::Cost total = network::cost_of(network);
  return json_document("inspection", {{"name", network.name},
                                      {"hash", network::hash_of(network)},
                                      {"inputs", ports_of(network, network.inputs)},
                                      {"outputs", ports_of(network, network.outputs)},
                                      {"layers", layers},
                                      {"macs", total.macs},
                                      {"parameters", total.parameters},
                                      {"engines", support}});
}

std::string zoo_json() {
  nlohmann::json networks = nlohmann::json::array();
  for (const formats::ZooEntry& entry : formats::zoo_entries())
    networks.push_back({{"name", entry.name},
                        {"input", network::to_text({entry.input.begin(), entry.input.end()})},
                        {"layers", entry.layers},
                        {"macs", entry.macs},
                        {"parameters", entry.parameters},
                        {"source", entry.source}});
  return json_document("zoo", {{"networks", networks}});
}

std::string zoo_model_json(const std::string& name, const std::string& file, std::uint64_t seed) {
  return json_document("zoo_model", {{"name", name}, {"file", file}, {"seed", seed}});
}

}  // namespace millrace::present
