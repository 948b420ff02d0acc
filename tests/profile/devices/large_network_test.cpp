// A network that a memory does not hold is measured layer by layer.
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/simulated/simulated.h"
#include "profile/measure.h"
#include "support/network_builder.h"

namespace millrace::profile {
namespace {

/// The simulated engine; remembers the most weights that were prepared and not yet gone.
class WatchedEngine final : public engine::Engine {
 public:
  std::string name() const override { return inner_->name(); }
  std::string version() const override { return inner_->version(); }
  using Engine::supports;
  Verdict supports(const network::Network& network, std::span<const LayerId> layers,
                   const board::Processor& processor) const override {
    return inner_->supports(network, layers, processor);
  }
  std::unique_ptr<engine::Subnet> prepare(const engine::SubnetRequest& request) override {
    Bytes weights{};
    for (const LayerId layer : request.layers)
      weights += network::weights_of(*request.network, layer);
    return std::make_unique<Watched>(*this, inner_->prepare(request), weights);
  }
  std::int64_t most() const { return most_; }

 private:
  class Watched final : public engine::Subnet {
   public:
    Watched(WatchedEngine& engine, std::unique_ptr<Subnet> inner, Bytes weights)
        : engine_(engine), inner_(std::move(inner)), weights_(weights) {
      engine_.now_ += weights_.count;
      engine_.most_ = std::max(engine_.most_, engine_.now_);
    }
    ~Watched() override { engine_.now_ -= weights_.count; }
    std::span<const engine::Port> inputs() const override { return inner_->inputs(); }
    std::span<const engine::Port> outputs() const override { return inner_->outputs(); }
    void run(std::span<const std::byte* const> in, std::span<std::byte* const> out) override {
      inner_->run(in, out);
    }
    std::vector<engine::GroupTime> run_timed(std::span<const std::byte* const> in,
                                             std::span<std::byte* const> out) override {
      return inner_->run_timed(in, out);
    }
    engine::Memory memory() const override { return inner_->memory(); }

   private:
    WatchedEngine& engine_;
    std::unique_ptr<Subnet> inner_;
    Bytes weights_;
  };

  std::unique_ptr<engine::Engine> inner_ = engine::simulated::make();
  std::int64_t now_ = 0, most_ = 0;
};

constexpr std::int64_t weights_of_a_layer = 128 * 128 * 4;

std::int64_t most_weights_at_once(Bytes memory) {
  test::NetworkBuilder builder;
  TensorId x = builder.input({1, 128});
  for (int i = 0; i < 6; ++i)
    x = builder.layer(network::MatMul{}, {x, builder.constant({128, 128})}, {1, 128});
  builder.output(x);
  board::Board board =
      board::only(board::this_machine(), {board::this_machine().processors[0].name});
  board.memories.front().size = memory;
  WatchedEngine engine;
  MeasureOptions options;
  options.least = options.most = 1;
  options.max_error = 10;  // the engine computes nothing
  const Profile profile = measure(builder.build(), board, engine, options);
  EXPECT_EQ(profile.processors.at(0).layers.size(), 6u);
  for (const LayerTimes& layer : profile.processors[0].layers)
    EXPECT_GT(layer.together.median, Time{});
  return engine.most();
}

TEST(LargeNetwork, is_measured_layer_by_layer_where_the_memory_does_not_hold_it_twice) {
  EXPECT_EQ(most_weights_at_once(Bytes{12 * weights_of_a_layer - 1}), weights_of_a_layer);
  EXPECT_GE(most_weights_at_once(Bytes{12 * weights_of_a_layer}), 6 * weights_of_a_layer);
}

}  // namespace
}  // namespace millrace::profile
