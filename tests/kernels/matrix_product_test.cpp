// Products of two computed matrices against the definition.
#include "kernels/direct/matrix_product.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "machine.h"
#include "network/tensor.h"
#include "own_samples.h"

namespace millrace::kernels {
namespace {

using namespace test::kernels;  // NOLINT: the vocabulary of these tests

/// A stack of up to three products. Matrices of a factor may be the same for all; the second factor
/// may lie column by column.
MatrixProduct any_product(Random& random) {
  constexpr std::size_t sizes[] = {1, 2, 3, 4, 7, 8, 16, 17, 33, 64, 100, 500};
  const auto any_size = [&] { return sizes[random.below(12)]; };
  MatrixProduct m;
  DirectConvolution& c = m.product;
  c.height.input = c.height.output = any_size();
  c.channels = any_size();
  c.outputs = any_size();
  c.lanes = std::min<std::size_t>(std::size_t{4} << random.below(3), vector_lanes());
  c.adds = random.below(3) == 0;
  c.adds_last = c.adds && random.below(2) == 0;
  const std::size_t kind = random.below(4);
  if (kind == 0) c.activation.low = 0;
  if (kind == 1) c.activation.swish = true;
  m.scale = random.below(2) == 0 ? 1.f : 0.125f;
  const bool by_column = random.below(2) == 0;
  m.b_row = by_column ? 1 : c.outputs;
  m.b_column = by_column ? c.channels : 1;
  m.stack.clear();
  const bool one_a = random.below(3) == 0, one_b = random.below(3) == 0;
  for (std::size_t i = 0; i < 1 + random.below(3); ++i)
    m.stack.push_back({one_a ? 0 : i * c.pixels() * c.channels,
                       one_b ? 0 : i * c.channels * c.outputs});
  return m;
}

struct Matrices {
  std::vector<float> a, b, bias, before;
  Matrices(const MatrixProduct& m, Random& random)
      : a(random_values(m.stack.back().a + m.product.pixels() * m.product.channels, random)),
        b(random_values(m.stack.back().b + m.product.channels * m.product.outputs, random)),
        bias(random_values(m.product.outputs, random)),
        before(random_values(m.stack.size() * m.product.pixels() * m.product.outputs, random)) {}
};

double sum_at(const MatrixProduct& m, const Matrices& n, std::size_t index) {
  const std::size_t columns = m.product.outputs, rows = m.product.pixels();
  const MatrixProduct::Place& place = m.stack[index / columns / rows];
  double sum = 0;
  for (std::size_t k = 0; k < m.product.channels; ++k)
    sum += double{n.a[place.a + index / columns % rows * m.product.channels + k]} *
           double{n.b[place.b + k * m.b_row + index % columns * m.b_column]};
  return double{m.scale} * sum;
}

TEST(MatrixProducts, are_what_the_definition_says) {
  Random random(1);
  for (int trial = 0; trial < 400; ++trial) {
    const MatrixProduct m = any_product(random);
    const Matrices n(m, random);
    const bool has_bias = random.below(2) == 0;
    network::Buffer working(Bytes{static_cast<std::int64_t>(working_size(m))});
    std::vector<float> found = n.before;
    multiply_matrices(m, {n.a.data(), n.b.data(), has_bias ? n.bias.data() : nullptr,
                          working.data(), found.data()});
    for (std::size_t i = 0; i < found.size(); ++i) {
      const double bias = has_bias ? double{n.bias[i % m.product.outputs]} : 0;
      const double y = finished(m.product, sum_at(m, n, i) + bias, double{n.before[i]});
      ASSERT_NEAR(double{found[i]}, y, 3e-5)
          << describe(m.product) << " trial " << trial << " at " << i;
    }
  }
}

}  // namespace
}  // namespace millrace::kernels
