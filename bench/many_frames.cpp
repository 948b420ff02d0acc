// Frames through a pipeline of four stages, the middle two with a replica each, on an engine whose
// phases take 0 to 2 microseconds by chance: none is lost, none doubled, all come in order, and
// memory does not grow. `many_frames [FRAMES]`, by default ten million; 1 if anything is wrong.
#include <fmt/format.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>

#include "base/random.h"
#include "plan/build.h"
#include "runtime/session.h"

namespace {

using namespace millrace;
using Clock = std::chrono::steady_clock;

constexpr std::size_t stages = 4;
const network::Shape shape{2};

/// What a layer makes of a number: no two orders of layers, and no two numbers, give the same.
std::uint64_t after(std::uint64_t value, std::size_t layer) {
  return value * 6364136223846793005u + 2 * layer + 1;
}

/// Runs of each layer, on all its processors.
using Runs = std::array<std::atomic<std::int64_t>, stages>;

class StubSubnet final : public engine::Subnet {
 public:
  StubSubnet(const engine::SubnetRequest& request, Runs& runs)
      : layers_(request.layers),
        inputs_(request.inputs),
        runs_(runs),
        random_(request.layers.front().index * 100 + request.processor.name.back()) {
    for (const TensorId tensor : request.outputs)
      outputs_.push_back({tensor, engine::plain_layout((*request.network)[tensor])});
  }
  std::span<const engine::Port> inputs() const override { return inputs_; }
  std::span<const engine::Port> outputs() const override { return outputs_; }
  engine::Memory memory() const override { return {}; }
  void run(std::span<const std::byte* const> in, std::span<std::byte* const> out) override {
    const auto end = Clock::now() + std::chrono::nanoseconds(random_.below(2001));
    std::uint64_t value = 0;
    std::memcpy(&value, in[0], sizeof value);
    for (const LayerId layer : layers_) {
      value = after(value, layer.index);
      ++runs_[layer.index];
    }
    while (Clock::now() < end) {
    }
    std::memcpy(out[0], &value, sizeof value);
  }
  std::vector<engine::GroupTime> run_timed(std::span<const std::byte* const> in,
                                           std::span<std::byte* const> out) override {
    run(in, out);
    return {};
  }

 private:
  std::vector<LayerId> layers_;
  std::vector<engine::Port> inputs_, outputs_;
  Runs& runs_;
  Random random_;
};

class StubEngine final : public engine::Engine {
 public:
  std::string name() const override { return "stub"; }
  std::string version() const override { return "1"; }
  using Engine::supports;
  Verdict supports(const network::Network&, std::span<const LayerId>,
                   const board::Processor&) const override {
    return Verdict::yes();
  }
  std::optional<engine::Traits> traits(const board::Processor&) const override {
    engine::Traits traits;
    traits.uses_cores = false;
    return traits;
  }
  std::unique_ptr<engine::Subnet> prepare(const engine::SubnetRequest& request) override {
    return std::make_unique<StubSubnet>(request, runs);
  }
  Runs runs{};
};

network::Network chain() {
  network::Network network;
  network.name = "chain";
  for (std::size_t i = 0; i <= stages; ++i)
    network.tensors.push_back({fmt::format("t{}", i), network::DataType::float32, shape, {}});
  for (std::size_t i = 0; i < stages; ++i)
    network.layers.push_back({fmt::format("layer{}", i),
                              network::Unary{network::UnaryKind::relu},
                              {TensorId(i)},
                              {TensorId(i + 1)}});
  network.inputs = {TensorId(0)};
  network.outputs = {TensorId(stages)};
  return network;
}

plan::Plan four_stages(const network::Network& network) {
  board::Board board;
  for (std::size_t i = 0; i < stages + 2; ++i)
    board.processors.push_back(
        {fmt::format("p{}", i), board::ProcessorKind::cpu, {static_cast<int>(i)}});
  plan::Mapping mapping;
  for (std::size_t i = 0; i < stages; ++i) mapping.processors.emplace_back(i);
  return plan::build(
      network, board, mapping,
      {.engine = "stub",
       .capacity = 4,
       .replicas = {{ProcessorId(1), {ProcessorId(4)}}, {ProcessorId(2), {ProcessorId(5)}}}});
}

std::int64_t resident_kib() {
  std::ifstream file("/proc/self/status");
  for (std::string word; file >> word;)
    if (word == "VmRSS:") {
      std::int64_t kib = 0;
      file >> kib;
      return kib;
    }
  return 0;
}

/// The number of results that are not what their frame gives.
class Check {
 public:
  Check(runtime::Session& session, std::int64_t frames) : session_(session), frames_(frames) {}

  void take_all() {
    while (const auto result = session_.next()) {
      std::uint64_t value = 0, expected = static_cast<std::uint64_t>(taken_);
      std::memcpy(&value, result->outputs[0].bytes().data(), sizeof value);
      for (std::size_t layer = 0; layer < stages; ++layer) expected = after(expected, layer);
      wrong_ += value == expected && result->frame == taken_ ? 0 : 1;
      ++taken_;
      if (taken_ == frames_ / 10) early_kib_ = resident_kib();
    }
  }

  /// The exit code.
  int report(const Runs& runs, double seconds) const {
    const std::int64_t late_kib = resident_kib();
    bool good = taken_ == frames_ && wrong_ == 0;
    for (std::size_t layer = 0; layer < stages; ++layer) good &= runs[layer] == frames_;
    constexpr std::int64_t noise_kib = 1024;
    const bool grows = late_kib > early_kib_ + noise_kib;
    fmt::print(
        "{} frames submitted, {} came out, {} of them wrong or out of order; runs {} {} {} {}\n",
        frames_, taken_, wrong_, runs[0].load(), runs[1].load(), runs[2].load(), runs[3].load());
    fmt::print(
        "{:.1f} s, {:.0f} frames/s; resident memory {} KiB after a tenth, {} KiB at the end\n",
        seconds, static_cast<double>(frames_) / seconds, early_kib_, late_kib);
    if (!good) fmt::print("frames were lost, doubled or changed\n");
    if (grows) fmt::print("memory grows\n");
    return good && !grows ? 0 : 1;
  }

 private:
  runtime::Session& session_;
  std::int64_t frames_, taken_ = 0, wrong_ = 0, early_kib_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t frames = argc > 1 ? std::atoll(argv[1]) : 10'000'000;
  const network::Network network = chain();
  StubEngine engine;
  runtime::Session session = runtime::deploy(four_stages(network), network, {{"stub", &engine}},
                                             {.pin = false, .spin = {}, .caller_spin = {}});
  const auto begin = Clock::now();
  std::thread writer([&] {
    for (std::int64_t frame = 0; frame < frames; ++frame)
      session.submit_in_place([&](std::span<const std::span<std::byte>> to) {
        std::memcpy(to[0].data(), &frame, sizeof frame);
      });
    session.finish();
  });
  Check check(session, frames);
  check.take_all();
  writer.join();
  return check.report(engine.runs, std::chrono::duration<double>(Clock::now() - begin).count());
}
