#include "profile/views/roofline.h"

#include <gtest/gtest.h>

#include <array>

namespace millrace::profile {
namespace {

using board::Precision;
using network::DataType;

/// A product [1,1000] x [1000,100], a relu of its result, a reshape of that.
network::Network product_of_inputs() {
  network::Network network;
  network.tensors = {{"x", DataType::float32, {1, 1000}, {}},
                     {"w", DataType::float32, {1000, 100}, {}},
                     {"y", DataType::float32, {1, 100}, {}},
                     {"z", DataType::float32, {1, 100}, {}},
                     {"flat", DataType::float32, {100}, {}}};
  network.inputs = {TensorId(0), TensorId(1)};
  network.outputs = {TensorId(4)};
  network.layers = {
      {"product", network::MatMul{}, {TensorId(0), TensorId(1)}, {TensorId(2)}},
      {"relu", network::Unary{network::UnaryKind::relu}, {TensorId(2)}, {TensorId(3)}},
      {"flatten", network::Reshape{}, {TensorId(3)}, {TensorId(4)}}};
  return network;
}

// product: 2 * 1000 * 100 operations, 4 * (1000 + 100'000 + 100) bytes
constexpr std::array product{LayerId(0)}, relu{LayerId(1)}, flatten{LayerId(2)};
constexpr std::array all{LayerId(0), LayerId(1), LayerId(2)};

board::Peaks peaks(double f32, double bytes) {
  board::Peaks peaks;
  peaks.operations[Precision::f32] = f32;
  peaks.bytes = bytes;
  return peaks;
}

TEST(Roofline, of_much_arithmetic_is_operations_over_the_peak) {
  const Roofline r = roofline(product_of_inputs(), product, peaks(1e9, 1e12));
  EXPECT_EQ(r.operations, 200'000);
  EXPECT_EQ(r.bytes, Bytes{404'400});
  EXPECT_EQ(r.arithmetic, std::chrono::microseconds(200));
  EXPECT_EQ(r.limit, std::chrono::microseconds(200));
}

TEST(Roofline, of_many_bytes_is_bytes_over_the_bandwidth) {
  const Roofline r = roofline(product_of_inputs(), product, peaks(1e12, 1e9));
  EXPECT_EQ(r.arithmetic, Time(200));
  EXPECT_EQ(r.limit, Time(404'400));
}

// An NPU with float16 and int8 alone.
TEST(Roofline, of_a_processor_without_float32_is_that_of_its_fastest_precision) {
  board::Peaks npu;
  npu.operations = {{Precision::f16, 1e9}, {Precision::int8, 2e9}};
  npu.bytes = 1e12;
  const auto f16 = [](LayerId) { return Precision::f16; };
  EXPECT_EQ(roofline(product_of_inputs(), product, npu).limit, std::chrono::microseconds(100));
  EXPECT_EQ(roofline(product_of_inputs(), product, npu, f16).limit, std::chrono::microseconds(200));
}

TEST(Roofline, counts_nothing_for_a_peak_that_is_not_known) {
  EXPECT_EQ(roofline(product_of_inputs(), product, board::Peaks{}).limit, Time{});
  EXPECT_EQ(roofline(product_of_inputs(), product, peaks(1e9, 0)).limit,
            std::chrono::microseconds(200));
}

TEST(Roofline, takes_the_larger_of_both_for_each_layer_and_not_for_the_sum) {
  // product: 200'000 against 404.4 ns; relu: 100 operations, 800 bytes, 100 against 0.8 ns
  const Roofline busy = roofline(product_of_inputs(), all, peaks(1e9, 1e12));
  EXPECT_EQ(busy.limit, Time(200'000 + 100));
  // product: 1000 against 404.4 ns; relu: 0.5 against 0.8, rounded to whole nanoseconds
  const Roofline mixed = roofline(product_of_inputs(), all, peaks(2e8 * 1000, 1e12));
  EXPECT_EQ(mixed.limit, Time(1000 + 1));
  EXPECT_EQ(mixed.operations, 200'000 + 100);
  EXPECT_EQ(mixed.bytes, Bytes{404'400 + 800});
  // relu at 1e12 operations and 1e9 bytes per second: 800 ns for its bytes
  EXPECT_EQ(roofline(product_of_inputs(), relu, peaks(1e12, 1e9)).limit, Time(800));
}

TEST(Roofline, of_a_reshape_is_nothing) {
  EXPECT_EQ(roofline(product_of_inputs(), flatten, peaks(1e9, 1e9)).limit, Time{});
  EXPECT_EQ(roofline(product_of_inputs(), flatten, peaks(1e9, 1e9)).bytes, Bytes{});
}

TEST(Roofline, of_a_narrower_precision_has_its_peak_and_fewer_bytes) {
  board::Peaks both = peaks(1e9, 1e9);
  both.operations[Precision::int8] = 8e9;
  const auto int8_product = [](LayerId layer) {
    return layer == LayerId(0) ? Precision::int8 : Precision::f32;
  };
  const Roofline r = roofline(product_of_inputs(), all, both, int8_product);
  EXPECT_EQ(r.bytes, Bytes{404'400 / 4 + 800});
  EXPECT_EQ(r.arithmetic, Time(200'000 / 8 + 100));
  EXPECT_EQ(r.limit, Time(404'400 / 4 + 800));
}

TEST(Roofline, of_a_precision_the_processor_lacks_has_the_peak_of_float32) {
  const auto bfloat16 = [](LayerId) { return Precision::bf16; };
  EXPECT_EQ(roofline(product_of_inputs(), product, peaks(1e9, 1e12), bfloat16).arithmetic,
            Time(200'000));
}

}  // namespace
}  // namespace millrace::profile
