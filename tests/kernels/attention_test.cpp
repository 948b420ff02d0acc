// Attention against the same in double precision, by each kernel that this machine has for it.
#include "kernels/plain/attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/random.h"
#include "kernels/amx/amx_attention.h"
#include "machine.h"

namespace millrace::kernels {
namespace {

/// A kernel, and how much it loses of each number.
struct Kernel {
  std::string name;
  decltype(&working_numbers) working;
  decltype(&attend) run;
  double loss;
};
std::vector<Kernel> all_kernels() {
  std::vector<Kernel> result{{"plain", &working_numbers, &attend, 0}};
  if (test::kernels::has_amx())
    result.push_back({"on tiles", &working_numbers_on_tiles, &attend_on_tiles, 0x1p-17});
  return result;
}

std::vector<float> numbers(std::size_t count, std::uint64_t seed) {
  Random random(seed);
  std::vector<float> result;
  for (std::size_t i = 0; i < count; ++i) result.push_back(random.uniform(-1.f, 1.f));
  return result;
}

/// Matrices that follow each other, row by row or, `turned`, column by column.
MatrixPlaces dense(std::size_t count, std::size_t rows, std::size_t columns, bool turned = false) {
  MatrixPlaces places;
  for (std::size_t i = 0; i < count; ++i)
    places.begins.push_back(static_cast<std::ptrdiff_t>(i * rows * columns));
  places.row = turned ? 1 : static_cast<std::ptrdiff_t>(columns);
  places.column = turned ? static_cast<std::ptrdiff_t>(rows) : 1;
  return places;
}

struct Place {
  std::size_t matrix, row, column;
};
float at(const std::vector<float>& x, const MatrixPlaces& places, const Place& place) {
  return x[static_cast<std::size_t>(places.begins[place.matrix] +
                                    static_cast<std::ptrdiff_t>(place.row) * places.row +
                                    static_cast<std::ptrdiff_t>(place.column) * places.column)];
}

struct Tensors {
  std::vector<float> query, key, value, mask;
};

std::vector<double> exact_row(const Attention& a, const Tensors& x, std::size_t matrix,
                              std::size_t row) {
  std::vector<double> powers(a.keys), result(a.width);
  for (std::size_t k = 0; k < a.keys; ++k) {
    for (std::size_t d = 0; d < a.depth; ++d)
      powers[k] +=
          double{at(x.query, a.query, {matrix, row, d})} * double{at(x.key, a.key, {matrix, d, k})};
    powers[k] *= double{a.factor};
    if (!a.mask.begins.empty()) powers[k] += double{at(x.mask, a.mask, {matrix, row, k})};
  }
  const double largest = *std::max_element(powers.begin(), powers.end());
  double sum = 0;
  for (double& power : powers) sum += power = std::exp(power - largest);
  for (std::size_t k = 0; k < a.keys; ++k)
    for (std::size_t w = 0; w < a.width; ++w)
      result[w] += powers[k] / sum * double{at(x.value, a.value, {matrix, k, w})};
  return result;
}

/// Products of numbers below 1 are off by some roundings of their size, and so are their powers.
/// What a kernel loses has any sign.
double bound_of(const Attention& a, const Kernel& kernel) {
  const double depth = static_cast<double>(a.depth), factor{a.factor};
  return 1e-6 + 1e-7 * depth * factor + 2 * kernel.loss * (1 + factor * std::sqrt(depth));
}

std::vector<float> attended(const Attention& a, const Tensors& x, std::size_t threads,
                            const Kernel& kernel) {
  std::vector<float> y(a.query.begins.size() * a.rows * a.width, 9);
  std::vector<float> working(kernel.working(a, threads), 9);
  kernel.run(
      a, {x.query.data(), x.key.data(), x.value.data(), x.mask.data(), y.data(), working.data()},
      threads);
  return y;
}

void expect_attended(const Attention& a, const Tensors& x, std::size_t threads,
                     const Kernel& kernel) {
  const std::vector<float> y = attended(a, x, threads, kernel);
  for (std::size_t m = 0; m < a.query.begins.size(); ++m)
    for (std::size_t r = 0; r < a.rows; ++r) {
      const auto expected = exact_row(a, x, m, r);
      for (std::size_t w = 0; w < a.width; ++w)
        ASSERT_NEAR(at(y, a.result, {m, r, w}), expected[w], bound_of(a, kernel))
            << kernel.name << ", " << a.rows << " x " << a.keys << ", depth " << a.depth
            << ", width " << a.width << ", matrix " << m << ", row " << r << ", column " << w;
    }
}

void expect_attended(const Attention& a, const Tensors& x, std::size_t threads) {
  for (const Kernel& kernel : all_kernels()) expect_attended(a, x, threads, kernel);
}

struct Sizes {
  std::size_t count, rows, keys, depth, width;
};
const std::vector<Sizes> sizes{{1, 1, 1, 1, 1},     {2, 5, 17, 3, 2},     {3, 24, 64, 64, 64},
                               {2, 25, 65, 32, 32}, {1, 49, 49, 32, 48},  {3, 197, 197, 64, 64},
                               {1, 30, 130, 7, 80}, {2, 13, 300, 40, 130}};

Attention attention_of(const Sizes& s) {
  Attention a;
  a.rows = s.rows;
  a.keys = s.keys;
  a.depth = s.depth;
  a.width = s.width;
  a.factor = 1.5f;
  a.query = dense(s.count, s.rows, s.depth);
  a.key = dense(s.count, s.depth, s.keys);
  a.value = dense(s.count, s.keys, s.width);
  a.result = dense(s.count, s.rows, s.width);
  return a;
}
Tensors tensors_of(const Sizes& s) {
  return {numbers(s.count * s.rows * s.depth, 1), numbers(s.count * s.depth * s.keys, 2),
          numbers(s.count * s.keys * s.width, 3), numbers(s.count * s.rows * s.keys, 4)};
}

TEST(Attention, IsThatOfExactNumbers) {
  for (const Sizes& s : sizes)
    for (const std::size_t threads : {0, 1, 2, 5})
      expect_attended(attention_of(s), tensors_of(s), threads);
}

TEST(Attention, AddsAMaskForEachProductOrForEachKey) {
  for (const Sizes& s : sizes) {
    Attention a = attention_of(s);
    a.mask = dense(s.count, s.rows, s.keys);
    expect_attended(a, tensors_of(s), 2);
    a.mask.row = 0;
    a.mask.begins.assign(s.count, 0);
    expect_attended(a, tensors_of(s), 2);
    a.mask.column = 0;
    expect_attended(a, tensors_of(s), 2);
  }
}

TEST(Attention, ReadsAndWritesColumnByColumn) {
  for (const Sizes& s : sizes) {
    Attention a = attention_of(s);
    a.query = dense(s.count, s.rows, s.depth, true);
    a.key = dense(s.count, s.depth, s.keys, true);
    a.value = dense(s.count, s.keys, s.width, true);
    a.mask = dense(s.count, s.rows, s.keys, true);
    a.result = dense(s.count, s.rows, s.width, true);
    expect_attended(a, tensors_of(s), 3);
  }
}

TEST(Attention, KeysAndValuesMayServeSeveralMatrices) {
  const Sizes s{6, 20, 33, 16, 16};
  Attention a = attention_of(s);
  for (std::size_t i = 0; i < s.count; ++i) {
    a.key.begins[i] = dense(2, s.depth, s.keys).begins[i / 3];
    a.value.begins[i] = dense(3, s.keys, s.width).begins[i / 2];
  }
  expect_attended(a, tensors_of(s), 2);
}

TEST(Attention, AKeyThatIsMaskedOutCountsNothing) {
  const Sizes s{1, 9, 40, 8, 8};
  Attention a = attention_of(s);
  a.mask = dense(1, s.rows, s.keys);
  Tensors x = tensors_of(s);
  for (std::size_t r = 0; r < s.rows; ++r)
    for (std::size_t k = r + 1; k < s.keys; ++k)
      x.mask[r * s.keys + k] = -std::numeric_limits<float>::infinity();
  expect_attended(a, x, 1);
}

TEST(Attention, WhereAllIsMaskedOutNothingIsANumberAndOtherRowsAre) {
  const Sizes s{1, 7, 20, 8, 8};
  Attention a = attention_of(s);
  a.mask = dense(1, s.rows, s.keys);
  Tensors x = tensors_of(s);
  for (std::size_t k = 0; k < s.keys; ++k)
    x.mask[3 * s.keys + k] = -std::numeric_limits<float>::infinity();
  for (const Kernel& kernel : all_kernels()) {
    const std::vector<float> y = attended(a, x, 1, kernel);
    for (std::size_t i = 0; i < y.size(); ++i)
      EXPECT_EQ(std::isnan(y[i]), i / s.width == 3) << kernel.name << i;
  }
}

TEST(Attention, LongRowsTakeFewerRowsAtOnceAndRoundNoMore) {
  const Sizes s{1, 14, 11'000, 4, 20};
  expect_attended(attention_of(s), tensors_of(s), 2);
  // Means of numbers of one sign, of which many would round the sum of all before.
  Tensors x = tensors_of(s);
  for (float& value : x.value) value += 2.f;
  expect_attended(attention_of(s), x, 2);
}

TEST(Attention, WhatIsNoNumberStaysNoneWhateverItsBits) {
  const Sizes s{1, 24, 40, 8, 8};
  for (const std::uint32_t bits : {0x7fffffffu, 0xffffffffu, 0x7fc00001u, 0x7fc00000u}) {
    Tensors x = tensors_of(s);
    x.key[17] = std::bit_cast<float>(bits);
    for (const Kernel& kernel : all_kernels())
      for (const float value : attended(attention_of(s), x, 1, kernel))
        ASSERT_TRUE(std::isnan(value)) << kernel.name << std::hex << bits;
  }
}

TEST(Attention, FewBlocksNeedTheMemoryOfFewThreads) {
  const Attention a = attention_of({2, 10, 40, 8, 8});
  for (const Kernel& kernel : all_kernels()) EXPECT_EQ(kernel.working(a, 16), kernel.working(a, 2));
}

}  // namespace
}  // namespace millrace::kernels
