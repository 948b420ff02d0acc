#include "board/power.h"

#include <gtest/gtest.h>

#include "board/board.h"
#include "board/shipped.h"

namespace millrace::board {
namespace {

using namespace std::chrono_literals;

Device device_with(const std::vector<PowerPoint>& points) {
  Device device;
  device.power = points;
  for (const PowerPoint& point : points) device.clocks.push_back(point.clock);
  return device;
}

TEST(Power, two_points_lie_on_their_lines) {
  const Device device = device_with({{{500}, {50}, {400}, {}}, {{1000}, {100}, {1400}, {}}});
  EXPECT_DOUBLE_EQ(static_power(device, {500}).value, 50);
  EXPECT_DOUBLE_EQ(static_power(device, {750}).value, 75);
  EXPECT_DOUBLE_EQ(dynamic_power(device, {1000}).value, 1400);
  EXPECT_DOUBLE_EQ(dynamic_power(device, {600}).value, 600);
}

TEST(Power, each_of_more_points_is_met_and_its_neighbours_are_joined) {
  const Device device =
      device_with({{{1}, {0}, {1}, {}}, {{2}, {0}, {2}, {}}, {{4}, {8}, {2}, {}}});
  EXPECT_DOUBLE_EQ(dynamic_power(device, {1}).value, 1);
  EXPECT_DOUBLE_EQ(dynamic_power(device, {1.25}).value, 1.25);
  EXPECT_DOUBLE_EQ(dynamic_power(device, {2}).value, 2);
  EXPECT_DOUBLE_EQ(dynamic_power(device, {3}).value, 2);
  EXPECT_DOUBLE_EQ(static_power(device, {3.5}).value, 6);
}

TEST(Power, each_point_of_a_shipped_board_is_met) {
  for (const std::string& name : shipped_boards())
    for (const Device& device : find_board(name).devices)
      for (const PowerPoint& point : device.power) {
        EXPECT_DOUBLE_EQ(static_power(device, point.clock).value, point.still.value);
        EXPECT_DOUBLE_EQ(dynamic_power(device, point.clock).value, point.busy.value);
      }
}

TEST(Power, one_point_holds_at_every_clock_and_none_is_zero) {
  const Device one = device_with({{{800}, {30}, {700}, {}}});
  EXPECT_DOUBLE_EQ(dynamic_power(one, {400}).value, 700);
  EXPECT_DOUBLE_EQ(static_power(one, {400}).value, 30);
  EXPECT_DOUBLE_EQ(dynamic_power(Device{}, {400}).value, 0);
}

TEST(Power, outside_the_points_it_is_that_of_the_nearest_one) {
  const Device device = device_with({{{1000}, {50}, {400}, {}}, {{1400}, {100}, {2000}, {}}});
  EXPECT_DOUBLE_EQ(dynamic_power(device, {675.75}).value, 400);  // the line would be below 0
  EXPECT_DOUBLE_EQ(static_power(device, {675.75}).value, 50);
  EXPECT_DOUBLE_EQ(dynamic_power(device, {1600}).value, 2000);
}

TEST(Power, energy_is_power_times_time_which_grows_as_the_clock_falls) {
  const Device device = device_with({{{500}, {50}, {400}, {}}, {{1000}, {100}, {1400}, {}}});
  EXPECT_DOUBLE_EQ(dynamic_energy(device, {1000}, 2ms), 2800);  // 1.4 W * 2 ms
  EXPECT_DOUBLE_EQ(dynamic_energy(device, {500}, 2ms), 1600);   // 0.4 W * 4 ms
}

TEST(Power, the_shipped_xavier_saves_energy_at_each_lower_clock) {
  const Board board = find_board("jetson-agx-xavier");
  for (const Device& device : board.devices)
    for (std::size_t c = 1; c < device.clocks.size(); ++c)
      EXPECT_LT(dynamic_energy(device, device.clocks[c - 1], 1ms),
                dynamic_energy(device, device.clocks[c], 1ms))
          << device.name;
}

TEST(AssumedPower, stands_in_only_where_nothing_is_known) {
  Board board;
  board.devices.resize(2);
  board.devices[0].clocks = {{500}, {1000}};
  board.devices[1].power = {{{800}, {10}, {70}, {}}};
  bool is_assumed = false;
  const Board filled = with_assumed_power(board, is_assumed);
  EXPECT_TRUE(is_assumed);
  EXPECT_EQ(dynamic_power(filled.devices[0], {500}), assumed_power);
  EXPECT_EQ(static_power(filled.devices[0], {1000}), Milliwatts{});
  EXPECT_EQ(filled.devices[1], board.devices[1]);
  with_assumed_power(filled, is_assumed);
  EXPECT_FALSE(is_assumed);
}

}  // namespace
}  // namespace millrace::board
