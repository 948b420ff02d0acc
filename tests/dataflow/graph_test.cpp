#include "dataflow/graph.h"

#include <gtest/gtest.h>

#include "graphs.h"

namespace millrace::dataflow {
namespace {

using namespace test;

Graph pair() {
  Graph graph{.name = "pair", .actors = {}, .channels = {}};
  const ActorId a = actor(graph, "a", {1, 2});
  const ActorId b = actor(graph, "b", {3});
  channel(graph, {a, {1, 2}}, {b, {3}}, 3);
  return graph;
}

TEST(Graph, a_well_formed_graph_is_accepted) { EXPECT_NO_THROW(validate(pair())); }

TEST(Graph, each_mistake_is_named) {
  struct Case {
    void (*break_it)(Graph&);
    const char* expected;
  };
  const Case cases[] = {
      {[](Graph& g) { g.channels[0].production = {1}; }, "channel 'ab': found 1 rates"},
      {[](Graph& g) { g.channels[0].consumption = {-3}; }, "channel 'ab': found the rate -3"},
      {[](Graph& g) { g.channels[0].initial_tokens = -1; }, "channel 'ab': found -1 initial"},
      {[](Graph& g) { g.channels[0].to = ActorId(7); }, "channel 'ab': begins or ends"},
      {[](Graph& g) { g.channels[0].from = ActorId(); }, "channel 'ab': begins or ends"},
      {[](Graph& g) { g.actors[0].times.clear(); }, "actor 'a': has no phases"},
      {[](Graph& g) { g.actors[1].times[0] = Time(-5); }, "actor 'b': found the time -5 ns"},
  };
  for (const Case& each : cases) {
    Graph graph = pair();
    each.break_it(graph);
    const std::string message = message_of([&] { validate(graph); });
    EXPECT_EQ(message.rfind(each.expected, 0), 0u) << message;
  }
}

TEST(Graph, a_bound_is_a_reverse_channel_with_the_free_space) {
  Graph graph = pair();
  bound_channel(graph, ChannelId(0), 5);
  ASSERT_EQ(graph.channels.size(), 2u);
  const Channel& space = graph.channels[1];
  EXPECT_EQ(space.from, ActorId(1));
  EXPECT_EQ(space.to, ActorId(0));
  EXPECT_EQ(space.production, graph.channels[0].consumption);
  EXPECT_EQ(space.consumption, graph.channels[0].production);
  EXPECT_EQ(space.initial_tokens, 2);
  EXPECT_NE(message_of([&] { bound_channel(graph, ChannelId(0), 2); }).find("cannot hold"),
            std::string::npos);
}

}  // namespace
}  // namespace millrace::dataflow
