// Operators that become others: their values, worked out by hand or with NumPy.
#include <gtest/gtest.h>

#include "network/evaluate/evaluate.h"
#include "support/onnx_model.h"

namespace millrace::network {
namespace {

using test::floats;
using test::OnnxModel;

std::vector<float> answer_of(const OnnxModel& model, const std::vector<float>& x,
                             std::size_t output = 0) {
  const Network network = model.read();
  const Shape& shape = network[network.inputs[0]].shape;
  const Array array = evaluate(network, std::vector<Array>{floats(shape, x)}).at(output);
  const auto values = array.values<float>();
  return {values.begin(), values.end()};
}

void expect_near(const std::vector<float>& found, const std::vector<float>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    EXPECT_NEAR(found[i], expected[i], 1e-5) << "at " << i;
}

OnnxModel with_training_mode() {
  OnnxModel model(15);
  model.input("x", {2, 2, 2}).output("y").output("mean").output("variance");
  model.weight("scale", floats({1, 2})).weight("bias", floats({0, 1}));
  model.weight("m", floats({10, 10})).weight("v", floats({1, 1}));
  model.node("BatchNormalization", {"x", "scale", "bias", "m", "v"}, {"y", "mean", "variance"})
      .set("training_mode", 1)
      .set_number("epsilon", 0)
      .set_number("momentum", 0.5f);
  return model;
}

/// Weights that are standardised on their way to a convolution.
TEST(Forms, batch_normalization_in_training_mode_takes_the_moments_of_the_input) {
  const std::vector<float> x{1, 3, 0, 0, 5, 7, 4, 4};
  const float root = 2.2360680f;  // the first channel has mean 4 and variance 5
  expect_near(answer_of(with_training_mode(), x),
              {-3 / root, -1 / root, -1, -1, 1 / root, 3 / root, 3, 3});
  expect_near(answer_of(with_training_mode(), x, 1), {7, 6});
  expect_near(answer_of(with_training_mode(), x, 2), {3, 2.5f});
}

TEST(Forms, blocks_that_overlap_are_added_to_an_image) {
  OnnxModel model(18);
  model.input("x", {1, 4, 4}).output("y").integers("image", {3, 3}).integers("block", {2, 2});
  model.node("Col2Im", {"x", "image", "block"}, {"y"});
  // Row i holds the values at place i of the four blocks.
  expect_near(
      answer_of(model, {1, 2, 3, 4, 10, 20, 30, 40, 100, 200, 300, 400, 1000, 2000, 3000, 4000}),
      {1, 12, 20, 103, 1234, 2040, 300, 3400, 4000});
}

TEST(Forms, blocks_with_padding_and_steps_of_several_channels) {
  OnnxModel model(18);
  model.input("x", {1, 4, 3}).output("y").integers("image", {4}).integers("block", {2});
  model.node("Col2Im", {"x", "image", "block"}, {"y"})
      .set_list("pads", {1, 1})
      .set_list("strides", {2});
  expect_near(answer_of(model, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}),
              {4, 2, 5, 3, 10, 8, 11, 9});
}

}  // namespace
}  // namespace millrace::network
