#include "serve/metrics/prometheus.h"

#include <fmt/format.h>

#include <map>
#include <utility>
#include <vector>

namespace millrace::serve {
namespace {

using Labels = std::vector<std::pair<const char*, std::string>>;

std::string escaped(const std::string& value) {
  std::string result;
  for (const char each : value) {
    if (each == '\\' || each == '"') result += '\\';
    result += each == '\n' ? std::string("\\n") : std::string(1, each);
  }
  return result;
}

class Text {
 public:
  /// All samples of a name follow it.
  void family(const char* name, const char* type, const char* help) {
    name_ = name;
    text_ += fmt::format("# HELP {0} {2}\n# TYPE {0} {1}\n", name, type, help);
  }
  void sample(const Labels& labels, double value, const char* ending = "") {
    std::string inside;
    for (const auto& [name, text] : labels)
      if (!text.empty())
        inside += fmt::format("{}{}=\"{}\"", inside.empty() ? "" : ",", name, escaped(text));
    if (!inside.empty()) inside = "{" + inside + "}";
    text_ += fmt::format("{}{}{} {}\n", name_, ending, inside, value);
  }
  void histogram(const Labels& labels, const Histogram::Counts& counts) {
    std::int64_t below = 0;
    for (std::size_t i = 0; i < counts.each.size(); ++i) {
      below += counts.each[i];
      Labels with = labels;
      with.emplace_back("le", i < Histogram::bounds_s.size()
                                  ? fmt::format("{}", Histogram::bounds_s[i])
                                  : "+Inf");
      sample(with, static_cast<double>(below), "_bucket");
    }
    sample(labels, counts.sum_s, "_sum");
    sample(labels, static_cast<double>(below), "_count");
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_, name_;
};

Labels labels_of(const InputNow& input) { return {{"group", input.group}, {"input", input.name}}; }

template <class Value>
void add_of_inputs(Text& text, const FiguresNow& figures, Value value) {
  for (const InputNow& each : figures.inputs)
    text.sample(labels_of(each), static_cast<double>(value(each)));
}

void add_inputs(Text& text, const FiguresNow& figures) {
  if (figures.inputs.empty()) return;
  text.family("millrace_frames_total", "counter", "Frames whose findings came out.");
  add_of_inputs(text, figures, [](const InputNow& each) { return each.frames; });
  text.family("millrace_frame_latency_seconds", "histogram",
              "From when a picture was taken to its findings.");
  for (const InputNow& each : figures.inputs) text.histogram(labels_of(each), each.latency);
  text.family("millrace_frame_rate", "gauge", "Frames per second of the last seconds.");
  add_of_inputs(text, figures, [](const InputNow& each) { return each.rate_fps; });
  text.family("millrace_pictures_skipped_total", "counter", "Pictures that cannot be decoded.");
  text.sample({}, static_cast<double>(figures.skipped));
  if (!figures.is_live) return;
  text.family("millrace_frames_arrived_total", "counter",
              "Frames of live input, with those dropped.");
  add_of_inputs(text, figures, [](const InputNow& each) { return each.arrived; });
  text.family("millrace_frames_dropped_total", "counter",
              "Frames of live input for which there was no room.");
  add_of_inputs(text, figures, [](const InputNow& each) { return each.dropped; });
  text.family("millrace_camera_gaps_total", "counter",
              "How often a camera was gone and came back.");
  add_of_inputs(text, figures, [](const InputNow& each) { return each.gaps; });
  text.family("millrace_camera_gap_seconds_total", "counter", "How long cameras were gone.");
  add_of_inputs(text, figures, [](const InputNow& each) { return each.gap_s; });
}

void add_stages(Text& text, const FiguresNow& figures) {
  if (figures.stages.empty()) return;
  const auto add = [&](auto value) {
    for (std::size_t s = 0; s < figures.stages.size(); ++s) {
      const StageNow& each = figures.stages[s];
      text.sample({{"group", each.group}, {"stage", each.name}, {"processor", each.processor}},
                  value(each));
    }
  };
  text.family("millrace_stage_frames_total", "counter", "Frames that a stage has worked on.");
  add([](const StageNow& each) { return static_cast<double>(each.frames); });
  text.family("millrace_stage_busy_seconds_total", "counter", "Time that a stage has worked.");
  add([](const StageNow& each) { return each.busy_s; });
  if (figures.groups.empty()) {
    text.family("millrace_stage_waiting_seconds_total", "counter",
                "Time that a stage has waited for frames or for room.");
    add([](const StageNow& each) { return each.waiting_s; });
  }
  std::map<std::string, double> processors;
  for (const StageNow& each : figures.stages) processors[each.processor] += each.utilisation;
  text.family("millrace_processor_utilisation_ratio", "gauge",
              "Share of the last second in which the stages of a processor worked.");
  for (const auto& [name, share] : processors) text.sample({{"processor", name}}, share);
}

void add_groups(Text& text, const FiguresNow& figures) {
  if (figures.groups.empty()) return;
  const auto add = [&](auto value) {
    for (const GroupNow& each : figures.groups)
      text.sample({{"group", each.name}}, static_cast<double>(value(each)));
  };
  text.family("millrace_group_frames_total", "counter", "Frames of a group that are done.");
  add([](const GroupNow& each) { return each.frames; });
  text.family("millrace_deadline_misses_total", "counter",
              "Frames of a group that were done after their deadline.");
  add([](const GroupNow& each) { return each.missed; });
  text.family("millrace_group_deadline_seconds", "gauge", "The deadline of a group's frames.");
  add([](const GroupNow& each) { return each.deadline_s; });
  text.family("millrace_group_rate", "gauge", "Frames per second of a group, of the last second.");
  add([](const GroupNow& each) { return each.rate_fps; });
  text.family("millrace_group_largest_response_seconds", "gauge",
              "Largest response since the scenario or level changed.");
  add([](const GroupNow& each) { return each.largest_s; });
  text.family("millrace_group_bound_seconds", "gauge",
              "Proven bound of a group's responses, in the scenario and level at hand.");
  for (const GroupNow& each : figures.groups)
    if (each.bound_s) text.sample({{"group", each.name}}, *each.bound_s);
  text.family("millrace_group_response_seconds", "histogram",
              "From when a frame was due to its end.");
  for (const GroupNow& each : figures.groups) text.histogram({{"group", each.name}}, each.response);
}

void add_sensors(Text& text, const SensorsNow& sensors) {
  if (!sensors.celsius.empty())
    text.family("millrace_temperature_celsius", "gauge", "Temperatures that the system tells.");
  for (const auto& [name, value] : sensors.celsius) text.sample({{"sensor", name}}, value);
  if (!sensors.megahertz.empty())
    text.family("millrace_clock_hertz", "gauge", "Clocks of the cores.");
  for (const auto& [name, value] : sensors.megahertz) text.sample({{"core", name}}, value * 1e6);
  if (sensors.joules) {
    text.family("millrace_energy_joules_total", "counter",
                "Energy of the whole machine since the run began.");
    text.sample({{"source", sensors.source_of_energy}}, *sensors.joules);
  }
  text.family("process_resident_memory_bytes", "gauge", "Memory of this process.");
  text.sample({}, sensors.resident_bytes);
}

}  // namespace

std::string prometheus_text(const FiguresNow& figures, const SensorsNow& sensors) {
  Text text;
  text.family("millrace_info", "gauge", "What runs.");
  const char* const kind = figures.groups.empty() ? "application" : "deployment";
  text.sample({{"version", MILLRACE_VERSION}, {kind, figures.name}}, 1);
  text.family("millrace_running", "gauge", "1 from the first frame on to the end of the run.");
  text.sample({}, figures.is_running ? 1 : 0);
  text.family("millrace_running_seconds", "gauge", "How long it has run.");
  text.sample({}, figures.running_s);
  add_inputs(text, figures);
  add_stages(text, figures);
  add_groups(text, figures);
  add_sensors(text, sensors);
  return text.take();
}

}  // namespace millrace::serve
