#include "present/svg/gantt.h"

#include <gtest/gtest.h>

#include <chrono>

#include "present/count_of.h"

namespace millrace::present {
namespace {

using test::count;
using namespace std::chrono_literals;

Trace sample() {
  return {.plans = {"a <b>"},
          .stages = {{0, "stage0", "core1"}, {0, "stage1", "core0"}},
          .firings = {{0, 0, 0, 1, 0ms, 10ms}, {1, 0, 0, 1, 10ms, 16ms}, {0, 1, 1, 4, 10ms, 20ms}},
          .frames = {{0, 0, 0ms, 0ms, 16ms}}};
}

TEST(Gantt, has_a_row_for_each_processor_and_a_bar_for_each_firing) {
  const std::string svg = gantt_svg(sample(), {.title = "A & B"});
  EXPECT_NE(svg.find(">core1</text>"), std::string::npos);
  EXPECT_NE(svg.find(">core0</text>"), std::string::npos);
  EXPECT_EQ(count(svg, "<title>a &lt;b&gt;: stage"), 3u);
  EXPECT_NE(svg.find("stage0, phase 1, frame 1-4: 10.0 ms from 10.0 ms"), std::string::npos);
  EXPECT_NE(svg.find("frame 0 is done at 16.0 ms, 16.0 ms after it came"), std::string::npos);
}

TEST(Gantt, says_how_busy_each_processor_is_and_in_what_unit_the_axis_counts) {
  const std::string svg = gantt_svg(sample(), {.title = "x"});
  EXPECT_NE(svg.find(">100 % busy<"), std::string::npos);
  EXPECT_NE(svg.find(">30 % busy<"), std::string::npos);
  EXPECT_NE(svg.find(">time in ms<"), std::string::npos);
}

TEST(Gantt, is_one_well_formed_document) {
  const std::string svg = gantt_svg(sample(), {.title = "A & B"});
  EXPECT_TRUE(svg.starts_with("<svg xmlns="));
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
  EXPECT_NE(svg.find("A &amp; B"), std::string::npos);
  for (const std::string tag : {"text", "title", "path", "circle"})
    EXPECT_EQ(count(svg, "<" + tag + " ") + count(svg, "<" + tag + ">"),
              count(svg, "</" + tag + ">"))
        << tag;
}

TEST(Gantt, what_borders_take_of_a_firing_is_dark) {
  Trace trace = sample();
  trace.firings[0].in = 2ms;
  trace.firings[0].out = 1ms;
  const std::string svg = gantt_svg(trace, {.title = "x"});
  EXPECT_NE(svg.find("tensors in: 2.00 ms from 0"), std::string::npos);
  EXPECT_NE(svg.find("tensors out: 1.00 ms from 9.00 ms"), std::string::npos);
  EXPECT_NE(svg.find("; dark: tensors come in"), std::string::npos);
  EXPECT_EQ(gantt_svg(sample(), {.title = "x"}).find("dark"), std::string::npos);
}

TEST(Gantt, what_lies_outside_the_window_is_not_drawn) {
  const std::string svg = gantt_svg(sample(), {.title = "x", .from = 11ms, .to = 15ms});
  EXPECT_EQ(count(svg, "stage0, phase 0"), 0u);
  EXPECT_EQ(count(svg, "stage1, phase 0"), 1u);
  EXPECT_EQ(count(svg, "<circle"), 0u);
}

TEST(Gantt, of_an_empty_trace_is_an_empty_chart) {
  EXPECT_NE(gantt_svg({}, {.title = "nothing"}).find("nothing"), std::string::npos);
}

TEST(Gantt, ends_when_so_many_frames_are_done_or_with_the_trace) {
  EXPECT_EQ(completion_of(sample(), 1), 16ms);
  EXPECT_EQ(completion_of(sample(), 2), 20ms);
}

}  // namespace
}  // namespace millrace::present
