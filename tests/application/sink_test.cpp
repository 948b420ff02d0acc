#include "application/sink.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <filesystem>
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
  Outcome line;
  line.picture.image = from_bgr(cv::Mat(1, 70'000, CV_8UC3, cv::Scalar(0, 0, 255)));
  EXPECT_THROW(video->take(line), EngineError);
  video->finish();
  EXPECT_EQ(read_file(path), "older");
}

TEST_F(VideoSinkTest, loses_nothing_of_pictures_of_odd_size) {
  for (const char* name : {"clip.avi", "clip.mp4", "clip.mkv"}) {
    const std::string path = (folder_ / name).string();
    cv::Mat image(47, 63, CV_8UC3, cv::Scalar(0, 0, 0));
    image.col(62).setTo(cv::Scalar(255, 255, 255));
    image.row(46).setTo(cv::Scalar(255, 255, 255));
    Outcome odd;
    odd.picture.image = from_bgr(image);
    const auto video = video_sink(path, 10, {});
    video->take(odd);
    video->finish();
    VideoFrame frame;
    ASSERT_TRUE(codecs().open_video(path).read(frame)) << name;
    ASSERT_EQ(frame.image.size(), image.size()) << name;
    EXPECT_GT(frame.image.at<cv::Vec3b>(20, 62)[1], 200) << name;
    EXPECT_GT(frame.image.at<cv::Vec3b>(46, 20)[1], 200) << name;
    EXPECT_LT(frame.image.at<cv::Vec3b>(20, 20)[1], 50) << name;
  }
}

TEST_F(VideoSinkTest, can_be_read_as_far_as_it_came_when_its_process_is_killed) {
  codecs();
  for (const char* name : {"clip.avi", "clip.mp4", "clip.mkv"}) {
    const std::string path = (folder_ / name).string();
    const pid_t child = fork();
    if (child == 0) {
      const auto video = video_sink(path, 10, {});
      for (int i = 0; i < 50; ++i) video->take(outcome(64, 0.1 * i));
      raise(SIGKILL);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
    EXPECT_FALSE(std::filesystem::exists(path));
    video_sink(path, 10, {});
    std::filesystem::path killed = path;
    killed.replace_extension(".killed" + killed.extension().string());
    ASSERT_TRUE(std::filesystem::exists(killed)) << name;
    EXPECT_GE(frames_in(killed.string()), 30) << name;
  }
}

}  // namespace
}  // namespace millrace::application
