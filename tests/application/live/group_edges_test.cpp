#include "application/live/group_edges.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <thread>

#include "application/live/edge_values.h"
#include "base/error.h"
#include "support/network_builder.h"

namespace millrace::application {
namespace {

using namespace std::chrono_literals;

/// As many numbers as show whether a value is torn.
using Wide = std::array<std::int64_t, 64>;

Wide wide(std::int64_t number) {
  Wide value;
  value.fill(number);
  return value;
}

bool is_whole(const Wide& value) {
  for (const std::int64_t each : value)
    if (each != value.front()) return false;
  return true;
}

TEST(EdgeValues, the_newest_value_is_whole_and_never_an_older_one) {
  constexpr std::int64_t values = 200'000;
  LastValue<Wide> edge;
  EXPECT_EQ(edge.read().value, nullptr);
  std::thread writer([&] {
    for (std::int64_t i = 1; i <= values; ++i) edge.write(wide(i));
  });
  std::int64_t last = 0, read = 0;
  while (last < values) {
    const auto found = edge.read();
    if (found.value == nullptr) continue;
    ASSERT_TRUE(is_whole(*found.value));
    ASSERT_EQ(found.is_new, found.value->front() > last);
    read += found.is_new ? 1 : 0;
    last = found.value->front();
  }
  writer.join();
  EXPECT_EQ(edge.unread(), values - read);
}

TEST(EdgeValues, a_queue_gives_each_value_once_and_in_order) {
  constexpr std::int64_t values = 100'000;
  ValueQueue<Wide> edge(8);
  std::thread writer([&] {
    for (std::int64_t i = 1; i <= values; ++i) edge.write(wide(i));
  });
  std::int64_t last = 0, read = 0;
  for (bool over = false; !over;) {
    over = read + edge.unread() == values;
    const auto found = edge.read();
    if (!found.is_new) continue;
    over = false;
    ASSERT_TRUE(is_whole(*found.value));
    ASSERT_GT(found.value->front(), last);
    last = found.value->front();
    ++read;
  }
  writer.join();
  EXPECT_EQ(read + edge.unread(), values);
  EXPECT_FALSE(edge.read().is_new);
  EXPECT_EQ(edge.read().value->front(), last);  // while there is no other
}

class GroupEdgesTest : public testing::Test {
 protected:
  GroupEdgesTest() : networks_{relu("a"), relu("b")} {}

  static network::Network relu(const char* name) {
    test::NetworkBuilder builder;
    builder.output(builder.unary(network::UnaryKind::relu, builder.input({1, 4})));
    network::Network network = builder.build();
    network.name = name;
    return network;
  }
  std::vector<const network::Network*> pointers() const { return {&networks_[0], &networks_[1]}; }

  static runtime::EndedFrame frame(std::chrono::milliseconds due, std::chrono::milliseconds end) {
    runtime::EndedFrame ended;
    ended.due += due;
    ended.end += end;
    return ended;
  }
  /// One frame of a group, which makes four times `number` of whatever it read.
  static float run(LiveGroup& group, float number, const runtime::EndedFrame& frame) {
    std::array<float, 4> read{};
    const std::span<std::byte> input = std::as_writable_bytes(std::span(read));
    group.fill({&input, 1});
    std::array<float, 4> made{};
    made.fill(number);
    group.take(
        {{},
         {},
         {network::make_array(network::DataType::float32, {1, 4}, std::span<const float>(made))}});
    group.ended(frame);
    return read[2];
  }

  const std::array<network::Network, 2> networks_;
};

TEST_F(GroupEdgesTest, ages_and_reactions_are_those_of_the_frames) {
  GroupEdges edges({{{.from = 0, .to = 1}}, {{0, 1}}, pointers()});
  const auto sensor = edges.around(0, nullptr), motor = edges.around(1, nullptr);
  edges.begin();
  EXPECT_EQ(run(*motor, 0, frame(0ms, 1ms)), 0);  // nothing was written
  run(*sensor, 7, frame(0ms, 3ms));
  EXPECT_EQ(run(*motor, 0, frame(5ms, 6ms)), 7);    // 6 ms old
  EXPECT_EQ(run(*motor, 0, frame(10ms, 11ms)), 7);  // 11 ms old: the same once more
  run(*sensor, 8, frame(20ms, 24ms));
  EXPECT_EQ(run(*motor, 0, frame(25ms, 27ms)), 8);  // 7 ms old; what changed after 0 ms is known
  const ChainTimes& times = edges.times().at(0).at(0);
  EXPECT_EQ(times.ages.count(), 3);
  EXPECT_EQ(times.ages.largest(), 11ms);
  EXPECT_EQ(times.reactions.count(), 1);
  EXPECT_EQ(times.reactions.largest(), 27ms);
}

TEST_F(GroupEdgesTest, frames_of_the_warm_up_write_nothing) {
  GroupEdges edges({{{.from = 0, .to = 1}}, {}, pointers()});
  const auto motor = edges.around(1, nullptr);
  std::array<float, 4> read{1, 2, 3, 4};
  const std::span<std::byte> input = std::as_writable_bytes(std::span(read));
  motor->fill({&input, 1});
  EXPECT_EQ(read[2], 3);
}

TEST_F(GroupEdgesTest, a_group_without_an_edge_stays_as_it_is) {
  GroupEdges edges({{}, {}, pointers()});
  EXPECT_EQ(edges.around(0, nullptr), nullptr);
}

TEST_F(GroupEdgesTest, refuses_what_does_not_fit) {
  const auto message = [&](EdgeBetween edge) -> std::string {
    edge.place = "s.yaml:3";
    try {
      check({{edge}, {}, pointers()});
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message({.from = 0, .to = 1}), "");
  EXPECT_NE(message({.from = 0, .to = 1, .output = "boxes"}).find("has no output 'boxes'"),
            std::string::npos);
}

}  // namespace
}  // namespace millrace::application
