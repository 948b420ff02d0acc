// The three uses of a device: one network on one stream, one on several, several on several.
#include "workload/streams.h"

#include <gtest/gtest.h>

#include "sample_program.h"

namespace millrace::workload {
namespace {

constexpr CycleCosts stream_costs{10, 4, 2, 1};

std::int64_t cycles_alone(const Program& program) {
  std::int64_t cycles = 0;
  for (const Workload& one : program.workloads) cycles += simulate(one, stream_costs).cycles;
  return cycles;
}

/// Bytes of constants that are loaded once.
std::int64_t constants_of(const Program& program) {
  std::int64_t bytes = 0;
  for (const Workload& one : program.workloads)
    for (const Region& buffer : one.buffers) bytes += buffer.constant ? buffer.size() : 0;
  return bytes;
}

class Streams : public testing::Test {
 protected:
  StreamCycles on_streams(std::int64_t streams) const {
    const NetworkStreams network{&program_, streams};
    return simulate_streams(std::span(&network, 1), stream_costs).front();
  }

  TileTarget target() const {
    TileTarget target = sample_target();
    target.may_overlap = false;
    target.scratchpad = Bytes{64 * 1024};
    return target;
  }
  Program program_ = compile(sample_network(), target()).program;
};

TEST_F(Streams, of_one_network_on_one_take_what_its_workloads_take) {
  EXPECT_EQ(on_streams(1).cycles, cycles_alone(program_));
  EXPECT_EQ(on_streams(1).shared, 0);
}

TEST_F(Streams, of_one_network_share_its_weights) {
  const StreamCycles one = on_streams(1), three = on_streams(3);
  const std::int64_t constants = constants_of(program_);
  ASSERT_GT(constants, 0);
  EXPECT_EQ(three.shared, 2 * constants);
  EXPECT_EQ(three.moved, 3 * one.moved - 2 * constants);
  EXPECT_LT(three.cycles, 3 * one.cycles);
}

TEST_F(Streams, of_several_networks_use_what_others_leave_idle) {
  const std::vector<NetworkStreams> both{{&program_, 1}, {&program_, 1}};
  const auto together = simulate_streams(both, stream_costs);
  const std::int64_t alone = on_streams(1).cycles;
  std::int64_t computing = 0, moving = 0;
  for (const Workload& one : program_.workloads) {
    computing += simulate(one, stream_costs).computing;
    moving += simulate(one, stream_costs).transfers;
  }
  const std::int64_t last = std::max(together[0].cycles, together[1].cycles);
  EXPECT_GE(last, alone);
  EXPECT_LE(last, 2 * alone);
  // No unit does more than one thing at a time.
  EXPECT_GE(last, 2 * std::max(computing, moving));
  EXPECT_EQ(together[0].shared + together[1].shared, 0);
}

TEST_F(Streams, wait_for_a_unit_that_another_network_has) {
  // By hand. A transfer of 40 bytes takes 10 + 40/4 = 20 cycles; both ask for the unit at once.
  Program program;
  program.memories = {{"ddr", Bytes{0}}, {"l2", Bytes{64}}};
  Workload move;
  move.buffers = {{"from", 0, 0, 1, 40, {}}, {"to", 0, 0, 1, 40, {}}};
  Link link;
  Joint from;
  from.element = 1;
  from.side_count = 1;
  from.sides[0] = {40, 40, 40, 1, -1};
  Joint to = from;
  to.buffer = 1;
  link.sources = {from};
  link.sink = to;
  move.links = {link};
  program.workloads = {move};
  const std::vector<NetworkStreams> both{{&program, 1}, {&program, 2}};
  const std::vector<StreamCycles> expected{{20, 40, 0}, {60, 80, 0}};
  EXPECT_EQ(simulate_streams(both, stream_costs), expected);
}

}  // namespace
}  // namespace millrace::workload
