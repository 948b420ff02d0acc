// Operators that become others: their values, worked out by hand or with NumPy.
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "base/error.h"
#include "network/evaluate/evaluate.h"
#include "support/onnx_model.h"

namespace millrace::formats {

using namespace network;
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

/// As in ONNX Runtime 1.32: comparisons with it are false.
TEST(Forms, a_bound_of_clip_that_is_not_a_number_is_none) {
  const float nan = std::nanf("");
  for (const auto& [low, high, expected] :
       {std::tuple{nan, 6.f, std::vector<float>{-2, 0.5f, 6}},
        std::tuple{0.f, nan, std::vector<float>{0, 0.5f, 9}},
        std::tuple{nan, nan, std::vector<float>{-2, 0.5f, 9}}}) {
    OnnxModel model(17);
    model.input("x", {3}).output("y");
    model.weight("low", floats(Shape{}, {low})).weight("high", floats(Shape{}, {high}));
    model.node("Clip", {"x", "low", "high"}, {"y"});
    expect_near(answer_of(model, {-2, 0.5f, 9}), expected);
  }
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

/// What the definition calls composite reductions: the steps for each element remain.
TEST(Forms, reductions_over_no_axes_do_what_they_do_to_each_element) {
  const std::vector<float> x{0.5f, -2, 3, 0.7f};
  const auto reduced = [&](const std::string& op) {
    OnnxModel model(18);
    model.input("x", {2, 2}).output("y");
    model.node(op, {"x"}, {"y"}).set("noop_with_empty_axes", 1);
    return answer_of(model, x);
  };
  for (const std::string op : {"Sum", "Mean", "Max", "Min", "Prod", "LogSumExp"})
    expect_near(reduced("Reduce" + op), x);
  expect_near(reduced("ReduceL1"), {0.5f, 2, 3, 0.7f});
  expect_near(reduced("ReduceL2"), {0.5f, 2, 3, 0.7f});
  expect_near(reduced("ReduceSumSquare"), {0.25f, 4, 9, 0.49f});
  const std::vector<float> logarithms = reduced("ReduceLogSum");
  EXPECT_TRUE(std::isnan(logarithms[1]));
  EXPECT_NEAR(logarithms[2], 1.0986123f, 1e-6);
}

// The values of the next three are those of ONNX Runtime 1.32.

TEST(Forms, padding_repeats_what_is_kept) {
  const auto padded = [](const std::vector<std::int64_t>& pads) {
    OnnxModel model(19);
    model.input("x", {2, 3}).output("y").integers("pads", pads);
    model.node("Pad", {"x", "pads"}, {"y"}).set_text("mode", "wrap");
    return answer_of(model, {1, 2, 3, 4, 5, 6});
  };
  expect_near(padded({0, 4, 1, -1}), {1, 2, 1, 2, 1, 2, 4, 5, 4, 5, 4, 5, 1, 2, 1, 2, 1, 2});
  expect_near(padded({0, 2, 1, 4}),
              {2, 3, 1, 2, 3, 1, 2, 3, 1, 5, 6, 4, 5, 6, 4, 5, 6, 4, 2, 3, 1, 2, 3, 1, 2, 3, 1});
}

TEST(Forms, images_are_resized_around_their_middle) {
  const auto resized = [](float scale) {
    OnnxModel model(19);
    model.input("x", {1, 1, 1, 4}).output("y").weight("scales", floats({1, 1, 1, scale}));
    model.node("Resize", {"x", "", "scales"}, {"y"})
        .set_text("mode", "linear")
        .set_text("coordinate_transformation_mode", "half_pixel_symmetric");
    return answer_of(model, {1, 2, 4, 8});
  };
  expect_near(resized(1.7f),
              {1.0294119f, 1.6176472f, 2.4117649f, 3.5882354f, 5.5294123f, 7.882353f});
  expect_near(resized(0.6f), {1.6666667f, 5.333333f});
}

/// PyTorch's interpolate() of 7 elements by 0.5; and as ONNX's own cases have it.
TEST(Forms, corners_are_aligned_as_the_exporter_does_it) {
  const auto resized = [](const char* producer) {
    OnnxModel model(17);
    model.proto().set_producer_name(producer);
    model.input("x", {1, 1, 1, 7}).output("y").weight("scales", floats({1, 1, 1, 0.5f}));
    model.node("Resize", {"x", "", "scales"}, {"y"})
        .set_text("mode", "linear")
        .set_text("coordinate_transformation_mode", "align_corners");
    return answer_of(model, {0, 10, 20, 30, 40, 50, 60});
  };
  expect_near(resized("pytorch"), {0, 30, 60});
  expect_near(resized(""), {0, 24, 48});
}

/// A size of 0 leaves nothing to divide by.
TEST(Forms, corners_of_nothing_are_aligned_too) {
  for (const std::int64_t size : {7, 0}) {
    OnnxModel model(18);
    model.proto().set_producer_name("pytorch");
    model.input("x", {1, 1, 1, size}).output("y").weight("scales", floats({1, 1, 1, 0.1f}));
    model.node("Resize", {"x", "", "scales"}, {"y"})
        .set_text("mode", "linear")
        .set_text("coordinate_transformation_mode", "align_corners")
        .set("antialias", 1);
    if (size == 0)
      EXPECT_THROW(model.read(), InputError);
    else
      EXPECT_EQ(answer_of(model, {1, 2, 3, 4, 5, 6, 7}), std::vector<float>{});
  }
}

/// The numbers of ONNX Runtime. The cell's state is larger than the clip.
TEST(Forms, an_lstm_clips_its_sums_and_not_its_state) {
  OnnxModel model(14);
  model.input("x", {5, 1, 1}).output("y").weight("w", floats({1, 4, 1}, {1, 0.5f, 1, 2}));
  model.weight("r", floats({1, 4, 1}, {0.5f, 0.5f, 1, -0.5f}));
  model.weight("b", floats({1, 8}, {0, 0, 2, 0, 0, 0, 0, 0}));
  model.node("LSTM", {"x", "w", "r", "b"}, {"y"}).set("hidden_size", 1).set_number("clip", 1.5f);
  expect_near(answer_of(model, {3, 3, -1, 3, 3}),
              {0.5143859f, 0.7136448f, 0.30510607f, 0.72099787f, 0.7797571f});
}

/// The numbers of ONNX Runtime.
TEST(Forms, pools_take_norms) {
  const auto pooled = [](const std::string& op_type, std::int64_t p,
                         const std::vector<std::pair<std::string, Shape>>& lists = {},
                         bool rounds_up = false) {
    OnnxModel model(18);
    model.input("x", {1, 1, 1, 7}).output("y");
    test::OnnxNode node = model.node(op_type, {"x"}, {"y"});
    node.set("p", p);
    for (const auto& [name, list] : lists) node.set_list(name, list);
    if (rounds_up) node.set("ceil_mode", 1);
    return answer_of(model, {1, -2, 3, -4, 5, -6, 7});
  };
  expect_near(
      pooled("LpPool", 3, {{"kernel_shape", {1, 3}}, {"pads", {0, 1, 0, 0}}, {"strides", {1, 2}}}),
      {2.0800838f, 4.6260653f, 7.398637f});
  expect_near(pooled("LpPool", 2, {{"kernel_shape", {1, 3}}, {"strides", {1, 2}}}),
              {3.7416575f, 7.071068f, 10.488089f});
  expect_near(pooled("LpPool", 1, {{"kernel_shape", {1, 2}}, {"strides", {1, 2}}}, true),
              {3, 7, 11, 7});
  expect_near(pooled("LpPool", 2, {{"kernel_shape", {1, 2}}, {"dilations", {1, 3}}}),
              {4.1231055f, 5.3851647f, 6.708204f, 8.062258f});
  expect_near(pooled("LpPool", 2,
                     {{"kernel_shape", {1, 3}}, {"pads", {0, 0, 0, 1}}, {"strides", {1, 3}}}, true),
              {3.7416575f, 8.774964f, 7});
  expect_near(pooled("GlobalLpPool", 3), {9.220873f});
  expect_near(pooled("GlobalLpPool", 1), {28});
  expect_near(pooled("GlobalLpPool", 2), {11.83216f});
}

TEST(Forms, norms_of_half_precision_are_summed_in_single_precision) {
  for (const char* op_type : {"LpPool", "GlobalLpPool"}) {
    OnnxModel model(18);
    model.input("x", {1, 1, 4}, DataType::float16).output("y");
    test::OnnxNode node = model.node(op_type, {"x"}, {"y"});
    node.set("p", 3);
    if (std::string_view(op_type) == "LpPool") node.set_list("kernel_shape", {4});
    const Network network = model.read();
    // 60^3 is more than the largest half number.
    const std::vector<std::uint16_t> sixties(4, 0x5380), norm{0x55f4};  // 95.25
    const auto x = make_array<std::uint16_t>(DataType::float16, {1, 1, 4}, sixties);
    const Array y = evaluate(network, std::vector{x})[0];
    EXPECT_TRUE(std::ranges::equal(y.values<std::uint16_t>(), norm));
  }
}

/// The numbers of ONNX's own cases.
TEST(Forms, images_are_made_smaller_without_aliases) {
  const auto made_smaller = [](const char* mode, bool by_sizes) {
    OnnxModel model(18);
    model.input("x", {1, 1, 4, 4}).output("y");
    if (by_sizes)
      model.integers("to", {1, 1, 3, 3});
    else
      model.weight("to", floats({1, 1, 0.6f, 0.6f}));
    const std::vector<std::string> inputs = by_sizes ? std::vector<std::string>{"x", "", "", "to"}
                                                     : std::vector<std::string>{"x", "", "to"};
    model.node("Resize", inputs, {"y"}).set_text("mode", mode).set("antialias", 1);
    std::vector<float> x;
    for (int i = 1; i <= 16; ++i) x.push_back(static_cast<float>(i));
    return answer_of(model, x);
  };
  expect_near(made_smaller("linear", false), {2.875f, 4.5f, 9.375f, 11});
  expect_near(made_smaller("cubic", false), {2.518072f, 4.285886f, 9.589329f, 11.357142f});
  expect_near(made_smaller("linear", true), {2.363636f, 3.590909f, 4.818182f, 7.272727f, 8.5f,
                                             9.727273f, 12.181818f, 13.409091f, 14.636364f});
  expect_near(made_smaller("cubic", true), {1.775009f, 3.120007f, 4.465005f, 7.155002f, 8.5f,
                                            9.844998f, 12.534994f, 13.879992f, 15.224991f});
}

TEST(Forms, a_region_of_an_image_gets_the_size_of_the_whole_one_times_the_scale) {
  OnnxModel model(19);
  model.input("x", {1, 1, 4, 4}).output("y").weight("scales", floats({1, 1, 0.75f, 0.5f}));
  model.weight("roi", floats({0, 0, 0.25f, 0.25f, 1, 1, 0.75f, 1}));
  model.node("Resize", {"x", "roi", "scales"}, {"y"})
      .set_text("mode", "linear")
      .set_text("coordinate_transformation_mode", "tf_crop_and_resize");
  std::vector<float> x;
  for (int i = 0; i < 16; ++i) x.push_back(static_cast<float>(i));
  expect_near(answer_of(model, x), {3.75f, 6, 6.75f, 9, 9.75f, 12});
}

TEST(Forms, blocks_of_half_precision_are_added_to_an_image) {
  OnnxModel model(18);
  model.input("x", {1, 1, 2}, DataType::float16).output("y");
  model.integers("image", {1, 2}).integers("block", {1, 1});
  model.node("Col2Im", {"x", "image", "block"}, {"y"});
  EXPECT_EQ(model.read().inputs.size(), 1u);
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
}  // namespace millrace::formats
