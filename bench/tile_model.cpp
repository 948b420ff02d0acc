// The model of the engine `tiled` beside measured times: tile_model NETWORK [SCRATCHPAD_KIB].
// The engine's rates are those of one core. Here they are scaled to this one by two layers of no
// network: a convolution for all that computes, a sum for all that moves.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "engine/tiled/settings.h"
#include "engine/tiled/subnet.h"
#include "network/read.h"
#include "network/zoo.h"

namespace {

using namespace millrace;

constexpr int repetitions = 15;

/// Of each workload the fastest of some runs, on inputs of zeros.
std::vector<double> measured_seconds(engine::tiled::TiledSubnet& subnet) {
  std::vector<network::Buffer> buffers;
  std::vector<const std::byte*> in;
  std::vector<std::byte*> out;
  for (const engine::Port& port : subnet.inputs())
    in.push_back(buffers.emplace_back(port.layout.size).data());
  for (const engine::Port& port : subnet.outputs())
    out.push_back(buffers.emplace_back(port.layout.size).data());
  std::vector<double> best;
  for (int i = 0; i < repetitions; ++i) {
    const auto times = subnet.run_timed(in, out);
    best.resize(times.size(), std::numeric_limits<double>::infinity());
    for (std::size_t k = 0; k < times.size(); ++k)
      best[k] = std::min(best[k], seconds(times[k].time));
  }
  return best;
}

struct Timed {
  std::vector<workload::LayerTiling> tilings;
  std::vector<double> seconds;
};

Timed timed(const network::Network& network, const engine::tiled::TiledSettings& settings) {
  const board::Processor core{.name = "core0", .cores = {0}};
  const engine::SubnetRequest request = engine::whole_network(network, core);
  engine::tiled::TiledSubnet subnet(request, settings);
  const auto compiled =
      workload::compile(network, {request.layers, request.outputs}, settings.target);
  return {compiled.tilings, measured_seconds(subnet)};
}

network::Network one_layer(network::Operator op, const std::vector<network::Shape>& inputs) {
  network::Network network{"one layer", {}, {}, {}, {}};
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    network.tensors.push_back({fmt::format("x{}", i), network::DataType::float32, inputs[i], {}});
    if (i == 0 || std::holds_alternative<network::Binary>(op)) continue;
    network.tensors[i].constant = network::make_array(network::DataType::float32, inputs[i],
                                                      network::Buffer(network.tensors[i].size()));
  }
  network.tensors.push_back({"y", network::DataType::float32, inputs[0], {}});
  network::Layer layer{"layer", std::move(op), {}, {TensorId(inputs.size())}};
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    layer.inputs.emplace_back(i);
    if (!network.tensors[i].constant) network.inputs.emplace_back(i);
  }
  network.layers = {layer};
  network.outputs = {TensorId(inputs.size())};
  return network;
}

/// How many times as fast as in the model this machine is.
double speed_of(const network::Network& network, const engine::tiled::TiledSettings& settings) {
  const Timed found = timed(network, settings);
  return found.tilings[0].cost.seconds / found.seconds[0];
}

/// With the rates of this machine.
engine::tiled::TiledSettings fitted(engine::tiled::TiledSettings settings) {
  const network::Shape image{1, 64, 40, 40};
  network::Window window{{3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}};
  const double moving = speed_of(
      one_layer(network::Binary{network::BinaryKind::add}, {{1, 64, 320, 320}, {1, 64, 320, 320}}),
      settings);
  settings.target.bytes_per_second *= moving;
  settings.target.values_per_second *= moving;
  const double computing =
      speed_of(one_layer(network::Conv{window, 1}, {image, {64, 64, 3, 3}}), settings);
  for (double* rate : {&settings.target.macs_per_second, &settings.target.channel_macs_per_second,
                       &settings.target.gathered_per_second})
    *rate *= computing;
  fmt::print(
      "this core moves {:.2f} and computes {:.2f} times as fast as the engine's model says\n",
      moving, computing);
  return settings;
}

void compare(const network::Network& network, const std::string& kib) {
  engine::EngineOptions options;
  options.settings["tiled"] = {{"scratchpad_kib", kib}};
  const Timed found = timed(network, fitted(engine::tiled::settings_of(options)));
  int near = 0, tiled = 0;
  for (std::size_t i = 0; i < found.seconds.size(); ++i) {
    const workload::LayerTiling& tiling = found.tilings[i];
    if (!tiling.tiled) continue;
    const double ratio = tiling.cost.seconds / found.seconds[i];
    ++tiled;
    near += ratio > 0.8 && ratio < 1.2 ? 1 : 0;
    fmt::print("{:<32} {:>10.1f} us  modelled {:>10.1f} us  {:.2f}\n", network[tiling.layer].name,
               found.seconds[i] * 1e6, tiling.cost.seconds * 1e6, ratio);
  }
  fmt::print("within 20 %: {} of {} layers\n", near, tiled);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "tile_model NETWORK [SCRATCHPAD_KIB]\n");
    return 2;
  }
  const std::string name = argv[1];
  try {
    compare(network::read_onnx(network::zoo_model(name), name, {}), argc > 2 ? argv[2] : "1024");
  } catch (const InputError& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
  return 0;
}
