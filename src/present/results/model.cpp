#include "present/results/model.h"

#include <fmt/format.h>

#include "base/excerpt.h"
#include "base/json_text.h"
#include "formats/zoo.h"
#include "network/tensor.h"
#include "present/description.h"
#include "profile/views/plain_loops.h"

namespace millrace::present {
namespace {

using network::Network;
using product::Support;

/// Shape of the first output; "-" if the layer has none.
std::string shape_of_output(const Network& network, const network::Layer& layer) {
  for (const TensorId output : layer.outputs)
    if (output.valid()) return network::to_text(network[output].shape);
  return "-";
}

Description<std::size_t> layer_fields(const Network& network) {
  const auto layer = [&](std::size_t i) -> const network::Layer& { return network.layers[i]; };
  const auto cost = [&](std::size_t i) { return network::cost_of(network, LayerId(i)); };
  return Description<std::size_t>({
      {"", "number", [](std::size_t i) { return i; }},
      {"name", "layer", [=](std::size_t i) { return layer(i).name; }},
      {"operator", "operator", [=](std::size_t i) { return network::name_of(layer(i).op); }},
      {"output", "output",
       [=, &network](std::size_t i) { return shape_of_output(network, layer(i)); }, Align::right},
      {"macs", "MACs", [=](std::size_t i) { return Value::operations(cost(i).macs); }},
      {"parameters", "parameters",
       [=](std::size_t i) { return Value::operations(cost(i).parameters); }},
      {"read_bytes", "read", [=](std::size_t i) { return cost(i).read; }},
      {"written_bytes", "written", [=](std::size_t i) { return cost(i).written; }},
  });
}

nlohmann::json ports_json(const Network& network, const std::vector<TensorId>& tensors) {
  nlohmann::json ports = nlohmann::json::array();
  for (const TensorId id : tensors)
    ports.push_back({{"name", network[id].name},
                     {"type", network::to_text(network[id].type)},
                     {"shape", network::to_text(network[id].shape)}});
  return ports;
}

std::string ports_text(const char* what, const Network& network,
                       const std::vector<TensorId>& tensors) {
  std::string text;
  for (const TensorId id : tensors)
    text += fmt::format("{} {}: {} {}\n", what, short_name(network[id].name),
                        network::to_text(network[id].type), network::to_text(network[id].shape));
  return text;
}

std::string support_text(const Network& network, const Support& engine) {
  std::vector<std::string> names;
  for (const network::Layer& layer : network.layers) names.push_back(short_name(layer.name));
  std::string text =
      fmt::format("{}: runs {} of {} layers{}{}\n", engine.engine, engine.supported,
                  network.layers.size(), engine.device.empty() ? "" : " on ", engine.device);
  for (const auto& [precision, count] : engine.precisions)
    text += fmt::format("  {} of them have several variants in {}\n", count,
                        board::to_text(precision));
  if (engine.plain_loops)
    text += fmt::format("  {}\n", plain_loops_text(*engine.plain_loops, names));
  for (const auto& [layer, reason] : engine.refused)
    text += fmt::format("  not {}: {}\n", short_name(network[layer].name), short_message(reason));
  return text;
}

nlohmann::json support_json(const Network& network, const Support& engine) {
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

const Description<formats::ZooEntry>& zoo_fields() {
  using Entry = formats::ZooEntry;
  static const Description<Entry> fields({
      {"name", "network", &Entry::name},
      {"input", "input",
       [](const Entry& entry) {
         return network::to_text(network::Shape(entry.input.begin(), entry.input.end()));
       },
       Align::right},
      {"layers", "layers with weights", &Entry::layers},
      {"macs", "MACs", [](const Entry& entry) { return Value::operations(entry.macs); }},
      {"parameters", "parameters",
       [](const Entry& entry) { return Value::operations(entry.parameters); }},
      {"source", "source", &Entry::source},
  });
  return fields;
}

}  // namespace

std::string inspection_text(const Network& network, const std::vector<Support>& engines) {
  const network::Cost total = network::cost_of(network);
  std::string text = layer_fields(network).text(numbers_of(network.layers)) + "\n";
  text += fmt::format("{}: {} layers, {} MACs, {} parameters\n", short_name(network.name),
                      network.layers.size(), count_text(static_cast<double>(total.macs)),
                      count_text(static_cast<double>(total.parameters)));
  text += ports_text("input ", network, network.inputs);
  text += ports_text("output", network, network.outputs);
  for (const Support& engine : engines) text += support_text(network, engine);
  return text;
}

std::string inspection_json(const Network& network, const std::vector<Support>& engines) {
  nlohmann::json support = nlohmann::json::object();
  for (const Support& engine : engines) support[engine.engine] = support_json(network, engine);
  const network::Cost total = network::cost_of(network);
  return json_document("inspection", {{"name", network.name},
                                      {"hash", network::hash_of(network)},
                                      {"inputs", ports_json(network, network.inputs)},
                                      {"outputs", ports_json(network, network.outputs)},
                                      {"layers", layers_json(network)},
                                      {"macs", total.macs},
                                      {"parameters", total.parameters},
                                      {"engines", support}});
}

nlohmann::json layers_json(const Network& network) {
  return layer_fields(network).array(numbers_of(network.layers));
}

std::string zoo_text() { return zoo_fields().text(formats::zoo_entries()); }

std::string zoo_json() {
  return json_document("zoo", {{"networks", zoo_fields().array(formats::zoo_entries())}});
}

std::string zoo_model_json(const std::string& name, const std::string& file, std::uint64_t seed) {
  return json_document("zoo_model", {{"name", name}, {"file", file}, {"seed", seed}});
}

}  // namespace millrace::present
