#include "system/events.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/message_of.h"
#include "system/system_file.h"

namespace millrace::system {
namespace {

Time ms(std::int64_t value) { return std::chrono::milliseconds(value); }

System system_of(const std::string& keys, const std::string& more = "") {
  return parse_system("format: 1\ngroups:\n  - {name: a, model: a.onnx, " + keys + "}\n" + more,
                      "s.yaml");
}

std::string refusal(const std::string& keys, const std::string& more = "") {
  return test::message_of([&] { system_of(keys, more); });
}

TEST(events, are_periodic_if_nothing_is_said) {
  const System system = system_of("period_ms: 20");
  EXPECT_TRUE(system.groups[0].events.is_periodic());
  EXPECT_EQ(system.groups[0].events, Events{});
  EXPECT_EQ(shortest_distance(system, GroupId(0), 0), ms(20));
}

TEST(events, are_read_and_written) {
  const System system = system_of(
      "period_ms: 60, burst: 3, burst_distance_ms: 5, min_distance_ms: 1.5, jitter_ms: 4, "
      "offset_ms: 7");
  const Events expected{.jitter = ms(4),
                        .offset = ms(7),
                        .min_distance = std::chrono::microseconds(1500),
                        .burst = 3,
                        .burst_distance = ms(5)};
  EXPECT_EQ(system.groups[0].events, expected);
  EXPECT_EQ(system_in(to_json(system, ""), "s.json").groups[0].events, expected);
  EXPECT_EQ(to_text(expected),
            "jitter 4.00 ms, offset 7.00 ms, bursts of 3 frames, 5.00 ms apart, at least 1.50 ms "
            "apart");
}

TEST(events, of_a_burst_count_its_frames_in_the_rate_and_its_period_between_bursts) {
  const System by_period = system_of("period_ms: 60, burst: 3, burst_distance_ms: 5");
  const System by_rate = system_of("rate_fps: 50, burst: 3, burst_distance_ms: 5");
  for (const System& system : {by_period, by_rate}) {
    EXPECT_EQ(period_of(system, GroupId(0), 0), ms(20));
    EXPECT_EQ(deadline_of(system, GroupId(0), 0), ms(60));
    EXPECT_EQ(shortest_distance(system, GroupId(0), 0), ms(5));
  }
}

TEST(events, that_are_sporadic_stay_a_period_apart) {
  const System system = system_of("period_ms: 20, sporadic: true, jitter_ms: 3");
  EXPECT_TRUE(system.groups[0].events.sporadic);
  EXPECT_EQ(shortest_distance(system, GroupId(0), 0), ms(17));
}

TEST(events, that_cannot_be_are_refused) {
  EXPECT_EQ(refusal("period_ms: 20, burst_distance_ms: 3"),
            "s.yaml: line 3: groups[0].burst_distance_ms: is between frames of a burst; add "
            "'burst', or leave it out");
  EXPECT_NE(refusal("period_ms: 60, burst: 3, burst_distance_ms: 21")
                .find("group 'a' has a 'burst_distance_ms' of 21.0 ms, expected 0 to 20.0 ms"),
            std::string::npos);
  EXPECT_NE(refusal("period_ms: 20, min_distance_ms: 20.5")
                .find("group 'a' has a 'min_distance_ms' of 20.5 ms, expected 0 to 20.0 ms"),
            std::string::npos);
  EXPECT_NE(refusal("period_ms: 20, sporadic: true, offset_ms: 3").find("is sporadic and has an"),
            std::string::npos);
  EXPECT_NE(refusal("rate_fps: [10, 50], min_distance_ms: 30").find("expected 0 to 20.0 ms"),
            std::string::npos);
}

TEST(events, of_a_queue_are_periodic) {
  const std::string more =
      "  - {name: b, model: b.onnx, period_ms: 20}\nedges:\n  - {from: a, to: b, read: queue}\n";
  EXPECT_EQ(refusal("period_ms: 20, offset_ms: 3", more), "no error");
  EXPECT_NE(refusal("period_ms: 20, jitter_ms: 3", more)
                .find("group 'a' is not periodic, so values may pile up in a queue"),
            std::string::npos);
}

}  // namespace
}  // namespace millrace::system
