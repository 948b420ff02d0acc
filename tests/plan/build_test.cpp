#include "plan/build.h"
#include "analysis/rate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "dataflow/analysis.h"
#include "networks.h"
#include "schedule/graph.h"

namespace millrace::plan {
namespace {

using namespace test;

std::string phases(const network::Network& network, const std::vector<std::size_t>& processors) {
  const std::size_t count = *std::max_element(processors.begin(), processors.end()) + 1;
  return text_of(build(network, board_of(count), mapping_of(processors)));
}

std::map<std::string, std::int64_t> capacities(const Plan& plan, const network::Network& network) {
  std::map<std::string, std::int64_t> result;
  for (const Channel& channel : plan.channels)
    result[network[channel.tensor].name] = channel.capacity;
  return result;
}

TEST(Build, contiguous_parts_are_stages_of_one_phase) {
  const auto network = network_of(4, {{0, 1}, {1, 2}, {2, 3}});
  EXPECT_EQ(phases(network, {0, 0, 1, 1}), "stage0: 0 1; stage1: 2 3");
}

TEST(Build, stages_stand_in_the_order_of_the_pipeline_and_empty_ones_are_left_out) {
  const auto network = network_of(3, {{0, 1}, {1, 2}});
  const Plan plan = build(network, board_of(5), mapping_of({4, 1, 1}));
  EXPECT_EQ(text_of(plan), "stage0: 0; stage1: 1 2");
  EXPECT_EQ(plan.stages[0].processors[0].name, "core4");
  EXPECT_EQ(plan.stages[1].processors[0].name, "core1");
}

TEST(Build, a_layer_that_waits_for_its_own_phase_through_another_processor_begins_a_phase) {
  EXPECT_EQ(phases(network_of(3, {{0, 1}, {1, 2}}), {0, 1, 0}), "stage0: 0 | 2; stage1: 1");
}

TEST(Build, layers_stay_in_one_phase_where_nothing_waits_in_a_circle) {
  // 2 reads from the other processor, but 1 there needs nothing of 0.
  EXPECT_EQ(phases(network_of(3, {{0, 2}, {1, 2}}), {0, 1, 0}), "stage0: 0 2; stage1: 1");
}

TEST(Build, phases_that_would_wait_for_each_other_are_cut_even_if_no_layer_waits_for_itself) {
  // 0 and 3 on one processor, 1 and 2 on the other: 0 to 1, 2 to 3.
  EXPECT_EQ(phases(network_of(4, {{0, 1}, {2, 3}}), {0, 1, 1, 0}), "stage0: 0 | 3; stage1: 1 2");
}

/// The example of the papers: Table 1 and Fig. 1 (c).
TEST(Build, the_example_of_the_papers_has_their_phases) {
  std::vector<std::pair<std::size_t, std::size_t>> edges;
  for (std::size_t i = 1; i < 23; ++i) edges.emplace_back(i - 1, i);
  // l8 feeds l9 and l11, l12 and l10 meet in l13; l18 feeds l19 and l21, both meet again.
  std::erase(edges, std::pair<std::size_t, std::size_t>{9, 10});
  std::erase(edges, std::pair<std::size_t, std::size_t>{19, 20});
  for (const auto& edge : {std::pair{7, 10}, {9, 12}, {17, 20}, {19, 21}})
    edges.emplace_back(edge.first, edge.second);
  std::vector<std::size_t> processors(23, 3);
  std::fill_n(processors.begin(), 7, 0u);
  for (std::size_t i : {7u, 8u, 9u, 12u}) processors[i] = 1;
  for (std::size_t i : {10u, 11u}) processors[i] = 2;
  for (std::size_t i : {18u, 19u}) processors[i] = 4;
  const auto network = network_of(23, edges);
  const Plan plan = build(network, board_of(5), mapping_of(processors));
  EXPECT_EQ(text_of(plan),
            "stage0: 0 1 2 3 4 5 6; stage1: 7 8 9 | 12; stage2: 10 11; "
            "stage3: 13 14 15 16 17 20 | 21 22; stage4: 18 19");
  const auto graph =
      schedule::csdf_graph(plan, network, {.phase_times = {}, .bounded = false, .outside = false});
  EXPECT_EQ(graph.actors.size(), 5u);
  EXPECT_EQ(graph.channels.size(), 8u);  // two of them from a phase to a later one of its actor
  EXPECT_TRUE(dataflow::is_live(graph));
}

TEST(Build, a_tensor_has_one_channel_per_phase_that_reads_it) {
  const auto network = network_of(4, {{0, 1}, {0, 2}, {0, 3}, {1, 3}, {2, 3}});
  const Plan plan = build(network, board_of(2), mapping_of({0, 1, 1, 0}));
  ASSERT_EQ(text_of(plan), "stage0: 0 | 3; stage1: 1 2");
  const std::vector<Channel> expected = {
      {TensorId(0), {}, {0, 0}, 2},     {TensorId(1), {0, 0}, {0, 1}, 3},
      {TensorId(1), {0, 0}, {1, 0}, 3}, {TensorId(2), {1, 0}, {0, 1}, 2},
      {TensorId(3), {1, 0}, {0, 1}, 2}, {TensorId(4), {0, 1}, {}, 2}};
  EXPECT_EQ(plan.channels, expected);
}

TEST(Build, a_tensor_that_skips_stages_has_more_slots) {
  const auto network = network_of(4, {{0, 1}, {1, 2}, {2, 3}, {0, 3}});
  const Plan plan = build(network, board_of(4), mapping_of({0, 1, 2, 3}));
  EXPECT_EQ(capacities(plan, network), (std::map<std::string, std::int64_t>{
                                           {"x", 2}, {"t0", 4}, {"t1", 2}, {"t2", 2}, {"t3", 2}}));
}

TEST(Build, phases_lag_one_frame_behind_what_they_read_from_other_stages) {
  const auto network = network_of(4, {{0, 1}, {1, 2}, {0, 2}, {2, 3}});
  const auto offsets = [&](const BuildOptions& options) {
    std::vector<std::int64_t> result;
    for (const Stage& stage : build(network, board_of(2), mapping_of({0, 1, 0, 1}), options).stages)
      for (const Phase& phase : stage.phases) result.push_back(phase.offset);
    return result;
  };
  EXPECT_EQ(offsets({}), (std::vector<std::int64_t>{0, 2, 1, 3}));
  EXPECT_EQ(offsets({.most_offset = 1}), (std::vector<std::int64_t>{0, 1, 1, 1}));
  EXPECT_EQ(offsets({.capacity = 1}), (std::vector<std::int64_t>{0, 0, 0, 0}));
}

/// Five tensors of 16 bytes. With offsets 0 to 3 each has two slots; where two phases share an
/// offset, the tensor between them has one.
TEST(Build, offsets_grow_as_far_as_memory_allows) {
  const auto network = network_of(4, {{0, 1}, {1, 2}, {2, 3}});
  const auto offsets = [&](std::int64_t bytes) {
    std::vector<std::int64_t> result;
    const BuildOptions options{.most_memory = {bytes}};
    for (const Stage& stage : build(network, board_of(2), mapping_of({0, 1, 0, 1}), options).stages)
      for (const Phase& phase : stage.phases) result.push_back(phase.offset);
    return result;
  };
  EXPECT_EQ(offsets(160), (std::vector<std::int64_t>{0, 2, 1, 3}));
  EXPECT_EQ(offsets(159), (std::vector<std::int64_t>{0, 2, 1, 2}));
  EXPECT_EQ(offsets(143), (std::vector<std::int64_t>{0, 1, 1, 1}));
  EXPECT_EQ(offsets(127), (std::vector<std::int64_t>{0, 0, 0, 0}));
  EXPECT_EQ(offsets(1), (std::vector<std::int64_t>{0, 0, 0, 0}));
}

/// To and fro in 40 pieces: no offset is too large by itself.
TEST(Build, a_mapping_that_goes_to_and_fro_forty_times_has_an_offset_for_each) {
  std::vector<std::pair<std::size_t, std::size_t>> edges;
  std::vector<std::size_t> processors;
  for (std::size_t i = 0; i < 40; ++i) {
    processors.push_back(i % 2);
    if (i > 0) edges.emplace_back(i - 1, i);
  }
  const Plan plan = build(network_of(40, edges), board_of(2), mapping_of(processors));
  EXPECT_EQ(plan.stages[1].phases.back().offset, 39);
}

TEST(Build, a_tensor_has_a_slot_for_each_frame_of_lag_and_one_more) {
  const auto network = network_of(4, {{0, 1}, {1, 2}, {0, 2}, {2, 3}});
  const Plan plan = build(network, board_of(2), mapping_of({0, 1, 0, 1}));
  EXPECT_EQ(capacities(plan, network), (std::map<std::string, std::int64_t>{
                                           {"x", 2}, {"t0", 3}, {"t1", 2}, {"t2", 2}, {"t3", 2}}));
}

TEST(Build, an_output_that_others_read_too_leaves_and_stays) {
  auto network = network_of(2, {{0, 1}});
  network.outputs.push_back(network.layers[0].outputs[0]);
  network.outputs.push_back(network.inputs[0]);  // the runtime hands it through
  const Plan plan = build(network, board_of(1), mapping_of({0, 0}));
  ASSERT_EQ(plan.channels.size(), 3u);
  EXPECT_EQ(plan.channels[1].to, Endpoint{});
  EXPECT_EQ(plan.channels[2].to, Endpoint{});
}

TEST(Build, layers_with_another_batch_are_a_phase_of_their_own) {
  const auto network = network_of(4, {{0, 1}, {1, 2}, {2, 3}});
  const Plan plan =
      build(network, board_of(1), mapping_of({0, 0, 0, 0}), {.batches = {1, 1, 4, 4}});
  EXPECT_EQ(text_of(plan), "stage0: 0 1 | 2 3");
  EXPECT_EQ(plan.stages[0].phases[0].batch, 1);
  EXPECT_EQ(plan.stages[0].phases[1].batch, 4);
  EXPECT_EQ(capacities(plan, network)["t1"], 4);
}

TEST(Build, a_reader_behind_a_batch_lags_until_all_of_it_is_there) {
  const auto network = network_of(3, {{0, 1}, {1, 2}});
  const Plan plan = build(network, board_of(1), mapping_of({0, 0, 0}), {.batches = {1, 4, 1}});
  ASSERT_EQ(text_of(plan), "stage0: 0 | 1 | 2");
  EXPECT_EQ(plan.stages[0].phases[1].offset, 0);
  EXPECT_EQ(plan.stages[0].phases[2].offset, 3);
}

TEST(Build, a_layer_that_mixes_frames_has_no_batch) {
  auto network = network_of(2, {{0, 1}});
  network.layers[1].op = network::Concat{0};
  const std::string message = message_of([&] {
    build(network, board_of(1), mapping_of({0, 0}), {.batches = {4, 4}});
  });
  EXPECT_NE(
      message.find("stage0, phase 0: '1' cannot work on 4 frames at once: it changes the "
                   "dimension along which frames join; put it into a phase with a batch of 1"),
      std::string::npos)
      << message;
}

TEST(Build, wrong_arguments_are_named) {
  const auto network = network_of(2, {{0, 1}});
  const auto message = [&](const Mapping& mapping, std::int64_t capacity) {
    return message_of(
        [&] { build(network, board_of(2), mapping, {.engine = "onednn", .capacity = capacity}); });
  };
  EXPECT_NE(message(mapping_of({0}), 2).find("the mapping has 1 layers"), std::string::npos);
  EXPECT_NE(message(mapping_of({0, 2}), 2).find("1: is mapped to a processor"), std::string::npos);
  EXPECT_NE(message(mapping_of({0, 1}), 0).find("capacity: found 0"), std::string::npos);
  const auto ahead = [&] { build(network, board_of(2), mapping_of({0, 1}), {.most_offset = -1}); };
  EXPECT_NE(message_of(ahead).find("largest offset: found -1"), std::string::npos);
}

TEST(CsdfGraph, carries_times_rates_and_space) {
  const auto network = network_of(3, {{0, 1}, {1, 2}});
  const Plan plan = build(network, board_of(2), mapping_of({0, 1, 0}));
  const auto graph = schedule::csdf_graph(
      plan, network, {.phase_times = {{Time(3), Time(2)}, {Time(4)}}, .tokens_are_elements = true});
  ASSERT_EQ(graph.actors.size(), 4u);
  EXPECT_EQ(graph.actors[0].times, (std::vector<Time>{Time(3), Time(2)}));
  EXPECT_EQ(graph.actors[2].name, "input");
  EXPECT_EQ(graph.actors[3].name, "output");
  ASSERT_EQ(graph.channels.size(), 8u);
  const auto& back = graph.channels[4];  // t1, from stage 1 to the second phase of stage 0
  EXPECT_EQ(back.name, "t1");
  EXPECT_EQ(back.production, (std::vector<std::int64_t>{4}));
  EXPECT_EQ(back.consumption, (std::vector<std::int64_t>{0, 4}));
  EXPECT_EQ(back.initial_tokens, 4);  // one frame of offset
  EXPECT_EQ(graph.channels[5].initial_tokens, 4);
  const auto found = dataflow::throughput(graph);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->span.count(), 5 * found->iterations);  // they work on frames of their own
}

TEST(CsdfGraph, fires_a_batch_in_the_last_of_its_cycles) {
  const auto network = network_of(2, {{0, 1}});
  const Plan plan = build(network, board_of(1), mapping_of({0, 0}), {.batches = {1, 2}});
  const auto graph = schedule::csdf_graph(plan, network, {.phase_times = {{Time(3), Time(4)}}});
  ASSERT_EQ(graph.actors.size(), 3u);
  EXPECT_EQ(graph.actors[0].times, (std::vector<Time>{Time(3), Time(0), Time(3), Time(4)}));
  const auto& between = graph.channels[2];
  EXPECT_EQ(between.name, "t0");
  EXPECT_EQ(between.production, (std::vector<std::int64_t>{1, 0, 1, 0}));
  EXPECT_EQ(between.consumption, (std::vector<std::int64_t>{0, 0, 0, 2}));
  EXPECT_EQ(analysis::period_bound(plan, network, {{Time(3), Time(4)}}), Time(5));
}

TEST(LatencyBound, of_one_stage_is_its_time) {
  const auto network = network_of(2, {{0, 1}});
  const Plan plan = build(network, board_of(1), mapping_of({0, 0}));
  EXPECT_EQ(analysis::latency_bound(plan, network, {{Time(7)}}, Time(10)), Time(7));
}

TEST(LatencyBound, holds_the_waiting_for_the_frames_of_a_batch) {
  const auto network = network_of(2, {{0, 1}});
  const Plan plan = build(network, board_of(1), mapping_of({0, 0}), {.batches = {1, 4}});
  // The first of four waits until the fourth, 30 later, has been through phase 0.
  EXPECT_EQ(analysis::latency_bound(plan, network, {{Time(5), Time(8)}}, Time(10)),
            Time(30 + 5 + 8));
}

TEST(LatencyBound, of_stages_that_lag_holds_the_offset) {
  const auto network = network_of(2, {{0, 1}});
  const Plan plan = build(network, board_of(2), mapping_of({0, 1}));
  EXPECT_EQ(analysis::latency_bound(plan, network, {{Time(10)}, {Time(10)}}, Time(10)), Time(20));
}

TEST(SdfGraph, has_an_actor_per_layer_and_a_channel_per_edge) {
  const auto network = network_of(4, {{0, 1}, {0, 2}, {1, 3}, {2, 3}});
  const auto graph = sdf_graph(network);
  EXPECT_EQ(graph.actors.size(), 4u);
  ASSERT_EQ(graph.channels.size(), 4u);
  EXPECT_EQ(graph.channels[0].production, (std::vector<std::int64_t>{4}));
  EXPECT_EQ(dataflow::repetition_vector(graph), (std::vector<std::int64_t>{1, 1, 1, 1}));
  EXPECT_TRUE(dataflow::is_live(graph));
}

}  // namespace
}  // namespace millrace::plan
