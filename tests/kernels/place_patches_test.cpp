// Patches of a transposed convolution, put where the definition says.
#include "kernels/place_patches.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/random.h"

namespace millrace::kernels {
namespace {

struct PlacedPixel {
  std::size_t image, y, x, channel;
};

float expected(const Patches& p, const PlacedPixel& at, const std::vector<float>& from) {
  const std::size_t patch = (at.image * p.height + at.y / p.rows) * p.width + at.x / p.columns;
  const std::size_t within = at.y % p.rows * p.columns + at.x % p.columns;
  return from[(patch * p.rows * p.columns + within) * p.channels + at.channel];
}

TEST(PlacePatches, puts_each_number_where_it_belongs) {
  Random random(5);
  for (const std::size_t channels : {1, 3, 16, 37})
    for (const bool with_bias : {false, true}) {
      const Patches p{2, 3, 5, 2, 3, channels};
      const std::size_t count = 2 * 3 * 5 * 2 * 3 * channels;
      std::vector<float> from(count), to(count), bias(channels);
      for (float& x : from) x = random.uniform(-2, 2);
      for (float& x : bias) x = random.uniform(-1, 1);
      place_patches(p, {0.1f, -0.15f, 0.9f}, with_bias ? bias.data() : nullptr, from.data(),
                    to.data());
      for (std::size_t i = 0; i < count; ++i) {
        const std::size_t pixel = i / channels, row = p.width * p.columns;
        const PlacedPixel at{pixel / row / (p.height * p.rows), pixel / row % (p.height * p.rows),
                             pixel % row, i % channels};
        float x = expected(p, at, from) + (with_bias ? bias[at.channel] : 0.f);
        if (x < 0) x *= 0.1f;
        ASSERT_FLOAT_EQ(to[i], std::clamp(x, -0.15f, 0.9f)) << i;
      }
    }
}

}  // namespace
}  // namespace millrace::kernels
