// Quantised tensors. They are made from floating-point inputs, so that every engine has the same.
#include "cases.h"

namespace millrace::test {

using namespace millrace::network;

namespace {

Array bytes(Random& random, const Shape& shape) {
  return random_array(random, DataType::int8, shape, {-128, 128});
}
Array one(DataType type, std::uint8_t value) {
  return make_array<std::uint8_t>(type, {}, std::span(&value, 1));
}
Array scale(float value) { return make_array<float>(DataType::float32, {}, std::span(&value, 1)); }

/// A uint8 input in steps of 1/100.
struct Quantised {
  TensorId values, scale, zero;

  Quantised(NetworkBuilder& b, const Shape& shape)
      : scale(b.constant(test::scale(0.01f))), zero(b.constant(one(DataType::uint8, 110))) {
    values = b.layer(QuantizeLinear{}, {b.input(shape), scale, zero}, shape);
    b.set_type(values, DataType::uint8);
  }
};

void quantize_and_back(NetworkBuilder& b) {
  const Quantised x(b, {2, 3, 5});
  b.output(x.values);
  const TensorId y = b.layer(DequantizeLinear{}, {x.values, x.scale, x.zero}, {2, 3, 5});
  b.set_type(y, DataType::float32);
  b.output(y);
}

void quantize_channels(NetworkBuilder& b) {
  const TensorId scales = b.constant(Shape{3}, {0.01, 0.02});
  const TensorId y = b.layer(QuantizeLinear{{1, 0}}, {b.input({2, 3, 4, 5}), scales}, {2, 3, 4, 5});
  b.set_type(y, DataType::uint8);
  const TensorId z = b.layer(DequantizeLinear{{1, 0}}, {y, scales}, {2, 3, 4, 5});
  b.set_type(z, DataType::float32);
  b.output(b.unary(UnaryKind::relu, z));
}

void quantize_dynamically(NetworkBuilder& b) {
  const std::vector<TensorId> made =
      b.layers(DynamicQuantizeLinear{}, {b.input({3, 7})}, {{3, 7}, {}, {}});
  b.set_type(made[0], DataType::uint8);
  b.set_type(made[2], DataType::uint8);
  const TensorId y = b.layer(DequantizeLinear{}, made, {3, 7});
  b.set_type(y, DataType::float32);
  b.output(y);
}

void convolve(NetworkBuilder& b) {
  Random random(2);
  const Quantised x(b, {1, 4, 7, 6});
  const TensorId w = b.constant(bytes(random, {6, 4, 3, 3}));
  const TensorId scales = b.constant(Shape{6}, {0.01, 0.02});
  const TensorId w_zero = b.constant(one(DataType::int8, 0));
  const TensorId bias = b.constant(random_array(random, DataType::int32, {6}, {-999, 999}));
  const TensorId y_scale = b.constant(scale(0.05f));
  const Conv conv{window(3, {.pad = 1}), 1};
  const TensorId y =
      b.layer(QLinearConv{conv.window, 1},
              {x.values, x.scale, x.zero, w, scales, w_zero, y_scale, x.zero, bias}, {1, 6, 7, 6});
  b.output(y);
  const TensorId sums = b.layer(ConvInteger{conv.window, 1}, {x.values, w, x.zero}, {1, 6, 7, 6});
  b.set_type(sums, DataType::int32);
  b.output(sums);
}

void multiply(NetworkBuilder& b) {
  Random random(3);
  const Quantised x(b, {5, 9});
  const TensorId w = b.constant(bytes(random, {9, 4}));
  const TensorId w_scale = b.constant(scale(0.02f));
  const TensorId w_zero = b.constant(one(DataType::int8, 3));
  b.output(b.layer(QLinearMatMul{},
                   {x.values, x.scale, x.zero, w, w_scale, w_zero, w_scale, x.zero}, {5, 4}));
  const TensorId sums = b.layer(MatMulInteger{}, {x.values, w, x.zero, w_zero}, {5, 4});
  b.set_type(sums, DataType::int32);
  b.output(sums);
}

struct ByteConvCase {
  Shape x;
  std::int64_t filters;
  Window window;
  std::int64_t groups = 1;
};

/// Signed images, a zero point for each filter, no bias.
void convolve_integers(NetworkBuilder& b, const ByteConvCase& c) {
  Random random(4);
  const Quantised unsigned_x(b, c.x);
  const TensorId scale_of_x = b.constant(scale(0.01f)), zero = b.constant(one(DataType::int8, 5));
  const TensorId x = b.layer(QuantizeLinear{}, {b.input(c.x), scale_of_x, zero}, c.x);
  b.set_type(x, DataType::int8);
  Shape weights{c.filters, c.x[1] / c.groups};
  weights.insert(weights.end(), c.window.kernel.begin(), c.window.kernel.end());
  const TensorId w = b.constant(bytes(random, weights));
  const TensorId zeros = b.constant(random_array(random, DataType::int8, {c.filters}, {-9, 9}));
  const Shape out = slide(c.window, c.x, c.filters);
  for (const auto& [image, its_zero] :
       {std::pair(x, zero), std::pair(unsigned_x.values, unsigned_x.zero)}) {
    const TensorId sums =
        b.layer(ConvInteger{c.window, c.groups}, {image, w, its_zero, zeros}, out);
    b.set_type(sums, DataType::int32);
    b.output(sums);
  }
}

/// Both factors come from inputs; the sums become signed integers, the columns have zero points.
void multiply_computed(NetworkBuilder& b) {
  Random random(3);
  const Quantised x(b, {2, 3, 7, 19}), y(b, {2, 3, 19, 37});
  const TensorId zero = b.constant(one(DataType::int8, 3));
  const TensorId step = b.constant(scale(0.04f));
  const TensorId z =
      b.layer(QLinearMatMul{}, {x.values, x.scale, x.zero, y.values, y.scale, y.zero, step, zero},
              {2, 3, 7, 37});
  b.set_type(z, DataType::int8);
  b.output(z);
  const TensorId zeros = b.constant(random_array(random, DataType::uint8, {37}, {0, 255}));
  const TensorId w = b.constant(random_array(random, DataType::uint8, {19, 37}, {0, 256}));
  const TensorId sums = b.layer(MatMulInteger{}, {x.values, w, x.zero, zeros}, {2, 3, 7, 37});
  b.set_type(sums, DataType::int32);
  b.output(sums);
}

/// What float kernels compute lies between two quantised layers.
void convolution_between_quantised_tensors(NetworkBuilder& b) {
  const Quantised x(b, {1, 16, 6, 6});
  const TensorId real = b.layer(DequantizeLinear{}, {x.values, x.scale, x.zero}, {1, 16, 6, 6});
  b.set_type(real, DataType::float32);
  b.output(b.unary(UnaryKind::relu, b.conv(real, 16, window(3, {.pad = 1}))));
}

ConformanceCase convolution_of_integers(const std::string& name, const ByteConvCase& c) {
  return {"convolution_of_integers_" + name, [=](NetworkBuilder& b) { convolve_integers(b, c); }};
}

}  // namespace

std::vector<ConformanceCase> quantized_cases() {
  return {
      {"quantize_and_back", quantize_and_back},
      {"quantize_channels", quantize_channels},
      {"quantize_dynamically", quantize_dynamically},
      {"quantized_convolution", convolve},
      {"quantized_product", multiply},
      {"quantized_product_of_inputs", multiply_computed},
      convolution_of_integers("odd", {{2, 19, 7, 6}, 37, window(3, {.pad = 1})}),
      convolution_of_integers("depthwise",
                              {{2, 19, 9, 7}, 19, window(3, {.stride = 2, .pad = 1}), 19}),
      convolution_of_integers("grouped",
                              {{2, 12, 7, 6}, 6, window(3, {.pad = 2, .dilation = 2}), 3}),
      convolution_of_integers("1d", {{2, 5, 23}, 7, window(3, {.pad = 1, .dimensions = 1})}),
      {"convolution_between_quantised_tensors", convolution_between_quantised_tensors},
  };
}

}  // namespace millrace::test
