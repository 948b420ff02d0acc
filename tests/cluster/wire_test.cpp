#include "wire.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "support/message_of.h"

namespace millrace_cluster {
namespace {

std::vector<float> there_and_back(Wire wire, const std::vector<float>& values) {
  const std::uint64_t bytes = values.size() * sizeof(float);
  const std::string text = encode(wire, values.data(), bytes);
  EXPECT_EQ(text.size(), encoded_size(wire, bytes));
  std::vector<float> result(values.size());
  decode(wire, text, result.data(), bytes);
  return result;
}

std::string message(Wire wire, std::vector<float> values) {
  return millrace::test::message_of<std::runtime_error>([&] { there_and_back(wire, values); });
}

TEST(Wire, f32_is_bit_for_bit) {
  const std::vector<float> values{0.1f, -3e38f, 1e-42f};
  EXPECT_EQ(there_and_back(Wire::f32, values), values);
}

TEST(Wire, f16_is_off_by_half_a_unit_in_the_last_place) {
  const std::vector<float> values{0.1f, -1.0f, 65504.0f, 3e-6f, 0.0f};
  const std::vector<float> back = there_and_back(Wire::f16, values);
  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_LE(std::abs(back[i] - values[i]), std::abs(values[i]) / 2048 + 0x1p-25f);
  EXPECT_NE(back[0], values[0]);
}

TEST(Wire, int8_is_off_by_half_a_step_of_the_largest_value) {
  const std::vector<float> values{-12.7f, 0.04f, 6.0f, 12.66f};
  const std::vector<float> back = there_and_back(Wire::int8, values);
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_LE(std::abs(back[i] - values[i]), 0.0501f);
  EXPECT_FLOAT_EQ(back[0], -12.7f);
  EXPECT_EQ(there_and_back(Wire::int8, {0, 0}), (std::vector<float>{0, 0}));
}

TEST(Wire, int8_holds_the_largest_and_the_smallest_numbers) {
  const float largest = std::numeric_limits<float>::max();
  const float unit = std::numeric_limits<float>::denorm_min();
  EXPECT_EQ(there_and_back(Wire::int8, {-largest, largest})[0], -largest);
  EXPECT_EQ(there_and_back(Wire::int8, {190 * unit})[0], 127 * unit);  // the scale is one unit
  EXPECT_EQ(there_and_back(Wire::int8, {-190 * unit})[0], -127 * unit);
}

TEST(Wire, places_are_numbers) {
  const PiecePlace place = place_of(number_of({98304, Wire::int8}));
  EXPECT_EQ(place.offset, 98304);
  EXPECT_EQ(place.wire, Wire::int8);
  EXPECT_EQ(decoded_size(Wire::int8, encoded_size(Wire::int8, 400)), 400u);
  EXPECT_EQ(decoded_size(Wire::f16, encoded_size(Wire::f16, 400)), 400u);
  EXPECT_NE(millrace::test::message_of<std::runtime_error>([] { place_of(3); }).find("no place"),
            std::string::npos);
}

TEST(Wire, what_it_does_not_hold_is_refused) {
  EXPECT_NE(message(Wire::f16, {1, 70000}).find("a value of 70000"), std::string::npos);
  EXPECT_NE(message(Wire::f16, {1, 70000}).find("set 'wire: f32'"), std::string::npos);
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(message(Wire::f16, {infinity}), "no error");
  EXPECT_NE(message(Wire::int8, {1, infinity}).find("no finite number"), std::string::npos);
  float value = 0;
  EXPECT_NE(millrace::test::message_of<std::runtime_error>([&] {
              decode(Wire::int8, "1", &value, 4);
            }).find("another size"),
            std::string::npos);
}

}  // namespace
}  // namespace millrace_cluster
