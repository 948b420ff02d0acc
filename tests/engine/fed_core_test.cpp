#include "engine/simulated/fed_core.h"

#include <gtest/gtest.h>

namespace millrace::engine::simulated {
namespace {

using namespace std::chrono_literals;
constexpr FedCore::Clock::time_point start{};

TEST(FedCore, delays_work_by_what_is_launched_meanwhile) {
  FedCore core;
  const Time begun = core.begin(start);
  EXPECT_EQ(core.since(begun), 0ms);
  core.feed(3ms, start + 1ms);
  core.feed(2ms, start + 2ms);
  EXPECT_EQ(core.since(begun), 5ms);
}

TEST(FedCore, launches_in_its_idle_time_what_it_can) {
  FedCore core;
  core.feed(3ms, start);
  core.feed(2ms, start + 1ms);  // done at 5
  EXPECT_EQ(core.since(core.begin(start + 4ms)), 1ms);
  core.end();
  EXPECT_EQ(core.since(core.begin(start + 6ms)), 0ms);
  core.end();
  core.feed(1ms, start + 7ms);
  EXPECT_EQ(core.since(core.begin(start + 20ms)), 0ms);
}

TEST(FedCore, counts_nothing_twice_for_work_that_follows_at_once) {
  FedCore core;
  core.begin(start);
  core.feed(4ms, start + 1ms);
  core.end();
  EXPECT_EQ(core.since(core.begin(start + 9ms)), 0ms);
}

TEST(FedCore, delays_all_that_work_on_it) {
  FedCore core;
  const Time one = core.begin(start);
  core.feed(4ms, start);
  const Time other = core.begin(start + 1ms);
  core.feed(2ms, start + 2ms);
  EXPECT_EQ(core.since(one), 6ms);
  EXPECT_EQ(core.since(other), 2ms);
}

}  // namespace
}  // namespace millrace::engine::simulated
