// Samples of planes against sums in double precision.
#include "kernels/plain/sample.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/random.h"

namespace millrace::kernels {
namespace {

struct SampleTest {
  std::size_t planes, size, points, taps;
};

double combined(const SamplePoints& points, Sampling sampling, const float* plane, std::size_t p) {
  double sum = 0, largest = -1e9;
  for (std::size_t tap = 0; tap < points.taps; ++tap) {
    const std::size_t i = tap * points.count + p;
    const double value =
        double{points.weights[i]} * double{plane[static_cast<std::size_t>(points.places[i])]};
    sum += value;
    largest = std::max(largest, value);
  }
  return sampling == Sampling::largest ? largest : sum;
}

void expect_sampled(const SampleTest& test, Sampling sampling) {
  Random random(test.points);
  SamplePoints points{test.points, test.taps, {}, {}};
  for (std::size_t i = 0; i < test.points * test.taps; ++i) {
    points.places.push_back(static_cast<std::int32_t>(random.below(test.size)));
    points.weights.push_back(random.uniform(-1, 1));
  }
  std::vector<float> from, before;
  for (std::size_t i = 0; i < test.planes * test.size; ++i) from.push_back(random.uniform(-1, 1));
  for (std::size_t i = 0; i < test.planes * test.points; ++i)
    before.push_back(random.uniform(-1, 1));
  std::vector<float> to = before;
  sample_planes(points, sampling, {test.planes, test.size, from.data(), to.data()});
  for (std::size_t i = 0; i < to.size(); ++i) {
    const float* const plane = from.data() + i / test.points * test.size;
    double expected = combined(points, sampling, plane, i % test.points);
    if (sampling == Sampling::add) expected += double{before[i]};
    if (sampling == Sampling::largest) expected = std::max(expected, double{before[i]});
    ASSERT_NEAR(to[i], expected, 2e-6) << i << " of " << test.taps;
  }
}

TEST(Samples, are_weighted_sums_or_the_largest) {
  for (const Sampling sampling : {Sampling::sum, Sampling::add, Sampling::largest})
    for (const std::size_t taps : {1, 4, 16}) {
      expect_sampled({3, 50, 1, taps}, sampling);
      expect_sampled({7, 1000, 49, taps}, sampling);
      expect_sampled({2, 77, 5003, taps}, sampling);
    }
}

}  // namespace
}  // namespace millrace::kernels
