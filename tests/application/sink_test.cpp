#include "application/sink.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "application/codecs/codecs.h"
#include "application/codecs/opencv.h"
#include "base/error.h"
#include "base/file.h"
#include "support/temporary_folder.h"

namespace millrace::application {
namespace {

class VideoSinkTest : public testing::Test {
 protected:
  static Outcome outcome(int width, double due_s) {
    Outcome outcome;
    outcome.picture.image = from_bgr(cv::Mat(48, width, CV_8UC3, cv::Scalar(0, 0, 255)));
    outcome.picture.due = time_from_seconds(due_s);
    return outcome;
  }
  static std::int64_t frames_in(const std::string& path) {
    const VideoReader reader = codecs().open_video(path);
    std::int64_t frames = 0;
    for (VideoFrame frame; reader.read && reader.read(frame) && !frame.image.empty();) ++frames;
    return frames;
  }
  test::TemporaryFolder folder_;
  const std::string path_ = (folder_ / "clip.avi").string();
};

TEST_F(VideoSinkTest, lasts_until_a_last_picture_that_was_dropped) {
  const auto video = video_sink(path_, 10, {});
  video->take(outcome(64, 0));
  video->take(outcome(64, 0.2));
  video->show_until(time_from_seconds(0.6));
  video->show_until(time_from_seconds(0.6));
  video->finish();
  EXPECT_EQ(frames_in(path_), 7);
}

TEST_F(VideoSinkTest, without_a_picture_leaves_the_older_one) {
  write_file(path_, "older");
  const auto video = video_sink(path_, 10, {});
  video->show_until(time_from_seconds(0.6));
  video->finish();
  EXPECT_EQ(read_file(path_), "older");
}

TEST_F(VideoSinkTest, that_cannot_be_opened_leaves_the_older_one) {
  const std::string path = (folder_ / "clip.mp4").string();
  write_file(path, "older");
  const auto video = video_sink(path, 10, {});
  Outcome dot;
  dot.picture.image = from_bgr(cv::Mat(1, 1, CV_8UC3, cv::Scalar(0, 0, 255)));
  EXPECT_THROW(video->take(dot), EngineError);
  video->finish();
  EXPECT_EQ(read_file(path), "older");
}

}  // namespace
}  // namespace millrace::application
