// millrace inspect MODEL
#include <fmt/format.h>

#include "api/engines.h"
#include "api/json/model.h"
#include "api/open_model.h"
#include "base/printable.h"
#include "cli/options/common.h"
#include "cli/options/model.h"
#include "cli/verbs/verbs.h"
#include "report/table.h"

namespace millrace::cli {

namespace {

using report::Align;
using report::count_text;

struct InspectOptions {
  api::Setup model;
  bool json = false;
};

void bind(CLI::App& verb, InspectOptions& options) {
  bind_model(verb, options.model);
  bind_engine_libraries(verb, options.model.context);
  bind_json(verb, options.json);
}

void print_layers(const network::Network& network) {
  report::Table table({{"number"},
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
               api::shape_of_output(network, layer), count_text(static_cast<double>(cost.macs)),
               count_text(static_cast<double>(cost.parameters)), millrace::to_text(cost.read),
               millrace::to_text(cost.written)});
  }
  fmt::print("{}\n", table.text());
}

void print_ports(const char* what, const network::Network& network,
                 const std::vector<TensorId>& tensors) {
  for (const TensorId id : tensors)
    fmt::print("{} {}: {} {}\n", what, printable(network[id].name),
               network::to_text(network[id].type), network::to_text(network[id].shape));
}

std::vector<std::string> names_of(const network::Network& network) {
  std::vector<std::string> names;
  for (const network::Layer& layer : network.layers) names.push_back(printable(layer.name));
  return names;
}

int run(const InspectOptions& options) {
  const network::Network network = open_model(options.model.source, options.model.context);
  const std::vector<api::Support> engines = 
      api::supports(network, board::this_machine(), options.model.context);
  if (options.json) {
    fmt::print("{}", api::inspection_json(network, engines));
    return 0;
  }
  print_layers(network);
  const network::Cost total = network::cost_of(network);
  fmt::print("{}: {} layers, {} MACs, {} parameters\n", printable(network.name),
             network.layers.size(), count_text(static_cast<double>(total.macs)),
             count_text(static_cast<double>(total.parameters)));
  print_ports("input ", network, network.inputs);
  print_ports("output", network, network.outputs);
  for (const api::Support& engine : engines) {
    fmt::print("{}: runs {} of {} layers\n", engine.engine, engine.supported,
               network.layers.size());
    for (const auto& [precision, count] : engine.precisions)
      fmt::print("  {} of them in several ways in {}\n", count, board::to_text(precision));
    if (engine.plain_loops)
      fmt::print("  {}\n", report::plain_loops_text(*engine.plain_loops, names_of(network)));
    for (const auto& [layer, reason] : engine.refused)
      fmt::print("  not {}: {}\n", printable(network[layer].name), printable(reason));
  }
  return 0;
}

}  // namespace

void add_inspect(CLI::App& app, int& exit_code) {
  add_verb<InspectOptions>(app, exit_code,
                           {{"inspect",
                             "Show layers, shapes and costs, and what each engine supports",
                             "millrace inspect resnet18.onnx"},
                            bind,
                            run});
}

}  // namespace millrace::cli
