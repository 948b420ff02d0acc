#include "deployment/recorded.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "base/file.h"
#include "base/trace.h"
#include "deployment/events.h"
#include "support/message_of.h"
#include "support/sample_deployment.h"
#include "support/temporary_folder.h"

namespace millrace::deployment {
namespace {

using namespace millrace::test;

/// Groups "a", of 5 to 10 frames a second, and "b", of 20.
RecordedReleases recorded_in(const std::string& content) {
  const TemporaryFolder folder;
  write_file(folder / "r.txt", content);
  return read_recorded(folder / "r.txt", sample_system());
}

std::string refusal(const std::string& content) {
  return message_of([&] { recorded_in(content); });
}

TEST(recorded, is_lines_of_a_time_and_a_group) {
  EXPECT_EQ(recorded_in("# seconds\n0.1 a\n0.25 b  # late\n\n0.2 b\n"),
            (RecordedReleases{{ms(100)}, {ms(200), ms(250)}}));
}

TEST(recorded, is_a_trace_that_a_run_wrote) {
  Trace trace;
  trace.plans = {"b", "other"};
  trace.frames = {{0, 1, ms(60), ms(60), ms(70)},
                  {0, 0, ms(10), ms(10), ms(75)},
                  {1, 0, ms(5), ms(5), ms(6)}};
  const TemporaryFolder folder;
  write_chrome_trace(folder / "t.json", trace);
  EXPECT_EQ(read_recorded(folder / "t.json", sample_system()),
            (RecordedReleases{{}, {ms(10), ms(60)}}));
}

/// A line of babeltrace2.
std::string event(const std::string& at, const std::string& name, int process,
                  const std::string& fields) {
  return fmt::format(
      "[{}] (+0.000000100) robot ros2:{}: {{ cpu_id = 1 }}, "
      "{{ vpid = {}, procname = \"a, {{b}}\" }}, {{ {} }}\n",
      at, name, process, fields);
}

/// A subscription and a timer of one process, and an address of another one that is the same.
const std::string ros =
    event("23:59:58.900000000", "rcl_subscription_init", 7,
          R"(subscription_handle = 0x00AA, topic_name = "/camera/image", queue_depth = 10)") +
    event("23:59:58.900000100", "rclcpp_subscription_init", 7,
          "subscription_handle = 0xAA, subscription = 0xB0") +
    event("23:59:58.900000200", "rclcpp_subscription_callback_added", 7,
          "subscription = 0xB0, callback = 0xC0") +
    event("23:59:58.900000300", "rclcpp_callback_register", 7,
          R"(callback = 0xD0, symbol = "void (Tracker::?)(x, y) [on_timer]")") +
    event("23:59:59.500000000", "callback_start", 7, "callback = 0xC0, is_intra_process = 0") +
    event("23:59:59.600000001", "callback_start", 7, "callback = 0xD0, is_intra_process = 0") +
    event("23:59:59.700000000", "callback_end", 7, "callback = 0xD0") +
    event("23:59:59.800000000", "callback_start", 9, "callback = 0xC0, is_intra_process = 0") +
    event("00:00:00.250000000", "callback_start", 7, "callback = 0xC0, is_intra_process = 1");

TEST(recorded, is_a_trace_of_ros_whose_callbacks_are_mapped) {
  EXPECT_EQ(recorded_in("map a topic=/camera/image\nmap b symbol=on_timer\n" + ros),
            (RecordedReleases{{ms(0), ms(750)}, {Time{100'000'001}}}));
}

TEST(recorded, maps_addresses_of_every_process) {
  EXPECT_EQ(recorded_in("map a callback=0x0c0\n" + ros),
            (RecordedReleases{{ms(0), ms(300), ms(750)}, {}}));
}

TEST(recorded, takes_the_topic_of_a_groups_name) {
  std::string named = ros;
  named.replace(named.find("/camera/image"), 13, "/b");
  EXPECT_EQ(recorded_in(named), (RecordedReleases{{}, {ms(0), ms(750)}}));
}

TEST(recorded, may_have_times_of_a_clock_in_seconds_or_with_a_date) {
  for (const auto& [first, second] :
       {std::pair("1637091839.25", "1637091839.75"),
        std::pair("2026-11-30 09:00:00.25", "2026-11-30 09:00:00.75")})
    EXPECT_EQ(recorded_in("map a callback=0xc0\n" +
                          event(first, "callback_start", 1, "callback = 0xC0") +
                          event(second, "callback_start", 1, "callback = 0xC0")),
              (RecordedReleases{{ms(0), ms(500)}, {}}));
}

TEST(recorded, that_is_wrong_is_refused) {
  EXPECT_NE(refusal("0.1 c\n").find("r.txt: line 1: the system has no group 'c', only a, b"),
            std::string::npos);
  EXPECT_NE(refusal("0.1 a\nsoon b\n").find("r.txt: line 2: found 'soon b', expected a time"),
            std::string::npos);
  EXPECT_NE(refusal("-1 a\n").find("found '-1 a', expected"), std::string::npos);
  EXPECT_NE(refusal("map a node=x\n").find("found the key 'node=x', expected callback=0xADDRESS"),
            std::string::npos);
  EXPECT_NE(refusal("map a topic=/x\n" + ros).find("has no ros2:callback_start of group 'a'"),
            std::string::npos);
  EXPECT_NE(refusal(ros).find("has no release of a group of the system, such as 'a'"),
            std::string::npos);
}

TEST(recorded, gives_groups_the_events_that_bound_it) {
  const RecordedReleases recorded{{ms(0), ms(130), ms(200), ms(310)}, {ms(4)}};
  const system::System system = with_recorded_events(sample_system(), recorded);
  for (std::int64_t level = 0; level < 2; ++level)
    EXPECT_EQ(events_of(system, system::GroupId(0), level),
              (realtime::EventModel{.period = ms(100), .jitter = ms(30), .min_distance = ms(70)}));
  EXPECT_EQ(deadline_of(system, system::GroupId(0), 1), ms(100));
  EXPECT_EQ(system.groups[1], sample_system().groups[1]);
  system::check(system);
}

TEST(recorded, says_where_it_breaks_the_events_of_a_group) {
  const std::vector<std::string> texts =
      recorded_texts(sample_system(), {{ms(0), ms(100), ms(190)}, {}});
  EXPECT_EQ(texts, (std::vector<std::string>{
                       "group 'a': 3 releases recorded, 90.0 ms to 100 ms apart; a period of 95.0 "
                       "ms and a jitter of 5.00 ms bound them",
                       "group 'a': release 2 at 0.190000 s comes 90.0 ms after release 1, and its "
                       "events allow at least 100 ms; bounds need not hold",
                       "group 'b': not recorded, so it comes as the system says"}));
  system::System late = sample_system();
  late.groups[0].events.jitter = ms(10);
  EXPECT_EQ(recorded_texts(late, {{ms(0), ms(100), ms(190)}, {ms(1)}}).size(), 2u);
}

}  // namespace
}  // namespace millrace::deployment
