#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "application/codecs/codecs.h"
#include "application/codecs/video_time.h"
#include "application/source.h"
#include "base/file.h"
#include "support/temporary_folder.h"

namespace millrace::application {
namespace {

using Size = std::pair<int, int>;

class Video : public testing::Test {
 protected:
  /// JPEG pictures one behind the other, as many cameras send them.
  Input video_of(const std::vector<Size>& sizes) const {
    const std::filesystem::path path = folder_ / "clip.mjpeg";
    std::ofstream out(path, std::ios::binary);
    for (const auto& [width, height] : sizes) {
      const cv::Mat image(height, width, CV_8UC3, cv::Scalar(0, 0, 255));
      const auto bytes = codecs().encode(".jpg", image);
      out.write(reinterpret_cast<const char*>(bytes.data()),
                static_cast<std::streamsize>(bytes.size()));
    }
    out.close();
    return input_of(path);
  }
  /// With 25 of them a second, in the format of the name.
  std::filesystem::path encoded(const std::string& name, const cv::Mat& image, int frames) const {
    const std::filesystem::path path = folder_ / name;
    const VideoWriter write = codecs().create_video(path.string(), {"mp4v", 25, image.size()});
    for (int i = 0; write && i < frames; ++i) write(image);
    return path;
  }
  Input rewritten(const std::filesystem::path& path, const std::string& content) const {
    write_file(path, content);
    return input_of(path);
  }
  static Input input_of(const std::filesystem::path& path) {
    Input input;
    input.kind = InputKind::video;
    input.path = path.string();
    return input;
  }
  test::TemporaryFolder folder_;
};

const cv::Mat black(48, 64, CV_8UC3, cv::Scalar(0, 0, 0));

/// As MP4 files have their numbers.
std::string four_bytes(std::uint32_t number) {
  std::string text;
  for (int shift = 24; shift >= 0; shift -= 8) text += static_cast<char>(number >> shift & 0xff);
  return text;
}
std::uint32_t number_at(const std::string& text, std::size_t at) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < 4; ++i)
    number = number << 8 | static_cast<unsigned char>(text.at(at + i));
  return number;
}

/// An MP4 file whose tables lie before its frames, so that it can be read where it is cut.
std::string with_tables_first(const std::string& file) {
  const std::size_t begin = file.find("mdat") - 4, tables_at = file.find("moov") - 4;
  std::string tables = file.substr(tables_at);
  const std::size_t offsets = tables.find("stco") + 8;
  for (std::size_t i = 1; i <= number_at(tables, offsets); ++i) {
    const auto moved =
        static_cast<std::uint32_t>(number_at(tables, offsets + 4 * i) + tables.size());
    tables.replace(offsets + 4 * i, 4, four_bytes(moved));
  }
  return file.substr(0, begin) + tables + file.substr(begin, tables_at - begin);
}

std::int64_t frames_of(Source& source) {
  std::int64_t frames = 0;
  while (source.next()) ++frames;
  return frames;
}

TEST_F(Video, gives_each_frame_in_its_own_size) {
  const std::vector<Size> sizes{{64, 48}, {64, 48}, {96, 80}, {96, 80}, {32, 16}, {64, 48}};
  const auto source = open_video(video_of(sizes));
  for (const Size& size : sizes) {
    const auto picture = source->next();
    ASSERT_TRUE(picture);
    EXPECT_EQ(Size(picture->image.width, picture->image.height), size);
    const auto bytes = picture->image.bytes();
    for (const std::size_t pixel : {std::size_t{0}, bytes.size() - 3}) {
      EXPECT_GT(bytes[pixel], 240);  // red
      EXPECT_LT(bytes[pixel + 1], 15);
    }
  }
  EXPECT_FALSE(source->next());
  EXPECT_FALSE(source->complaint());
}

TEST_F(Video, says_the_time_of_each_frame) {
  const auto source = open_video(video_of({{64, 48}, {64, 48}, {64, 48}}));
  const double rate = source->rate_fps();
  ASSERT_GT(rate, 0);
  for (int i = 0; i < 3; ++i) {
    const auto picture = source->next();
    ASSERT_TRUE(picture && picture->time);
    EXPECT_NEAR(seconds(*picture->time), i / rate, 0.001);
    EXPECT_FALSE(picture->captured);
  }
}

/// White, grey and black quarters, in the order of rows; one is red where a video is mirrored.
std::string quarters_of(const Image& image) {
  std::string text;
  for (const int y : {1, 3})
    for (const int x : {1, 3}) {
      const int at = (image.height * y / 4 * image.width + image.width * x / 4) * 3;
      const auto rgb = image.bytes().subspan(static_cast<std::size_t>(at), 3);
      text += rgb[0] < 60 ? 'k' : rgb[1] < 60 ? 'r' : rgb[0] > 200 ? 'w' : 'g';
    }
  return text;
}

TEST_F(Video, is_turned_and_mirrored_as_its_matrix_says) {
  cv::Mat image = black.clone();
  image(cv::Rect(0, 0, 32, 24)) = cv::Scalar(255, 255, 255);
  image(cv::Rect(32, 0, 32, 24)) = cv::Scalar(0, 0, 255);
  image(cv::Rect(0, 24, 32, 24)) = cv::Scalar(128, 128, 128);
  const auto path = encoded("clip.mp4", image, 3);
  const std::string file = read_file(path);
  struct Case {
    std::array<int, 4> matrix;  // a, b, c, d: (x, y) is shown at (a x + c y, b x + d y)
    std::string shown;
  };
  const std::vector<Case> cases{{{1, 0, 0, 1}, "wrgk"},  {{-1, 0, 0, 1}, "rwkg"},
                                {{1, 0, 0, -1}, "gkwr"}, {{-1, 0, 0, -1}, "kgrw"},
                                {{0, 1, 1, 0}, "wgrk"},  {{0, 1, -1, 0}, "gwkr"},
                                {{0, -1, 1, 0}, "rkwg"}, {{0, -1, -1, 0}, "krgw"}};
  for (const auto& [matrix, shown] : cases) {
    std::string turned = file;
    const std::size_t begin = file.find("tkhd") + 44;
    constexpr std::array<std::size_t, 4> places{0, 4, 12, 16};
    for (std::size_t i = 0; i < 4; ++i)
      turned.replace(begin + places[i], 4, four_bytes(static_cast<std::uint32_t>(matrix[i]) << 16));
    const auto picture = open_video(rewritten(path, turned))->next();
    ASSERT_TRUE(picture);
    EXPECT_EQ(Size(picture->image.width, picture->image.height),
              matrix[0] == 0 ? Size(48, 64) : Size(64, 48));
    EXPECT_EQ(quarters_of(picture->image), shown);
  }
}

TEST_F(Video, that_shows_a_part_of_its_frames_is_whole) {
  const auto path = encoded("clip.mp4", black, 60);
  std::string file = read_file(path);
  const std::size_t duration = file.find("elst") + 12;
  ASSERT_EQ(number_at(file, duration), 2400);  // ms
  const auto source = open_video(rewritten(path, file.replace(duration, 4, four_bytes(1080))));
  const auto announced = source->count();
  const std::int64_t frames = frames_of(*source);
  EXPECT_GE(frames, 27);
  EXPECT_LT(frames, 40);
  EXPECT_EQ(announced, frames);
  EXPECT_FALSE(source->complaint());
}

TEST_F(Video, that_is_cut_is_not_whole) {
  const auto path = encoded("clip.mp4", black, 60);
  const std::string whole = with_tables_first(read_file(path));
  const auto good = open_video(rewritten(path, whole));
  EXPECT_EQ(frames_of(*good), 60);
  EXPECT_FALSE(good->complaint());
  const std::size_t data = whole.find("mdat");
  const auto cut = open_video(rewritten(path, whole.substr(0, (data + whole.size()) / 2)));
  EXPECT_LT(frames_of(*cut), 55);
  ASSERT_TRUE(cut->complaint());
  EXPECT_NE(cut->complaint()->text.find("of the 60 frames"), std::string::npos);
}

TEST_F(Video, with_varying_distances_has_a_rate_at_which_each_frame_has_a_place) {
  constexpr int frames = 30;
  const auto path = encoded("clip.mkv", black, frames);
  std::string file = read_file(path);
  file.replace(file.find("\x23\xe3\x83"), 3, "\x23\xe3\x8f");  // the rate that it says itself
  std::size_t at = file.find("\x1f\x43\xb6\x75");              // the blocks of frames
  int cluster = 0;  // when the frames began to which a block's time counts
  for (int i = 0; i < frames; ++i) {
    const auto text_of = [](int ms) {
      return four_bytes(static_cast<std::uint32_t>(ms)).substr(2);
    };
    std::size_t block = file.find("\x81" + text_of(40 * i - cluster), at);
    if (block == std::string::npos) {
      cluster = 40 * i;
      block = file.find("\x81" + text_of(0), at);
    }
    ASSERT_NE(block, std::string::npos);
    at = block;
    file.replace(at + 1, 2, text_of(100 * i - (i % 3 == 2 ? 63 : 0) - cluster));
    at += 3;
  }
  const auto source = open_video(rewritten(path, file));
  EXPECT_NEAR(source->rate_fps(), 27, 0.1);  // 37 ms
  WritingTime time(source->rate_fps());
  int count = 0;
  for (; const auto picture = source->next(); ++count)
    EXPECT_TRUE(time.repeats_before(picture->time)) << count;
  EXPECT_EQ(count, frames);
}

}  // namespace
}  // namespace millrace::application
