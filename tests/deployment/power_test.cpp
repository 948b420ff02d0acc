#include "deployment/power.h"

#include <gtest/gtest.h>

#include "support/sample_deployment.h"

namespace millrace::deployment {
namespace {

using namespace millrace::test;

TEST(expected_power, is_that_of_idle_processors_and_of_tasks_by_their_shares) {
  const Deployment deployment = sample_deployment(sample_network());
  const Clocks low{{"cpu", {500}}, {"gpu", {400}}};
  const auto power = expected_power(deployment, sample_board(), {system::ScenarioId(0), 0, low});
  ASSERT_EQ(power.size(), 2u);
  EXPECT_EQ(power[0].device, "cpu");
  EXPECT_DOUBLE_EQ(power[0].still_mw, 2 * 50);
  EXPECT_DOUBLE_EQ(power[0].busy_mw, 2 * (2 + 8) / 200.0 * 200);
  EXPECT_DOUBLE_EQ(power[1].still_mw, 100);
  EXPECT_DOUBLE_EQ(power[1].busy_mw, 2 * 4 / 200.0 * (3500 * 1000 / 4000.0));
}

TEST(expected_power, has_no_device_whose_power_is_unknown) {
  board::Board board = sample_board();
  for (board::Device& device : board.devices) device.power.clear();
  EXPECT_TRUE(
      expected_power(sample_deployment(sample_network()), board, {system::ScenarioId(0), 0, {}})
          .empty());
}

TEST(still_mw, lies_between_the_power_points) {
  board::Device device = sample_board().devices[0];
  device.clocks.insert(device.clocks.begin() + 1, board::Megahertz{750});
  EXPECT_DOUBLE_EQ(still_mw(device, {{"cpu", {750}}}), 75);
  EXPECT_DOUBLE_EQ(still_mw(device, {}), 100);
}

}  // namespace
}  // namespace millrace::deployment
