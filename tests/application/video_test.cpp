#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "application/codecs/codecs.h"
#include "application/source.h"
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
    Input input;
    input.kind = InputKind::video;
    input.path = path.string();
    return input;
  }
  test::TemporaryFolder folder_;
};

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

}  // namespace
}  // namespace millrace::application
