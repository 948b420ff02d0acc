#include "dataflow/sdf3.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "dataflow/analysis.h"
#include "support/message_of.h"

namespace millrace::dataflow {
namespace {

using millrace::test::message_of;

const std::string good = R"(<?xml version="1.0"?>
<sdf3 type="csdf" version="1.0">
 <applicationGraph name="app">
  <csdf name="pair" type="G">
   <actor name="a" type="A">
    <port name="out" type="out" rate="2*1,3"/>
    <port name="back" type="in" rate="1"/>
   </actor>
   <actor name="b" type="B">
    <port name="in" type="in" rate="5"/>
    <port name="back" type="out" rate="3"/>
   </actor>
   <channel name="ab" srcActor="a" srcPort="out" dstActor="b" dstPort="in" initialTokens="4"/>
   <channel name="ba" srcActor="b" srcPort="back" dstActor="a" dstPort="back" initialTokens="3"/>
  </csdf>
  <csdfProperties>
   <actorProperties actor="a">
    <processor type="p1" default="true"><executionTime time="7"/></processor>
    <processor type="p2" default="true"><executionTime time="1, 2,0.5"/></processor>
   </actorProperties>
   <actorProperties actor="b">
    <processor type="p1"><executionTime time="4"/></processor>
   </actorProperties>
   <channelProperties channel="ab"><tokenSize sz="3072"/></channelProperties>
  </csdfProperties>
 </applicationGraph>
</sdf3>
)";

/// `good` with one thing replaced.
std::string with(const std::string& from, const std::string& to) {
  const auto at = good.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return std::string(good).replace(at, from.size(), to);
}

TEST(Sdf3, says_what_the_file_says) {
  const Sdf3File file = parse_sdf3(good, "x.xml");
  EXPECT_EQ(file.graph.name, "pair");
  ASSERT_EQ(file.graph.actors.size(), 2u);
  EXPECT_EQ(file.ticks, 10);
  EXPECT_EQ(file.graph.actors[0].times, (std::vector<Time>{Time{10}, Time{20}, Time{5}}));
  EXPECT_EQ(file.graph.actors[1].times, std::vector<Time>{Time{40}});
  EXPECT_TRUE(file.graph.actors[0].concurrent);
  const Channel &ab = file.graph.channels[0], &ba = file.graph.channels[1];
  EXPECT_EQ(ab.production, (std::vector<std::int64_t>{1, 1, 3}));
  EXPECT_EQ(ab.consumption, std::vector<std::int64_t>{5});
  EXPECT_EQ(ab.initial_tokens, 4);
  EXPECT_EQ(ab.token_bits, 3072);
  EXPECT_EQ(ba.consumption, (std::vector<std::int64_t>{1, 1, 1}));
  EXPECT_TRUE(file.notes.empty());
}

TEST(Sdf3, each_mistake_is_named) {
  const struct {
    std::string text, expected;
  } cases[] = {
      {"", "x.xml: line 1: is not XML"},
      {"<sdf3", "x.xml: line 1: is not XML"},
      {with("</csdf>", ""), "is not XML"},
      {"<graphml/>", "x.xml: found the element <graphml>, expected SDF3's <sdf3>"},
      {with("type=\"csdf\"", "type=\"sadf\""), "type 'sadf', expected 'sdf' or 'csdf'"},
      {"<sdf3 type='sdf'/>", "has no <applicationGraph>"},
      {"<sdf3 type='sdf'><applicationGraph/></sdf3>", "has neither an <sdf> nor a <csdf>"},
      {"<sdf3 type='sdf'><applicationGraph><sdf/></applicationGraph></sdf3>", "has no actors"},
      {with("name=\"b\" type=\"B\"", "name=\"a\" type=\"B\""), "actor 'a': is there twice"},
      {with(" name=\"b\" type=\"B\"", ""), "its <actor> has no 'name'"},
      {with("rate=\"5\"", ""), "actor 'b', port 'in': its <port> has no 'rate'"},
      {with("rate=\"5\"", "rate=\"0\""), "actor 'b', port 'in': its rate is 0"},
      {with("rate=\"5\"", "rate=\"-5\""), "actor 'b', port 'in': found the negative rate -5"},
      {with("rate=\"5\"", "rate=\"five\""), "port 'in': found the rate 'five', expected a whole"},
      {with("rate=\"5\"", "rate=\"2.5\""), "port 'in': found the rate '2.5', expected a whole"},
      {with("rate=\"5\"", "rate=\"5,\""), "port 'in': found the rate '', expected a whole"},
      {with("rate=\"5\"", "rate=\"99999999999999999999\""), "which exceeds 64 bits"},
      {with("rate=\"5\"", "rate=\"9999999*1,9999999999*2\""), "has more than 1000000 numbers"},
      {with("2*1,3", "1,3"), "port 'out': found 2 rates, but the actor has 3 phases"},
      {with("1, 2,0.5", "1,2"), "actor 'a': found 2 execution times, but the actor has 3 phases"},
      {with("1, 2,0.5", "1,2,-3"), "actor 'a': found the negative execution time -3"},
      {with("1, 2,0.5", "1,2,x"), "actor 'a': found the execution time 'x', expected a number"},
      {with("1, 2,0.5", "1,2,9223372036854775807.5"), "exceeds 64 bits"},
      {with("time=\"4\"", "time=\"9223372036854775807\""), "actor 'b': its numbers exceed 64"},
      {with("port name=\"in\" type=\"in\"", "port name=\"in\" type=\"inout\""),
       "found the type 'inout', expected 'in' or 'out'"},
      {with("port name=\"in\"", "port name=\"back\""), "port 'back': is there twice"},
      {with("srcActor=\"a\"", "srcActor=\"c\""), "channel 'ab': begins at actor 'c', but there"},
      {with("dstPort=\"in\"", "dstPort=\"no\""), "channel 'ab': ends at port 'no' of actor 'b'"},
      {with("dstPort=\"in\"", "dstPort=\"back\""), "of actor 'b', which has the type 'out'"},
      {with("name=\"ba\"", "name=\"ab\""), "channel 'ab': is there twice"},
      {with("initialTokens=\"4\"", "initialTokens=\"-4\""),
       "channel 'ab': found the negative number of initial tokens -4"},
      {with("initialTokens=\"4\"", "initialTokens=\"1,2\""), "channel 'ab': found the number of"},
      {with("actor=\"b\"", "actor=\"c\""), "actor 'c': has properties, but there is no such"},
      {with("channel=\"ab\"", "channel=\"xy\""), "channel 'xy': has properties, but there is no"},
      {with("<processor type=\"p1\">", "<processor/><processor type=\"p1\">"),
       "actor 'b': has 2 processors, none with default"},
      {with("sz=\"3072\"", "sz=\"big\""), "channel 'ab': found the token size 'big'"},
  };
  for (const auto& each : cases) {
    const std::string message = message_of([&] { parse_sdf3(each.text, "x.xml"); });
    EXPECT_NE(message.find(each.expected), std::string::npos) << message << "\n" << each.expected;
    EXPECT_EQ(message.rfind("x.xml", 0), 0u) << message;
  }
}

TEST(Sdf3, a_time_that_is_missing_is_noted) {
  const Sdf3File file = parse_sdf3(with("<executionTime time=\"4\"/>", ""), "x.xml");
  ASSERT_EQ(file.notes.size(), 1u);
  EXPECT_EQ(file.notes[0], "x.xml: actor 'b': has no execution time; taken as 0");
  EXPECT_EQ(file.graph.actors[1].times, std::vector<Time>{Time{0}});
}

TEST(Sdf3, half_a_file_is_refused) {
  for (std::size_t size = 0; size < good.rfind('>'); ++size)
    EXPECT_THROW(parse_sdf3(good.substr(0, size), "x.xml"), InputError) << size;
}

TEST(Sdf3, written_graphs_keep_actors_that_fire_one_at_a_time) {
  Graph graph{.name = "a <b> & \"c\"", .actors = {}, .channels = {}};
  const ActorId one = graph.add_actor({"one", {Time{3}, Time{4}}});
  const ActorId many = graph.add_actor({"many", {Time{5}}, true});
  graph.add_channel({"same", one, many, {2, 2}, {1}, 7, 16});
  graph.add_channel({"same", many, one, {1}, {4, 0}, 9});
  const Graph again = parse_sdf3(to_sdf3(graph), "x.xml").graph;
  EXPECT_EQ(again.name, graph.name);
  ASSERT_EQ(again.channels.size(), 3u);
  EXPECT_EQ(again.channels[0].token_bits, 16);
  EXPECT_EQ(again.channels[2].from, one);
  EXPECT_EQ(throughput(again)->period(), throughput(graph)->period());
  const Graph twice = parse_sdf3(to_sdf3(again), "x.xml").graph;
  EXPECT_EQ(twice.channels.size(), 3u);
}

}  // namespace
}  // namespace millrace::dataflow
