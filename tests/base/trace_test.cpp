#include "base/trace.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/json.h"

namespace millrace {
namespace {

/// Two stages on two processors, one frame, with a name that JSON has to escape.
Trace sample() {
  return {
      .plans = {"net \"a\""},
      .stages = {{0, "stage0", "core1"}, {0, "stage1", "core0"}, {0, "stage2", "core1"}},
      .firings = {{0, 0, 7, 1, Time(1'000), Time(3'500)}, {1, 2, 4, 4, Time(3'500), Time(9'001)}},
      .frames = {{0, 7, Time(500), Time(1'000), Time(9'001)}},
      .waits = {{1, Time(1'500), Time(3'500)}}};
}

TEST(Trace, lists_each_processor_once_in_the_order_of_stages) {
  EXPECT_EQ(processors_of(sample()), (std::vector<std::string>{"core1", "core0"}));
}

TEST(Trace, is_written_as_chrome_reads_it) {
  const auto path =
      std::filesystem::temp_directory_path() / ("millrace_trace_" + std::to_string(::getpid()));
  write_chrome_trace(path, sample());
  const nlohmann::json json = read_json(path);
  std::filesystem::remove(path);
  const nlohmann::json& events = json["traceEvents"];
  // names; firings; a wait; a frame's begin and end
  ASSERT_EQ(events.size(), 4u + 2u + 1u + 2u);
  EXPECT_EQ(events[1]["args"]["name"], "core1");
  EXPECT_EQ(events[3]["args"]["name"], "frames of net \"a\"");
  const nlohmann::json& firing = events[5];
  EXPECT_EQ(firing["ph"], "X");
  EXPECT_EQ(firing["tid"], 1);
  EXPECT_EQ(firing["ts"], 3.5);
  EXPECT_EQ(firing["dur"], 5.501);
  EXPECT_EQ(firing["args"]["frames"], 4);
  EXPECT_EQ(events[6]["name"], "stage1 waits");
  EXPECT_EQ(events[6]["tid"], 1);
  EXPECT_EQ(events[6]["ts"], 1.5);
  EXPECT_EQ(events[6]["dur"], 2);
  EXPECT_EQ(events[7]["ph"], "b");
  EXPECT_EQ(events[7]["ts"], 0.5);
  EXPECT_EQ(events[8]["ph"], "e");
  EXPECT_EQ(events[8]["ts"], 9.001);
  EXPECT_EQ(events[7]["id"], events[8]["id"]);
}

TEST(Trace, without_events_is_still_a_trace) {
  const auto path =
      std::filesystem::temp_directory_path() / ("millrace_empty_" + std::to_string(::getpid()));
  write_chrome_trace(path, {});
  EXPECT_EQ(read_json(path)["traceEvents"].size(), 1u);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace millrace
