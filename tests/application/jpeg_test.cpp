// codecs/jpeg.cpp, which is in the library that codecs.cpp loads.
#include <gtest/gtest.h>

#include <cstdio>  // jpeglib.h needs it
#include <cstdlib>
#include <fstream>
#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>
#include <string>

#include <jpeglib.h>

#include "application/codecs/codecs.h"
#include "application/image_file.h"
#include "base/error.h"
#include "support/temporary_folder.h"

namespace millrace::application {
namespace {

using namespace std::string_literals;

const std::string end_marker = "\xff\xd9";

struct JpegForm {
  int channels = 3;
  bool is_progressive = false;
  unsigned restart_rows = 0;
};

std::string encoded(const JpegForm& form = {}) {
  constexpr int width = 60, height = 40;
  cv::Mat image(height, width, CV_8UC(form.channels));
  const int count = width * height * form.channels;
  for (int i = 0; i < count; ++i) image.data[i] = static_cast<unsigned char>(i * i / 7 + i / 50);
  jpeg_compress_struct jpeg{};
  jpeg_error_mgr errors{};
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_compress(&jpeg);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&jpeg, &bytes, &size);
  jpeg.image_width = width;
  jpeg.image_height = height;
  jpeg.input_components = form.channels;
  jpeg.in_color_space = form.channels == 1   ? JCS_GRAYSCALE
                        : form.channels == 3 ? JCS_RGB
                                             : JCS_CMYK;
  jpeg_set_defaults(&jpeg);
  jpeg.restart_in_rows = static_cast<int>(form.restart_rows);
  if (form.is_progressive) jpeg_simple_progression(&jpeg);
  jpeg_start_compress(&jpeg, TRUE);
  while (jpeg.next_scanline < jpeg.image_height) {
    JSAMPROW row = image.ptr(static_cast<int>(jpeg.next_scanline));
    jpeg_write_scanlines(&jpeg, &row, 1);
  }
  jpeg_finish_compress(&jpeg);
  jpeg_destroy_compress(&jpeg);
  std::string text(reinterpret_cast<const char*>(bytes), size);
  std::free(bytes);
  return text;
}

DecodedJpeg decoded_jpeg(const std::string& bytes, bool grey = false) {
  return codecs().decode_jpeg(bytes, grey);
}

bool is_damaged(const std::string& bytes) { return decoded_jpeg(bytes).is_damaged; }

bool is_good(const std::string& bytes) {
  const DecodedJpeg result = decoded_jpeg(bytes);
  return !result.is_damaged && !result.image.empty();
}

bool are_equal(const cv::Mat& one, const cv::Mat& other) {
  return one.size() == other.size() && one.type() == other.type() &&
         cv::norm(one, other, cv::NORM_INF) == 0;
}

TEST(jpeg, has_the_pixels_that_opencv_decodes) {
  for (const int channels : {1, 3, 4})
    for (const bool is_progressive : {false, true})
      for (const bool grey : {false, true}) {
        const std::string bytes = encoded({channels, is_progressive});
        const cv::Mat raw(1, static_cast<int>(bytes.size()), CV_8UC1,
                          const_cast<char*>(bytes.data()));
        const cv::Mat expected =
            codecs().decode(raw, grey ? cv::IMREAD_GRAYSCALE : cv::IMREAD_COLOR);
        const DecodedJpeg result = decoded_jpeg(bytes, grey);
        EXPECT_FALSE(result.is_damaged);
        EXPECT_TRUE(are_equal(result.image, expected)) << channels << is_progressive << grey;
      }
}

TEST(jpeg, is_damaged_wherever_it_ends_before_its_data_does) {
  for (const bool is_progressive : {false, true}) {
    const std::string whole = encoded({3, is_progressive});
    const std::size_t data_end = whole.size() - end_marker.size();
    for (std::size_t size = 2; size < data_end; ++size) {
      EXPECT_TRUE(is_damaged(whole.substr(0, size))) << size << " of " << whole.size();
    }
  }
}

TEST(jpeg, is_damaged_if_an_end_was_put_behind_half_of_its_data) {
  for (const bool is_progressive : {false, true}) {
    const std::string whole = encoded({3, is_progressive});
    EXPECT_TRUE(is_damaged(whole.substr(0, whole.size() / 2) + end_marker));
    EXPECT_TRUE(is_damaged(whole.substr(0, whole.size() - 8) + end_marker));
  }
}

TEST(jpeg, with_noise_in_its_data_is_damaged) {
  std::string bytes = encoded();
  bytes.replace(bytes.size() / 2, 40, 40, '\x55');
  EXPECT_TRUE(is_damaged(bytes));
  EXPECT_TRUE(is_damaged(bytes.substr(0, bytes.size() - 2)));
}

TEST(jpeg, with_zeros_instead_of_its_tail_is_damaged) {
  std::string bytes = encoded();
  bytes.replace(bytes.size() / 2, bytes.size() / 2 + 1, 100, '\0');
  EXPECT_TRUE(is_damaged(bytes));
}

TEST(jpeg, is_damaged_without_one_of_its_restarts) {
  std::string bytes = encoded({3, false, 1});
  EXPECT_TRUE(is_good(bytes));
  const std::size_t first = bytes.find("\xff\xd0"), second = bytes.find("\xff\xd1");
  ASSERT_NE(second, std::string::npos);
  EXPECT_TRUE(is_damaged(bytes.erase(first, second - first)));
}

TEST(jpeg, of_several_scans_is_damaged_without_the_last_one) {
  const std::string whole = encoded({3, true});
  EXPECT_TRUE(is_damaged(whole.substr(0, whole.rfind("\xff\xda"))));
}

TEST(jpeg, may_lack_the_marker_of_its_end) {
  for (const bool is_progressive : {false, true}) {
    const std::string whole = encoded({3, is_progressive});
    for (const std::size_t missing : {1, 2}) {
      const std::string cut = whole.substr(0, whole.size() - missing);
      EXPECT_FALSE(is_damaged(cut));
      EXPECT_TRUE(are_equal(decoded_jpeg(cut).image, decoded_jpeg(whole).image));
    }
  }
}

TEST(jpeg, may_have_anything_behind_its_end_and_padding_before_it) {
  const std::string whole = encoded();
  EXPECT_TRUE(is_good(whole + std::string(1000, '\0')));
  EXPECT_TRUE(is_good(whole + whole.substr(0, 300)));
  const std::string data = whole.substr(0, whole.size() - end_marker.size());
  for (const char padding : {'\0', '\xff', '\x20'})
    EXPECT_TRUE(is_good(data + std::string(1000, padding) + end_marker)) << int{padding};
  EXPECT_TRUE(is_good(whole.substr(0, 20) + "abc" + whole.substr(20)));  // between two segments
}

TEST(jpeg, of_a_form_that_nobody_decodes_is_empty) {
  std::string bytes = encoded();
  bytes[bytes.find("\xff\xc0") + 4] = 9;  // bits
  const DecodedJpeg result = decoded_jpeg(bytes);
  EXPECT_TRUE(result.image.empty());
  EXPECT_FALSE(result.is_damaged);
}

class JpegFile : public testing::Test {
 protected:
  std::filesystem::path file(const std::string& content) const {
    std::ofstream(folder_ / "a.jpg", std::ios::binary) << content;
    return folder_ / "a.jpg";
  }
  test::TemporaryFolder folder_;
};

TEST_F(JpegFile, is_turned_upright_as_opencv_does) {
  for (char orientation = 1; orientation <= 8; ++orientation) {
    const std::string exif =
        "Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0"s + orientation + "\0\0\0\0\0\0"s;
    const char length = static_cast<char>(exif.size() + 2);
    const std::string whole = encoded();
    const std::string bytes = whole.substr(0, 2) + "\xff\xe1\0"s + length + exif + whole.substr(2);
    const cv::Mat raw(1, static_cast<int>(bytes.size()), CV_8UC1, const_cast<char*>(bytes.data()));
    EXPECT_TRUE(are_equal(decode_image(file(bytes), false), codecs().decode(raw, cv::IMREAD_COLOR)))
        << int{orientation};
  }
}

TEST_F(JpegFile, that_is_damaged_is_refused_by_its_name) {
  const std::string whole = encoded();
  try {
    decode_image(file(whole.substr(0, whole.size() / 2) + end_marker), false);
    FAIL() << "it was decoded";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("a.jpg: is a JPEG file that is damaged"),
              std::string::npos)
        << error.what();
  }
}

/// With another size in its header.
std::string resized(std::string bytes, unsigned rows, unsigned columns) {
  const std::size_t size = bytes.find("\xff\xc0") + 5;
  for (const unsigned side : {rows, columns}) {
    const std::size_t place = side == rows ? size : size + 2;
    bytes[place] = static_cast<char>(side >> 8);
    bytes[place + 1] = static_cast<char>(side);
  }
  return bytes;
}

TEST(jpeg, of_few_bytes_has_no_room_for_many_pixels) {
  const DecodedJpeg few = decoded_jpeg(resized(encoded(), 43520, 18761));
  EXPECT_TRUE(few.is_damaged);
  EXPECT_TRUE(few.image.empty());
}

TEST(jpeg, has_only_as_many_pixels_as_are_read) {
  std::string bytes = resized(encoded(), 43520, 18761);
  bytes.insert(bytes.size() - 2, std::string(std::size_t{1} << 20, '\x55'));
  const DecodedJpeg large = decoded_jpeg(bytes);
  EXPECT_FALSE(large.is_damaged);
  EXPECT_TRUE(large.image.empty());
  EXPECT_EQ(large.pixels, std::uint64_t{43520} * 18761);
}

}  // namespace
}  // namespace millrace::application
