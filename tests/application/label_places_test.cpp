#include "application/drawing/label_places.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/random.h"

namespace millrace::application {
namespace {

TEST(LabelPlaces, stand_above_the_box_where_that_is_free) {
  LabelPlaces places({640, 480});
  EXPECT_EQ(places.take({100, 100, 50, 80}, {60, 12}), cv::Rect(100, 88, 60, 12));
  EXPECT_EQ(places.take({100, 100, 50, 80}, {60, 12}), cv::Rect(100, 100, 60, 12));
  EXPECT_EQ(places.take({300, 0, 50, 80}, {60, 12}), cv::Rect(300, 0, 60, 12));
}

/// Many boxes in one place, and at borders.
TEST(LabelPlaces, never_hide_each_other) {
  Random random(3);
  const auto below = [&](int end) {
    return static_cast<int>(random.below(static_cast<std::uint64_t>(end)));
  };
  for (int round = 0; round < 50; ++round) {
    const cv::Size picture(100 + below(600), 60 + below(400));
    LabelPlaces places(picture);
    std::vector<cv::Rect> taken;
    const cv::Rect cluster(below(picture.width), below(picture.height), 40, 40);
    for (int i = 0; i < 40; ++i) {
      const cv::Rect box(cluster.x + below(30) - 15, cluster.y + below(30) - 15, below(90),
                         below(90));
      const auto place = places.take(box, {20 + below(70), 12});
      if (!place) continue;
      EXPECT_EQ(*place & cv::Rect({}, picture), *place);
      for (const cv::Rect& other : taken) EXPECT_EQ((*place & other).area(), 0);
      taken.push_back(*place);
    }
    EXPECT_GE(taken.size(), 3u);
  }
}

TEST(LabelPlaces, say_when_no_place_is_free) {
  LabelPlaces places({50, 24});
  EXPECT_TRUE(places.take({0, 0, 10, 10}, {50, 12}));
  EXPECT_TRUE(places.take({0, 0, 10, 10}, {50, 12}));
  EXPECT_FALSE(places.take({0, 0, 10, 10}, {50, 12}));
}

}  // namespace
}  // namespace millrace::application
