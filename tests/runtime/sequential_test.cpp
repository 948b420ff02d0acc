#include "runtime/sequential.h"

#include <gtest/gtest.h>

#include <memory>

#include "base/error.h"
#include "engine/reference/reference.h"
#include "runtime/decorated_engine.h"
#include "runtime/sketch.h"

namespace millrace::runtime {
namespace {

using test::chain;
using test::frame;
using test::Sketch;
using test::value_of;

class SequentialTest : public testing::Test {
 protected:
  std::unique_ptr<engine::Engine> engine_ = engine::reference::make();
  board::Processor processor_ = board::this_machine().processors.back();
};

TEST_F(SequentialTest, runs_the_whole_network_frame_by_frame) {
  const auto network = chain(4);
  Sequential sequential(network, *engine_, processor_);
  EXPECT_EQ(value_of(sequential.run(frame(network, 1))[0]), 5);
  EXPECT_EQ(value_of(sequential.run(frame(network, 2))[0]), 6);
  sequential.run_again();
  EXPECT_GT(sequential.memory().naive.count, 0);
}

TEST_F(SequentialTest, a_result_can_be_an_input_or_a_constant) {
  Sketch sketch;
  const TensorId x = sketch.input("x"), one = sketch.constant("one", 1);
  sketch.network.outputs = {x, one};
  Sequential without_layers(sketch.network, *engine_, processor_);
  EXPECT_EQ(value_of(without_layers.run(frame(sketch.network, 3))[0]), 3);
  EXPECT_EQ(value_of(without_layers.run(frame(sketch.network, 3))[1]), 1);
  sketch.network.outputs.push_back(sketch.add("sum", x, one));
  Sequential sequential(sketch.network, *engine_, processor_);
  const auto results = sequential.run(frame(sketch.network, 3));
  EXPECT_EQ(value_of(results[0]), 3);
  EXPECT_EQ(value_of(results[2]), 4);
}

TEST_F(SequentialTest, runs_on_its_processor_and_gives_the_thread_back) {
  const auto before = board::cores_of_this_thread();
  std::vector<int> ran_on;
  test::DecoratedEngine engine(
      *engine_, {.before_prepare = {},
                 .before_run = [&](const auto&) { ran_on = board::cores_of_this_thread(); },
                 .format = {}});
  const auto network = chain(1);
  Sequential(network, engine, processor_).run(frame(network, 0));
  EXPECT_EQ(ran_on, processor_.cores);
  EXPECT_EQ(board::cores_of_this_thread(), before);
}

TEST_F(SequentialTest, a_frame_that_does_not_fit_is_refused) {
  const auto network = chain(1);
  Sequential sequential(network, *engine_, processor_);
  EXPECT_THROW(sequential.run({}), InputError);
}

}  // namespace
}  // namespace millrace::runtime
