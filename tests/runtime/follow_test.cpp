#include "runtime/follow.h"

#include <gtest/gtest.h>

#include <memory>

#include "engine/reference/reference.h"
#include "network/evaluate/evaluate.h"
#include "plan/build.h"
#include "runtime/compare.h"
#include "runtime/sketch.h"

namespace millrace::runtime {
namespace {

using test::chain;
using test::frame;

/// Runs another network than it is given.
class MistakenEngine : public engine::Engine {
 public:
  explicit MistakenEngine(network::Network network) : network_(std::move(network)) {}
  std::string name() const override { return "mistaken"; }
  std::string version() const override { return "1"; }
  using Engine::supports;
  Verdict supports(const network::Network&, std::span<const LayerId>,
                   const board::Processor&) const override {
    return Verdict::yes();
  }
  std::unique_ptr<engine::Subnet> prepare(const engine::SubnetRequest& request) override {
    engine::SubnetRequest other = request;
    other.network = &network_;
    return inner_->prepare(other);
  }

 private:
  std::unique_ptr<engine::Engine> inner_ = engine::reference::make();
  network::Network network_;
};

class FollowTest : public testing::Test {
 protected:
  Followed look(MistakenEngine& engine, std::vector<ProcessorId> processors) const {
    const plan::Plan plan =
        plan::build(network_, board::this_machine(), {std::move(processors)}, {});
    std::map<std::string, engine::Engine*> engines;
    for (const plan::Stage& stage : plan.stages) engines[stage.engine] = &engine;
    return follow({plan, network_, engines}, frame(network_, 1), 1e-4);
  }

  network::Network network_ = chain(6);
  std::vector<ProcessorId> one_ = std::vector<ProcessorId>(6, ProcessorId(0));
};

TEST_F(FollowTest, names_the_layer_that_computes_something_else) {
  for (std::size_t wrong = 0; wrong < 6; ++wrong) {
    network::Network other = network_;
    other.layers[wrong].op = network::Binary{network::BinaryKind::sub};
    MistakenEngine engine(other);
    const auto first = look(engine, one_).difference;
    ASSERT_TRUE(first.has_value());
    EXPECT_EQ(first->layer, network_.layers[wrong].name);
    EXPECT_EQ(first->stage, "stage0");
    EXPECT_GT(first->error, 0.1);
  }
}

TEST_F(FollowTest, gives_the_outputs_where_every_phase_is_right) {
  MistakenEngine engine(network_);
  const Followed followed = look(engine, one_);
  EXPECT_FALSE(followed.difference.has_value());
  EXPECT_TRUE(followed.amplifiers.empty());
  const auto expected = network::evaluate(network_, frame(network_, 1));
  ASSERT_EQ(followed.outputs.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(followed.outputs[i], expected[i]);
}

/// x + `large` - 1000.
network::Network cancelling(float large) {
  test::Sketch sketch;
  const TensorId x = sketch.input("x");
  const TensorId sum = sketch.add("up", x, sketch.constant("large", large));
  sketch.network.outputs = {sketch.add("down", sum, sketch.constant("less", -1000))};
  return sketch.network;
}

/// The sums are off by one unit in the last place: more than the tolerance of their result.
TEST(Follow, rounding_is_no_difference) {
  test::Sketch exact, rounded;
  for (auto [sketch, large] : {std::pair{&exact, 1e5f}, std::pair{&rounded, 100000.0078125f}}) {
    const TensorId x = sketch->input("x");
    const TensorId sum = sketch->add("up", x, sketch->constant("large", large));
    sketch->network.outputs = {sketch->add("down", sum, sketch->constant("less", -1e5f))};
  }
  MistakenEngine engine(rounded.network);
  const plan::Plan plan =
      plan::build(exact.network, test::imagined_board(1), test::mapping({0, 0}), {});
  std::map<std::string, engine::Engine*> engines{{plan.stages[0].engine, &engine}};
  const auto inputs = frame(exact.network, 1);
  const Followed followed = follow({plan, exact.network, engines}, inputs, 1e-4);
  EXPECT_FALSE(followed.difference.has_value());
  EXPECT_TRUE(followed.amplifiers.empty());
  ASSERT_EQ(followed.outputs.size(), 1u);
  EXPECT_GT(compare({network::evaluate(exact.network, inputs)}, {followed.outputs}).error, 1e-4);
}

TEST(Follow, names_the_layer_that_makes_small_differences_large) {
  const network::Network network = cancelling(1000);
  MistakenEngine engine(cancelling(1000.01f));  // the sum is off by a hundredth of a thousandth
  for (const bool one_phase : {true, false}) {
    const board::Board board = test::imagined_board(2);
    const plan::Plan plan =
        plan::build(network, board, test::mapping({0, one_phase ? 0u : 1u}), {});
    std::map<std::string, engine::Engine*> engines;
    for (const plan::Stage& stage : plan.stages) engines[stage.engine] = &engine;
    const Followed followed = follow({plan, network, engines}, frame(network, 1), 1e-4);
    EXPECT_FALSE(followed.difference.has_value());
    EXPECT_EQ(followed.amplifiers,
              one_phase ? std::vector<std::string>{"down"} : std::vector<std::string>{});
    ASSERT_EQ(followed.outputs.size(), 1u);
    EXPECT_NEAR(followed.outputs[0].values<float>()[0], 1.01, 1e-3);
  }
}

/// Layers together round otherwise than one by one, as fused ones do.
class RoundingEngine : public MistakenEngine {
 public:
  RoundingEngine() : MistakenEngine(cancelling(1000.01f)) {}
  std::unique_ptr<engine::Subnet> prepare(const engine::SubnetRequest& request) override {
    return request.layers.size() == 1 ? alone_.prepare(request) : MistakenEngine::prepare(request);
  }

 private:
  MistakenEngine alone_{cancelling(1000.02f)};
};

/// As the pipeline asks for the first time, it computes something else than afterwards.
class ForgetfulEngine : public MistakenEngine {
 public:
  ForgetfulEngine() : MistakenEngine(cancelling(1000)) {}
  std::unique_ptr<engine::Subnet> prepare(const engine::SubnetRequest& request) override {
    return asked_++ == 0 ? wrong_.prepare(request) : MistakenEngine::prepare(request);
  }

 private:
  MistakenEngine wrong_{cancelling(1020)};
  int asked_ = 0;
};

TEST(Follow, finds_a_phase_that_is_wrong_in_the_pipeline_only) {
  const network::Network network = cancelling(1000);
  ForgetfulEngine engine;
  const plan::Plan plan = plan::build(network, board::this_machine(),
                                      {std::vector<ProcessorId>(2, ProcessorId(0))}, {});
  const std::map<std::string, engine::Engine*> engines{{plan.stages[0].engine, &engine}};
  const Followed followed = follow({plan, network, engines}, frame(network, 1), 1e-4);
  ASSERT_TRUE(followed.difference.has_value());
  EXPECT_EQ(followed.difference->layer, "up");
}

TEST(Follow, gives_the_outputs_of_the_pipeline_where_its_parts_round_otherwise) {
  const network::Network network = cancelling(1000);
  RoundingEngine engine;
  const plan::Plan plan = plan::build(network, board::this_machine(),
                                      {std::vector<ProcessorId>(2, ProcessorId(0))}, {});
  const std::map<std::string, engine::Engine*> engines{{plan.stages[0].engine, &engine}};
  const auto inputs = frame(network, 1);
  const Followed followed = follow({plan, network, engines}, inputs, 1e-4);
  EXPECT_FALSE(followed.difference.has_value());
  EXPECT_EQ(followed.amplifiers, std::vector<std::string>{"down"});
  EXPECT_TRUE(
      compare({followed.outputs}, run_pipeline(plan, network, engines, {inputs})).bit_equal);
}

}  // namespace
}  // namespace millrace::runtime
