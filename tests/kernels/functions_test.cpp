// Functions of one number against the C library in double precision.
#include "kernels/plain/functions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "base/random.h"
#include "kernels/plain/exponentials.h"

namespace millrace::kernels {
namespace {

constexpr std::size_t more_than_one_share = 20'011;  // numbers
constexpr float nothing = std::numeric_limits<float>::quiet_NaN();
constexpr float infinite = std::numeric_limits<float>::infinity();

double exact_activation(const ElementFunction& f, double x) {
  const double alpha = f.alpha;
  switch (f.function) {
    case Function::hard_swish:
      return x * std::clamp(x / 6 + 0.5, 0., 1.);
    case Function::gelu:
      return x * std::erfc(-x / std::sqrt(2.)) / 2;
    case Function::gelu_tanh:
      return x * (1 + std::tanh(std::sqrt(2 / std::acos(-1.)) * (x + 0.044715 * x * x * x))) / 2;
    case Function::elu:
      return x < 0 ? alpha * std::expm1(x) : x;
    case Function::leaky_relu:
      return x < 0 ? alpha * x : x;
    case Function::abs:
      return std::abs(x);
    case Function::neg:
      return -x;
    default:
      return x;
  }
}

double exact(const ElementFunction& f, double x) {
  const double alpha = f.alpha, beta = f.beta;
  switch (f.function) {
    case Function::erf:
      return std::erf(x);
    case Function::floor:
      return std::floor(x);
    case Function::ceil:
      return std::ceil(x);
    case Function::sin:
      return std::sin(x);
    case Function::cos:
      return std::cos(x);
    case Function::exp:
      return std::exp(x);
    case Function::log:
      return std::log(x);
    case Function::softplus:
      return std::max(x, 0.) + std::log1p(std::exp(-std::abs(x)));
    case Function::sigmoid:
      return 1 / (1 + std::exp(-x));
    case Function::tanh:
      return std::tanh(x);
    case Function::swish:
      return x / (1 + std::exp(-x));
    case Function::mish:
      return x * std::tanh(std::log1p(std::exp(x)));
    case Function::celu:
      return x < 0 ? alpha * std::expm1(x / alpha) : x;
    case Function::selu:
      return beta * (x <= 0 ? alpha * std::expm1(x) : x);
    case Function::sign:
      return x > 0 ? 1 : x < 0 ? -1 : x;
    case Function::reciprocal:
      return 1 / x;
    case Function::softsign:
      return x / (1 + std::abs(x));
    case Function::shrink:
      return x < -alpha ? x + beta : x > alpha ? x - beta : 0;
    case Function::thresholded_relu:
      return x > alpha ? x : 0;
    case Function::clip:
      return std::min(std::max(x, alpha), beta);
    case Function::hard_sigmoid:
      return std::clamp(alpha * x + beta, 0., 1.);
    default:
      return exact_activation(f, x);
  }
}

constexpr std::array all_functions{Function::erf,        Function::floor,
                                   Function::ceil,       Function::sin,
                                   Function::cos,        Function::celu,
                                   Function::selu,       Function::sign,
                                   Function::sigmoid,    Function::tanh,
                                   Function::reciprocal, Function::softsign,
                                   Function::shrink,     Function::thresholded_relu,
                                   Function::clip,       Function::hard_sigmoid,
                                   Function::hard_swish, Function::gelu,
                                   Function::gelu_tanh,  Function::elu,
                                   Function::leaky_relu, Function::abs,
                                   Function::neg};

/// Numbers of many magnitudes, up to `largest`.
std::vector<float> samples(float largest) {
  Random random(1);
  std::vector<float> numbers;
  while (numbers.size() < more_than_one_share) {
    const float share = std::ldexp(1.f, -static_cast<int>(random.below(20)));
    numbers.push_back(random.uniform(-largest, largest) * share);
  }
  return numbers;
}

/// Relative to the value, or to `least` where it is smaller.
void expect_near(const ElementFunction& f, const std::vector<float>& x, double least = 1) {
  std::vector<float> y(x.size());
  apply(f, x, y.data());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double expected = exact(f, x[i]);
    ASSERT_NEAR(y[i], expected, 1e-6 * std::max(std::abs(expected), least))
        << static_cast<int>(f.function) << " of " << x[i];
  }
}

TEST(Functions, are_those_of_the_c_library_within_rounding) {
  for (const Function function : all_functions)
    for (const float largest : {1.f, 10.f, 200.f})
      expect_near({function, 1.5f, 0.7f}, samples(largest));
}

TEST(Functions, of_large_angles_are_as_exact) {
  for (const Function function : {Function::sin, Function::cos}) {
    expect_near({function}, samples(8000));
    expect_near({function}, samples(1e9));
  }
}

std::vector<float> magnitudes_of(std::vector<float> numbers) {
  for (float& x : numbers) x = std::abs(x);
  return numbers;
}

TEST(Functions, with_logarithms_and_exponentials_and_tanh_are_relatively_exact) {
  constexpr double least = 1e-38;
  expect_near({Function::exp}, samples(87), least);
  expect_near({Function::softplus}, samples(87), least);
  for (const float largest : {1.f, 30.f, 1e38f})
    expect_near({Function::tanh}, samples(largest), least);
  for (const float largest : {1.f, 1e6f, 1e38f})
    expect_near({Function::log}, magnitudes_of(samples(largest)), least);
  std::vector<float> near_one = samples(1);
  for (float& x : near_one) x = 1 + 0.1f * x;
  expect_near({Function::log}, near_one, least);
}

TEST(Functions, swish_and_mish_are_relatively_exact_and_add_what_they_are_told) {
  const std::vector<float> other = samples(3);
  for (const Function function : {Function::swish, Function::mish})
    for (const float largest : {1.f, 10.f, 87.f, 200.f, 1e38f}) {
      const std::vector<float> x = samples(largest);
      std::vector<float> alone(x.size()), together(x);
      apply({function}, x, alone.data());
      apply({function}, together, together.data(), other.data());
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double wanted = exact({function}, x[i]);
        ASSERT_NEAR(alone[i], wanted, std::max(1e-6 * std::abs(wanted), 1e-35)) << x[i];
        ASSERT_EQ(together[i], alone[i] + other[i]);
      }
    }
}

TEST(Functions, keep_the_sign_of_zero) {
  for (const Function function : {Function::tanh, Function::erf, Function::swish})
    for (std::size_t count = 1; count < 20; ++count) {
      const std::vector<float> x(count, -0.f);
      std::vector<float> y(count);
      apply({function}, x, y.data());
      for (const float value : y) EXPECT_TRUE(value == 0 && std::signbit(value));
    }
}

TEST(Functions, sigmoid_and_tanh_of_what_is_no_ordinary_number) {
  const std::vector<float> x{
      nothing, -nothing, std::bit_cast<float>(0x7fc12345u), infinite, -infinite, 3e38f, -3e38f};
  std::vector<float> y(x.size());
  apply({Function::sigmoid}, x, y.data());
  for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(std::isnan(y[i])) << i;
  EXPECT_EQ(y[3], 1);
  EXPECT_NEAR(y[4], 0, 1e-37);
  EXPECT_EQ(y[5], 1);
  EXPECT_NEAR(y[6], 0, 1e-37);
  apply({Function::tanh}, x, y.data());
  for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(std::isnan(y[i])) << i;
  for (const std::size_t i : {3u, 5u}) EXPECT_NEAR(y[i], 1, 1e-6);
  for (const std::size_t i : {4u, 6u}) EXPECT_NEAR(y[i], -1, 1e-6);
}

TEST(Functions, swish_and_mish_of_what_is_no_ordinary_number) {
  for (const Function function : {Function::swish, Function::mish})
    for (std::size_t count = 1; count < 40; ++count) {
      std::vector<float> x(count, nothing), y(count + 1, 77.f);
      x[0] = infinite;
      x[count / 2] = -3e38f;
      apply({function}, x, y.data());
      for (std::size_t i = 1; i < count; ++i) EXPECT_TRUE(i == count / 2 || std::isnan(y[i])) << i;
      EXPECT_TRUE(count == 1 || y[0] == infinite);
      EXPECT_NEAR(y[count / 2], 0, 1e-30);
      EXPECT_EQ(y[count], 77.f);
    }
}

TEST(Functions, with_logarithms_and_exponentials_know_infinity) {
  const auto of = [](Function function, float x) {
    const std::vector<float> given(33, x);
    std::vector<float> made(33);
    apply({function}, given, made.data());
    return made[32];
  };
  EXPECT_EQ(of(Function::log, 0), -infinite);
  EXPECT_EQ(of(Function::log, -0.f), -infinite);
  EXPECT_EQ(of(Function::log, infinite), infinite);
  EXPECT_TRUE(std::isnan(of(Function::log, -1)));
  EXPECT_TRUE(std::isnan(of(Function::log, -infinite)));
  EXPECT_EQ(of(Function::exp, infinite), infinite);
  EXPECT_EQ(of(Function::exp, -infinite), 0.f);
  EXPECT_EQ(of(Function::softplus, infinite), infinite);
  EXPECT_EQ(of(Function::softplus, -infinite), 0.f);
  for (const Function function : {Function::exp, Function::log, Function::softplus})
    EXPECT_TRUE(std::isnan(of(function, nothing)));
}

TEST(Functions, of_any_number_of_numbers_write_no_further) {
  for (std::size_t count = 0; count < 40; ++count) {
    const std::vector<float> x(count, -0.5f);
    std::vector<float> y(count + 1, 77.f);
    apply({Function::floor}, x, y.data());
    for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(y[i], -1.f);
    EXPECT_EQ(y[count], 77.f);
  }
}

TEST(Functions, may_work_in_place) {
  std::vector<float> x = samples(3), y(x.size());
  apply({Function::erf}, x, y.data());
  apply({Function::erf}, x, x.data());
  EXPECT_EQ(x, y);
}

TEST(Functions, keep_what_is_no_number_and_know_infinity) {
  const std::vector<float> x(33, nothing), large(33, infinite), small(33, -infinite);
  std::vector<float> y(33);
  for (const Function function : all_functions) {
    apply({function, 1.5f, 0.7f}, x, y.data());
    EXPECT_TRUE(std::isnan(y[0]) && std::isnan(y[32])) << static_cast<int>(function);
  }
  apply({Function::erf}, large, y.data());
  EXPECT_EQ(y[32], 1.f);
  apply({Function::selu, 1.5f, 2.f}, small, y.data());
  EXPECT_EQ(y[32], -3.f);
}

TEST(Exponentials, are_those_of_the_c_library_within_rounding) {
  for (const float x : samples(100)) {
    const double e = std::exp(double{x});
    if (x < 88.7f) {
      ASSERT_NEAR(exponential(x), e, 1e-6 * e + 1e-44) << x;
    }
    const float low = -std::abs(x);
    const double less = std::expm1(double{low});
    ASSERT_NEAR(exponential_less_one(low), less, 1e-6 * std::abs(less)) << low;
  }
  EXPECT_EQ(exponential(1000), infinite);
  EXPECT_EQ(exponential(-1000), 0.f);
}

}  // namespace
}  // namespace millrace::kernels
