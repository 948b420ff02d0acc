#include "cases.h"

namespace millrace::test {

using namespace millrace::network;

namespace {

struct ConvShape {
  std::string name;
  Shape x;
  std::int64_t filters;
  Window window;
  std::int64_t groups = 1;
};

std::vector<ConvShape> conv_shapes() {
  Window uneven = window(3, {.stride = 2});
  uneven.kernel = {3, 2};
  uneven.pads_begin = {0, 1};
  uneven.pads_end = {1, 0};
  return {
      {"conv_1x1", {1, 16, 7, 7}, 32, window(1)},
      {"conv_3x3_pad_1", {1, 16, 9, 10}, 24, window(3, {.pad = 1})},
      {"conv_3x3_stride_2", {2, 8, 11, 9}, 16, window(3, {.stride = 2, .pad = 1})},
      {"conv_5x5_dilation_2", {1, 4, 17, 17}, 8, window(5, {.pad = 4, .dilation = 2})},
      {"conv_of_three_channels", {1, 3, 15, 15}, 16, window(7, {.stride = 2, .pad = 3})},
      {"conv_odd_channels", {1, 5, 6, 6}, 7, window(3, {.pad = 1})},
      {"conv_uneven_pads", {1, 8, 8, 9}, 8, uneven},
      {"conv_depthwise", {1, 16, 10, 10}, 16, window(3, {.pad = 1}), 16},
      {"conv_depthwise_stride_2", {1, 24, 9, 9}, 24, window(3, {.stride = 2, .pad = 1}), 24},
      {"conv_grouped", {1, 16, 6, 6}, 32, window(3, {.pad = 1}), 4},
      {"conv_batch", {3, 4, 5, 5}, 6, window(3)},
      {"conv_1d", {1, 4, 20}, 8, window(3, {.pad = 1, .dimensions = 1})},
      {"conv_3d", {1, 3, 5, 6, 7}, 4, window(3, {.pad = 1, .dimensions = 3})},
  };
}

ConformanceCase conv_case(const ConvShape& c) {
  return {c.name, [c](NetworkBuilder& b) {
            b.output(b.conv(b.input(c.x), c.filters, c.window, c.groups));
          }};
}

ConformanceCase transposed_case(const std::string& name, const Window& w, std::int64_t groups,
                                const Shape& size) {
  return {name, [=](NetworkBuilder& b) {
            const Shape x{1, 6, 5, 6};
            Shape weights{6, 8 / groups};
            weights.insert(weights.end(), w.kernel.begin(), w.kernel.end());
            const TensorId in = b.input(x);
            const TensorId weight = b.constant(weights), bias = b.constant(Shape{8});
            b.output(b.layer(ConvTranspose{w, groups}, {in, weight, bias},
                             {1, 8, size[0], size[1]}));
          }};
}

/// Windows beside each other, with one activation after them.
ConformanceCase patches_case(const std::string& name, std::int64_t filters, const Unary& op) {
  return {name, [=](NetworkBuilder& b) {
            const Window w{{2, 3}, {2, 3}, {1, 1}, {0, 0}, {0, 0}};
            const TensorId x = b.input({2, 6, 5, 4}), weight = b.constant({6, filters, 2, 3});
            const TensorId y = b.layer(ConvTranspose{w, 1}, {x, weight, b.constant({filters})},
                                       {2, filters, 10, 12});
            b.output(b.unary(op.kind, y, op.alpha, op.beta));
          }};
}

void conv_without_bias(NetworkBuilder& b) {
  const TensorId x = b.input({1, 8, 6, 6}), w = b.constant({12, 8, 3, 3});
  b.output(b.layer(Conv{window(3), 1}, {x, w}, {1, 12, 4, 4}));
}

TensorId biasless(NetworkBuilder& b, TensorId x) {
  return b.layer(Conv{window(3, {.pad = 1}), 1}, {x, b.constant({8, 8, 3, 3})}, {1, 8, 6, 6});
}

void conv_without_bias_relu(NetworkBuilder& b) {
  b.output(b.unary(UnaryKind::relu, biasless(b, b.input({1, 8, 6, 6}))));
}

void conv_without_bias_residual_relu(NetworkBuilder& b) {
  const TensorId x = b.input({1, 8, 6, 6});
  b.output(b.unary(UnaryKind::relu, b.binary(BinaryKind::add, biasless(b, x), x)));
}

void conv_with_computed_weights(NetworkBuilder& b) {
  const TensorId x = b.input({1, 4, 6, 6}), w = b.input({4, 4, 3, 3});
  b.output(b.layer(Conv{window(3), 1}, {x, b.unary(UnaryKind::tanh, w)}, {1, 4, 4, 4}));
}

ConformanceCase pool_case(const std::string& name, const Pool& pool, const Shape& x) {
  return {name, [=](NetworkBuilder& b) { b.output(b.pool(pool, b.input(x))); }};
}

void pool_with_indices(NetworkBuilder& b, bool column_major) {
  const TensorId x = b.input({2, 3, 6, 6});
  const Pool pool{PoolKind::max, window(2, {.stride = 2}), false, column_major};
  const std::vector<TensorId> y = b.layers(pool, {x}, {{2, 3, 3, 3}, {2, 3, 3, 3}});
  b.set_type(y[1], DataType::int64);
  b.output(y[0]);
  b.output(y[1]);
}

/// The last window reaches beyond the padding.
void pool_ceil(NetworkBuilder& b, PoolKind kind, bool count_include_pad) {
  const TensorId x = b.input({1, 4, 6, 6});
  b.output(b.layer(Pool{kind, window(3, {.stride = 2}), count_include_pad, false}, {x},
                   {1, 4, 3, 3}));
}

}  // namespace

std::vector<ConformanceCase> convolution_cases() {
  std::vector<ConformanceCase> cases;
  for (const ConvShape& shape : conv_shapes()) cases.push_back(conv_case(shape));
  cases.push_back({"conv_without_bias", conv_without_bias});
  cases.push_back({"conv_without_bias_relu", conv_without_bias_relu});
  cases.push_back({"conv_without_bias_residual_relu", conv_without_bias_residual_relu});
  cases.push_back({"conv_with_computed_weights", conv_with_computed_weights});
  cases.push_back(transposed_case("conv_transpose", window(3), 1, {7, 8}));
  cases.push_back(transposed_case("conv_transpose_stride_2", window(3, {.stride = 2, .pad = 1}), 1,
                                  {9, 11}));
  cases.push_back(transposed_case("conv_transpose_output_padding",
                                  window(3, {.stride = 2, .pad = 1}), 1, {10, 12}));
  cases.push_back(patches_case("conv_transpose_patches_relu", 8, {UnaryKind::relu}));
  cases.push_back(patches_case("conv_transpose_patches_leaky", 3, {UnaryKind::leaky_relu, 0.1}));
  cases.push_back(patches_case("conv_transpose_patches_clip", 1, {UnaryKind::clip, -0.2, 0.3}));
  cases.push_back(patches_case("conv_transpose_patches_sigmoid", 5, {UnaryKind::sigmoid}));
  cases.push_back(transposed_case("conv_transpose_grouped", window(2, {.stride = 2}), 2, {10, 12}));
  cases.push_back(transposed_case("conv_transpose_dilated", window(3, {.dilation = 2}), 1,
                                  {9, 10}));
  return cases;
}

std::vector<ConformanceCase> pool_cases() {
  const Shape x{1, 8, 9, 10};
  const Window padded = window(3, {.stride = 2, .pad = 1});
  return {
      pool_case("max_pool", {PoolKind::max, window(2, {.stride = 2})}, x),
      pool_case("max_pool_padded", {PoolKind::max, padded}, x),
      pool_case("max_pool_dilated", {PoolKind::max, window(3, {.dilation = 2})}, x),
      pool_case("max_pool_1d", {PoolKind::max, window(3, {.dimensions = 1})}, {1, 4, 12}),
      pool_case("max_pool_3d", {PoolKind::max, window(2, {.dimensions = 3})}, {1, 4, 4, 5, 6}),
      pool_case("average_pool", {PoolKind::average, window(3)}, x),
      pool_case("average_pool_padded", {PoolKind::average, padded}, x),
      pool_case("average_pool_with_padding_counted", {PoolKind::average, padded, true}, x),
      pool_case("global_average_pool", {PoolKind::average, window(7)}, {2, 16, 7, 7}),
      pool_case("global_max_pool", {PoolKind::max, window(7)}, {2, 16, 7, 7}),
      {"max_pool_ceil", [](NetworkBuilder& b) { pool_ceil(b, PoolKind::max, false); }},
      {"average_pool_ceil", [](NetworkBuilder& b) { pool_ceil(b, PoolKind::average, false); }},
      {"average_pool_ceil_with_padding_counted",
       [](NetworkBuilder& b) { pool_ceil(b, PoolKind::average, true); }},
      {"max_pool_indices", [](NetworkBuilder& b) { pool_with_indices(b, false); }},
      {"max_pool_column_major_indices", [](NetworkBuilder& b) { pool_with_indices(b, true); }},
  };
}

}  // namespace millrace::test
