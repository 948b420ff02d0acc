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

}  // namespace
}  // namespace millrace::application
