// Winograd's convolutions in float16 against the definition.
#include "kernels/half/half_winograd.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "base/random.h"
#include "kernels/float16.h"
#include "kernels/half/half_panels.h"
#include "kernels/machine.h"
#include "kernels/own_samples.h"
#include "kernels/winograd/winograd_points.h"
#include "network/tensor.h"

namespace millrace::kernels {
namespace {

using namespace test::kernels;  // NOLINT: the vocabulary of these tests

class HalfTilesOfPixels : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_half_products()) GTEST_SKIP() << "this processor has no arithmetic of float16 numbers";
  }
};

std::vector<Half> halves_of(std::vector<float>& numbers) {
  std::vector<Half> result;
  for (float& number : numbers) {
    result.push_back(to_float16(number));
    number = from_float16(result.back());
  }
  return result;
}

std::vector<float> computed(const HalfWinograd& c, Sample& sample) {
  const HalfTiles tiles(c);
  network::Buffer weights(Bytes{static_cast<std::int64_t>(packed_size(c))});
  network::Buffer working(Bytes{static_cast<std::int64_t>(tiles.working)});
  pack_weights(c, sample.weights, weights.bytes());
  const std::vector<Half> source = halves_of(sample.source);
  std::vector<Half> result = halves_of(sample.before);
  convolve(c, tiles,
           {source.data(), weights.data(), sample.bias.data(), working.data(), result.data()});
  std::vector<float> numbers;
  for (const Half half : result) numbers.push_back(from_float16(half));
  return numbers;
}

HalfWinograd random_winograd(Random& random) {
  HalfWinograd c;
  c.tile = random.below(2) == 0 ? 2 : 4;
  c.images = 1 + random.below(2);
  c.channels = 1 + random.below(random.below(4) == 0 ? 200 : 40);
  c.outputs = 1 + random.below(60);
  for (WindowAxis* const axis : {&c.height, &c.width}) {
    axis->window = 3;
    axis->pad = random.below(3);
    axis->input = 3 + random.below(12);
    axis->output = axis->input + axis->pad + random.below(3) - 2;
  }
  c.adds = random.below(2) == 0;
  c.adds_last = c.adds && random.below(2) == 0;
  const std::size_t kind = random.below(5);
  if (kind == 0) c.activation.slope = 0.1f;
  if (kind == 1) c.activation = {1, 0, random.below(2) == 0 ? 1.f : 1e9f};
  if (kind == 2) c.activation.swish = true;
  if (kind == 3) c.activation.hard_swish = true;
  c.source = c.result = c.added = StoredNumber::f16;
  return c;
}

/// A rounding to float16 moves x by at most |x| times this, evenly: its variance is at most
/// (x u)^2 / 3.
constexpr double u = 0x1p-11;

/// How exact results can be. What rounds to float16 are the numbers of a tile at its points, the
/// weights there, and each sum after a product; all else is float32. Such roundings are
/// independent, so their variances add up, and the transform to results multiplies them by its
/// squared factors.
/// (Barabasz et al. 2020, "Error analysis and improving the accuracy of Winograd convolution for
/// deep neural networks", add up magnitudes in the same way, for the worst case.)
template <std::size_t tile>
class RoundingModel {
 public:
  RoundingModel(const HalfWinograd& c, const Sample& sample) : c_(c), sample_(sample) {
    for (std::size_t point = 0; point < side; ++point) {
      double at_point[side] = {}, results[tile];
      at_point[point] = 1;
      from_points(at_point, results);
      for (std::size_t i = 0; i < tile; ++i) squares_[i][point] = results[i] * results[i];
    }
  }

  /// Variances of all results, before they are rounded themselves.
  std::vector<double> variances() const {
    const HalfTiles t(c_);
    std::vector<double> result(sample_.before.size());
    for (std::size_t index = 0; index < t.count; ++index) {
      const Place place = {index / t.across / t.down, index / t.across % t.down * tile,
                           index % t.across * tile};
      const std::vector<WindowAtPoints> pixels = pixels_at(place);
      for (std::size_t output = 0; output < c_.outputs; ++output)
        place_variances(place, output, at_points_of(pixels, output), result);
    }
    return result;
  }

 private:
  static constexpr std::size_t side = tile + 2;
  /// Place of the first pixel of a tile's results.
  struct Place {
    std::size_t image, y, x;
  };

  /// By channel.
  std::vector<WindowAtPoints> pixels_at(const Place& place) const {
    std::vector<WindowAtPoints> result(c_.channels);
    for (std::size_t channel = 0; channel < c_.channels; ++channel)
      tile_to_points<double, side>(
          [&](std::size_t i, std::size_t j) {
            const std::size_t y = place.y + i - c_.height.pad, x = place.x + j - c_.width.pad;
            if (y >= c_.height.input || x >= c_.width.input) return 0.;  // also below zero
            const std::size_t pixel = (place.image * c_.height.input + y) * c_.width.input + x;
            return double{sample_.source[pixel * c_.channels + channel]};
          },
          [&](std::size_t i, std::size_t j, double x) { result[channel][i * side + j] = x; });
    return result;
  }

  /// The variances of an output's sums at the points: of both factors, and of each sum.
  WindowAtPoints at_points_of(const std::vector<WindowAtPoints>& pixels, std::size_t output) const {
    constexpr std::size_t products_of_sum = tile == 4 ? 16 : 32;
    const HalfDepth depth(c_.channels, products_of_sum);
    WindowAtPoints result = {}, sums = {};
    for (std::size_t channel = 0; channel < c_.channels; ++channel) {
      if (channel % depth.block == 0) sums = {};
      const std::size_t window = 9 * (output * c_.channels + channel);
      const WindowAtPoints weights =
          at_points(tile, std::span(sample_.weights).subspan(window).template first<9>());
      for (std::size_t point = 0; point < side * side; ++point) {
        const double product = pixels[channel][point] * weights[point];
        sums[point] += product;
        result[point] += (2 * product * product + sums[point] * sums[point]) * u * u / 3;
      }
    }
    return result;
  }

  void place_variances(const Place& place, std::size_t output, const WindowAtPoints& variances,
                       std::vector<double>& to) const {
    for (std::size_t i = 0; i < tile && place.y + i < c_.height.output; ++i)
      for (std::size_t j = 0; j < tile && place.x + j < c_.width.output; ++j) {
        double sum = 0;
        for (std::size_t point = 0; point < side * side; ++point)
          sum += squares_[i][point / side] * squares_[j][point % side] * variances[point];
        const std::size_t row = place.image * c_.height.output + place.y + i;
        to[(row * c_.width.output + place.x + j) * c_.outputs + output] = sum;
      }
  }

  const HalfWinograd& c_;
  const Sample& sample_;
  double squares_[tile][side] = {};
};

std::vector<double> variances_of(const HalfWinograd& c, const Sample& sample) {
  return c.tile == 4 ? RoundingModel<4>(c, sample).variances()
                     : RoundingModel<2>(c, sample).variances();
}

/// What the definition gives for a result; an activation makes errors at most `slope` times larger.
double defined(const HalfWinograd& c, const Sample& sample, std::size_t i) {
  const double sum = sum_at(c, sample, i / c.outputs, i % c.outputs);
  return finished(c, sum + double{sample.bias[i % c.outputs]}, double{sample.before[i]});
}
double slope_of(const Activation& activation) {
  return activation.hard_swish ? 1.5 : activation.swish ? 1.1 : 1;
}

/// Errors in standard deviations, beyond the result's own rounding: above 6 in one of 5e8 results.
constexpr double most_deviations = 6;
double deviations_of(const HalfWinograd& c, const Sample& sample, const std::vector<float>& found) {
  const std::vector<double> variances = variances_of(c, sample);
  double worst = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (std::isnan(found[i])) return std::numeric_limits<double>::infinity();
    const double y = defined(c, sample, i);
    const double beyond = std::abs(y - double{found[i]}) - rounding_of(c.result, y);
    if (beyond > 0)
      worst = std::max(worst, beyond / (slope_of(c.activation) * std::sqrt(variances[i]) + 1e-9));
  }
  return worst;
}

TEST_F(HalfTilesOfPixels, give_what_the_definition_says) {
  Random random(1);
  for (int i = 0; i < 400; ++i) {
    const HalfWinograd c = random_winograd(random);
    Sample sample(c, random);
    const std::vector<float> found = computed(c, sample);
    EXPECT_LT(deviations_of(c, sample, found), most_deviations)
        << describe(c) << " tile " << c.tile;
  }
}

/// Nothing rounds more often than the model says. It takes the most of a rounding: of the numbers
/// between two powers of two, the smallest. Where logarithms of magnitudes are spread evenly, the
/// mean of (1 / mantissa)^2 is this.
TEST_F(HalfTilesOfPixels, are_on_average_as_exact_as_their_roundings_are) {
  const double mean = 3 / (8 * std::log(2.));
  Random random(3);
  for (const std::size_t tile : {2, 4}) {
    double squares = 0, count = 0;
    for (int i = 0; i < 40; ++i) {
      HalfWinograd c = random_winograd(random);
      c.tile = tile;
      c.activation = {};
      Sample sample(c, random);
      const std::vector<float> found = computed(c, sample);
      const std::vector<double> variances = variances_of(c, sample);
      for (std::size_t k = 0; k < found.size(); ++k) {
        const double y = defined(c, sample, k), error = y - double{found[k]};
        squares += error * error / (variances[k] + y * y * u * u / 3 + 1e-18);
        ++count;
      }
    }
    EXPECT_NEAR(squares / count, mean, 0.03) << "tile " << tile;
  }
}

TEST_F(HalfTilesOfPixels, no_sum_of_the_largest_numbers_overflows) {
  Random random(2);
  for (const std::size_t tile : {2, 4}) {
    HalfWinograd c;
    c.tile = tile;
    c.channels = 70;
    c.outputs = 8;
    c.height = c.width = {9, 9, 3, 1, 1, 1};
    c.source = c.result = StoredNumber::f16;
    Sample sample(c, random);
    for (float& number : sample.source) number = number > 0 ? 65504.f : -65504.f;
    for (float& number : sample.weights) number *= 0.002f;
    EXPECT_LT(deviations_of(c, sample, computed(c, sample)), most_deviations);
  }
}

}  // namespace
}  // namespace millrace::kernels
