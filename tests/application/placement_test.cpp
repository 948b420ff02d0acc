#include "application/placement.h"

#include <gtest/gtest.h>

namespace millrace::application {
namespace {

TEST(Placement, rounds_letterboxed_pictures_and_cuts_off_in_a_corner) {
  const Size picture{773, 512}, input{416, 416};  // 275.53 rows
  const Placement middle = place(picture, input, Fit::letterbox);
  EXPECT_EQ(middle.size, (Size{416, 276}));
  EXPECT_EQ(middle.top, 70);
  const Placement corner = place(picture, input, Fit::corner);
  EXPECT_EQ(corner.size, (Size{416, 275}));
  EXPECT_EQ(corner.top, 0);
  EXPECT_EQ(place({768, 576}, input, Fit::corner).size, (Size{416, 312}));
  EXPECT_EQ(place({10000, 1}, input, Fit::corner).size, (Size{416, 1}));
}

}  // namespace
}  // namespace millrace::application
