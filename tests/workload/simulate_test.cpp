// The paper's Figures 3 and 5: three transfers into a fast memory, a convolution, a transfer back.
#include "workload/simulate.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "board/board_file.h"
#include "sample_program.h"
#include "workload/check/check.h"

namespace millrace::workload {
namespace {

/// `count` numbers of one byte, tile after tile.
Joint strip(std::int32_t buffer, std::int64_t tiles, std::int64_t count) {
  Joint joint;
  joint.buffer = buffer;
  joint.element = 1;
  joint.walk_size = 1;
  joint.walk[0] = {tiles, count, count};
  joint.side_count = 3;
  joint.sides[0] = {1, 1, 1, count, -1};
  joint.sides[1] = {1, 1, 1, count, -1};
  joint.sides[2] = {count, count, count, 1, -1};
  return joint;
}

/// The same in a fast memory of so many places.
Joint in_place(Joint joint, std::int32_t buffer, std::int64_t places) {
  const std::int64_t count = joint.sides[2].pipe_up;
  joint.buffer = buffer;
  joint.walk[0].first = joint.walk[0].next = 0;
  if (places > 1) joint.ring = {places, count};
  return joint;
}

Link transfer(std::string name, Joint from, Joint to) {
  Link link;
  link.name = std::move(name);
  link.sources = {from};
  link.sink = to;
  return link;
}

/// Figure 3: T1 brings the input in three tiles of 40 pixels, T2 the weights, T3 the bias; P1
/// convolves by 1x1; T4 takes 40 pixels back.
Workload figure_3() {
  Workload w;
  w.name = "figure 3";
  w.overlapped = true;
  w.buffers = {{"input", 0, 0, 1, 120, {}},     {"weights", 0, 0, 1, 1, {}},
               {"bias", 0, 0, 1, 1, {}},        {"output", 0, 0, 1, 120, {}},
               {"input_tile", 1, 0, 2, 40, {}}, {"weights_tile", 1, 80, 1, 1, {}},
               {"bias_tile", 1, 81, 1, 1, {}},  {"output_tile", 1, 82, 2, 40, {}}};
  const Joint input = strip(0, 3, 40), output = strip(3, 3, 40);
  const Joint weights = strip(1, 1, 1), bias = strip(2, 1, 1);
  w.links.push_back(transfer("T1", input, in_place(input, 4, 2)));
  w.links.push_back(transfer("T2", weights, in_place(weights, 5, 1)));
  w.links.push_back(transfer("T3", bias, in_place(bias, 6, 1)));
  Link p1;
  p1.name = "P1";
  p1.kind = LinkKind::processing;
  p1.unit = "core";
  p1.operation = TileOperation::convolution;
  p1.macs = 120;
  p1.delay = 1;
  p1.sources = {in_place(input, 4, 2), in_place(weights, 5, 1), in_place(bias, 6, 1)};
  p1.sources[1].period = p1.sources[2].period = 3;
  p1.sink = in_place(output, 7, 2);
  w.links.push_back(p1);
  w.links.push_back(transfer("T4", in_place(output, 7, 2), output));
  w.links.back().delay = 2;
  for (std::size_t i : {1u, 2u}) w.links[i].period = 3;
  return w;
}

/// 10 cycles to begin, 4 bytes and 2 multiply-accumulates in a cycle.
constexpr CycleCosts costs{10, 4, 2, 1};

TEST(Simulate, figure_5_cycle_by_cycle) {
  // By hand. T1: 10 + 40/4 = 20 cycles, T2 and T3: 10 + 1 = 11, P1: 10 + 40/2 = 30, T4: 20.
  // step 0: T1 0-20, T2 20-31, T3 31-42          step 1: T1 42-62 beside P1 42-72
  // step 2: T1 72-92, T4 92-112 beside P1 72-102  step 3: P1 112-142 beside T4 112-132
  // step 4: T4 142-162
  const std::vector<LinkRun> expected{{0, 0, 0, 20},    {1, 0, 20, 31},  {2, 0, 31, 42},
                                      {0, 1, 42, 62},   {3, 1, 42, 72},  {0, 2, 72, 92},
                                      {3, 2, 72, 102},  {4, 2, 92, 112}, {3, 3, 112, 142},
                                      {4, 3, 112, 132}, {4, 4, 142, 162}};
  const SimulatedWorkload simulated = simulate(figure_3(), costs);
  EXPECT_EQ(simulated.runs, expected);
  EXPECT_EQ(simulated.cycles, 162);
  EXPECT_EQ(simulated.transfers, 3 * 20 + 2 * 11 + 3 * 20);
  EXPECT_EQ(simulated.computing, 90);
}

TEST(Simulate, one_after_the_other_takes_the_sum) {
  Workload w = figure_3();
  w.overlapped = false;
  const SimulatedWorkload simulated = simulate(w, costs);
  EXPECT_EQ(simulated.cycles, simulated.transfers + simulated.computing);
}

TEST(Simulate, figure_3_is_a_program_without_faults) {
  Program program;
  program.memories = {{"ddr", Bytes{0}}, {"l2", Bytes{200}}};
  program.workloads = {figure_3()};
  EXPECT_EQ(violations(program), std::vector<std::string>{});
}

TEST(Simulate, a_trace_has_a_row_for_each_link) {
  const Workload w = figure_3();
  const Trace trace = trace_of(w, simulate(w, costs));
  EXPECT_EQ(trace.stages.size(), 5u);
  EXPECT_EQ(trace.firings.size(), 11u);
  EXPECT_EQ(trace.firings.back().end, Time(162));
}

TEST(Simulate, compiled_tiles_take_at_least_the_lower_bound) {
  const DeviceTarget target =
      device_target(board::read_board(MILLRACE_SOURCE_DIR "/boards/tda4vm.yaml"), "");
  EXPECT_EQ(target.device, "c7x");
  EXPECT_EQ(target.memory, "c7x_l2");
  EXPECT_EQ(target.target.element, 1);
  const Compiled compiled = compile(sample_network(), target.target);
  const SimulatedWorkload simulated = simulate(compiled.program.workloads[0], target.costs);
  const double seconds = static_cast<double>(simulated.cycles) * 1e-6 / target.megahertz;
  EXPECT_GE(seconds, compiled.tilings[0].bound.compute_seconds);
  EXPECT_GE(seconds, compiled.tilings[0].bound.transfer_seconds);
}

TEST(Simulate, refuses_a_device_without_a_memory_of_its_own) {
  const board::Board board = board::read_board(MILLRACE_SOURCE_DIR "/boards/tda4vm.yaml");
  EXPECT_THROW(device_target(board, "a72"), InputError);
}

}  // namespace
}  // namespace millrace::workload
