#include "profile/calibration/scenes.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "network/tensor.h"
#include "support/network_builder.h"

namespace millrace::profile {
namespace {

using network::Array;

/// Keeps what is told.
struct Notes : OperationListener {
  void note(const std::string& text) override { all += text; }
  std::string all;
};

Array picture(std::uint64_t seed, double noise = 0) {
  Random random(seed), more(seed + 1000 + static_cast<std::uint64_t>(1e6 * noise));
  std::vector<float> values(300);
  for (float& value : values)
    value = static_cast<float>(random.uniform(0, 1) + noise * more.uniform(-1, 1));
  return network::make_array<float>(network::DataType::float32, {1, 3, 10, 10}, values);
}

Samples samples_of(const std::vector<Array>& pictures) {
  return {pictures.size(), [=](std::size_t i) { return std::vector<Array>{pictures[i]}; }};
}

std::string warning_of(const std::vector<Array>& pictures) {
  Notes notes;
  warn_of_one_scene(samples_of(pictures), {true, &notes});
  return notes.all;
}

TEST(scenes, are_one_where_a_camera_stands_still) {
  const std::string text = warning_of({picture(1), picture(1, 0.1), picture(1, 0.2)});
  EXPECT_NE(text.find("warning: all 3 frames show one scene"), std::string::npos) << text;
}

TEST(scenes, are_several_where_one_picture_is_another_one) {
  EXPECT_EQ(warning_of({picture(1), picture(1, 0.1), picture(2)}), "");
  EXPECT_LT(least_correlation(samples_of({picture(1), picture(2)})), 0.3);
}

TEST(scenes, are_one_where_there_is_one_frame) {
  EXPECT_NE(warning_of({picture(1)}).find("warning: there is one frame"), std::string::npos);
}

TEST(scenes, are_the_same_whatever_the_light_is) {
  Array bright = picture(1);
  std::vector<float> values(bright.values<float>().begin(), bright.values<float>().end());
  for (float& value : values) value = 2 * value + 1;
  bright = network::make_array<float>(network::DataType::float32, {1, 3, 10, 10}, values);
  EXPECT_NEAR(least_correlation(samples_of({picture(1), bright})), 1, 1e-6);
}

}  // namespace
}  // namespace millrace::profile
