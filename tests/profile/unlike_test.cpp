// Processors that are alike and came out different.
#include "profile/unlike.h"

#include <gtest/gtest.h>

namespace millrace::profile {
namespace {

using std::chrono::milliseconds;

/// Two devices: three cores, and two others.
struct Sample {
  board::Board board;
  Profile profile;

  Sample() {
    board.devices.resize(2);
    board.devices[0].cores = {0, 1, 2};
    board.devices[1].cores = {3, 4};
    for (int core = 0; core < 5; ++core) {
      board::Processor processor;
      processor.name = "core" + std::to_string(core);
      processor.cores = {core};
      board.processors.push_back(processor);
      profile.processors.emplace_back().processor = processor;
    }
  }
  void set(std::vector<int> times_ms) {
    for (std::size_t i = 0; i < times_ms.size(); ++i)
      profile.processors[i].whole.median = milliseconds(times_ms[i]);
  }
};

TEST(Unlike, names_the_slow_one_beside_the_fastest_of_its_device) {
  Sample sample;
  sample.set({10, 15, 11, 40, 41});
  const auto found = unlike(sample.profile, sample.board);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].slower, "core1");
  EXPECT_EQ(found[0].faster, "core0");
  EXPECT_DOUBLE_EQ(found[0].ratio, 1.5);
}

TEST(Unlike, is_nothing_between_devices_precisions_or_sizes) {
  Sample sample;
  sample.set({10, 12, 12, 40, 40});
  EXPECT_TRUE(unlike(sample.profile, sample.board).empty());
  sample.set({10, 20, 10, 40, 80});
  sample.profile.processors[1].precision = board::Precision::int8;
  sample.profile.processors[4].processor.cores = {4, 5};
  EXPECT_TRUE(unlike(sample.profile, sample.board).empty());
}

TEST(Unlike, has_nothing_to_say_of_what_has_no_times) {
  Sample sample;
  sample.set({0, 20, 20, 40, 40});
  EXPECT_TRUE(unlike(sample.profile, sample.board).empty());
}

}  // namespace
}  // namespace millrace::profile
