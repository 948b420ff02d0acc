// Functions, softmax and averages of numbers of 16 bits: as of the same ones in float32, rounded.
#include "kernels/half/half_layers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/random.h"
#include "kernels/half/half_elements.h"
#include "kernels/plain/softmax.h"

namespace millrace::kernels {
namespace {

class HalfLayers : public testing::TestWithParam<StoredNumber> {
 protected:
  void SetUp() override {
    if (kind() == StoredNumber::bf16 ? !has_bfloat_products() : !has_half_products())
      GTEST_SKIP() << "this processor has no arithmetic of such numbers";
  }
  StoredNumber kind() const { return GetParam(); }
  /// Relative error of a result's own rounding.
  float rounding() const { return kind() == StoredNumber::bf16 ? 0x1p-8f : 0x1p-11f; }

  std::vector<Half> halves_of(const std::vector<float>& numbers) const {
    std::vector<Half> halves(numbers.size());
    write_halves_of(numbers, halves.data(), kind());
    return halves;
  }
  std::vector<float> floats_of(const std::vector<Half>& halves) const {
    std::vector<float> numbers(halves.size());
    write_floats_of(halves, numbers.data(), kind());
    return numbers;
  }
  std::vector<Half> random_halves(std::size_t count, float largest) const {
    Random random(count);
    std::vector<float> numbers(count);
    for (float& x : numbers) x = static_cast<float>(random.uniform(-largest, largest));
    return halves_of(numbers);
  }
  void expect_rounded(const std::vector<Half>& found, const std::vector<float>& wanted) const {
    const std::vector<float> numbers = floats_of(found);
    for (std::size_t i = 0; i < wanted.size(); ++i)
      ASSERT_NEAR(numbers[i], wanted[i], std::abs(wanted[i]) * rounding() + 1e-6f) << i;
  }
};
INSTANTIATE_TEST_SUITE_P(, HalfLayers, testing::Values(StoredNumber::f16, StoredNumber::bf16),
                         [](const auto& info) {
                           return info.param == StoredNumber::f16 ? "float16" : "bfloat16";
                         });

TEST_P(HalfLayers, functions_are_those_of_float32) {
  for (const Function function :
       {Function::sigmoid, Function::swish, Function::hard_swish, Function::gelu, Function::exp,
        Function::elu, Function::clip})
    for (const std::size_t count : {1, 7, 8, 511, 513, 40'003}) {
      const std::vector<Half> from = random_halves(count, 8);
      std::vector<Half> to(count);
      std::vector<float> wanted(count);
      const ElementFunction element{function, 0.5f, 4};
      apply_to_halves(element, from, to.data(), kind());
      apply(element, floats_of(from), wanted.data());
      expect_rounded(to, wanted);
    }
}

TEST_P(HalfLayers, functions_may_write_where_they_read) {
  std::vector<Half> numbers = random_halves(1000, 8);
  std::vector<float> wanted(numbers.size());
  apply({Function::hard_swish}, floats_of(numbers), wanted.data());
  apply_to_halves({Function::hard_swish}, numbers, numbers.data(), kind());
  expect_rounded(numbers, wanted);
}

TEST_P(HalfLayers, softmax_is_that_of_float32) {
  for (const bool logarithm : {false, true})
    for (const DenseRows& rows : {DenseRows{1, 1000}, DenseRows{3, 7}, DenseRows{900, 30}}) {
      const std::vector<Half> from = random_halves(rows.count * rows.size, 20);
      std::vector<float> to(from.size()), wanted = floats_of(from);
      softmax_of_halves({rows, logarithm, kind()}, from.data(), to.data());
      softmax_rows(rows, logarithm, wanted.data(), wanted.data());
      for (std::size_t i = 0; i < to.size(); ++i)
        ASSERT_NEAR(to[i], wanted[i], 1e-6f * std::max(1.f, std::abs(wanted[i])));
    }
}

TEST_P(HalfLayers, averages_are_those_of_float32) {
  const std::vector<Pool> pools{
      {1, 40, {28, 28, 3, 1, 1}, {28, 28, 3, 1, 1}},
      {2, 64, {15, 7, 3, 2, 0}, {17, 8, 3, 2, 0}},
      {1, 3, {9, 5, 2, 2, 0}, {5, 3, 2, 2, 0}},    // the last windows are cut
      {1, 33, {8, 8, 1, 1, 0}, {8, 3, 3, 3, 1}},   // channels that fill no vector
      {2, 520, {7, 1, 7, 1, 0}, {7, 1, 7, 1, 0}},  // whole images
      {2, 9, {4, 5, 2, 1, 1}, {3, 3, 7, 2, 4}},    // windows wider than the image
  };
  for (Pool pool : pools)
    for (const bool counts_padding : {false, true}) {
      pool.counts_padding = counts_padding;
      const std::vector<Half> from = random_halves(
          pool.images * pool.height.input * pool.width.input * pool.channels, 100);
      const std::size_t results =
          pool.images * pool.height.output * pool.width.output * pool.channels;
      std::vector<Half> to(results);
      std::vector<float> wanted(results);
      average_pool_of_halves(pool, from.data(), to.data(), kind());
      average_pool(pool, floats_of(from).data(), wanted.data());
      const std::vector<float> found = floats_of(to);
      for (std::size_t i = 0; i < results; ++i)
        ASSERT_NEAR(found[i], wanted[i], std::abs(wanted[i]) * rounding() + 1e-4f) << i;
    }
}

}  // namespace
}  // namespace millrace::kernels
