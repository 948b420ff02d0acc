// float32 numbers as sums of bfloat16 numbers.
#include "engine/onednn/split.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "base/random.h"

namespace millrace::engine::onednn {
namespace {

float value_of(std::uint16_t bfloat16) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bfloat16) << 16);
}

/// Of many magnitudes.
std::vector<float> samples(std::size_t count) {
  Random random(1);
  std::vector<float> values;
  for (std::size_t i = 0; i < count; ++i)
    values.push_back(std::ldexp(static_cast<float>(random.uniform(-1, 1)),
                                static_cast<int>(random.below(40)) - 20));
  return values;
}

TEST(Split, the_terms_add_up_to_the_number_within_seventeen_bits) {
  const std::vector<float> values = samples(20'000);  // more than one thread's share
  std::vector<std::uint16_t> terms(2 * values.size());
  split(values, values.size(), {Term::high, Term::low}, terms);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double sum = static_cast<double>(value_of(terms[i])) +
                       static_cast<double>(value_of(terms[values.size() + i]));
    EXPECT_LE(std::abs(sum - static_cast<double>(values[i])),
              std::ldexp(std::abs(static_cast<double>(values[i])), -17))
        << values[i];
  }
}

TEST(Split, numbers_that_are_bfloat16_have_no_low_term) {
  const std::vector<float> values{0.f, 1.f, -1.5f, 0.0078125f, 3.3895314e38f};
  std::vector<std::uint16_t> low(values.size());
  split(values, values.size(), {Term::low}, low);
  for (const std::uint16_t term : low) EXPECT_EQ(value_of(term), 0.f);
}

TEST(Split, what_is_no_number_stays_none) {
  const std::vector<float> values{std::numeric_limits<float>::quiet_NaN()};
  std::vector<std::uint16_t> terms(2);
  split(values, 1, {Term::high, Term::low}, terms);
  EXPECT_TRUE(std::isnan(value_of(terms[0]) + value_of(terms[1])));
}

TEST(Split, each_row_becomes_a_row_of_every_term) {
  const std::vector<float> values{1.f, 2.f, 3.f, 4.f, 5.f, 6.f};  // two rows of three
  std::vector<std::uint16_t> terms(12);
  split(values, 3, {Term::low, Term::high}, terms);
  const std::vector<float> expected{0, 0, 0, 1, 2, 3, 0, 0, 0, 4, 5, 6};
  for (std::size_t i = 0; i < terms.size(); ++i) EXPECT_EQ(value_of(terms[i]), expected[i]) << i;
}

TEST(Split, nothing_is_split_into_nothing) {
  split({}, 4, {Term::high, Term::low}, {});
  split({}, 0, {Term::high, Term::low}, {});
}

}  // namespace
}  // namespace millrace::engine::onednn
