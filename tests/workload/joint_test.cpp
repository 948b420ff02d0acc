// Algorithm 1 as a state machine: every tile once, in order, in the right stage.
#include "workload/joint.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "base/random.h"

namespace millrace::workload {
namespace {

/// Loops of these counts, whose tiles lie one after the other.
Joint nested(const std::vector<std::int64_t>& counts) {
  Joint joint;
  joint.walk_size = static_cast<std::uint32_t>(counts.size());
  std::int64_t step = 1;
  for (std::size_t i = counts.size(); i-- > 0;) {
    joint.walk[i] = {counts[i], step, step};
    step *= counts[i];
  }
  return joint;
}

TEST(Joint, visits_every_tile_exactly_once_in_order) {
  Random random(3);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::int64_t> counts(1 + random.below(max_walk));
    for (std::int64_t& count : counts) count = 1 + static_cast<std::int64_t>(random.below(5));
    Joint joint = nested(counts);
    joint.period = 1 + static_cast<std::int64_t>(random.below(4));
    joint.repeat = 1 + static_cast<std::int64_t>(random.below(3));
    JointState state;
    for (std::int64_t run = 0; run < runs_of(joint); ++run, update(joint, state)) {
      EXPECT_EQ(tile_of(joint, state).offset, run / joint.period % frequency(joint));
      EXPECT_EQ(state.iteration, run % joint.period);
      EXPECT_EQ(state.repeats, run / joint.period / frequency(joint));
    }
    EXPECT_EQ(state.repeats, joint.repeat);
    EXPECT_EQ(state.iteration, 0);
  }
}

TEST(Joint, goes_through_its_stages) {
  Joint joint = nested({4});
  joint.period = 2;
  JointState state;
  std::vector<Stage> stages;
  for (std::int64_t run = 0; run < runs_of(joint); ++run, update(joint, state))
    stages.push_back(stage_of(joint, state));
  using enum Stage;
  EXPECT_EQ(stages, (std::vector{pipe_up, pipe_up, pipeline, pipeline, pipeline, pipeline,
                                 pipe_down, pipe_down}));
}

TEST(Joint, has_one_stage_if_it_has_one_tile) {
  const Joint joint = nested({1});
  EXPECT_EQ(stage_of(joint, {}), Stage::pipe_up);
  EXPECT_EQ(stage_of(joint, {}, 0), Stage::pipe_up);
}

TEST(Joint, has_other_counts_and_steps_at_its_ends) {
  // Rows of an input of 10 under windows of 3 with one row of padding: tiles of 4, 4 and 2 outputs.
  Joint joint = nested({3});
  joint.walk[0] = {3, 3, 4};
  joint.side_count = 1;
  joint.sides[0] = {5, 6, 3, 1, 0};
  JointState state;
  std::set<std::int64_t> seen;
  const std::array<std::int64_t, 3> begins{0, 3, 7}, counts{5, 6, 3};
  for (std::size_t i = 0; i < 3; ++i, update(joint, state)) {
    const Tile tile = tile_of(joint, state);
    EXPECT_EQ(tile.offset, begins[i]);
    EXPECT_EQ(tile.counts[0], counts[i]);
    EXPECT_EQ(tile.first[0], i == 0);
    for (std::int64_t row = 0; row < tile.counts[0]; ++row) seen.insert(tile.offset + row);
  }
  EXPECT_EQ(seen.size(), 10u);
  EXPECT_EQ(*seen.rbegin(), 9);
}

TEST(Joint, takes_the_places_of_its_ring_in_turn) {
  Joint joint = nested({5});
  joint.walk[0].first = joint.walk[0].next = 0;
  joint.period = 2;
  joint.ring = {2, 100};
  JointState state;
  for (std::int64_t run = 0; run < runs_of(joint); ++run, update(joint, state))
    EXPECT_EQ(tile_of(joint, state).offset, run / 2 % 2 * 100);
}

/// Algorithm 1 word by word: "freq <- 0" is read as freqIter <- 0, as otherwise nothing is left to
/// compare with.
std::vector<std::int64_t> tiles_as_printed(std::int64_t period, std::int64_t frequency,
                                           std::int64_t runs) {
  std::int64_t iteration = 0, tile = 0;
  std::vector<std::int64_t> tiles;
  for (std::int64_t run = 0; run < runs; ++run) {
    tiles.push_back(tile);
    if (++iteration > period) {
      ++tile;
      iteration = 0;
    }
    if (tile > frequency) tile = 0;
  }
  return tiles;
}

TEST(Joint, departs_from_the_printed_algorithm_which_visits_a_tile_that_is_not_there) {
  const auto tiles = tiles_as_printed(2, 3, 12);
  // Each tile stays for three runs instead of two, and a fourth one follows the third.
  EXPECT_EQ(tiles, (std::vector<std::int64_t>{0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3}));
}

}  // namespace
}  // namespace millrace::workload
