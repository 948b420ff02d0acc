// A camera that goes, freezes, changes, and comes back.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <fstream>
#include <memory>
#include <string>
#include <thread>

#include "application/source.h"
#include "mjpeg_server.h"

namespace millrace::application {
namespace {

using namespace std::chrono_literals;

Input camera(const test::MjpegServer& server) {
  Input input;
  input.kind = InputKind::camera;
  input.path = server.address();
  input.place = "input";
  input.watchdog = 400ms;
  input.reconnect = 20s;
  return input;
}

std::int64_t resident_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmRSS:")) return std::stoll(line.substr(6));
  return 0;
}

class CameraTest : public testing::Test {
 protected:
  /// Reads so many pictures, whose numbers grow.
  void read(Source& source, int count) {
    for (int i = 0; i < count; ++i) {
      const auto picture = source.next();
      ASSERT_TRUE(picture);
      const std::int64_t number = test::number_of(picture->image);
      EXPECT_GT(number, last_number_);
      EXPECT_EQ(picture->frame, last_frame_ + 1);
      last_number_ = number;
      last_frame_ = picture->frame;
      width_ = picture->image.width;
      if (picture->gap > Time{}) ++gaps_;
    }
  }
  test::MjpegServer server_;
  std::int64_t last_number_ = -1, last_frame_ = -1, gaps_ = 0;
  int width_ = 0;
};

TEST_F(CameraTest, comes_back_each_time_it_is_restarted_with_no_picture_twice) {
  constexpr int restarts = 20;
  const auto source = open_camera(camera(server_));
  read(*source, 5);
  std::int64_t early = 0;
  for (int i = 0; i < restarts; ++i) {
    server_.restart();
    while (source->presence()->gaps().count == i) read(*source, 1);  // also what was on its way
    if (i == restarts / 4) early = resident_kib();
  }
  EXPECT_EQ(source->presence()->gaps().count, restarts);
  EXPECT_EQ(gaps_, restarts);
  EXPECT_GE(source->presence()->gaps().total, restarts * 100ms);
  EXPECT_LT(resident_kib() - early, 8 * 1024);
}

TEST_F(CameraTest, that_is_frozen_is_connected_again_by_the_watchdog) {
  const auto source = open_camera(camera(server_));
  read(*source, 5);
  server_.freeze();
  while (source->presence()->gaps().count == 0) read(*source, 1);
  EXPECT_EQ(server_.connections(), 2);
  EXPECT_GE(source->presence()->gaps().longest, 400ms);
  EXPECT_LT(source->presence()->gaps().longest, 10s);
}

TEST_F(CameraTest, may_change_its_size) {
  const auto source = open_camera(camera(server_));
  read(*source, 5);
  EXPECT_EQ(width_, 64);
  server_.set_size({128, 96});
  while (width_ == 64) read(*source, 1);
  server_.set_size({80, 80});
  server_.restart();
  while (width_ == 128) read(*source, 1);
  EXPECT_EQ(width_, 80);
}

TEST_F(CameraTest, that_stays_away_ends_the_input) {
  Input input = camera(server_);
  input.reconnect = 500ms;
  const auto source = open_camera(input);
  read(*source, 2);
  server_.end();
  while (source->next()) {
  }
  ASSERT_TRUE(source->complaint());
  EXPECT_NE(source->complaint()->text.find("did not come back within 500 ms"), std::string::npos)
      << source->complaint()->text;
  EXPECT_TRUE(source->complaint()->of_machine);
  source->presence()->end();  // as whoever reads does at the end
  EXPECT_TRUE(source->complaint());
}

TEST_F(CameraTest, ends_at_once_when_no_more_is_wanted) {
  Input input = camera(server_);
  input.watchdog = 60s;
  const auto source = open_camera(input);
  read(*source, 2);
  server_.fall_silent();
  const auto begin = std::chrono::steady_clock::now();
  std::thread other([&] { source->presence()->end(); });
  while (source->next()) {
  }
  other.join();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
  EXPECT_FALSE(source->complaint());
}

}  // namespace
}  // namespace millrace::application
