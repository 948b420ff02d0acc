#include "dataflow/static_order.h"

#include <gtest/gtest.h>

#include "dataflow/analysis.h"
#include "graphs.h"
#include "random_graph.h"

namespace millrace::dataflow {
namespace {

using namespace test;

/// a fires twice, b once per iteration.
Graph two_actors() {
  Graph graph;
  const ActorId a = actor(graph, "a", {2}), b = actor(graph, "b", {3});
  channel(graph, {a, {1}}, {b, {2}});
  channel(graph, {b, {2}}, {a, {1}}, 4);
  return graph;
}

const ActorId a(0), b(1);

Fraction period_with(const Graph& graph, const std::vector<StaticOrder>& orders) {
  return throughput(with_static_orders(graph, orders))->period();
}

TEST(StaticOrder, on_one_processor_times_add_up) {
  EXPECT_EQ(throughput(two_actors())->period(), Fraction(4));
  EXPECT_EQ(period_with(two_actors(), {{"p", {a, a, b}}}), Fraction(7));
  EXPECT_EQ(period_with(two_actors(), {{"p", {a, a, b, a, a, b}}}), Fraction(2 * 7));
  EXPECT_EQ(period_with(two_actors(), {{"p", {a, a}}, {"q", {b}}}), Fraction(4));
}

TEST(StaticOrder, a_concurrent_actor_fires_once_at_a_time) {
  Graph graph = two_actors();
  graph.actors[0].concurrent = true;
  EXPECT_EQ(throughput(graph)->period(), Fraction(3));
  EXPECT_EQ(period_with(graph, {{"p", {a, a}}}), Fraction(4));
}

TEST(StaticOrder, may_deadlock) {
  EXPECT_FALSE(is_live(with_static_orders(two_actors(), {{"p", {b, a, a}}})));
  EXPECT_TRUE(is_live(with_static_orders(two_actors(), {{"p", {a, a, b}}})));
}

TEST(StaticOrder, each_mistake_is_named) {
  Graph graph = two_actors();
  graph.actors[0].times = {Time{1}, Time{1}};
  graph.channels[0].production = {1, 0};
  graph.channels[1].consumption = {1, 0};
  const struct {
    std::vector<StaticOrder> orders;
    const char* expected;
  } cases[] = {
      {{{"p", {}}}, "processor 'p': its order is empty"},
      {{{"p", {a, b}}}, "processor 'p': its order has actor 'a' 1 times, which is no multiple"},
      {{{"p", {a, a, b}}}, "has actor 'a' 2 times and 'b' 1 times, but an iteration has 4 and 1"},
      {{{"p", {b}}, {"q", {b}}}, "processor 'q': actor 'b' is on processor 'p' already"},
  };
  for (const auto& each : cases) {
    const std::string message = message_of([&] { with_static_orders(graph, each.orders); });
    EXPECT_NE(message.find(each.expected), std::string::npos) << message;
  }
  EXPECT_NE(message_of([&] {
              static_orders(graph, {{"p", {a}}, {"q", {a, b}}});
            }).find("processor 'q': actor 'a' is on processor 'p' already"),
            std::string::npos);
}

TEST(StaticOrders, that_are_made_are_live_and_no_faster_than_processors_and_graph_allow) {
  Chance chance(11);
  int made = 0;
  for (int i = 0; i < 500; ++i) {
    const Graph graph = random_graph(chance);
    if (!is_live(graph)) continue;
    ++made;
    std::vector<Binding> bindings{{"p", {}}, {"q", {}}};
    for (std::size_t actor = 0; actor < graph.actors.size(); ++actor)
      bindings[static_cast<std::size_t>(pick(chance, 0, 1))].actors.emplace_back(actor);
    std::erase_if(bindings, [](const Binding& binding) { return binding.actors.empty(); });
    const std::vector<StaticOrder> orders = static_orders(graph, bindings);
    ASSERT_EQ(orders.size(), bindings.size());
    const auto found = throughput(with_static_orders(graph, orders));
    ASSERT_TRUE(found->is_live()) << i;
    EXPECT_GE(found->period(), throughput(graph)->period()) << i;
    for (const StaticOrder& order : orders) {
      Time work{0};
      std::vector<std::size_t> phase(graph.actors.size(), 0);
      for (ActorId actor : order.firings)
        work += graph[actor].times[phase[actor.index]++ % graph[actor].times.size()];
      EXPECT_GE(found->period(), Fraction(work.count())) << i;
      if (orders.size() == 1) {
        EXPECT_EQ(found->period(), Fraction(work.count())) << i;
      }
    }
  }
  EXPECT_GT(made, 100);
}

}  // namespace
}  // namespace millrace::dataflow
