#include "chains.h"

#include <array>
#include <utility>

namespace millrace::test {

using namespace millrace::network;

namespace {

constexpr std::int64_t inputs_of_head = 5;

ChainHead convolution_head(const std::string& name, const Window& window) {
  return {name, [=](NetworkBuilder& b, std::int64_t channels) {
            return b.conv(b.input({1, inputs_of_head, 5, 6}), channels, window);
          }};
}

TensorId depthwise_head(NetworkBuilder& b, std::int64_t channels) {
  return b.conv(b.input({1, channels, 5, 6}), channels, window(3, {.pad = 1}), channels);
}

TensorId grouped_head(NetworkBuilder& b, std::int64_t channels) {
  return b.conv(b.input({1, 2 * channels, 5, 6}), channels, window(3, {.pad = 1}), channels);
}

TensorId transposed_head(NetworkBuilder& b, std::int64_t channels) {
  const TensorId x = b.input({1, inputs_of_head, 3, 4});
  const TensorId w = b.constant({inputs_of_head, channels, 2, 2}), bias = b.constant({channels});
  return b.layer(ConvTranspose{window(2, {.stride = 2}), 1}, {x, w, bias}, {1, channels, 6, 8});
}

TensorId overlapping_head(NetworkBuilder& b, std::int64_t channels) {
  const TensorId x = b.input({1, inputs_of_head, 3, 4});
  const TensorId w = b.constant({inputs_of_head, channels, 3, 3}), bias = b.constant({channels});
  const ConvTranspose op{window(3, {.stride = 2, .pad = 1}), 1};
  return b.layer(op, {x, w, bias}, {1, channels, 5, 7});
}

/// Over one dimension, far apart, behind a function.
TensorId dilated_head(NetworkBuilder& b, std::int64_t channels) {
  const TensorId x = b.unary(UnaryKind::tanh, b.input({1, inputs_of_head, 20}));
  return b.conv(x, channels, window(3, {.pad = 4, .dilation = 4, .dimensions = 1}));
}

TensorId gemm_head(NetworkBuilder& b, std::int64_t channels) {
  const TensorId w = b.constant({7, channels}), bias = b.constant({channels});
  return b.layer(Gemm{}, {b.input({3, 7}), w, bias}, {3, channels});
}

TensorId scaled_gemm_head(NetworkBuilder& b, std::int64_t channels) {
  const Gemm op{.transpose_a = true, .alpha = 0.5f, .beta = 2};
  const TensorId w = b.constant({7, channels}), bias = b.constant({3, channels});
  return b.layer(op, {b.input({7, 3}), w, bias}, {3, channels});
}

TensorId product_with_constant_head(NetworkBuilder& b, std::int64_t channels) {
  const TensorId x = b.input({2, 5, 7});
  return b.layer(MatMul{}, {x, b.constant({7, channels})}, {2, 5, channels});
}

TensorId product_of_inputs_head(NetworkBuilder& b, std::int64_t channels) {
  const TensorId x = b.input({2, 5, 7});
  return b.layer(MatMul{}, {x, b.input({2, 7, channels})}, {2, 5, channels});
}

TensorId normalised_head(NetworkBuilder& b, std::int64_t channels) {
  const Shape c{channels}, shape{1, channels, 5, 6};
  const TensorId x = b.input(shape), scale = b.constant(c, {0.5, 2}), bias = b.constant(c);
  const TensorId mean = b.constant(c), variance = b.constant(c, {0.5, 2});
  return b.layer(BatchNormalization{}, {x, scale, bias, mean, variance}, shape);
}

ChainHead binary_head(const std::string& name, BinaryKind kind) {
  return {name, [=](NetworkBuilder& b, std::int64_t channels) {
            const Shape shape{1, channels, 5, 6};
            const TensorId x = b.input(shape);
            return b.binary(kind, x, b.input(shape));
          }};
}

/// A head with sizes of 1 that moved: their strides say nothing.
TensorId moved_head(NetworkBuilder& b, std::int64_t channels) {
  return b.layer(Transpose{{1, 0, 2, 3}}, {b.input({1, channels, 4, 5})}, {channels, 1, 4, 5});
}

TensorId channels_moved_last_head(NetworkBuilder& b, std::int64_t channels) {
  return b.layer(Transpose{{0, 2, 3, 1}}, {b.input({1, channels, 4, 5})}, {1, 4, 5, channels});
}

struct Function {
  const char* name;
  UnaryKind kind;
  double alpha = 0, beta = 0;
};

/// Without those that jump or have no bounded slope: differences of rounding would show there.
constexpr std::array functions{
    Function{"relu", UnaryKind::relu},
    Function{"leaky_relu", UnaryKind::leaky_relu, 0.1},
    Function{"leakier_relu", UnaryKind::leaky_relu, 0.3},
    Function{"clip", UnaryKind::clip, 0, 6},
    Function{"narrow_clip", UnaryKind::clip, -0.5, 0.75},
    Function{"sigmoid", UnaryKind::sigmoid},
    Function{"hard_sigmoid", UnaryKind::hard_sigmoid, 0.2, 0.5},
    Function{"steep_hard_sigmoid", UnaryKind::hard_sigmoid, 1. / 6, 0.5},
    Function{"hard_swish", UnaryKind::hard_swish},
    Function{"tanh", UnaryKind::tanh},
    Function{"elu", UnaryKind::elu, 0.8},
    Function{"flat_elu", UnaryKind::elu, 0.3},
    Function{"softplus", UnaryKind::softplus},
    Function{"mish", UnaryKind::mish},
    Function{"gelu", UnaryKind::gelu},
    Function{"gelu_tanh", UnaryKind::gelu_tanh},
    Function{"swish", UnaryKind::swish, 1.702},
    Function{"erf", UnaryKind::erf},
};

struct Operation {
  const char* name;
  BinaryKind kind;
};
constexpr std::array operations{
    Operation{"add", BinaryKind::add}, Operation{"sub", BinaryKind::sub},
    Operation{"mul", BinaryKind::mul}, Operation{"div", BinaryKind::div},
    Operation{"max", BinaryKind::max}, Operation{"min", BinaryKind::min},
    Operation{"prelu", BinaryKind::prelu},
};

Shape by_channel(const Shape& shape) {
  Shape result(shape.size() - 1, 1);
  result[0] = shape[1];
  return result;
}

enum class Second { number, channels, columns, whole, computed };
constexpr std::array seconds{Second::number, Second::channels, Second::columns, Second::whole,
                             Second::computed};

const char* name_of(Second second) {
  constexpr std::array names{"_number", "_by_channel", "_by_column", "_whole", "_computed"};
  return names[static_cast<std::size_t>(second)];
}

/// Away from zero, for divisions.
TensorId second_operand(NetworkBuilder& b, Shape shape, Second second,
                        std::pair<double, double> range = {0.5, 1.5}) {
  switch (second) {
    case Second::number: return b.constant(Shape{}, range);
    case Second::channels: return b.constant(by_channel(shape), range);
    case Second::columns:
      return b.constant({shape.back()}, range);
    case Second::whole: return b.constant(std::move(shape), range);
    case Second::computed: break;
  }
  const TensorId offset = b.constant(Shape{}, {1, 1.5});
  return b.binary(BinaryKind::max, b.input(std::move(shape)), offset);
}

ChainStep step_of(const Function& function) {
  return {function.name, [=](NetworkBuilder& b, TensorId x) {
            return b.unary(function.kind, x, function.alpha, function.beta);
          }};
}

ChainStep step_of(const Operation& operation, Second second) {
  return {std::string(operation.name) + name_of(second), [=](NetworkBuilder& b, TensorId x) {
            return b.binary(operation.kind, x, second_operand(b, b.shape(x), second));
          }};
}

/// With slopes that turn the sign, too.
ChainStep falling_prelu(Second second) {
  return {std::string("falling_prelu") + name_of(second), [=](NetworkBuilder& b, TensorId x) {
            const TensorId slopes = second_operand(b, b.shape(x), second, {-1, 0.5});
            return b.binary(BinaryKind::prelu, x, slopes);
          }};
}

ChainStep gate_of(const Function& function) {
  return {std::string("times_its_") + function.name, [=](NetworkBuilder& b, TensorId x) {
            const TensorId gate = b.unary(function.kind, x, function.alpha, function.beta);
            return b.binary(BinaryKind::mul, x, gate);
          }};
}

}  // namespace

std::vector<ChainHead> chain_heads() {
  return {convolution_head("conv_1x1", window(1)),
          convolution_head("conv_3x3", window(3, {.pad = 1})),
          convolution_head("conv_3x3_stride_2", window(3, {.stride = 2, .pad = 1})),
          {"depthwise", depthwise_head},
          {"conv_in_groups", grouped_head},
          {"conv_transpose", transposed_head},
          {"conv_transpose_overlapping", overlapping_head},
          {"conv_dilated", dilated_head},
          {"gemm", gemm_head},
          {"scaled_gemm", scaled_gemm_head},
          {"matmul_by_constant", product_with_constant_head},
          {"matmul", product_of_inputs_head},
          {"batch_normalization", normalised_head},
          binary_head("sum", BinaryKind::add),
          binary_head("product", BinaryKind::mul),
          {"transpose_of_ones", moved_head},
          {"transpose_to_channels_last", channels_moved_last_head}};
}

std::vector<ChainStep> chain_steps() {
  std::vector<ChainStep> steps;
  for (const Function& function : functions) steps.push_back(step_of(function));
  for (const Operation& operation : operations)
    for (const Second second : seconds) steps.push_back(step_of(operation, second));
  for (const Second second : {Second::number, Second::channels, Second::columns, Second::whole})
    steps.push_back(falling_prelu(second));
  steps.push_back(gate_of({"sigmoid", UnaryKind::sigmoid}));
  steps.push_back(gate_of({"hard_sigmoid", UnaryKind::hard_sigmoid, 1. / 6, 0.5}));
  return steps;
}

ChainStep heavy_step() {
  return {"heavy", [](NetworkBuilder& b, TensorId x) {
            const Shape shape = b.shape(x);
            if (shape.size() == 4) return b.conv(x, 7, window(1));
            Shape result = shape;
            result.back() = 7;
            return b.layer(MatMul{}, {x, b.constant({shape.back(), 7})}, result);
          }};
}

Network chain_of(const ChainHead& head, std::int64_t channels,
                 const std::vector<const ChainStep*>& steps) {
  NetworkBuilder builder;
  TensorId result = head.build(builder, channels);
  for (const ChainStep* step : steps) result = step->build(builder, result);
  builder.output(result);
  return builder.build();
}

}  // namespace millrace::test
