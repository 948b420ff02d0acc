#include "application/codecs/jpeg.h"

#include <gtest/gtest.h>

#include <opencv2/core.hpp>
#include <string>
#include <vector>

#include "application/codecs/codecs.h"

namespace millrace::application {
namespace {

std::string encoded() {
  cv::Mat image(40, 60, CV_8UC3);
  for (int i = 0; i < 40 * 60 * 3; ++i)
    image.data[i] = static_cast<unsigned char>(i * i / 7);
  const std::vector<std::uint8_t> bytes = codecs().encode(".jpg", image);
  return {bytes.begin(), bytes.end()};
}

TEST(jpeg, is_damaged_wherever_it_ends_before_its_end) {
  const std::string whole = encoded();
  EXPECT_FALSE(is_damaged_jpeg(whole));
  for (std::size_t size = 4; size < whole.size(); ++size)
    EXPECT_TRUE(is_damaged_jpeg(whole.substr(0, size))) << size << " of " << whole.size();
}

TEST(jpeg, with_zeros_instead_of_its_tail_is_damaged) {
  std::string bytes = encoded();
  bytes.replace(bytes.size() / 2, bytes.size() / 2 + 1, bytes.size() / 2 + 1, '\0');
  EXPECT_TRUE(is_damaged_jpeg(bytes));
}

TEST(jpeg, is_damaged_without_one_of_its_restarts) {
  const std::string start = "\xff\xd8\xff\xda", data = "abc", end = "\xff\xd9";
  const std::string header("\0\2", 2);
  std::string scan = data;
  for (int i = 0; i < 20; ++i) scan += {'\xff', static_cast<char>(0xd0 + i % 8), 'x'};
  EXPECT_FALSE(is_damaged_jpeg(start + header + scan + end));
  scan.erase(data.size() + 3 * 5, 3);
  EXPECT_TRUE(is_damaged_jpeg(start + header + scan + end));
}

TEST(jpeg, may_have_anything_behind_its_end) {
  EXPECT_FALSE(is_damaged_jpeg(encoded() + std::string(1000, '\0')));
  EXPECT_FALSE(is_damaged_jpeg(encoded() + encoded().substr(0, 300)));
}

TEST(jpeg, is_nothing_that_begins_otherwise) {
  EXPECT_FALSE(is_damaged_jpeg(""));
  EXPECT_FALSE(is_damaged_jpeg("\x89PNG\r\n"));
}

}  // namespace
}  // namespace millrace::application
