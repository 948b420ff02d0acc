#include "present/text/model.h"

#include <fmt/format.h>

#include "base/excerpt.h"
#include "formats/zoo.h"
#include "network/tensor.h"
#include "present/json/model.h"
#include "present/text/table.h"
#include "profile/views/plain_loops.h"

namespace millrace::present {
namespace {

std::string layers_text(const network::Network& network) {
  Table table({{"number"},
               {"layer", Align::left},
               {"operator", Align::left},
               {"output"},
               {"MACs"},
               {"parameters"},
               {"read"},
               {"written"}});
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    const network::Layer& layer = network.layers[i];
    const network::Cost cost = network::cost_of(network, LayerId(i));
    table.add({std::to_string(i), layer.name, std::string(network::name_of(layer.op)),
               shape_of_output(network, layer), count_text(static_cast<double>(cost.macs)),
               count_text(static_cast<double>(cost.parameters)), millrace::to_text(cost.read),
               millrace::to_text(cost.written)});
  }
  return table.text() + "\n";
}

std::string ports_text(const char* what, const network::Network& network,
                       const std::vector<TensorId>& tensors) {
  std::string text;
  for (const TensorId id : tensors)
    text += fmt::format("{} {}: {} {}\n", what, short_name(network[id].name),
                        network::to_text(network[id].type), network::to_text(network[id].shape));
  return text;
}

std::vector<std::string> names_of(const network::Network& network) {
  std::vector<std::string> names;
  for (const network::Layer& layer : network.layers) names.push_back(short_name(layer.name));
  return names;
}

}  // namespace

std::string inspection_text(const network::Network& network,
                            const std::vector<product::Support>& engines) {
  std::string text = layers_text(network);
  const network::Cost total = network::cost_of(network);
  text += fmt::format("{}: {} layers, {} MACs, {} parameters\n", short_name(network.name),
                      network.layers.size(), count_text(static_cast<double>(total.macs)),
                      count_text(static_cast<double>(total.parameters)));
  text += ports_text("input ", network, network.inputs);
  text += ports_text("output", network, network.outputs);
  for (const product::Support& engine : engines) {
    text += fmt::format("{}: runs {} of {} layers{}{}\n", engine.engine, engine.supported,
                        network.layers.size(), engine.device.empty() ? "" : " on ", engine.device);
    for (const auto& [precision, count] : engine.precisions)
      text += fmt::format("  {} of them have several variants in {}\n", count,
                          board::to_text(precision));
    if (engine.plain_loops)
      text += fmt::format("  {}\n", plain_loops_text(*engine.plain_loops, names_of(network)));
    for (const auto& [layer, reason] : engine.refused)
      text += fmt::format("  not {}: {}\n", short_name(network[layer].name), short_message(reason));
  }
  return text;
}

std::string zoo_text() {
  Table table({{"network", Align::left},
               {"input"},
               {"layers with weights"},
               {"MACs"},
               {"parameters"},
               {"source", Align::left}});
  for (const formats::ZooEntry& entry : formats::zoo_entries())
    table.add({std::string(entry.name),
               network::to_text(network::Shape(entry.input.begin(), entry.input.end())),
               std::to_string(entry.layers), count_text(static_cast<double>(entry.macs)),
               count_text(static_cast<double>(entry.parameters)), std::string(entry.source)});
  return table.text();
}

}  // namespace millrace::present
