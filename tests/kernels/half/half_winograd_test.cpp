// Winograd's convolutions in float16 against the definition.
#include "kernels/half/half_winograd.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/random.h"
#include "kernels/float16.h"
#include "kernels/machine.h"
#include "kernels/own_samples.h"
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
  const std::size_t kind = random.below(4);
  if (kind == 0) c.activation.slope = 0.1f;
  if (kind == 1) c.activation = {1, 0, random.below(2) == 0 ? 1.f : 1e9f};
  if (kind == 2) c.activation.swish = true;
  c.source = c.result = c.added = StoredNumber::f16;
  return c;
}

/// In shares of the largest result, beyond its rounding.
constexpr double most_of_2 = 0.004, most_of_4 = 0.011;

/// What a mistake of any kind would be larger than: 4x4 results lose more where few products are
/// summed up.
TEST_F(HalfTilesOfPixels, give_what_the_definition_says) {
  Random random(1);
  for (int i = 0; i < 400; ++i) {
    const HalfWinograd c = random_winograd(random);
    Sample sample(c, random);
    const std::vector<float> found = computed(c, sample);
    EXPECT_LT(error_of(c, sample, found), c.tile == 2 ? most_of_2 : most_of_4)
        << describe(c) << " tile " << c.tile;
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
    EXPECT_LT(error_of(c, sample, computed(c, sample)), most_of_4);
  }
}

}  // namespace
}  // namespace millrace::kernels
