#include "application/codecs/webp.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "application/codecs/codecs.h"
#include "application/image_file.h"
#include "base/error.h"
#include "support/temporary_folder.h"

namespace millrace::application {
namespace {

using namespace std::string_literals;

std::string chunk(const std::string& name, const std::string& content) {
  std::string text = name;
  for (std::size_t i = 0; i < 4; ++i) text += static_cast<char>(content.size() >> (8 * i) & 0xff);
  return text + content + std::string(content.size() % 2, '\0');
}

std::string exif(char orientation) {
  return "MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0"s + orientation + "\0\0\0\0\0\0"s;
}

/// 32 x 16 pixels, white on the left, with what is said beside them.
std::string picture(const std::string& beside) {
  cv::Mat image(16, 32, CV_8UC3, cv::Scalar(0, 0, 0));
  image.colRange(0, 16) = cv::Scalar(255, 255, 255);
  const auto bytes = codecs().encode(".webp", image);
  const std::string pixels(bytes.begin() + 12, bytes.end());
  const std::string head = chunk("VP8X", "\x08\0\0\0\x1f\0\0\x0f\0\0"s);
  return chunk("RIFF", "WEBP" + head + pixels + chunk("EXIF", beside));
}

TEST(Webp, says_how_it_lies) {
  for (char i = 1; i <= 8; ++i) EXPECT_EQ(webp_orientation(picture(exif(i))), i);
  EXPECT_EQ(webp_orientation(picture("Exif\0\0"s + exif(6))), 6);
  const auto little = "II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x03\0\0\0"s;
  EXPECT_EQ(webp_orientation(picture(little)), 3);
}

TEST(Webp, is_upright_if_it_says_nothing) {
  for (const std::string& beside : {""s, "II"s, exif(9), exif(0), "MM\0*\0\0\xff\xff"s})
    EXPECT_EQ(webp_orientation(picture(beside)), 1);
  for (const std::string& file : {""s, "RIFF"s, "RIFF\4\0\0\0WEBP"s, "RIFF\4\0\0\0WEBPEXIF\xff"s})
    EXPECT_EQ(webp_orientation(file), 1);
}

TEST(Webp, is_turned_upright) {
  const test::TemporaryFolder folder;
  std::ofstream(folder / "a.webp", std::ios::binary) << picture(exif(6));  // a quarter clockwise
  const cv::Mat image = decode_image(folder / "a.webp", true);
  ASSERT_EQ(image.size(), cv::Size(16, 32));
  EXPECT_GT(image.at<std::uint8_t>(3, 8), 200);  // what was on the left is at the top
  EXPECT_LT(image.at<std::uint8_t>(28, 8), 50);
}

TEST(Webp, of_several_pictures_is_said_to_be_animated) {
  std::string bytes = picture("");
  EXPECT_FALSE(is_animated_webp(bytes));
  bytes[bytes.find("VP8X") + 8] = '\x0a';
  EXPECT_TRUE(is_animated_webp(bytes));
  for (const std::string& file : {""s, "RIFF"s, "RIFF\4\0\0\0WEBP"s, "RIFF\4\0\0\0WEBPVP8X"s})
    EXPECT_FALSE(is_animated_webp(file));
  const test::TemporaryFolder folder;
  std::ofstream(folder / "a.webp", std::ios::binary) << bytes;
  try {
    decode_image(folder / "a.webp", false);
    FAIL() << "it was decoded";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("a.webp: is an animated WebP file"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace millrace::application
