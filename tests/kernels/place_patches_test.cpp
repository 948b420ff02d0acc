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

void expect_placed(const Patches& p, const std::vector<float>& from, const std::vector<float>& to) {
  for (std::size_t i = 0; i < to.size(); ++i) {
    const std::size_t pixel = i / p.channels, row = p.width * p.columns;
    const PlacedPixel at{pixel / row / (p.height * p.rows), pixel / row % (p.height * p.rows),
                         pixel % row, i % p.channels};
    float x = expected(p, at, from) + (p.bias != nullptr ? p.bias[at.channel] : 0.f);
    if (x < 0) x *= p.activation.slope;
    ASSERT_FLOAT_EQ(to[i], std::clamp(x, p.activation.low, p.activation.high)) << i;
  }
}

std::vector<float> numbers(Random& random, std::size_t count) {
  std::vector<float> result(count);
  for (float& x : result) x = random.uniform(-2, 2);
  return result;
}

TEST(PlacePatches, puts_each_number_where_it_belongs) {
  Random random(5);
  for (const std::size_t channels : {1, 3, 16, 37})
    for (const bool with_bias : {false, true}) {
      Patches p{2, 3, 5, 2, 3, channels};
      const auto from = numbers(random, 2 * 3 * 5 * 2 * 3 * channels);
      const auto bias = numbers(random, channels);
      if (with_bias) p.bias = bias.data();
      p.activation = {0.1f, -0.15f, 0.9f};
      std::vector<float> to(from.size());
      place_patches(p, from.data(), to.data());
      expect_placed(p, from, to);
    }
}

TEST(PlacePatches, multiplies_with_few_columns) {
  Random random(6);
  for (const std::size_t columns : {1, 4, 16}) {
    constexpr std::size_t rows = 11, inner = 7, width = NarrowProduct::most_columns;
    NarrowProduct product{rows, inner, columns, std::vector<float>(inner * width)};
    for (std::size_t i = 0; i < inner * columns; ++i)
      product.weights[i / columns * width + i % columns] = random.uniform(-1, 1);
    const auto from = numbers(random, rows * inner);
    std::vector<float> to(rows * columns);
    multiply(product, from.data(), to.data());
    for (std::size_t i = 0; i < to.size(); ++i) {
      double sum = 0;
      for (std::size_t k = 0; k < inner; ++k)
        sum += double{from[i / columns * inner + k]} * product.weights[k * width + i % columns];
      ASSERT_NEAR(to[i], sum, 1e-5) << i;
    }
  }
}

TEST(PlacePatches, multiplies_images_with_their_channels_outside) {
  Random random(7);
  for (const std::size_t columns : {1, 3, 4, 6, 8, 9, 16})
    for (const std::size_t pixels : {64, 65, 150}) {
      constexpr std::size_t images = 2, inner = 7, width = NarrowProduct::most_columns;
      NarrowProduct product{images * pixels, inner, columns, std::vector<float>(inner * width)};
      for (std::size_t i = 0; i < inner * columns; ++i)
        product.weights[i / columns * width + i % columns] = random.uniform(-1, 1);
      const auto rows = numbers(random, images * pixels * inner);
      std::vector<float> planes(rows.size()), expected(images * pixels * columns);
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const std::size_t pixel = i / inner, image = pixel / pixels;
        planes[(image * inner + i % inner) * pixels + pixel % pixels] = rows[i];
      }
      std::vector<float> to(expected.size(), 9.f);
      multiply(product, rows.data(), expected.data());
      multiply_planes(product, images, planes.data(), to.data());
      for (std::size_t i = 0; i < to.size(); ++i) {
        const std::size_t plane = i / pixels, image = plane / columns;
        const std::size_t row = image * pixels + i % pixels;
        ASSERT_NEAR(to[i], expected[row * columns + plane % columns], 1e-5) << i;
      }
    }
}

void expect_planes_placed(const Patches& p, Random& random) {
  const std::size_t pixels = p.height * p.width, size = p.rows * p.columns * p.channels;
  const auto patches = numbers(random, p.images * pixels * size);
  std::vector<float> planes(patches.size()), to(patches.size()), expected(patches.size());
  for (std::size_t i = 0; i < patches.size(); ++i) {
    const std::size_t pixel = i / size;
    planes[(pixel / pixels * size + i % size) * pixels + pixel % pixels] = patches[i];
  }
  place_patches(p, patches.data(), expected.data());
  place_planes(p, planes.data(), to.data());
  ASSERT_EQ(to, expected);
}

TEST(PlacePatches, puts_planes_where_patches_would_be) {
  Random random(8);
  for (const std::size_t channels : {1, 2, 3})
    for (const std::size_t columns : {1, 2, 4})
      for (const std::size_t width : {5, 16, 37}) {
        const auto bias = numbers(random, channels);
        expect_planes_placed({2, 3, width, 2, columns, channels, bias.data(), {0.1f, -0.15f, 0.9f}},
                             random);
      }
}

}  // namespace
}  // namespace millrace::kernels
