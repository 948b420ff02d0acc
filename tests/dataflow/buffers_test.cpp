#include "dataflow/buffers.h"

#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "base/json.h"
#include "dataflow/sdf3.h"
#include "graphs.h"
#include "random_graph.h"
#include "support/shared.h"

namespace millrace::dataflow {
namespace {

using namespace test;

Graph stuijk() {
  Graph graph;
  const ActorId a = actor(graph, "a", {1}), b = actor(graph, "b", {2}), c = actor(graph, "c", {2});
  channel(graph, {a, {2}}, {b, {3}});
  channel(graph, {b, {1}}, {c, {2}});
  return graph;
}

using Points = std::vector<std::pair<std::int64_t, std::string>>;

Points points_of(const ParetoFront& front) {
  Points points;
  for (const Sizing& sizing : front.points) points.emplace_back(sizing.total, sizing.period.text());
  return points;
}

TEST(ParetoFront, of_the_published_example) {
  const ParetoFront front = pareto_front(stuijk());
  EXPECT_TRUE(front.complete);
  EXPECT_EQ(points_of(front), (Points{{6, "7/1"}, {8, "6/1"}, {9, "5/1"}, {10, "4/1"}}));
  EXPECT_EQ(front.points[0].capacities, (Capacities{4, 2}));
  EXPECT_EQ(front.points[3].capacities, (Capacities{7, 3}));
}

TEST(ParetoFront, stops_early_and_says_how_far_it_came) {
  const ParetoFront front = pareto_front(stuijk(), {.max_tries = 4});
  EXPECT_FALSE(front.complete);
  ASSERT_FALSE(front.points.empty());
  EXPECT_EQ(front.points.front().total, 6);
  EXPECT_GE(front.explored, 6);
  EXPECT_LT(front.explored, 10);
}

TEST(SmallestBuffers, for_no_deadlock_and_for_a_period) {
  const auto live = smallest_buffers(stuijk(), std::nullopt);
  ASSERT_TRUE(live);
  EXPECT_EQ(live->total, 6);
  EXPECT_EQ(live->period, Fraction(7));
  const auto fast = smallest_buffers(stuijk(), Fraction(11, 2));
  ASSERT_TRUE(fast);
  EXPECT_EQ(fast->capacities, (Capacities{6, 3}));
  EXPECT_TRUE(fast->is_smallest());
  EXPECT_FALSE(smallest_buffers(stuijk(), Fraction(7, 2)));
}

TEST(SmallestBuffers, that_stop_early_state_a_bound) {
  const auto found = smallest_buffers(stuijk(), Fraction(4), {.max_tries = 3});
  ASSERT_TRUE(found);
  EXPECT_LE(found->bound, 10);
  EXPECT_GE(found->total, 10);
  EXPECT_LE(found->period, Fraction(4));
}

TEST(SmallestBuffers, weigh_pools_by_the_bytes_of_their_tokens) {
  const auto with_weights = [](std::int64_t first, std::int64_t second) {
    SizingOptions options;
    options.pools = {{.channels = {ChannelId(0)}, .weight = first},
                     {.channels = {ChannelId(1)}, .weight = second}};
    return smallest_buffers(stuijk(), Fraction(5), options);
  };
  const auto even = with_weights(1, 1), heavy = with_weights(1, 100), light = with_weights(100, 1);
  ASSERT_TRUE(even && heavy && light);
  EXPECT_EQ(even->total, 9);
  EXPECT_EQ(heavy->total, heavy->capacities[0] + 100 * heavy->capacities[1]);
  EXPECT_LE(heavy->capacities[1], light->capacities[1]);
  EXPECT_LE(light->capacities[0], heavy->capacities[0]);
}

TEST(SmallestBuffers, count_channels_that_share_a_memory_once) {
  Graph graph;
  const ActorId a = actor(graph, "a", {1}), b = actor(graph, "b", {1}), c = actor(graph, "c", {1});
  channel(graph, {a, {1}}, {b, {1}});
  channel(graph, {b, {1}}, {c, {1}});
  channel(graph, {a, {1}}, {c, {1}});  // skips an actor, so it needs one token more
  SizingOptions options;
  options.pools = {{.channels = {ChannelId(0), ChannelId(2)}}};
  const auto shared = smallest_buffers(graph, Fraction(1), options);
  const auto separate = smallest_buffers(graph, Fraction(1));
  ASSERT_TRUE(shared && separate);
  EXPECT_EQ(separate->capacities, (Capacities{2, 2, 3}));
  EXPECT_EQ(shared->capacities, (Capacities{3, 2, 3}));
  EXPECT_EQ(shared->total, 3 + 2);
  EXPECT_TRUE(shared->is_smallest());
  options.pools[0].least = 5;
  EXPECT_EQ(smallest_buffers(graph, Fraction(1), options)->capacities, (Capacities{5, 2, 5}));
}

TEST(SmallestBuffers, of_a_dead_graph_do_not_exist) {
  Graph graph;
  const ActorId a = actor(graph, "a", {1}), b = actor(graph, "b", {1});
  channel(graph, {a, {1}}, {b, {1}});
  channel(graph, {b, {1}}, {a, {1}});
  EXPECT_FALSE(smallest_buffers(graph, std::nullopt));
  EXPECT_TRUE(pareto_front(graph).points.empty());
}

TEST(TotalBytes, rounds_every_channel_up) {
  Graph graph = stuijk();
  EXPECT_FALSE(total_bytes(graph, {4, 2}));
  graph.channels[0].token_bits = 3;
  graph.channels[1].token_bits = 16;
  EXPECT_EQ(total_bytes(graph, {4, 2}), Bytes{2 + 4});
}

/// The best period of each total, by trying all capacities up to `total`.
class Enumeration {
 public:
  Enumeration(const Graph& graph, std::int64_t total) : graph_(graph) {
    for (std::size_t c = 0; c < graph.channels.size(); ++c)
      if (graph.channels[c].from != graph.channels[c].to) bounded_.push_back(c);
    capacities_.assign(graph.channels.size(), 0);
    choose(0, total);
  }

  Points points() const {
    Points result;
    std::optional<Fraction> best;
    for (const auto& [total, period] : best_) {
      if (best && period >= *best) continue;
      best = period;
      result.emplace_back(total, period.text());
    }
    return result;
  }

 private:
  void choose(std::size_t next, std::int64_t left) {
    if (next == bounded_.size()) return look();
    const std::size_t channel = bounded_[next];
    for (std::int64_t space = std::max<std::int64_t>(1, graph_.channels[channel].initial_tokens);
         space <= left; ++space) {
      capacities_[channel] = space;
      choose(next + 1, left - space);
    }
  }

  void look() {
    const auto found = throughput(with_capacities(graph_, capacities_));
    if (!found || !found->is_live()) return;
    const std::int64_t total =
        std::accumulate(capacities_.begin(), capacities_.end(), std::int64_t{0});
    const auto [at, fresh] = best_.try_emplace(total, found->period());
    if (!fresh && found->period() < at->second) at->second = found->period();
  }

  const Graph& graph_;
  std::vector<std::size_t> bounded_;
  Capacities capacities_;
  std::map<std::int64_t, Fraction> best_;
};

TEST(ParetoFront, equals_an_enumeration_of_all_capacities) {
  Chance chance(5);
  int compared = 0;
  for (int i = 0; compared < 60 && i < 2000; ++i) {
    const Graph graph = random_graph(chance, {3, 3, 2, 5, 1});
    const auto unbounded = throughput(graph);
    if (!unbounded->is_live() || unbounded->is_unlimited() || graph.channels.size() > 3) continue;
    const ParetoFront front = pareto_front(graph);
    ASSERT_TRUE(front.complete) << i;
    const std::int64_t total = front.points.back().total;
    if (total == 0 || total > 24) continue;
    ++compared;
    EXPECT_EQ(points_of(front), Enumeration(graph, total).points()) << i;
    for (const Sizing& point : front.points) {
      const auto found = smallest_buffers(graph, point.period);
      ASSERT_TRUE(found) << i;
      EXPECT_TRUE(found->is_smallest());
      EXPECT_EQ(found->total, point.total) << i;
    }
  }
  EXPECT_EQ(compared, 60);
}

TEST(ParetoFront, equals_the_published_ones) {
  MILLRACE_NEEDS_SHARED("oracles/sdf/buffers.json");
  const auto folder = millrace::test::shared_folder() / "oracles/sdf";
  const auto known = read_json(folder / "buffers.json");
  for (const auto& entry : known["entries"]) {
    SCOPED_TRACE(entry["graph"].get<std::string>());
    const Graph graph = read_sdf3(folder / entry["graph"].get<std::string>()).graph;
    Points expected;
    for (const auto& point : entry["pareto"])
      expected.emplace_back(
          point["total_capacity"].get<std::int64_t>(),
          parse_fraction(point["period"].get<std::string>(), "the known period").text());
    const ParetoFront front = pareto_front(graph);
    EXPECT_TRUE(front.complete);
    EXPECT_EQ(points_of(front), expected);
    const auto fastest = smallest_buffers(graph, throughput(graph)->period());
    ASSERT_TRUE(fastest);
    EXPECT_TRUE(fastest->is_smallest());
    EXPECT_EQ(fastest->total, expected.back().first);
  }
}

}  // namespace
}  // namespace millrace::dataflow
