// ConvInteger, MatMulInteger, QLinearConv, QLinearMatMul against the definition: dequantise,
// compute in floating point, quantise. Scales are powers of two, so that float32 is exact here.
#include <gtest/gtest.h>

#include "base/random.h"
#include "evaluate_support.h"
#include "support/network_builder.h"

namespace millrace::network {
namespace {

using test::array;
using test::evaluate_all;
using test::evaluate_one;
using test::floats;
using test::OutputType;

/// Every value of the type, the extremes among them.
Array random_bytes(Random& random, DataType type, const Shape& shape) {
  std::vector<std::uint8_t> values(static_cast<std::size_t>(element_count(shape)));
  for (std::uint8_t& value : values) value = static_cast<std::uint8_t>(random.below(256));
  return array(type, shape, values);
}

struct Quantised {
  Array values, scale, zero;
};

Quantised random_quantised(Random& random, DataType type, const Shape& shape,
                           const std::vector<float>& scales) {
  const auto n = static_cast<std::int64_t>(scales.size());
  const Shape parameters = n == 1 ? Shape{} : Shape{n};
  return {random_bytes(random, type, shape), floats(parameters, scales),
          random_bytes(random, type, parameters)};
}

Array real(const Quantised& q, std::int64_t axis) {
  return evaluate_all(DequantizeLinear{{axis, 0}}, {q.values, q.scale, q.zero},
                      {{DataType::float32, q.values.shape}})
      .front();
}

std::vector<std::uint8_t> bytes_of(const Array& array) {
  const auto values = array.values<std::uint8_t>();
  return {values.begin(), values.end()};
}

const Window window{{3, 2}, {2, 1}, {1, 2}, {1, 0}, {0, 2}};
const Shape image{2, 4, 6, 5}, filters{6, 2, 3, 2}, convolved{2, 6, 3, 5};
const std::vector<float> scales_of_filters{1, 0.5f, 2, 0.25f, 1, 4};

TEST(QLinearConv, is_a_convolution_between_dequantised_tensors) {
  Random random(1);
  for (const DataType x_type : {DataType::uint8, DataType::int8})
    for (const auto& scales : {std::vector<float>{0.5f}, scales_of_filters}) {
      const Quantised x = random_quantised(random, x_type, image, {0.25f});
      const Quantised w = random_quantised(random, DataType::int8, filters, scales);
      const Quantised y = random_quantised(random, x_type, {}, {512});
      std::vector<float> steps;  // of the bias
      for (const float scale : scales) steps.push_back(0.25f * scale);
      steps.resize(6, steps[0]);
      const Array bias = array<std::int32_t>(DataType::int32, {6}, {5, -7000, 100, 0, 1, 90000});
      std::vector<float> real_bias;
      for (std::size_t i = 0; i < 6; ++i)
        real_bias.push_back(static_cast<float>(bias.values<std::int32_t>()[i]) * steps[i]);
      const Array sum =
          evaluate_all(Conv{window, 2}, {real(x, 0), real(w, 0), floats({6}, real_bias)},
                       {{DataType::float32, convolved}})
              .front();
      const OutputType output{x_type, convolved};
      const Array expected =
          evaluate_all(QuantizeLinear{}, {sum, y.scale, y.zero}, {output}).front();
      const Array found = evaluate_all(QLinearConv{window, 2},
                                       {x.values, x.scale, x.zero, w.values, w.scale, w.zero,
                                        y.scale, y.zero, bias},
                                       {output})
                              .front();
      EXPECT_EQ(bytes_of(found), bytes_of(expected));
    }
}

TEST(ConvInteger, subtracts_the_zero_points_of_input_and_filters) {
  Random random(2);
  const Quantised x = random_quantised(random, DataType::uint8, image, {1});
  const Quantised w = random_quantised(random, DataType::int8, filters, {1, 1, 1, 1, 1, 1});
  const OutputType output{DataType::int32, convolved};
  const auto found = evaluate_one<std::int32_t>(ConvInteger{window, 2},
                                                {x.values, w.values, x.zero, w.zero}, output);
  const auto expected = evaluate_one<float>(Conv{window, 2}, {real(x, 0), real(w, 0)},
                                            {DataType::float32, convolved});
  for (std::size_t i = 0; i < found.size(); ++i)
    EXPECT_EQ(static_cast<float>(found[i]), expected[i]);
}

/// A stack of two 3x7 matrices by one of 7x4 ones, and their zero points.
struct Stacks {
  Array a, b, a_zero, b_zero;

  std::int32_t product(std::size_t at) const {
    const std::size_t n = at / 12, row = at / 4 % 3, column = at % 4;
    const auto zero_of = [&](const Array& zero, std::size_t index, std::size_t size) {
      const std::size_t count = zero.bytes().size();
      return count == 1 ? 0 : count == size ? index : n * size + index;
    };
    const auto from_a = a_zero.values<std::uint8_t>()[zero_of(a_zero, row, 3)];
    const auto from_b = b_zero.values<std::int8_t>()[zero_of(b_zero, column, 4)];
    std::int32_t sum = 0;
    for (std::size_t k = 0; k < 7; ++k)
      sum += (a.values<std::uint8_t>()[n * 21 + row * 7 + k] - from_a) *
             (b.values<std::int8_t>()[n * 28 + k * 4 + column] - from_b);
    return sum;
  }
};

TEST(MatMulInteger, takes_zero_points_per_row_and_column_of_stacks) {
  Random random(3);
  Stacks stacks{random_bytes(random, DataType::uint8, {2, 3, 7}),
                random_bytes(random, DataType::int8, {2, 7, 4}),
                {},
                {}};
  for (const Shape& rows : {Shape{}, Shape{1}, Shape{3}, Shape{2, 3, 1}})
    for (const Shape& columns : {Shape{}, Shape{1}, Shape{4}, Shape{2, 1, 4}}) {
      stacks.a_zero = random_bytes(random, DataType::uint8, rows);
      stacks.b_zero = random_bytes(random, DataType::int8, columns);
      const auto found = evaluate_one<std::int32_t>(
          MatMulInteger{}, {stacks.a, stacks.b, stacks.a_zero, stacks.b_zero},
          {DataType::int32, {2, 3, 4}});
      for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i], stacks.product(i));
    }
}

TEST(MatMulInteger, of_vectors_without_zero_points_is_their_inner_product) {
  const Array a = array<std::uint8_t>(DataType::uint8, {3}, {255, 1, 2});
  const Array b = array<std::int8_t>(DataType::int8, {3}, {-128, 3, 4});
  EXPECT_EQ(evaluate_one<std::int32_t>(MatMulInteger{}, {a, b}, {DataType::int32, {}}),
            (std::vector<std::int32_t>{-32629}));
}

TEST(QLinearMatMul, is_a_product_of_dequantised_matrices) {
  Random random(4);
  for (const auto& rows : {std::vector<float>{0.5f}, std::vector<float>{0.5f, 2, 1}})
    for (const auto& columns : {std::vector<float>{2}, std::vector<float>{1, 0.5f, 8, 2}}) {
      const Quantised a = random_quantised(random, DataType::uint8, {3, 7}, rows);
      const Quantised b = random_quantised(random, DataType::int8, {7, 4}, columns);
      const Quantised y = random_quantised(random, DataType::int8, {}, {256});
      const Array product =
          evaluate_all(MatMul{}, {real(a, 0), real(b, 1)}, {{DataType::float32, {3, 4}}}).front();
      const OutputType output{DataType::int8, {3, 4}};
      const Array expected =
          evaluate_all(QuantizeLinear{}, {product, y.scale, y.zero}, {output}).front();
      const Array found =
          evaluate_all(QLinearMatMul{},
                       {a.values, a.scale, a.zero, b.values, b.scale, b.zero, y.scale, y.zero},
                       {output})
              .front();
      EXPECT_EQ(bytes_of(found), bytes_of(expected));
    }
}

std::string reason(const test::NetworkBuilder& builder) {
  return can_evaluate(builder.build(), LayerId(0)).reason();
}

TEST(CanEvaluate, refuses_quantised_operators_whose_types_do_not_fit) {
  test::NetworkBuilder wide;
  const TensorId x = wide.input({4}, DataType::float64);
  wide.set_type(wide.layer(QuantizeLinear{}, {x, wide.constant(Shape{})}, {4}), DataType::int8);
  EXPECT_EQ(reason(wide), "QuantizeLinear of float64, float32 is not supported");

  test::NetworkBuilder mixed;
  const TensorId a = mixed.input({2, 2}, DataType::uint8), b = mixed.input({2, 2}, DataType::int8);
  mixed.set_type(mixed.layer(MatMulInteger{}, {a, b, b}, {2, 2}), DataType::int32);
  EXPECT_EQ(reason(mixed), "MatMulInteger of uint8, int8, int8 is not supported");
}

}  // namespace
}  // namespace millrace::network
