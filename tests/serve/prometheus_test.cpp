#include "serve/metrics/prometheus.h"

#include <gtest/gtest.h>

#include <sstream>

namespace millrace::serve {
namespace {

using namespace std::chrono_literals;

/// The line that begins so, without that.
std::string rest_of(const std::string& text, const std::string& begin) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(begin)) return line.substr(begin.size());
  return "no such line";
}

TEST(Prometheus, has_what_was_counted) {
  FiguresNow figures;
  figures.name = "street";
  figures.is_live = true;
  Histogram latency;
  for (const Time time : {Time(400us), Time(1ms), Time(30ms), Time(20s)}) latency.add(time);
  figures.inputs.push_back({"left", 4, 7, 3, latency.counts(), 1, 2.5, 12});
  figures.stages.push_back({"stage0", "core0", 4, 0.25, 0.5, 0.75});
  figures.stages.push_back({"stage1", "core0", 4, 0.125, 0.5, 0.125});
  const std::string text = prometheus_text(figures, {});
  EXPECT_EQ(rest_of(text, "millrace_frames_total{input=\"left\"}"), " 4");
  EXPECT_EQ(rest_of(text, "millrace_frames_dropped_total{input=\"left\"}"), " 3");
  EXPECT_EQ(rest_of(text, "millrace_camera_gap_seconds_total{input=\"left\"}"), " 2.5");
  const std::string bucket = "millrace_frame_latency_seconds_bucket{input=\"left\",le=";
  EXPECT_EQ(rest_of(text, bucket + "\"0.0005\"}"), " 1");
  EXPECT_EQ(rest_of(text, bucket + "\"0.001\"}"), " 2");  // a bound belongs to its bucket
  EXPECT_EQ(rest_of(text, bucket + "\"0.025\"}"), " 2");
  EXPECT_EQ(rest_of(text, bucket + "\"10\"}"), " 3");
  EXPECT_EQ(rest_of(text, bucket + "\"+Inf\"}"), " 4");
  EXPECT_EQ(rest_of(text, "millrace_frame_latency_seconds_sum{input=\"left\"}"), " 20.0314");
  EXPECT_EQ(rest_of(text, "millrace_processor_utilisation_ratio{processor=\"core0\"}"), " 0.875");
}

TEST(Prometheus, counts_missed_deadlines) {
  FiguresNow figures;
  figures.groups.push_back({"lidar", 90, 2, {}, 0.05});
  const std::string text = prometheus_text(figures, {});
  EXPECT_EQ(rest_of(text, "millrace_deadline_misses_total{group=\"lidar\"}"), " 2");
  EXPECT_EQ(rest_of(text, "millrace_group_deadline_seconds{group=\"lidar\"}"), " 0.05");
  EXPECT_EQ(text.find("millrace_frames_total"), text.npos);
}

TEST(Prometheus, has_bounds_beside_responses) {
  FiguresNow figures;
  figures.name = "robot";
  figures.groups.push_back({"lidar", 90, 2, {}, 0.05});
  figures.groups.back().largest_s = 0.0125;
  figures.groups.back().bound_s = 0.025;
  figures.groups.emplace_back().name = "radar";
  InputNow input;
  input.group = "lidar";
  input.frames = 8;
  figures.inputs.push_back(input);
  StageNow stage;
  stage.name = "pre";
  stage.processor = "core0";
  stage.group = "lidar";
  stage.busy_s = 0.5;
  figures.stages.push_back(stage);
  const std::string text = prometheus_text(figures, {});
  EXPECT_NE(rest_of(text, "millrace_info{").find("deployment=\"robot\""), std::string::npos);
  EXPECT_EQ(rest_of(text, "millrace_group_largest_response_seconds{group=\"lidar\"}"), " 0.0125");
  EXPECT_EQ(rest_of(text, "millrace_group_bound_seconds{group=\"lidar\"}"), " 0.025");
  EXPECT_EQ(text.find("millrace_group_bound_seconds{group=\"radar\"}"), text.npos);
  EXPECT_EQ(rest_of(text, "millrace_frames_total{group=\"lidar\"}"), " 8");
  const std::string labels = "{group=\"lidar\",stage=\"pre\",processor=\"core0\"}";
  EXPECT_EQ(rest_of(text, "millrace_stage_busy_seconds_total" + labels), " 0.5");
  EXPECT_EQ(text.find("millrace_stage_waiting_seconds_total"), text.npos);
}

TEST(Prometheus, escapes_names) {
  FiguresNow figures;
  figures.name = "a\"b\\c\nd";
  EXPECT_NE(prometheus_text(figures, {}).find(R"(application="a\"b\\c\nd")"), std::string::npos);
}

TEST(Prometheus, has_what_the_machine_tells) {
  SensorsNow sensors;
  sensors.celsius["cpu"] = 48.5;
  sensors.megahertz["cpu0"] = 1500;
  sensors.joules = 12;
  sensors.source_of_energy = "RAPL";
  const std::string text = prometheus_text({}, sensors);
  EXPECT_EQ(rest_of(text, "millrace_temperature_celsius{sensor=\"cpu\"}"), " 48.5");
  EXPECT_EQ(rest_of(text, "millrace_clock_hertz{core=\"cpu0\"}"), " 1500000000");
  EXPECT_EQ(rest_of(text, "millrace_energy_joules_total{source=\"RAPL\"}"), " 12");
}

}  // namespace
}  // namespace millrace::serve
