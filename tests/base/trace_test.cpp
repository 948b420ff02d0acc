#include "base/trace.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "support/message_of.h"

namespace millrace {
namespace {

using test::message_of;

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

TEST(Trace, has_a_counter_for_the_clock_of_each_device) {
  Trace trace = sample();
  trace.clocks = {{"cpu1", Time(1'000), 2400}, {"cpu0", Time(1'500), 1416.5}};
  const auto path = std::filesystem::temp_directory_path() /
                    ("millrace_trace_clocks_" + std::to_string(::getpid()));
  write_chrome_trace(path, trace);
  const nlohmann::json event = read_json(path)["traceEvents"].back();
  const Trace again = read_chrome_trace(path);
  std::filesystem::remove(path);
  EXPECT_EQ(event["ph"], "C");
  EXPECT_EQ(event["name"], "clock of cpu0");
  EXPECT_EQ(event["args"]["MHz"], 1416.5);
  EXPECT_EQ(again.clocks, trace.clocks);
}

TEST(Trace, has_what_borders_take_of_a_firing_in_its_arguments_and_as_spans_within) {
  Trace trace = sample();
  trace.firings[0].in = Time(400);
  trace.firings[0].out = Time(100);
  const auto path =
      std::filesystem::temp_directory_path() / ("millrace_borders_" + std::to_string(::getpid()));
  write_chrome_trace(path, trace);
  const nlohmann::json events = read_json(path)["traceEvents"];
  const Trace read = read_chrome_trace(path);
  std::filesystem::remove(path);
  EXPECT_EQ(read.firings, trace.firings);
  EXPECT_EQ(events[4]["args"]["in_ms"], 0.0004);
  EXPECT_EQ(events[5]["name"], "tensors in");
  EXPECT_EQ(events[5]["ts"], 1);
  EXPECT_EQ(events[6]["name"], "tensors out");
  EXPECT_EQ(events[6]["ts"], 3.4);
  EXPECT_EQ(events[6]["dur"], 0.1);
}

TEST(Trace, without_events_is_still_a_trace) {
  const auto path =
      std::filesystem::temp_directory_path() / ("millrace_empty_" + std::to_string(::getpid()));
  write_chrome_trace(path, {});
  EXPECT_EQ(read_json(path)["traceEvents"].size(), 1u);
  std::filesystem::remove(path);
}

/// Written to a file of its own.
Trace read(const std::string& text) {
  const auto path =
      std::filesystem::temp_directory_path() / ("millrace_read_" + std::to_string(::getpid()));
  write_file(path, text);
  try {
    Trace trace = read_chrome_trace(path);
    std::filesystem::remove(path);
    return trace;
  } catch (...) {
    std::filesystem::remove(path);
    throw;
  }
}

TEST(Trace, is_read_as_it_was_written) {
  const auto path =
      std::filesystem::temp_directory_path() / ("millrace_again_" + std::to_string(::getpid()));
  Trace trace = sample();
  trace.stages.pop_back();  // one that never fired is in no event
  trace.plans.push_back("b");
  trace.frames.push_back(
      {1, 3, Time(123'456'789'012), Time(123'456'789'013), Time(200'000'000'001)});
  write_chrome_trace(path, trace);
  EXPECT_TRUE(read_chrome_trace(path) == trace);
  std::filesystem::remove(path);
}

TEST(Trace, of_others_has_nothing_of_ours) {
  EXPECT_TRUE(read(R"({"traceEvents": [
      {"ph": "X", "name": "f", "pid": 1, "tid": 2, "ts": 1, "dur": 2},
      {"ph": "X", "name": "f", "pid": 7, "tid": 2, "ts": 1, "dur": 2, "args": {"stage": 1}},
      {"ph": "b", "name": "f", "pid": 7, "tid": 2, "ts": 1, "args": {"x": 1}},
      {"ph": "M", "name": "sort_index", "pid": 1}, {"ph": "i"}]})") == Trace{});
}

TEST(Trace, with_nonsense_is_refused_and_the_place_is_named) {
  const auto found = [](const std::string& events) {
    const std::string names =
        R"({"ph": "M", "name": "process_name", "pid": 2, "args": {"name": "frames of a"}}, )";
    const std::string text =
        message_of([&] { read("{\"traceEvents\": [" + names + events + "]}"); });
    return text.substr(text.find(": ") + 2);
  };
  const auto firing = [](const std::string& plan, const std::string& frames,
                         const std::string& rest) {
    return R"({"ph": "X", "pid": 1, "tid": 0, "args": {"plan": ")" + plan +
           R"(", "stage": "stage0", "phase": 0, "frame": 0, "frames": )" + frames + "}, " + rest +
           "}";
  };
  EXPECT_EQ(found(firing("b", "1", R"("ts": 0, "dur": 1)")),
            "traceEvents[1].args.plan: no process 'frames of b' was named before");
  EXPECT_EQ(found(firing("a", "0", R"("ts": 0, "dur": 1)")),
            "traceEvents[1].args.frames: expected at least one frame");
  EXPECT_EQ(found(firing("a", "1", R"("ts": 0, "dur": -1)")),
            "traceEvents[1].dur: found a time below 0");
  EXPECT_EQ(found(firing("a", "1", R"("ts": 1e300, "dur": 1)")),
            "traceEvents[1].ts: found a time of more than twelve days");
  EXPECT_EQ(found(firing("a", "1", R"("ts": 0)")), "traceEvents[1]: the field 'dur' is missing");
  EXPECT_EQ(found(R"({"ph": "b", "pid": 3, "id": 1, "ts": 1,
                      "args": {"submitted_ms": 1, "latency_ms": 1}})"),
            "traceEvents[1].pid: no such process was named before");
  EXPECT_EQ(message_of([] { read("{}"); }).substr(0, 1), "/");
}

}  // namespace
}  // namespace millrace
