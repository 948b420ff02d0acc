#include "runtime/controller/release_costs.h"

#include <gtest/gtest.h>

#include "runtime/scheduling/thread_priority.h"

namespace millrace::runtime {
namespace {

using namespace std::chrono_literals;

/// Keeps its core so long, whoever takes it meanwhile.
void work(Time time) {
  const Time end = time_on_core() + time;
  while (time_on_core() < end) {
  }
}

void release(ReleaseCosts& costs, Time time) {
  costs.begin_release();
  work(time);
  costs.end_release();
}

TEST(ReleaseCosts, are_of_a_wake_up_and_its_longest_release) {
  ReleaseCosts costs(10);
  const Time before = time_on_core();
  costs.begin_wake_up();
  work(4ms);
  release(costs, 2ms);
  release(costs, 8ms);
  costs.begin_wake_up();
  const Time whole = time_on_core() - before;
  ASSERT_EQ(costs.kept().size(), 1u);
  EXPECT_GE(costs.kept()[0], 4ms + 8ms);
  EXPECT_LE(costs.kept()[0], whole - 2ms);
}

TEST(ReleaseCosts, are_not_of_wake_ups_without_a_release) {
  ReleaseCosts costs(10);
  for (int i = 0; i < 3; ++i) costs.begin_wake_up();
  EXPECT_TRUE(costs.kept().empty());
}

TEST(ReleaseCosts, are_the_first_ones) {
  for (const std::size_t most : {0u, 2u}) {
    ReleaseCosts costs(most);
    for (int i = 0; i < 5; ++i) {
      costs.begin_wake_up();
      release(costs, 1us);
    }
    EXPECT_EQ(costs.kept().size(), most);
  }
}

}  // namespace
}  // namespace millrace::runtime
