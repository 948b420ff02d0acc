#include "support/network_builder.h"

#include <cmath>

namespace millrace::test {

using network::Array;
using network::DataType;
using network::Network;
using network::Shape;

namespace {

template <class T>
Array filled(Random& random, DataType type, const Shape& shape, std::pair<double, double> range) {
  std::vector<T> values(static_cast<std::size_t>(network::element_count(shape)));
  for (T& value : values)
    value = static_cast<T>(range.first + (range.second - range.first) * random.unit());
  return network::make_array<T>(type, shape, values);
}

}  // namespace

Array random_array(Random& random, DataType type, const Shape& shape,
                   std::pair<double, double> range) {
  switch (type) {
    case DataType::float32: return filled<float>(random, type, shape, range);
    case DataType::float64: return filled<double>(random, type, shape, range);
    case DataType::int8: return filled<std::int8_t>(random, type, shape, range);
    case DataType::int16: return filled<std::int16_t>(random, type, shape, range);
    case DataType::int32: return filled<std::int32_t>(random, type, shape, range);
    case DataType::int64: return filled<std::int64_t>(random, type, shape, range);
    case DataType::uint8:
    case DataType::boolean: return filled<std::uint8_t>(random, type, shape, range);
    case DataType::uint16:
    case DataType::float16: return filled<std::uint16_t>(random, type, shape, range);
    case DataType::uint32: return filled<std::uint32_t>(random, type, shape, range);
    default: return filled<std::uint64_t>(random, type, shape, range);
  }
}

std::vector<Array> random_inputs(Random& random, const Network& network) {
  std::vector<Array> arrays;
  for (const TensorId id : network.inputs)
    arrays.push_back(random_array(random, network[id].type, network[id].shape));
  return arrays;
}

TensorId NetworkBuilder::add(network::Tensor tensor) {
  tensor.name = "tensor" + std::to_string(network_.tensors.size());
  network_.tensors.push_back(std::move(tensor));
  return TensorId(network_.tensors.size() - 1);
}

TensorId NetworkBuilder::input(Shape shape, DataType type) {
  const TensorId id = add({{}, type, std::move(shape), {}});
  network_.inputs.push_back(id);
  return id;
}

TensorId NetworkBuilder::constant(Array array) {
  const DataType type = array.type;
  const Shape dimensions = array.shape;
  return add({{}, type, dimensions, std::move(array)});
}

TensorId NetworkBuilder::constant(Shape shape, std::pair<double, double> range) {
  return constant(random_array(random_, DataType::float32, shape, range));
}

TensorId NetworkBuilder::integers(Shape shape, const std::vector<std::int64_t>& values) {
  return constant(
      network::make_array<std::int64_t>(DataType::int64, std::move(shape), std::span(values)));
}

std::vector<TensorId> NetworkBuilder::layers(network::Operator op, std::vector<TensorId> inputs,
                                             const std::vector<Shape>& outputs) {
  std::vector<TensorId> made;
  const DataType type = network_[inputs.front()].type;
  for (const Shape& output : outputs) made.push_back(add({{}, type, output, {}}));
  network_.layers.push_back({"layer" + std::to_string(network_.layers.size()), std::move(op),
                             std::move(inputs), made});
  return made;
}

TensorId NetworkBuilder::layer(network::Operator op, std::vector<TensorId> inputs, Shape output) {
  return layers(std::move(op), std::move(inputs), {std::move(output)}).front();
}

TensorId NetworkBuilder::unary(network::UnaryKind kind, TensorId x, double alpha, double beta) {
  return layer(network::Unary{kind, alpha, beta}, {x}, shape(x));
}

TensorId NetworkBuilder::binary(network::BinaryKind kind, TensorId a, TensorId b) {
  return layer(network::Binary{kind}, {a, b}, network::broadcast(shape(a), shape(b)).value());
}

TensorId NetworkBuilder::concat(std::int64_t axis, const std::vector<TensorId>& parts) {
  Shape joined = shape(parts.front());
  const auto at = static_cast<std::size_t>(axis);
  joined[at] = 0;
  for (const TensorId part : parts) joined[at] += shape(part)[at];
  return layer(network::Concat{axis}, parts, joined);
}

std::vector<TensorId> NetworkBuilder::split(std::int64_t axis, TensorId x,
                                            const std::vector<std::int64_t>& sizes) {
  std::vector<Shape> parts(sizes.size(), shape(x));
  for (std::size_t i = 0; i < sizes.size(); ++i)
    parts[i][static_cast<std::size_t>(axis)] = sizes[i];
  return layers(network::Split{axis}, {x}, parts);
}

TensorId NetworkBuilder::conv(TensorId x, std::int64_t filters, network::Window window,
                              std::int64_t groups) {
  Shape weights{filters, shape(x)[1] / groups};
  weights.insert(weights.end(), window.kernel.begin(), window.kernel.end());
  const double terms = static_cast<double>(network::element_count(weights) / filters);
  const double bound = std::sqrt(3.0 / terms);
  const Shape result = slide(window, shape(x), filters);
  const TensorId w = constant(weights, {-bound, bound});
  const TensorId b = constant(Shape{filters});
  return layer(network::Conv{std::move(window), groups}, {x, w, b}, result);
}

TensorId NetworkBuilder::pool(network::Pool op, TensorId x) {
  const Shape result = slide(op.window, shape(x), shape(x)[1]);
  return layer(std::move(op), {x}, result);
}

Network NetworkBuilder::build() const {
  validate(network_);
  return network_;
}

network::Window window(std::int64_t kernel, const WindowOptions& options) {
  const std::size_t n = options.dimensions;
  return {Shape(n, kernel), Shape(n, options.stride), Shape(n, options.dilation),
          Shape(n, options.pad), Shape(n, options.pad)};
}

Shape slide(const network::Window& window, const Shape& x, std::int64_t channels) {
  Shape result{x[0], channels};
  for (std::size_t d = 0; d < window.kernel.size(); ++d) {
    const std::int64_t reach = window.dilations[d] * (window.kernel[d] - 1) + 1;
    const std::int64_t padded = x[d + 2] + window.pads_begin[d] + window.pads_end[d];
    result.push_back((padded - reach) / window.strides[d] + 1);
  }
  return result;
}

}  // namespace millrace::test
