#include "dataflow/analysis.h"

#include <gtest/gtest.h>

#include <limits>

#include "graphs.h"

namespace millrace::dataflow {
namespace {

using namespace test;
using Vector = std::vector<std::int64_t>;

/// The running example of Stuijk, Geilen and Basten (DAC 2006): a -2,3-> b -1,2-> c.
Graph stuijk(std::int64_t alpha, std::int64_t beta) {
  Graph graph{.name = "stuijk", .actors = {}, .channels = {}};
  const ActorId a = actor(graph, "a", {1});
  const ActorId b = actor(graph, "b", {2});
  const ActorId c = actor(graph, "c", {2});
  bound_channel(graph, channel(graph, {a, {2}}, {b, {3}}), alpha);
  bound_channel(graph, channel(graph, {b, {1}}, {c, {2}}), beta);
  return graph;
}

/// Two tokens are gathered: the first waits for the second.
TEST(LongestDelay, holds_the_waiting_for_tokens_that_are_consumed_together) {
  Graph graph;
  const ActorId in = actor(graph, "in", {10}), b = actor(graph, "b", {4});
  const ActorId out = actor(graph, "out", {0});
  channel(graph, {in, {1}}, {b, {2}});
  channel(graph, {b, {2}}, {out, {1}});
  EXPECT_EQ(longest_delay(graph, {in, out, 0, 20}), Time(10 + 4));
  EXPECT_EQ(longest_delay(graph, {in, out, 2, 20}), Time(10 + 4 + 20));
}

TEST(LongestDelay, of_a_graph_that_deadlocks_is_nothing) {
  Graph graph;
  const ActorId in = actor(graph, "in", {1}), out = actor(graph, "out", {1});
  channel(graph, {in, {1}}, {out, {1}});
  channel(graph, {out, {1}}, {in, {1}}, 0);
  EXPECT_EQ(longest_delay(graph, {in, out, 0, 5}), std::nullopt);
}

TEST(RepetitionVector, balances_the_tokens_of_every_channel) {
  EXPECT_EQ(repetition_vector(stuijk(4, 2)), (Vector{3, 2, 1}));
}

TEST(RepetitionVector, counts_full_cycles_of_phases) {
  Graph graph;
  const ActorId a = actor(graph, "a", {1, 1});
  const ActorId b = actor(graph, "b", {1, 1, 1});
  const ActorId c = actor(graph, "c", {1});
  channel(graph, {a, {3, 5}}, {b, {1, 1, 4}});
  channel(graph, {b, {6, 2, 1}}, {c, {6}});
  channel(graph, {c, {2}}, {a, {1, 3}}, 4);
  EXPECT_EQ(repetition_vector(graph), (Vector{3, 4, 6}));
}

TEST(RepetitionVector, parts_that_do_not_touch_have_their_own) {
  Graph graph;
  const ActorId a = actor(graph, "a", {1}), b = actor(graph, "b", {1});
  const ActorId c = actor(graph, "c", {1}), d = actor(graph, "d", {1});
  channel(graph, {a, {4}}, {b, {6}});
  channel(graph, {c, {5}}, {d, {5}});
  actor(graph, "alone", {1});
  EXPECT_EQ(repetition_vector(graph), (Vector{3, 2, 1, 1, 1}));
}

TEST(RepetitionVector, inconsistent_rates_are_named_by_channel) {
  Graph graph;
  const ActorId a = actor(graph, "a", {1}), b = actor(graph, "b", {1}), c = actor(graph, "c", {1});
  channel(graph, {a, {1}}, {b, {1}});
  channel(graph, {b, {2}}, {c, {1}});
  channel(graph, {a, {1}}, {c, {1}});
  const std::string message = message_of([&] { repetition_vector(graph); });
  EXPECT_NE(message.find("is inconsistent"), std::string::npos) << message;
  EXPECT_NE(message.find("'c'"), std::string::npos) << message;
}

TEST(RepetitionVector, a_channel_that_only_fills_is_inconsistent) {
  Graph graph;
  const ActorId a = actor(graph, "a", {1, 1}), b = actor(graph, "b", {1});
  channel(graph, {a, {1, 0}}, {b, {0}});
  EXPECT_NE(message_of([&] { repetition_vector(graph); }).find("channel 'ab': is inconsistent: 1"),
            std::string::npos);
}

TEST(RepetitionVector, numbers_beyond_64_bits_are_refused) {
  Graph graph;
  ActorId last = actor(graph, "a0", {1});
  for (int i = 1; i < 8; ++i) {
    const ActorId next = actor(graph, std::to_string(i), {1});
    channel(graph, {last, {1'000'003}}, {next, {999'983}});
    last = next;
  }
  EXPECT_NE(message_of([&] { repetition_vector(graph); }).find("64 bits"), std::string::npos);
  graph = {};
  const ActorId a = actor(graph, "a", {1, 1}), b = actor(graph, "b", {1});
  const auto huge = std::numeric_limits<std::int64_t>::max();
  channel(graph, {a, {huge, huge}}, {b, {1}});
  EXPECT_NE(message_of([&] { repetition_vector(graph); }).find("64 bits"), std::string::npos);
}

TEST(IsLive, an_acyclic_graph_is_live) {
  Graph graph;
  const ActorId a = actor(graph, "a", {1}), b = actor(graph, "b", {1});
  channel(graph, {a, {2}}, {b, {3}});
  EXPECT_TRUE(is_live(graph));
}

TEST(IsLive, a_cycle_needs_enough_tokens_and_the_reason_names_it) {
  Graph graph;
  const ActorId source = actor(graph, "source", {1});
  const ActorId a = actor(graph, "a", {1}), b = actor(graph, "b", {1});
  channel(graph, {source, {1}}, {a, {1}});
  channel(graph, {a, {2}}, {b, {3}});
  const ChannelId back = channel(graph, {b, {3}}, {a, {2}}, 3);
  const Verdict verdict = is_live(graph);
  EXPECT_FALSE(verdict);
  EXPECT_NE(verdict.reason().find("phase 0 of 'a' waits for 2 tokens in channel 'ba' from 'b', "
                                  "which has 1"),
            std::string::npos)
      << verdict.reason();
  EXPECT_NE(verdict.reason().find("'b' waits for 3 tokens in channel 'ab'"), std::string::npos)
      << verdict.reason();
  EXPECT_EQ(verdict.reason().find("source"), std::string::npos) << verdict.reason();
  graph.channels[back.index].initial_tokens = 4;
  EXPECT_TRUE(is_live(graph));
}

TEST(IsLive, phases_in_the_wrong_order_deadlock) {
  for (const bool right_order : {true, false}) {
    Graph graph;
    const ActorId a = actor(graph, "a", {1, 1}), b = actor(graph, "b", {1});
    channel(graph, {a, right_order ? Rates{1, 0} : Rates{0, 1}}, {b, {1}});
    channel(graph, {b, {1}}, {a, right_order ? Rates{0, 1} : Rates{1, 0}});
    EXPECT_EQ(static_cast<bool>(is_live(graph)), right_order);
  }
}

TEST(IsLive, a_channel_with_too_little_space_deadlocks) {
  EXPECT_TRUE(is_live(stuijk(4, 2)));
  EXPECT_FALSE(is_live(stuijk(3, 2)));
}

TEST(Throughput, follows_the_published_trade_off_of_space) {
  const struct {
    std::int64_t alpha, beta, period;
  } cases[] = {{4, 2, 7}, {6, 2, 6}, {6, 3, 5}, {7, 3, 4}};
  for (const auto& each : cases) {
    const auto found = throughput(stuijk(each.alpha, each.beta));
    ASSERT_TRUE(found);
    EXPECT_EQ(found->span.count(), each.period * found->iterations) << each.alpha << each.beta;
  }
}

TEST(Throughput, a_pipeline_runs_at_the_pace_of_its_slowest_actor) {
  Graph graph;
  const ActorId a = actor(graph, "a", {3}), b = actor(graph, "b", {2, 5});
  const ActorId c = actor(graph, "c", {6});
  bound_channel(graph, channel(graph, {a, {1}}, {b, {1, 0}}), 2);
  bound_channel(graph, channel(graph, {b, {0, 1}}, {c, {1}}), 2);
  const auto found = throughput(graph);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->span.count(), 7 * found->iterations);
  EXPECT_DOUBLE_EQ(found->per_second(), 1e9 / 7);
}

TEST(Throughput, one_slot_lets_neighbours_take_turns) {
  Graph graph;
  const ActorId a = actor(graph, "a", {3}), b = actor(graph, "b", {4});
  bound_channel(graph, channel(graph, {a, {1}}, {b, {1}}), 1);
  const auto found = throughput(graph);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->span.count(), 7 * found->iterations);
}

TEST(Throughput, of_several_parts_the_slowest_counts) {
  Graph graph;
  actor(graph, "quick", {3});
  actor(graph, "slow", {10, 1});
  const auto found = throughput(graph);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->span.count(), 11 * found->iterations);
}

TEST(Throughput, actors_without_time_are_infinitely_fast) {
  Graph graph;
  const ActorId a = actor(graph, "a", {0}), b = actor(graph, "b", {0});
  bound_channel(graph, channel(graph, {a, {1}}, {b, {1}}), 1);
  const auto found = throughput(graph);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->span, Time{0});
  EXPECT_EQ(found->per_second(), std::numeric_limits<double>::infinity());
}

TEST(Throughput, channels_may_fill_up_where_the_producer_is_faster) {
  Graph graph;
  const ActorId a = actor(graph, "a", {1}), b = actor(graph, "b", {2});
  channel(graph, {a, {1}}, {b, {1}});
  auto found = throughput(graph);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->period(), Fraction(2));
  graph.actors[1].concurrent = true;
  EXPECT_EQ(throughput(graph)->period(), Fraction(1));
  graph.actors[0].concurrent = true;
  found = throughput(graph);
  EXPECT_TRUE(found->is_unlimited());
  EXPECT_TRUE(found->critical_cycle.empty());
}

TEST(Throughput, a_self_channel_says_how_many_firings_may_overlap) {
  for (std::int64_t tokens : {1, 2, 3}) {
    Graph graph;
    const ActorId a = actor(graph, "a", {6});
    graph.actors[0].concurrent = true;
    channel(graph, {a, {1}}, {a, {1}}, tokens);
    for (Method method : {Method::self_timed, Method::cycle_ratio, Method::k_periodic})
      EXPECT_EQ(throughput(graph, {.method = method})->period(), Fraction(6, tokens));
  }
}

TEST(Throughput, limits_are_kept) {
  Graph graph;
  const ActorId a = actor(graph, "a", {1}), b = actor(graph, "b", {1});
  channel(graph, {a, {1000}}, {b, {999}});
  channel(graph, {b, {999}}, {a, {1000}}, 1998);
  ThroughputOptions few;
  few.max_firings = few.max_nodes = 100;
  for (Method method : {Method::self_timed, Method::cycle_ratio, Method::k_periodic}) {
    few.method = method;
    EXPECT_FALSE(throughput(graph, few)) << static_cast<int>(method);
  }
}

TEST(Throughput, of_a_dead_graph_is_none_and_the_cycle_is_named) {
  Graph graph;
  const ActorId a = actor(graph, "a", {0}), b = actor(graph, "b", {0});
  channel(graph, {a, {2}}, {b, {3}});
  const ChannelId back = channel(graph, {b, {3}}, {a, {2}}, 3);
  for (Method method : {Method::cycle_ratio, Method::k_periodic, Method::fastest}) {
    const auto found = throughput(graph, {.method = method});
    ASSERT_TRUE(found);
    EXPECT_FALSE(found->is_live());
    bool named = false;
    for (const CycleStep& step : found->critical_cycle) named |= step.channel == back;
    EXPECT_TRUE(named);
  }
}

TEST(Latency, is_the_end_of_the_first_iteration) {
  Graph graph;
  const ActorId a = actor(graph, "a", {2}), b = actor(graph, "b", {3}), c = actor(graph, "c", {4});
  channel(graph, {a, {1}}, {b, {1}});
  channel(graph, {b, {1}}, {c, {2}});
  EXPECT_EQ(latency(graph), Time{2 + 3 + 3 + 4});
  graph.actors[1].concurrent = true;
  EXPECT_EQ(latency(graph), Time{2 + 2 + 3 + 4});
}

TEST(ToDot, shows_actors_rates_and_tokens) {
  Graph graph{.name = "a \"graph\"", .actors = {}, .channels = {}};
  const ActorId a = actor(graph, "a", {1000, 2000}), b = actor(graph, "b", {5});
  channel(graph, {a, {1, 0}}, {b, {1}}, 2);
  const std::string text = to_dot(graph);
  for (const char* part : {"digraph \"a \\\"graph\\\"\"", "label=\"ab (2)\"", "taillabel=\"[1,0]\"",
                           "headlabel=\"[1]\"", "a0 -> a1", "1.00 us, 2.00 us"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
}

}  // namespace
}  // namespace millrace::dataflow
