// The model of the engine `tiled` beside measured times: tile_model NETWORK [SCRATCHPAD_KIB].
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

void compare(const network::Network& network, const std::string& kib) {
  engine::EngineOptions options;
  options.settings["tiled"] = {{"scratchpad_kib", kib}};
  const auto settings = engine::tiled::settings_of(options);
  const board::Processor core{.name = "core0", .cores = {0}};
  const engine::SubnetRequest request = engine::whole_network(network, core);
  engine::tiled::TiledSubnet subnet(request, settings);
  const auto compiled =
      workload::compile(network, {request.layers, request.outputs}, settings.target);
  const std::vector<double> measured = measured_seconds(subnet);
  int near = 0, tiled = 0;
  for (std::size_t i = 0; i < measured.size(); ++i) {
    const workload::LayerTiling& tiling = compiled.tilings[i];
    if (!tiling.tiled) continue;
    const double ratio = tiling.cost.seconds / measured[i];
    ++tiled;
    near += ratio > 0.8 && ratio < 1.2 ? 1 : 0;
    fmt::print("{:<32} {:>10.1f} us  modelled {:>10.1f} us  {:.2f}\n", network[tiling.layer].name,
               measured[i] * 1e6, tiling.cost.seconds * 1e6, ratio);
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
