// Random chains of layers between quantised tensors. Some tensors are read in other ways too, so
// that whoever keeps them in a layout of its own must give them back.
#include <fmt/format.h>

#include "cases.h"

namespace millrace::test {

using namespace millrace::network;

namespace {

/// 8-bit integers with one scale.
struct QuantisedTensor {
  TensorId values, scale, zero;
  DataType type = DataType::uint8;
  Shape shape;
};

class QuantisedChain {
 public:
  QuantisedChain(NetworkBuilder& builder, std::uint64_t seed) : b_(builder), random_(seed) {}

  void build() {
    constexpr std::int64_t channels[]{1, 3, 16, 33, 64};
    const auto size = static_cast<std::int64_t>(7 + random_.below(9));
    const Shape shape{static_cast<std::int64_t>(1 + random_.below(2)), channels[random_.below(5)],
                      size, size + 2};
    QuantisedTensor x = quantise(b_.input(shape), shape);
    const std::size_t layers = 3 + random_.below(5);
    for (std::size_t i = 0; i < layers; ++i) x = random_layer(x);
    b_.output(x.values);
  }

 private:
  TensorId scale(float value) {
    return b_.constant(make_array<float>(DataType::float32, {}, std::span(&value, 1)));
  }
  TensorId byte(DataType type, std::uint64_t value) {
    const auto number = static_cast<std::uint8_t>(value);
    return b_.constant(make_array<std::uint8_t>(type, {}, std::span(&number, 1)));
  }

  QuantisedTensor next(const Shape& shape) {
    const DataType type = random_.below(2) == 0 ? DataType::uint8 : DataType::int8;
    return {{}, scale(random_.uniform(0.01f, 0.05f)), byte(type, random_.below(256)), type, shape};
  }
  QuantisedTensor quantise(TensorId real, const Shape& shape) {
    return quantise_as(next(shape), real);
  }
  QuantisedTensor quantise_as(QuantisedTensor like, TensorId real) {
    like.values = b_.layer(QuantizeLinear{}, {real, like.scale, like.zero}, like.shape);
    b_.set_type(like.values, like.type);
    return like;
  }
  TensorId real(const QuantisedTensor& x) {
    const TensorId made = b_.layer(DequantizeLinear{}, {x.values, x.scale, x.zero}, x.shape);
    b_.set_type(made, DataType::float32);
    return made;
  }

  QuantisedTensor convolve(const QuantisedTensor& x, const Conv& conv, std::int64_t filters) {
    QuantisedTensor made = next(slide(conv.window, x.shape, filters));
    Shape weights{filters, x.shape[1] / conv.groups};
    weights.insert(weights.end(), conv.window.kernel.begin(), conv.window.kernel.end());
    const bool is_signed = random_.below(3) > 0;
    const DataType type = is_signed ? DataType::int8 : DataType::uint8;
    const TensorId w =
        b_.constant(random_array(random_, type, weights,
                                 is_signed ? std::pair<std::int64_t, std::int64_t>{-128, 128}
                                           : std::pair<std::int64_t, std::int64_t>{0, 256}));
    const TensorId w_zero = byte(type, is_signed ? 0 : random_.below(256));
    const TensorId w_scales =
        random_.below(2) == 0 ? scale(0.01f) : b_.constant(Shape{filters}, {0.002, 0.02});
    std::vector<TensorId> inputs{x.values, x.scale, x.zero,     w,
                                 w_scales, w_zero,  made.scale, made.zero};
    if (random_.below(2) == 0)
      inputs.push_back(b_.constant(random_array(random_, DataType::int32, {filters}, {-999, 999})));
    made.values = b_.layer(QLinearConv{conv.window, conv.groups}, inputs, made.shape);
    b_.set_type(made.values, made.type);
    return made;
  }

  /// A concatenation of parts in steps of the first.
  QuantisedTensor concatenated(const QuantisedTensor& x) {
    constexpr std::int64_t filters[]{1, 5, 16, 64};
    QuantisedTensor made = convolve(x, {window(1), 1}, filters[random_.below(4)]);
    QuantisedTensor other =
        random_.below(3) == 0 ? x
                              : convolve(x, {window(3, {.pad = 1}), 1}, filters[random_.below(4)]);
    const TensorId numbers = real(other);
    if (random_.below(4) == 0) b_.output(numbers);
    other = {{}, made.scale, made.zero, made.type, other.shape};
    const TensorId parts[]{made.values, quantise_as(other, numbers).values};
    made.shape[1] += other.shape[1];
    made.values = b_.layer(Concat{1}, {parts[0], parts[1]}, made.shape);
    b_.set_type(made.values, made.type);
    return made;
  }

  /// A residual sum, perhaps with Relu, or the like.
  QuantisedTensor combined(const QuantisedTensor& x, const QuantisedTensor& y) {
    constexpr BinaryKind kinds[]{BinaryKind::add, BinaryKind::add, BinaryKind::sub, BinaryKind::mul,
                                 BinaryKind::max};
    const TensorId left = real(x);
    const TensorId right = random_.below(4) == 0   ? left
                           : random_.below(4) == 0 ? b_.constant({x.shape[1], 1, 1})
                                                   : real(y);
    const TensorId sum = b_.binary(kinds[random_.below(5)], left, right);
    const bool is_positive = random_.below(2) == 0;
    const TensorId result = is_positive ? b_.unary(UnaryKind::relu, sum) : sum;
    if (random_.below(6) == 0) b_.output(sum);
    return quantise(result, x.shape);
  }

  /// A chain of functions that have the same value in every program.
  TensorId function_of(TensorId numbers) {
    const std::size_t count = 1 + random_.below(6);
    for (std::size_t i = 0; i < count; ++i) {
      if (random_.below(8) == 0) b_.output(numbers);
      switch (random_.below(4)) {
        case 0:
          numbers = b_.unary(UnaryKind::leaky_relu, numbers, 0.125);
          break;
        case 1:
          numbers = b_.unary(UnaryKind::clip, numbers, -1, 0.75);
          break;
        case 2:
          numbers = b_.unary(UnaryKind::abs, numbers);
          break;
        default:
          numbers = b_.unary(UnaryKind::relu, numbers);
      }
    }
    return numbers;
  }

  QuantisedTensor random_layer(const QuantisedTensor& x) {
    constexpr std::int64_t filters[]{1, 5, 16, 33, 64, 70, 96};
    const auto kernel = static_cast<std::int64_t>(1 + 2 * random_.below(3));
    const auto stride = static_cast<std::int64_t>(1 + random_.below(2));
    const Window wide = window(kernel, {.stride = stride, .pad = kernel / 2});
    const Window same = window(3, {.pad = 1});
    switch (random_.below(11)) {
      case 0:
        return convolve(x, {wide, 1}, filters[random_.below(7)]);
      case 1:
        return convolve(x, {wide, x.shape[1]}, x.shape[1]);
      case 2:
        return combined(x, convolve(x, {same, 1}, x.shape[1]));
      case 3:
        return quantise(b_.unary(UnaryKind::relu, real(x)), x.shape);
      case 4: {  // maxima of integers
        const Window three = window(3, {.stride = stride, .pad = 1});
        QuantisedTensor made = x;
        made.shape = slide(three, x.shape, x.shape[1]);
        made.values = b_.layer(Pool{PoolKind::max, three}, {x.values}, made.shape);
        b_.set_type(made.values, x.type);
        return made;
      }
      case 5:
        return concatenated(x);
      case 6:
        return quantise(real(x), x.shape);
      case 7: {  // another reader, of sums
        const TensorId w =
            b_.constant(random_array(random_, DataType::int8, {3, x.shape[1], 1, 1}, {-9, 9}));
        const Window one = window(1);
        const TensorId sums =
            b_.layer(ConvInteger{one, 1}, {x.values, w, x.zero}, slide(one, x.shape, 3));
        b_.set_type(sums, DataType::int32);
        b_.output(sums);
        return convolve(x, {same, 1}, 16);
      }
      case 8:
        return quantise(function_of(real(x)), x.shape);
      case 9: {  // a factor that comes from the same numbers
        const TensorId numbers = real(x);
        const QuantisedTensor factor = quantise(function_of(numbers), x.shape);
        return quantise(b_.binary(BinaryKind::mul, numbers, real(factor)), x.shape);
      }
      default:
        b_.output(real(x));
        return convolve(x, {window(1), 1}, filters[random_.below(7)]);
    }
  }

  NetworkBuilder& b_;
  Random random_;
};

}  // namespace

std::vector<ConformanceCase> quantized_networks() {
  std::vector<ConformanceCase> cases;
  for (std::uint64_t seed = 1; seed <= 60; ++seed)
    cases.push_back({fmt::format("quantized_network_{}", seed),
                     [seed](NetworkBuilder& b) { QuantisedChain(b, seed).build(); }});
  return cases;
}

}  // namespace millrace::test
