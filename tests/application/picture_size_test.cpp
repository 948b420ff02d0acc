#include "application/codecs/picture_size.h"

#include <gtest/gtest.h>

#include <opencv2/core.hpp>
#include <string>

#include "application/codecs/codecs.h"

namespace millrace::application {
namespace {

using namespace std::string_literals;

TEST(PictureSize, is_that_of_files_that_opencv_writes) {
  for (const int type : {CV_8UC1, CV_8UC3})
    for (const std::string ending : {".png", ".bmp", ".tiff"}) {
      const auto bytes = codecs().encode(ending, cv::Mat::zeros(37, 301, type));
      const std::string file(bytes.begin(), bytes.end());
      EXPECT_EQ(pixels_announced(file), 37u * 301u) << ending;
      for (std::size_t size = 0; size < 200 && size < file.size(); ++size)
        pixels_announced(file.substr(0, size));  // reads no further
    }
}

TEST(PictureSize, is_read_from_every_form_of_a_header) {
  const std::string motorola =
      "MM\0*\0\0\0\x08\0\x02\x01\0\0\x03\0\0\0\x01\0\x07\0\0\x01\x01\0\x04\0\0\0\x01\0\0\0\x05"s;
  EXPECT_EQ(pixels_announced(motorola), 35u);
  const std::string big = "II+\0\x08\0\0\0\x10\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0"s +
                          "\0\x01\x10\0\x01\0\0\0\0\0\0\0\x07\0\0\0\0\0\0\0"s +
                          "\x01\x01\x03\0\x01\0\0\0\0\0\0\0\x05\0\0\0\0\0\0\0"s;
  EXPECT_EQ(pixels_announced(big), 35u);
  const std::string old = "BM"s + std::string(12, '\0') + "\x0c\0\0\0\x07\0\x05\0"s;
  EXPECT_EQ(pixels_announced(old), 35u);
  const std::string from_the_top =
      "BM"s + std::string(12, '\0') + "\x28\0\0\0\x07\0\0\0\xfb\xff\xff\xff"s;
  EXPECT_EQ(pixels_announced(from_the_top), 35u);
}

TEST(PictureSize, of_a_hostile_header_is_too_large_or_not_said) {
  const std::string nowhere = "II+\0\x08\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"s;
  EXPECT_EQ(pixels_announced(nowhere), 0u);
  const std::string wide = "\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\xff\xff\xff\xff\xff\xff\xff\xff"s;
  EXPECT_GT(pixels_announced(wide), most_pixels);
}

}  // namespace
}  // namespace millrace::application
