// A network in tiles beside others that compute it: tile_engines MODEL [SCRATCHPAD_KIB [ROUNDS]].
// MODEL is a file or of the zoo. All take turns, so that what else runs on the machine meets all.
// With the bytes that each moves by count, and how fast the machine copies and multiplies.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <memory>

#include "base/error.h"
#include "engine/registry.h"
#include "formats/read.h"
#include "formats/zoo.h"
#include "kernels/tile/tile_windows.h"
#include "network/random_values.h"
#include "network/simplify/simplify.h"

namespace {

using namespace millrace;  // NOLINT: a program of its own
using Clock = std::chrono::steady_clock;

network::Network read(const std::string& name) {
  if (std::filesystem::exists(name)) return network::simplify(formats::read_network(name));
  return network::simplify(formats::read_onnx(formats::zoo_model(name), name, {}));
}

struct Way {
  std::string words, engine;
  std::map<std::string, std::string> settings;
  std::vector<int> cores{0};
};

/// An engine with the network and memory for its borders.
class Contestant {
 public:
  Contestant(const network::Network& network, const std::vector<network::Array>& inputs, Way way)
      : way_(std::move(way)) {
    engine::EngineOptions options;
    options.settings[way_.engine] = way_.settings;
    engine_ = engine::make_engine(way_.engine, options);
    const board::Processor core{.name = "cores", .cores = way_.cores};
    subnet_ = engine_->prepare(engine::whole_network(network, core));
    for (const network::Array& input : inputs) in_.push_back(input.memory->data());
    for (const engine::Port& port : subnet_->outputs())
      out_.push_back(memory_.emplace_back(port.layout.size).data());
    subnet_->run(in_, out_);
  }

  void run() {
    const auto begin = Clock::now();
    subnet_->run(in_, out_);
    times_.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
  }

  double least() const { return *std::ranges::min_element(times_); }
  double median() const {
    std::vector<double> sorted = times_;
    std::ranges::sort(sorted);
    return sorted[sorted.size() / 2];
  }
  const std::string& words() const { return way_.words; }
  double moved() const { return static_cast<double>(subnet_->memory().moved.count); }
  const std::byte* output() const { return out_.front(); }
  std::size_t size() const { return static_cast<std::size_t>(memory_.front().size().count); }

 private:
  Way way_;
  std::unique_ptr<engine::Engine> engine_;
  std::unique_ptr<engine::Subnet> subnet_;
  std::vector<network::Buffer> memory_;
  std::vector<const std::byte*> in_;
  std::vector<std::byte*> out_;
  std::vector<double> times_;
};

/// Bytes read and written per second, of pieces that no cache holds.
double copied_per_second() {
  constexpr std::size_t size = 256 << 20;
  std::vector<char> from(size, 1), to(size, 2);
  double best = 0;
  for (int i = 0; i < 3; ++i) {
    const auto begin = Clock::now();
    std::memcpy(to.data(), from.data(), size);
    best = std::max(best, 2.0 * size / std::chrono::duration<double>(Clock::now() - begin).count());
  }
  return best;
}

/// Multiply-accumulates per second of the kernel on one tile that lies in the nearest caches.
double multiplied_per_second() {
  constexpr std::int64_t channels = 128, pixels = 512;
  const std::vector<float> input(channels * pixels, 1), weights(channels * channels, 0.5f);
  std::vector<float> output(channels * pixels);
  const kernels::TilePlanes planes{channels, 1, pixels, pixels, pixels};
  const kernels::TileConvolution convolution{planes, planes, {}, channels, false, nullptr};
  double best = 0;
  for (int i = 0; i < 300; ++i) {
    const auto begin = Clock::now();
    kernels::convolve_tile(convolution, {input.data(), weights.data(), nullptr, output.data()});
    const double took = std::chrono::duration<double>(Clock::now() - begin).count();
    best = std::max(best, static_cast<double>(channels * channels * pixels) / took);
  }
  return best;
}

double macs_of(const network::Network& network) {
  double macs = 0;
  for (std::size_t i = 0; i < network.layers.size(); ++i)
    macs += static_cast<double>(network::cost_of(network, LayerId(i)).macs);
  return macs;
}

void compare(const std::string& model, const std::string& kib, int rounds) {
  const network::Network network = read(model);
  const std::vector<network::Array> inputs = network::random_inputs(network, 5);
  const std::vector<Way> ways{
      {"tiles, layers fused", "tiled", {{"scratchpad_kib", kib}}},
      {"tiles, layer by layer", "tiled", {{"scratchpad_kib", kib}, {"fuse", "no"}}},
      {"tiles, fused, copy thread", "tiled", {{"scratchpad_kib", kib}, {"copy", "yes"}}, {0, 1}},
      {"oneDNN", "onednn", {}}};
  std::vector<std::unique_ptr<Contestant>> all;
  for (const Way& way : ways) {
    const auto built = engine::engine_names();
    if (std::ranges::find(built, way.engine) != built.end())
      all.push_back(std::make_unique<Contestant>(network, inputs, way));
  }
  for (int round = 0; round < rounds; ++round)
    for (const auto& one : all) one->run();
  const double macs = macs_of(network), first = all.front()->least();
  fmt::print("| {} | least | median | over the first | moved by count | GB/s | GMAC/s |\n",
             network.name);
  fmt::print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n");
  for (const auto& one : all)
    fmt::print("| {} | {:.1f} ms | {:.1f} ms | {:.2f} | {:.0f} MB | {:.1f} | {:.1f} |\n",
               one->words(), 1e3 * one->least(), 1e3 * one->median(), one->least() / first,
               one->moved() / 1e6, one->moved() / one->least() / 1e9, macs / one->least() / 1e9);
  const double copied = copied_per_second(), multiplied = multiplied_per_second();
  fmt::print(
      "\nThe core copies {:.1f} GB/s between buffers of 256 MiB, read and written bytes "
      "together.\nIts kernel multiplies {:.1f} GMAC/s on a tile, so that the network's "
      "arithmetic takes {:.0f} ms.\n",
      copied / 1e9, multiplied / 1e9, 1e3 * macs / multiplied);
}

}  // namespace

int main(int count, char** texts) {
  if (count < 2) {
    fmt::print(stderr, "tile_engines MODEL [SCRATCHPAD_KIB [ROUNDS]]\n");
    return 2;
  }
  try {
    compare(texts[1], count > 2 ? texts[2] : "1024", count > 3 ? std::stoi(texts[3]) : 15);
  } catch (const InputError& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
  return 0;
}
