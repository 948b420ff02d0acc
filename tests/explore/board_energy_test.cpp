// What the board that draws most draws for a frame: as a goal and as a limit.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "explore/choose.h"
#include "explore/contexts.h"

namespace millrace::explore {
namespace {

/// A core here, and one of a board behind a link that costs no time. Both draw 1 W while they work.
board::Board two_boards() {
  board::Board board;
  board::Device here, there;
  here.name = "cpu";
  here.cores = {0};
  here.processors = {"core0"};
  there.name = "second.cpu";
  there.kind = board::ProcessorKind::npu;
  there.processors = {"second.core0"};
  there.space = "second";
  there.costs.copy_engines = 2;
  there.costs.transfer = 1e12;
  for (board::Device* device : {&here, &there}) {
    device->power = {{{1000}, {}, {1000}, {}}};
    board.devices.push_back(*device);
    board.processors.push_back(board::processors_of(*device).front());
  }
  return board;
}

/// Layers of 10, 20, 30 and 40 us on each processor.
profile::Profile profile_of(const board::Board& board) {
  profile::Profile profile;
  for (const board::Processor& processor : board.processors) {
    profile::ProcessorProfile& own = profile.processors.emplace_back();
    own.processor = processor;
    for (const int us : {10, 20, 30, 40}) {
      profile::LayerTimes times;
      times.together = times.alone = profile::statistics_of({std::chrono::microseconds(us)});
      own.layers.push_back(times);
    }
  }
  return profile;
}

ChooseOptions few_epochs() {
  ChooseOptions options;
  options.genetic.population = 40;
  options.genetic.epochs = 20;
  return options;
}

/// A tensor between two layers has 32 bytes.
Choice chosen_by_energy(const ChooseOptions& options) {
  const board::Board board = two_boards();
  return choose(test::chain_network(4), board, profile_of(board), options);
}

TEST(ChooseByEnergy, the_board_that_draws_most_draws_as_little_as_can_be) {
  ChooseOptions options = few_epochs();
  options.genetic.aim.fitness = Fitness::board_energy;
  Choice choice = chosen_by_energy(options);
  EXPECT_NEAR(choice.winner().largest.together_mj(), 0.05, 1e-4);  // 10 + 40 us and 20 + 30 us
  // A frame takes 2 * 32 bytes * 500 nJ = 32 uJ of the link. Copies draw that for every second
  // frame: 50 + 16 uJ there. One cut draws at least 30 + 32 uJ there, or 70 uJ here.
  options.links = {{"second", 500}};
  choice = chosen_by_energy(options);
  EXPECT_NEAR(choice.winner().largest.together_mj(), 0.066, 1e-4);
  options.links = {{"second", 5000}};
  choice = chosen_by_energy(options);
  EXPECT_EQ(choice.winner().plan.stages.size(), 1u);
  EXPECT_NEAR(choice.winner().largest.together_mj(), 0.1, 1e-4);
  EXPECT_EQ(choice.winner().largest.device, board::board_here);
}

TEST(ChooseByEnergy, what_is_drawn_all_the_time_counts_with_the_time_between_frames) {
  board::Board board = two_boards();
  board.idle_power = board::Milliwatts{200};  // here
  const std::vector<board::DeviceEnergy> energies =
      board::energy_per_frame(board, {{board.processors[1], 30e-6}}, 100e-6);
  const board::DeviceEnergy largest = board::largest_energy(energies);
  EXPECT_EQ(largest.device, "second");
  EXPECT_NEAR(largest.together_mj(), 0.03, 1e-9);
  EXPECT_NEAR(board::energy_by_board(energies)[0].together_mj(), 0.02, 1e-9);
}

TEST(ChooseByEnergy, plans_beyond_the_limit_are_left_out) {
  ChooseOptions options = few_epochs();
  options.max_board_energy = 0.06;
  const Choice choice = chosen_by_energy(options);
  EXPECT_LE(choice.winner().largest.together_mj(), 0.06);
  EXPECT_NE(std::ranges::find_if(choice.left_out,
                                 [](const std::string& text) {
                                   return text.find(
                                              "here would draw 0.1000 mJ for a frame, more "
                                              "than ⟨max_board_energy⟩ 0.06000") !=
                                          std::string::npos;
                                 }),
            choice.left_out.end());
  options.max_board_energy = 0.001;
  EXPECT_THROW(chosen_by_energy(options), InputError);
}

TEST(ChooseByEnergy, needs_powers) {
  ChooseOptions options = few_epochs();
  options.max_board_energy = 1;
  board::Board board = two_boards();
  board.devices[0].power.clear();
  try {
    choose(test::chain_network(4), board, profile_of(board), options);
    ADD_FAILURE() << "not refused";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("does not say what core0 draws"), std::string::npos);
  }
}

}  // namespace
}  // namespace millrace::explore
