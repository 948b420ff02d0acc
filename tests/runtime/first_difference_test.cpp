#include "runtime/first_difference.h"

#include <gtest/gtest.h>

#include <memory>

#include "engine/reference/reference.h"
#include "plan/build.h"
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

class FirstDifferenceTest : public testing::Test {
 protected:
  std::optional<FirstDifference> look(MistakenEngine& engine,
                                      std::vector<ProcessorId> processors) const {
    const plan::Plan plan =
        plan::build(network_, board::this_machine(), {std::move(processors)}, {});
    std::map<std::string, engine::Engine*> engines;
    for (const plan::Stage& stage : plan.stages) engines[stage.engine] = &engine;
    return first_difference({plan, network_, engines}, frame(network_, 1), 1e-4);
  }

  network::Network network_ = chain(6);
  std::vector<ProcessorId> one_ = std::vector<ProcessorId>(6, ProcessorId(0));
};

TEST_F(FirstDifferenceTest, names_the_layer_that_computes_something_else) {
  for (std::size_t wrong = 0; wrong < 6; ++wrong) {
    network::Network other = network_;
    other.layers[wrong].op = network::Binary{network::BinaryKind::sub};
    MistakenEngine engine(other);
    const auto first = look(engine, one_);
    ASSERT_TRUE(first.has_value());
    EXPECT_EQ(first->layer, network_.layers[wrong].name);
    EXPECT_EQ(first->stage, "stage0");
    EXPECT_GT(first->error, 0.1);
  }
}

TEST_F(FirstDifferenceTest, is_nothing_where_every_phase_is_right) {
  MistakenEngine engine(network_);
  EXPECT_FALSE(look(engine, one_).has_value());
}

}  // namespace
}  // namespace millrace::runtime
