#include "random_byte_network.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "support/network_builder.h"

namespace millrace::workload {
namespace {

using network::Array;
using network::DataType;
using network::Shape;

class RandomByteNetwork {
 public:
  explicit RandomByteNetwork(Random& random) : random_(random), builder_(random()) {}

  network::Network build() {
    const TensorId real = builder_.input(
        {1, between(1, 8), between(6, 18), between(5, 18)});
    Steps steps{random_type(), 0.01f, 0};
    TensorId x = quantize(real, steps);
    for (std::int64_t layers = between(1, 5); layers > 0; --layers) x = next(x, steps);
    if (between(0, 2) == 0) x = product(x, steps);
    if (between(0, 1) == 0)
      builder_.output(x);
    else
      builder_.output(dequantize(x, steps));
    return builder_.build();
  }

 private:
  /// Steps of a tensor that is there.
  struct Steps {
    DataType type = DataType::uint8;
    float scale = 1;
    std::int64_t zero = 0;
  };

  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low +
           static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(high - low + 1)));
  }
  DataType random_type() { return between(0, 1) == 0 ? DataType::uint8 : DataType::int8; }

  TensorId bytes(DataType type, const Shape& shape) {
    std::vector<std::uint8_t> values(static_cast<std::size_t>(network::element_count(shape)));
    for (std::uint8_t& value : values) value = static_cast<std::uint8_t>(random_.below(256));
    return builder_.constant(network::make_array<std::uint8_t>(type, shape, values));
  }
  TensorId zero_point(const Steps& steps) {
    const std::array<std::uint8_t, 1> zero{static_cast<std::uint8_t>(steps.zero)};
    return builder_.constant(network::make_array<std::uint8_t>(steps.type, {}, zero));
  }
  TensorId scales(const std::vector<float>& values) {
    const auto count = static_cast<std::int64_t>(values.size());
    const Shape shape = count == 1 ? Shape{} : Shape{count};
    return builder_.constant(network::make_array<float>(DataType::float32, shape, values));
  }

  TensorId quantize(TensorId x, const Steps& steps) {
    const TensorId y = builder_.layer(network::QuantizeLinear{},
                                      {x, scales({steps.scale}), zero_point(steps)},
                                      builder_.shape(x));
    builder_.set_type(y, steps.type);
    return y;
  }
  TensorId dequantize(TensorId x, const Steps& steps) {
    const TensorId y = builder_.layer(network::DequantizeLinear{},
                                      {x, scales({steps.scale}), zero_point(steps)},
                                      builder_.shape(x));
    builder_.set_type(y, DataType::float32);
    return y;
  }

  TensorId next(TensorId x, Steps& steps) {
    switch (between(0, 6)) {
      case 0:
        return pool(x);
      case 1:
        return sum(x, steps);
      case 2:
        return convolution(x, steps, builder_.shape(x)[1], builder_.shape(x)[1]);
      case 3:
        return join(x, steps);
      default:
        return grouped(x, steps);
    }
  }

  TensorId grouped(TensorId x, Steps& steps) {
    const std::int64_t channels = builder_.shape(x)[1];
    const std::int64_t groups = channels % 2 == 0 && between(0, 3) == 0 ? 2 : 1;
    return convolution(x, steps, groups * between(1, 12), groups);
  }

  /// So that most results are inside of the type's range.
  Steps result_steps(const Steps& steps, float weights, std::int64_t summed_up) {
    const float spread = 73.0f * 73.0f * std::sqrt(static_cast<float>(summed_up)) / 50.0f;
    return {random_type(), steps.scale * weights * spread, between(90, 110)};
  }

  std::vector<TensorId> factors(TensorId x, const Steps& steps, TensorId weights,
                                const std::vector<float>& own) {
    const Steps of_weights{weights_type_, 1, between(0, 1) * 3};
    return {x, scales({steps.scale}), zero_point(steps), weights, scales(own),
            zero_point(of_weights)};
  }

  std::vector<float> weight_scales(std::int64_t outputs) {
    std::vector<float> own(between(0, 1) == 0 ? 1 : static_cast<std::size_t>(outputs));
    for (float& scale : own) scale = 0.001f * static_cast<float>(between(1, 30));
    return own;
  }

  TensorId convolution(TensorId x, Steps& steps, std::int64_t outputs, std::int64_t groups) {
    const Shape shape = builder_.shape(x);
    const std::int64_t kernel = std::min({between(1, 3), shape[2], shape[3]});
    const network::Window window = test::window(
        kernel, {.stride = between(1, 2), .pad = between(0, kernel / 2), .dilation = 1});
    const std::int64_t depth = shape[1] / groups;
    weights_type_ = random_type();
    const std::vector<float> own = weight_scales(outputs);
    auto inputs = factors(x, steps, bytes(weights_type_, {outputs, depth, kernel, kernel}), own);
    const Steps result = result_steps(steps, own.front(), depth * kernel * kernel);
    inputs.push_back(scales({result.scale}));
    inputs.push_back(zero_point(result));
    if (between(0, 2) != 0) {
      std::vector<std::int32_t> bias(static_cast<std::size_t>(outputs));
      for (std::int32_t& value : bias) value = static_cast<std::int32_t>(between(-9000, 9000));
      inputs.push_back(builder_.constant(
          network::make_array<std::int32_t>(DataType::int32, {outputs}, bias)));
    }
    const TensorId y = builder_.layer(network::QLinearConv{window, groups}, inputs,
                                      test::slide(window, shape, outputs));
    builder_.set_type(y, result.type);
    steps = result;
    return y;
  }

  TensorId pool(TensorId x) {
    const Shape shape = builder_.shape(x);
    network::Pool pool;
    const std::int64_t kernel = std::min({between(1, 3), shape[2], shape[3]});
    pool.window = test::window(kernel, {.stride = between(1, 2), .pad = between(0, kernel / 2)});
    return builder_.layer(pool, {x}, test::slide(pool.window, shape, shape[1]));
  }

  TensorId sum(TensorId x, Steps& steps) {
    const TensorId real = dequantize(x, steps);
    steps = {random_type(), steps.scale * 1.7f, between(0, 100)};
    return quantize(builder_.binary(network::BinaryKind::add, real, real), steps);
  }

  TensorId join(TensorId x, const Steps& steps) {
    const TensorId y = builder_.layer(network::Concat{1}, {x, x}, joined(builder_.shape(x)));
    builder_.set_type(y, steps.type);
    return y;
  }
  static Shape joined(Shape shape) {
    shape[1] *= 2;
    return shape;
  }

  TensorId product(TensorId x, Steps& steps) {
    const std::int64_t depth = network::element_count(builder_.shape(x)), outputs = between(1, 40);
    const TensorId flat = builder_.layer(network::Reshape{}, {x}, {1, depth});
    weights_type_ = random_type();
    const std::vector<float> own = weight_scales(outputs);
    auto inputs = factors(flat, steps, bytes(weights_type_, {depth, outputs}), own);
    const Steps result = result_steps(steps, own.front(), depth);
    inputs.push_back(scales({result.scale}));
    inputs.push_back(zero_point(result));
    const TensorId y = builder_.layer(network::QLinearMatMul{}, inputs, {1, outputs});
    builder_.set_type(y, result.type);
    steps = result;
    return y;
  }

  Random& random_;
  test::NetworkBuilder builder_;
  DataType weights_type_ = DataType::int8;
};

}  // namespace

network::Network random_byte_network(Random& random) { return RandomByteNetwork(random).build(); }

}  // namespace millrace::workload
