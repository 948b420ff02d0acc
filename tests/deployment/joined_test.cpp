#include "deployment/joined.h"

#include <gtest/gtest.h>

#include "support/message_of.h"
#include "support/sample_deployment.h"

namespace millrace::deployment {
namespace {

using namespace millrace::test;

Deployment renamed(Deployment deployment) {
  for (system::Group& group : deployment.system.groups) group.name += " more";
  deployment.system.file = "more.json";
  return deployment;
}

TEST(joined, has_the_added_groups_in_each_scenario_below_those_that_run) {
  const Deployment running = sample_deployment(sample_network());
  Deployment more = renamed(running);
  more.system.overhead = running.system.overhead + ms(1);
  more.system.release_cost = ms(2);
  const Deployment both = joined(running, more);
  const std::size_t count = running.system.groups.size();
  ASSERT_EQ(both.system.groups.size(), 2 * count);
  ASSERT_EQ(both.assignments.size(), 2 * count);
  EXPECT_EQ(both.system.overhead, more.system.overhead);
  EXPECT_EQ(both.system.release_cost, ms(2));
  EXPECT_EQ(joined(more, renamed(more)).system.release_cost, ms(2));
  for (std::size_t s = 0; s < both.system.scenarios.size(); ++s) {
    const auto& groups = both.system.scenarios[s].groups;
    EXPECT_EQ(groups.size(), running.system.scenarios[s].groups.size() + count);
    EXPECT_EQ(groups.back().index, 2 * count - 1);
  }
  for (std::size_t g = 0; g < count; ++g) {
    EXPECT_EQ(both.assignments[g], running.assignments[g]);
    for (std::size_t of = 0; of < count; ++of)
      EXPECT_LT(both.assignments[count + g].priority, running.assignments[of].priority);
    EXPECT_EQ(both.assignments[count + g].priority - both.assignments[count].priority,
              running.assignments[g].priority - running.assignments[0].priority);
  }
  EXPECT_NO_THROW(check(both, sample_board()));
}

TEST(joined, is_not_for_two_boards_nor_for_one_name) {
  Deployment running = sample_deployment(sample_network());
  running.system.file = "runs.json";
  Deployment more = renamed(running);
  EXPECT_EQ(message_of([&] { joined(running, running); }),
            "runs.json: a group '" + running.system.groups[0].name +
                "' runs already; give the new one another name");
  more.board_hash = "another";
  more.board_name = "big";
  EXPECT_EQ(message_of([&] { joined(running, more); }),
            "more.json: it was made for the board 'big', not for '" + running.board_name +
                "', which runs");
}

}  // namespace
}  // namespace millrace::deployment
