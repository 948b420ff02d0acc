// The model of the engine `tiled` beside measured times: tile_model NETWORK [SCRATCHPAD_KIB].
// The engine's rates are those of one core. Here layers of no network find those of this one:
// convolutions for all that computes, a sum for all that moves.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <limits>
#include <utility>
#include <vector>

#include "base/error.h"
#include "engine/tiled/settings.h"
#include "formats/read.h"
#include "formats/zoo.h"
#include "workload/compile.h"
#include "workload/executable.h"

namespace {

using namespace millrace;

constexpr int repetitions = 25;
constexpr int rounds = 8;  // through all layers of no network: the core may be slow for a while

/// Times of a workload: the fastest of some runs, and what its links took in the fastest for them.
struct Measured {
  double seconds = std::numeric_limits<double>::infinity(), transfers = seconds, kernels = seconds;
};

/// A network in tiles with memory for all of its tensors, zeros.
class TiledNetwork {
 public:
  TiledNetwork(const network::Network& network, const workload::TileTarget& target)
      : compiled(workload::compile(network, target)),
        fastest(compiled.program.workloads.size()),
        fast_(compiled.program) {
    for (const network::Tensor& tensor : network.tensors) {
      if (!tensor.constant) memory_.emplace_back(tensor.size());
      // Only ever read: no link has a constant as its sink.
      table_.push_back(tensor.constant ? const_cast<std::byte*>(tensor.constant->memory->data())
                                       : memory_.back().data());
    }
    for (const workload::Workload& workload : compiled.program.workloads)
      executables_.emplace_back(workload, network, fast_);
  }

  /// On one core, one workload after the other as in a frame.
  void measure() {
    for (int i = 0; i < 2 * repetitions; ++i)
      for (std::size_t k = 0; k < executables_.size(); ++k) run(executables_[k], i % 2, fastest[k]);
  }

  workload::Compiled compiled;
  std::vector<Measured> fastest;  // by workload, of all measurements

 private:
  void run(workload::Executable& executable, bool by_link, Measured& best) {
    workload::Executable::Spent spent;
    const auto start = std::chrono::steady_clock::now();
    by_link ? executable.run_timed(table_, spent) : executable.run(table_);
    const std::chrono::duration<double> all = std::chrono::steady_clock::now() - start;
    if (!by_link) return static_cast<void>(best.seconds = std::min(best.seconds, all.count()));
    best.transfers = std::min(best.transfers, seconds(Time(spent.transfers)));
    best.kernels = std::min(best.kernels, seconds(Time(spent.kernels)));
  }

  workload::FastMemories fast_;
  std::vector<network::Buffer> memory_;
  workload::TensorTable table_;
  std::vector<workload::Executable> executables_;
};

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

/// A layer of no network, to be measured beside what the model says: all in seconds.
struct Probe {
  Probe(network::Network of, const workload::TileTarget& target)
      : network(std::move(of)), tiled(network, target) {
    const workload::LayerTiling& found = tiled.compiled.tilings[0];
    const auto geometry = workload::geometry_of(network, found.layer, target.element);
    workload::TileTarget without = target;
    without.gathered_piece_seconds = without.window_row_seconds = 0;
    const double kernels = workload::kernel_seconds(geometry, found.tiling, target);
    numbers = workload::kernel_seconds(geometry, found.tiling, without);
    pieces = kernels - numbers;
    const double steps = static_cast<double>(found.cost.steps) * target.run_seconds;
    transfers = found.cost.seconds - kernels - steps;
  }

  Probe(const Probe&) = delete;  // `tiled` refers to `network`
  Probe& operator=(const Probe&) = delete;

  const Measured& measured() const { return tiled.fastest[0]; }

  network::Network network;  // of the layer alone
  TiledNetwork tiled;
  double transfers = 0, numbers = 0;  // of its kernel: what goes by the number
  double pieces = 0;                  // what goes by pieces and rows that lie side by side
};

/// How many times as long as in the model numbers and pieces take here: the least squares of the
/// relative errors over some layers.
struct Slower {
  double numbers = 1, pieces = 1;
};
Slower slower(const std::deque<Probe>& probes) {
  double nn = 0, np = 0, pp = 0, n = 0, p = 0;
  for (const Probe& probe : probes) {
    const double numbers = probe.numbers / probe.measured().kernels;
    const double pieces = probe.pieces / probe.measured().kernels;
    nn += numbers * numbers;
    np += numbers * pieces;
    pp += pieces * pieces;
    n += numbers;
    p += pieces;
  }
  const double determinant = nn * pp - np * np;
  return {(n * pp - p * np) / determinant, (p * nn - n * np) / determinant};
}

/// With the rates of this machine, by layers of no network. The sum is so large that no cache has
/// its tensors, as those of a network that has run since.
workload::TileTarget fitted(workload::TileTarget target) {
  const auto map = [](std::int64_t channels, std::int64_t side) {
    return network::Shape{1, channels, side, side};
  };
  const auto convolution = [&](std::int64_t channels, std::int64_t side, std::int64_t groups) {
    const network::Window around{{3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}};
    const network::Shape weights{channels, channels / groups, 3, 3};
    return one_layer(network::Conv{around, groups}, {map(channels, side), weights});
  };
  Probe sum(one_layer(network::Binary{network::BinaryKind::add}, {map(64, 768), map(64, 768)}),
            target);
  std::deque<Probe> products, windows;
  for (const auto& [channels, side] : {std::pair{64, 56}, {128, 28}, {256, 14}, {512, 7}}) {
    products.emplace_back(convolution(channels, side, 1), target);
    windows.emplace_back(convolution(channels, 2 * side, channels), target);
  }
  for (int round = 0; round < rounds; ++round) {
    if (round % 4 == 0) sum.tiled.measure();  // long, so that it meets fewer slow moments whole
    for (Probe& probe : products) probe.tiled.measure();
    for (Probe& probe : windows) probe.tiled.measure();
  }

  target.bytes_per_second *= sum.transfers / sum.measured().transfers;
  target.values_per_second *= sum.numbers / sum.measured().kernels;
  const Slower product = slower(products), window = slower(windows);
  target.macs_per_second /= product.numbers;
  target.gathered_piece_seconds *= product.pieces;
  target.window_numbers_per_second /= window.numbers;
  target.window_row_seconds *= window.pieces;
  fmt::print(
      "this core: {:.1f} GB/s, {:.1f} G values/s; {:.1f} GMAC/s and {:.1f} ns a piece; {:.1f} G/s "
      "and {:.1f} ns a row of windows\n",
      target.bytes_per_second / 1e9, target.values_per_second / 1e9, target.macs_per_second / 1e9,
      target.gathered_piece_seconds * 1e9, target.window_numbers_per_second / 1e9,
      target.window_row_seconds * 1e9);
  return target;
}

void compare(const network::Network& network, const std::string& kib) {
  engine::EngineOptions options;
  options.settings["tiled"] = {{"scratchpad_kib", kib}};
  const workload::TileTarget target = fitted(engine::tiled::settings_of(options).target);
  TiledNetwork tiled(network, target);
  tiled.measure();
  const std::vector<Measured>& measured = tiled.fastest;
  int near = 0, all = 0;
  for (std::size_t i = 0; i < measured.size(); ++i) {
    const workload::LayerTiling& tiling = tiled.compiled.tilings[i];
    if (!tiling.tiled) continue;
    const double ratio = tiling.cost.seconds / measured[i].seconds;
    ++all;
    near += ratio > 0.8 && ratio < 1.2 ? 1 : 0;
    fmt::print(
        "{:<32} {:>9.1f} us ({:>9.1f} moving, {:>9.1f} computing)  modelled {:>9.1f} us  {:.2f}\n",
        network[tiling.layer].name, measured[i].seconds * 1e6, measured[i].transfers * 1e6,
        measured[i].kernels * 1e6, tiling.cost.seconds * 1e6, ratio);
  }
  fmt::print("within 20 %: {} of {} layers\n", near, all);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "tile_model NETWORK [SCRATCHPAD_KIB]\n");
    return 2;
  }
  const std::string name = argv[1];
  try {
    compare(formats::read_onnx(formats::zoo_model(name), name, {}), argc > 2 ? argv[2] : "1024");
  } catch (const InputError& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
  return 0;
}
