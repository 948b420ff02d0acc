#include "application/codecs/pnm.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace millrace::application {
namespace {

using namespace std::string_literals;

/// All bytes of the picture, row by row; none: it cannot be read.
std::vector<int> read(const std::string& file, bool grey = true) {
  EXPECT_TRUE(is_pnm(file));
  const cv::Mat image = read_pnm(file, grey);
  return {image.data, image.data + image.total() * image.elemSize()};
}

using Values = std::vector<int>;

TEST(Pnm, has_its_largest_value_as_255) {
  EXPECT_EQ(read("P5 3 1 255\n\x00\x80\xff"s), (Values{0, 128, 255}));
  EXPECT_EQ(read("P5 3 1 15\n\x00\x05\x0f"s), (Values{0, 85, 255}));
  EXPECT_EQ(read("P5 2 1 1\n\x00\x01"s), (Values{0, 255}));
  EXPECT_EQ(read("P5 2 1 1023\n\x02\x00\x03\xff"s), (Values{128, 255}));
  EXPECT_EQ(read("P2 3 1 15\n0 5 15\n"), (Values{0, 85, 255}));
  EXPECT_EQ(read("P5 1 1 15\n\x20"s), (Values{255}));  // above what it says
}

TEST(Pnm, has_colours) {
  EXPECT_EQ(read("P6 1 2 100\n\x64\x00\x32\x00\x00\x64"s, false), (Values{128, 0, 255, 255, 0, 0}));
  EXPECT_EQ(read("P3 1 1 1 1 0 1", false), (Values{255, 0, 255}));
  EXPECT_EQ(read("P5 1 1 255\n\x07"s, false), (Values{7, 7, 7}));
  EXPECT_EQ(read("P6 1 1 255\n\xff\xff\xff"s), (Values{255}));
}

TEST(Pnm, may_have_comments) {
  EXPECT_EQ(read("P5\n# by hand\n2 1 # wide\n255\n\x23\x24"s), (Values{35, 36}));
}

TEST(Pnm, lacks_pixels_or_is_none) {
  for (const auto& file :
       {"P5 2 2 255\nabc"s, "P5 2 1 256\nabc"s, "P2 2 1 255\n1"s, "P5 0 1 255\na"s, "P5 x"s,
        "P6 30000 30000 255\nx"s, "P5 1 1 70000\naa"s, "P5 1 1 0\naa"s, "P2 1 1 255\n-1"s})
    EXPECT_TRUE(read(file).empty()) << file;
  EXPECT_FALSE(is_pnm("P4 1 1\n1"));
  EXPECT_FALSE(is_pnm("P5"));
  EXPECT_FALSE(is_pnm(""));
}

}  // namespace
}  // namespace millrace::application
