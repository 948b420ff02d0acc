// Layers that ONNX has in another form only, and borders of all kinds.
#include <gtest/gtest.h>

#include <functional>
#include <ostream>

#include "formats/onnx_writer/write_onnx.h"
#include "formats/read.h"
#include "network/evaluate/evaluate.h"
#include "network/simplify/simplify.h"
#include "support/compare.h"
#include "support/message_of.h"
#include "support/network_builder.h"

namespace millrace::test {

using namespace millrace::network;
using namespace millrace::formats;

namespace {

struct Form {
  const char* name;
  std::function<void(NetworkBuilder&)> build;
};
void PrintTo(const Form& form, std::ostream* out) { *out << form.name; }

Form moved(const char* name, const Operator& op, const Shape& x, const Shape& y) {
  return {name, [=](NetworkBuilder& b) { b.output(b.layer(op, {b.input(x)}, y)); }};
}

Form transposed(const char* name, const Window& window, bool bias, const Shape& y) {
  return {name, [=](NetworkBuilder& b) {
            const TensorId x = b.input({1, 4, 3, 5}), weight = b.constant({4, 3, 3, 3});
            std::vector<TensorId> inputs{x, weight};
            if (bias) inputs.push_back(b.constant(Shape{3}));
            b.output(b.layer(ConvTranspose{window, 1}, inputs, y));
          }};
}

/// The function of numbers from -4 to 4 in this type.
Form function(const char* name, const Unary& op, DataType type) {
  return {name, [=](NetworkBuilder& b) {
            const TensorId scaled =
                b.binary(BinaryKind::mul, b.input({3, 7}), b.constant(Shape{}, {4, 4.0001}));
            const TensorId x = b.layer(Cast{}, {scaled}, {3, 7});
            b.set_type(x, type);
            b.output(b.unary(op.kind, x, op.alpha, op.beta));
          }};
}

Resize resize(ResizeMode mode, Coordinates coordinates, std::vector<double> scales) {
  Resize op;
  op.mode = mode;
  op.coordinates = coordinates;
  op.scales = std::move(scales);
  return op;
}

void tensors_of_one_name(NetworkBuilder& b) {
  const TensorId x = b.input({2, 3}), y = b.constant({2, 3}), z = b.constant({2, 3});
  b.output(b.binary(BinaryKind::add, b.binary(BinaryKind::mul, x, y), z));
}

void outputs_of_all_kinds(NetworkBuilder& b) {
  const TensorId x = b.input({2, 3}), c = b.constant({300, 4});
  const TensorId y = b.unary(UnaryKind::tanh, x);
  for (const TensorId output : {x, y, c, y}) b.output(output);
}

void moments_of_rows(NetworkBuilder& b) {
  const TensorId x = b.input({2, 5, 8}), scale = b.constant({5, 1}), bias = b.constant({8});
  for (const TensorId y :
       b.layers(Normalization{1}, {x, scale, bias}, {{2, 5, 8}, {2, 1, 1}, {2, 1, 1}}))
    b.output(y);
}

void average_with_padding(NetworkBuilder& b) {
  const TensorId x = b.input({1, 3, 6, 7});
  const Pool pool{PoolKind::average, window(3, {.stride = 2, .pad = 1}), true, false};
  b.output(b.layer(pool, {x}, {1, 3, 4, 4}));
}

std::vector<Form> forms() {
  using enum DataType;
  using enum Coordinates;
  const Window before{{3, 3}, {2, 2}, {1, 1}, {-1, 0}, {1, 1}};
  const Window after{{3, 3}, {2, 2}, {1, 1}, {1, 1}, {-4, 0}};
  const std::vector<double> odd{1, 1, 0.7, 0.83};
  const Shape x{1, 2, 6, 7};
  std::vector<Form> all{
      transposed("transposed_with_rows_before", before, true, {1, 3, 7, 10}),
      transposed("transposed_with_rows_after", after, true, {1, 3, 10, 10}),
      transposed("transposed_with_rows_after_without_bias", after, false, {1, 3, 10, 10}),
      moved("softmax_over_the_middle", Softmax{1, 3, false}, {2, 3, 4, 5}, {2, 3, 4, 5}),
      moved("log_softmax_over_the_middle", Softmax{1, 3, true}, {2, 3, 4, 5}, {2, 3, 4, 5}),
      moved("lrn_of_even_size", Lrn{4, 0.5f, 0.75f, 1}, {1, 6, 4, 4}, {1, 6, 4, 4}),
      moved("whole_slice", Slice{{0, 0}, {1, 1}}, {2, 3}, {2, 3}),
      moved("backward_slice", Slice{{1, 2}, {-1, -2}}, {2, 3}, {2, 2}),
      moved("empty_reshape", Reshape{}, {6, 0}, {0, 2}),
      moved("dilated_average", Pool{PoolKind::average, window(2, {.dilation = 2})}, {1, 2, 5, 5},
            {1, 2, 3, 3}),
      moved("rms_without_scale", Normalization{1, 1e-5f, false}, {2, 12}, {2, 12}),
      moved("linear_to_more_than_the_scale", resize(ResizeMode::linear, half_pixel, odd), x,
            {1, 2, 5, 6}),
      moved("nearest_to_more_than_the_scale", resize(ResizeMode::nearest, asymmetric, odd), x,
            {1, 2, 5, 6}),
      moved("cubic_of_aligned_corners", resize(ResizeMode::cubic, align_corners, odd), x,
            {1, 2, 4, 5}),
      {"average_that_counts_its_padding", average_with_padding},
      {"tensors_of_one_name", tensors_of_one_name},
      {"outputs_of_all_kinds", outputs_of_all_kinds},
      {"moments_of_rows", moments_of_rows},
  };
  for (const DataType type : {float32, float64}) {
    const bool wide = type == float64;
    all.push_back(function(wide ? "wide_gelu" : "gelu", {UnaryKind::gelu}, type));
    all.push_back(function(wide ? "wide_tanh_gelu" : "tanh_gelu", {UnaryKind::gelu_tanh}, type));
    all.push_back(function(wide ? "wide_swish" : "swish", {UnaryKind::swish, 1.7}, type));
    all.push_back(function(wide ? "wide_celu" : "celu", {UnaryKind::celu, 0.7}, type));
    all.push_back(function(wide ? "wide_mish" : "mish", {UnaryKind::mish}, type));
    all.push_back(function(wide ? "wide_hard_swish" : "hard_swish", {UnaryKind::hard_swish}, type));
    all.push_back(function(wide ? "wide_clip" : "clip", {UnaryKind::clip, -1, 1.5}, type));
  }
  all.push_back(function("clip_of_integers", {UnaryKind::clip, -1, 2}, int32));
  all.push_back(function("relu_of_integers", {UnaryKind::relu}, int32));
  return all;
}

Network network_of(const Form& form) {
  NetworkBuilder builder;
  form.build(builder);
  return builder.build();
}

class WrittenForms : public testing::TestWithParam<Form> {};
INSTANTIATE_TEST_SUITE_P(each, WrittenForms, testing::ValuesIn(forms()),
                         [](const auto& test) { return std::string(test.param.name); });

TEST_P(WrittenForms, compute_the_same) {
  const Network network = network_of(GetParam());
  Random random(3);
  const std::vector<Array> inputs = random_inputs(random, network);
  const OnnxModel model = write_onnx(network);
  const std::vector<Array> found = evaluate(read_onnx(model.bytes, "written", {}), inputs);
  const std::vector<Array> expected = evaluate(network, inputs);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(difference(found[i], expected[i]), "") << "output " << i;
    if (expected[i].type != DataType::float32 || expected[i].bytes().empty()) continue;
    EXPECT_LE(relative_error(found[i], expected[i]), 1e-6) << "output " << i;
  }
}

TEST(WriteOnnxBorders, have_the_names_of_the_model_in_the_order_asked_for) {
  const Network network = network_of({"", outputs_of_all_kinds});
  const OnnxModel model = write_onnx(network);
  const Network written = read_onnx(model.bytes, "written", {});
  ASSERT_EQ(model.outputs.size(), 4u);
  for (std::size_t i = 0; i < model.outputs.size(); ++i)
    EXPECT_EQ(written[written.outputs[i]].name, model.outputs[i]);
  EXPECT_EQ(written[written.inputs[0]].name, model.inputs[0]);
}

TEST(WriteOnnxWeights, are_listed_where_they_are_large) {
  const Network network = network_of({"", [](NetworkBuilder& b) {
                                        const TensorId x = b.input({2, 300});
                                        const TensorId y =
                                            b.binary(BinaryKind::add, x, b.constant({300}));
                                        b.output(b.binary(BinaryKind::mul, y, b.constant({1, 1})));
                                      }});
  const OnnxModel model = write_onnx(network, OnnxWriting{.weights_inside = false});
  ASSERT_EQ(model.weights.size(), 1u);
  EXPECT_EQ(network[model.weights[0].tensor].shape, Shape{300});
  EXPECT_LT(model.bytes.size(), 1000u);
  EXPECT_NE(message_of([&] { read_onnx(model.bytes, "written", {}); }).find("'weights'"),
            std::string::npos);
}

TEST(CanWriteOnnx, says_why_a_pool_cannot_be_written) {
  const Network network = network_of(
      moved("", Pool{PoolKind::max, window(3, {.stride = 2})}, {1, 2, 9, 9}, {1, 2, 2, 2}));
  const Verdict verdict = can_write(network, LayerId(0));
  EXPECT_FALSE(verdict);
  EXPECT_NE(verdict.reason().find("neither rounded up nor down"), std::string::npos);
  EXPECT_NE(message_of([&] { write_onnx(network); }).find("the layer 'layer0' (MaxPool) cannot"),
            std::string::npos);
}

}  // namespace
}  // namespace millrace::test
