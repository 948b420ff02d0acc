#include "application/codecs/video_time.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace millrace::application {
namespace {

using namespace std::chrono_literals;
using Times = std::vector<std::optional<Time>>;

/// A letter for each frame of the written video; capitals the first time.
std::string written(double rate_fps, const Times& due) {
  WritingTime time(rate_fps);
  std::string text;
  char name = 'A', last = ' ';
  for (const auto& each : due) {
    if (const auto repeats = time.repeats_before(each)) {
      text += std::string(static_cast<std::size_t>(*repeats), last) + name;
      last = static_cast<char>(name - 'A' + 'a');
    }
    ++name;
  }
  return text;
}

TEST(WritingTime, of_frames_at_the_rate_shows_each_once) {
  EXPECT_EQ(written(25, {0ms, 40ms, 80ms, 120ms}), "ABCD");
  EXPECT_EQ(written(30, {7ms, 40ms, 74ms, 107ms, 140ms}), "ABCDE");  // of whole milliseconds
  EXPECT_EQ(written(25, {std::nullopt, std::nullopt, std::nullopt}), "ABC");
}

TEST(WritingTime, shows_frames_again_until_the_next_is_due) {
  EXPECT_EQ(written(10, {0ms, 300ms, 400ms, 1s}), "AaaBCcccccD");
}

TEST(WritingTime, leaves_out_frames_that_come_too_soon) {
  EXPECT_EQ(written(10, {0ms, 20ms, 30ms, 100ms, 110ms, 300ms}), "ADdF");
}

TEST(WritingTime, leaves_out_long_pauses_only) {
  EXPECT_EQ(written(1, {5s, 6s, 6s + 1h, 8s + 1h}), "ABCcD");
  EXPECT_EQ(written(1, {0s, 590s}).size(), 591);
}

TEST(ReadingTime, is_what_the_file_says) {
  ReadingTime time(25);
  for (const Time said : {0ms, 40ms, 40ms, 100ms}) EXPECT_EQ(time.next(said), said);
}

TEST(ReadingTime, goes_on_where_joined_recordings_begin_again) {
  ReadingTime time(25);
  const Times said{0ms, 40ms, 80ms, 0ms, 40ms, 10ms};
  const Times expected{0ms, 40ms, 80ms, 120ms, 160ms, 200ms};
  for (std::size_t i = 0; i < said.size(); ++i) EXPECT_EQ(time.next(said[i]), expected[i]);
}

TEST(ReadingTime, of_frames_without_one_follows_the_rate) {
  ReadingTime time(10), unknown(0);
  for (const Time expected : {0ms, 100ms, 200ms}) EXPECT_EQ(time.next(std::nullopt), expected);
  EXPECT_EQ(unknown.next(std::nullopt), std::nullopt);
}

TEST(RateWithPlaces, is_the_mean_of_a_steady_video) {
  EXPECT_EQ(rate_with_places({0ms, 40ms, 80ms, 120ms}, {25, 25}), 25);
  EXPECT_EQ(rate_with_places({0ms, 33ms, 67ms, 100ms}, {30, 30}), 30);
  EXPECT_EQ(rate_with_places({0ms, 8ms, 17ms, 25ms}, {120, 120}), 120);
}

TEST(RateWithPlaces, has_one_for_each_frame_before_and_after_a_pause) {
  EXPECT_EQ(rate_with_places({0ms, 40ms, 80ms, 3s, 3040ms, 3080ms}, {7.14, 7.14}), 25);
  EXPECT_EQ(rate_with_places({80ms, 0ms, 40ms, 3s}, {7.14, 1000}), 25);  // in order of decoding
  EXPECT_EQ(rate_with_places({0ms, 33ms, 67ms, 100ms, 3s}, {7.14, 7.14}), 30);
  EXPECT_EQ(rate_with_places({0ms, 40ms, 120ms, 160ms}, {18.75, 25}), 25);
  EXPECT_NEAR(rate_with_places({0ms, 80ms, 160ms, 2s}, {2, 2}), 12.5, 0.001);
}

TEST(RateWithPlaces, is_not_above_60_frames_per_second) {
  EXPECT_EQ(rate_with_places({0ms, 40ms, 41ms, 80ms}, {25, 1000}), 60);
  EXPECT_EQ(rate_with_places({0ms, 1ms, 2ms, 3ms}, {240, 1000}), 240);  // a steady one may be
}

TEST(RateWithPlaces, without_times_is_what_the_file_says) {
  EXPECT_EQ(rate_with_places({}, {20, 30}), 30);
  EXPECT_EQ(rate_with_places({}, {20, 90}), 20);
  EXPECT_EQ(rate_with_places({1s}, {0, 0}), 0);
  EXPECT_EQ(rate_with_places({1s, 1s}, {25, 25}), 25);
}

}  // namespace
}  // namespace millrace::application
