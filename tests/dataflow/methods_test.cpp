// Three ways to find a graph's throughput, which must agree.
#include <gtest/gtest.h>

#include <ctime>

#include "dataflow/analysis.h"
#include "random_graph.h"

namespace millrace::dataflow {
namespace {

constexpr Method methods[] = {Method::self_timed, Method::cycle_ratio, Method::k_periodic,
                              Method::fastest};

/// What is wrong with the cycle, if anything: it closes, and its time and tokens give the ratio.
std::string flaw(const Graph& graph, const std::vector<CycleStep>& cycle) {
  for (std::size_t i = 0; i < cycle.size(); ++i) {
    const CycleStep &here = cycle[i], &next = cycle[(i + 1) % cycle.size()];
    if (here.phase >= graph[here.actor].times.size()) return "no such phase";
    if (!here.channel.valid() && here.actor != next.actor) return "jumps without a channel";
    if (here.channel.valid() &&
        (graph[here.channel].from != here.actor || graph[here.channel].to != next.actor))
      return "a channel does not fit";
  }
  return {};
}

TEST(Methods, agree_exactly_on_random_graphs) {
  test::Chance chance(20240117);
  int dead = 0, unlimited = 0;
  for (int i = 0; i < 10'000; ++i) {
    const Graph graph = test::random_graph(chance);
    const bool live = static_cast<bool>(is_live(graph));
    dead += live ? 0 : 1;
    const auto expected = throughput(graph, {.method = Method::cycle_ratio});
    ASSERT_TRUE(expected);
    unlimited += expected->is_unlimited() ? 1 : 0;
    for (Method method : methods) {
      const auto found = throughput(graph, {.method = method});
      ASSERT_TRUE(found) << "graph " << i << " method " << static_cast<int>(method);
      ASSERT_EQ(found->is_live(), live) << "graph " << i << " method " << static_cast<int>(method);
      ASSERT_EQ(found->span, expected->span) << "graph " << i << " " << static_cast<int>(method);
      ASSERT_EQ(found->iterations, expected->iterations) << "graph " << i;
      ASSERT_EQ(flaw(graph, found->critical_cycle), "") << "graph " << i;
      if (method == Method::self_timed) continue;
      ASSERT_EQ(found->critical_cycle.empty(), found->is_unlimited());
    }
  }
  EXPECT_GT(dead, 1000);
  EXPECT_LT(dead, 7000);
  EXPECT_LT(unlimited, 2000);
}

/// Repetition vectors that sum to about a million, of tens of actors to a thousand.
TEST(Methods, the_fastest_takes_less_than_a_second_for_a_million_cycles) {
  test::Chance chance(8);
  for (const std::int64_t actors : {30, 100, 300, 1000}) {
    std::vector<std::int64_t> cycles(static_cast<std::size_t>(actors));
    for (std::int64_t& count : cycles) count = test::pick(chance, 1, 2'000'000 / actors);
    const Graph graph = test::random_graph(chance, {.longest = 1000}, cycles);
    [[maybe_unused]] const std::clock_t begin = std::clock();
    ASSERT_TRUE(throughput(graph)) << actors;
#ifndef MILLRACE_SANITIZED
    EXPECT_LT(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC, 1.0) << actors;
#endif
  }
}

/// Few actors whose numbers of cycles are large and have no common divisor.
TEST(Methods, agree_exactly_where_few_actors_have_many_cycles) {
  test::Chance chance(5);
  int live = 0, compared = 0;
  for (int i = 0; i < 30; ++i) {
    std::vector<std::int64_t> cycles(static_cast<std::size_t>(test::pick(chance, 2, 5)));
    for (std::int64_t& count : cycles) count = test::pick(chance, 5'000, 15'000);
    const Graph graph = test::random_graph(chance, {.longest = 100}, cycles);
    const auto found = throughput(graph), expanded = throughput(graph, {Method::cycle_ratio});
    ASSERT_TRUE(found && expanded) << i;
    live += found->is_live() ? 1 : 0;
    EXPECT_EQ(found->span, expanded->span) << i;
    EXPECT_EQ(found->iterations, expanded->iterations) << i;
    EXPECT_EQ(found->critical_cycle.empty(), found->is_unlimited()) << i;
    EXPECT_EQ(flaw(graph, found->critical_cycle), "") << i;
    const auto executed = throughput(graph, {Method::self_timed, 5'000'000});
    if (!executed) continue;
    ++compared;
    EXPECT_EQ(found->span, executed->span) << i;
    EXPECT_EQ(found->iterations, executed->iterations) << i;
  }
  EXPECT_GT(live, 5);
  EXPECT_GT(compared, 15);
}

TEST(Methods, the_fastest_takes_less_than_a_second_for_few_actors_with_a_million_cycles) {
  test::Chance chance(11);
  for (const std::int64_t actors : {2, 3, 5, 8, 12}) {
    std::vector<std::int64_t> cycles(static_cast<std::size_t>(actors));
    for (std::int64_t& count : cycles)
      count = 1'000'000 / actors + test::pick(chance, -50'000, 50'000) / actors;
    const Graph graph = test::random_graph(chance, {.longest = 1000}, cycles);
    [[maybe_unused]] const std::clock_t begin = std::clock();
    const auto found = throughput(graph);
    ASSERT_TRUE(found) << actors;
    EXPECT_EQ(found->critical_cycle.empty(), found->is_unlimited()) << actors;
#ifndef MILLRACE_SANITIZED
    EXPECT_LT(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC, 1.0) << actors;
#endif
  }
}

}  // namespace
}  // namespace millrace::dataflow
