#include "base/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string_view>

#include "base/file.h"
#include "base/json.h"
#include "base/json_text.h"

namespace millrace {
namespace {

using nlohmann::json;

/// Process numbers: the processors are one, the frames of each plan another.
constexpr int board_process = 1;
int process_of_plan(std::size_t plan) { return board_process + 1 + static_cast<int>(plan); }
constexpr std::string_view frames_prefix = "frames of ";  // and the plan's name: such a process

constexpr std::string_view clock_prefix = "clock of ";    // and the device: such a counter

/// Events count in microseconds; three decimals keep the nanoseconds.
double event_time(Time time) { return microseconds(time); }

class ChromeTraceWriter {
 public:
  ChromeTraceWriter(const Trace& trace, std::ostream& out)
      : trace_(trace), processors_(processors_of(trace)), out_(out) {}

  void write() {
    out_ << R"({"displayTimeUnit": "ms", "traceEvents": [)";
    write_names();
    for (const TraceFiring& firing : trace_.firings) write_firing(firing);
    for (const TraceWait& wait : trace_.waits) write_wait(wait);
    for (const TraceFrame& frame : trace_.frames) write_frame(frame);
    for (const TraceClock& clock : trace_.clocks)
      add({{"name", std::string(clock_prefix) + clock.device},
           {"ph", "C"},
           {"pid", board_process},
           {"ts", event_time(clock.at)},
           {"args", {{"MHz", clock.mhz}}}});
    out_ << "\n]}\n";
  }

 private:
  void add(const json& event) {
    out_ << (first_ ? "\n" : ",\n") << json_text(event, -1);
    first_ = false;
  }

  void name(const char* what, int process, std::size_t row, const std::string& text) {
    add({{"name", what}, {"ph", "M"}, {"pid", process}, {"tid", row}, {"args", {{"name", text}}}});
  }

  void write_names() {
    name("process_name", board_process, 0, "processors");
    for (std::size_t row = 0; row < processors_.size(); ++row)
      name("thread_name", board_process, row, processors_[row]);
    for (std::size_t plan = 0; plan < trace_.plans.size(); ++plan)
      name("process_name", process_of_plan(plan), 0,
           std::string(frames_prefix) + trace_.plans[plan]);
  }

  void write_firing(const TraceFiring& firing) {
    const TraceStage& stage = trace_.stages[firing.stage];
    json event{
        {"name", fmt::format("{}, phase {}, frame {}", stage.name, firing.phase, firing.frame)},
        {"cat", trace_.plans[stage.plan]},
        {"ph", "X"},
        {"pid", board_process},
        {"tid", row_of(stage)},
        {"ts", event_time(firing.begin)},
        {"dur", event_time(firing.end - firing.begin)},
        {"args",
         {{"plan", trace_.plans[stage.plan]},
          {"stage", stage.name},
          {"phase", firing.phase},
          {"frame", firing.frame},
          {"frames", firing.count}}}};
    if (firing.in + firing.out > Time{}) {
      event["args"]["in_ms"] = milliseconds(firing.in);
      event["args"]["out_ms"] = milliseconds(firing.out);
    }
    add(event);
    write_border(firing, "tensors in", firing.begin, firing.in);
    write_border(firing, "tensors out", firing.end - firing.out, firing.out);
  }

  /// Within the firing, whose arguments say the same.
  void write_border(const TraceFiring& firing, const char* what, Time begin, Time length) {
    if (length == Time{}) return;
    add({{"name", what},
         {"cat", "border"},
         {"ph", "X"},
         {"pid", board_process},
         {"tid", row_of(trace_.stages[firing.stage])},
         {"ts", event_time(begin)},
         {"dur", event_time(length)},
         {"args", {{"frame", firing.frame}}}});
  }

  void write_wait(const TraceWait& wait) {
    const TraceStage& stage = trace_.stages[wait.stage];
    add({{"name", stage.name + " waits"},
         {"cat", "waiting"},
         {"ph", "X"},
         {"pid", board_process},
         {"tid", row_of(stage)},
         {"ts", event_time(wait.begin)},
         {"dur", event_time(wait.end - wait.begin)},
         {"args", {{"plan", trace_.plans[stage.plan]}, {"stage", stage.name}}}});
  }

  std::ptrdiff_t row_of(const TraceStage& stage) const {
    return std::find(processors_.begin(), processors_.end(), stage.processor) - processors_.begin();
  }

  void write_frame(const TraceFrame& frame) {
    json event{{"name", fmt::format("frame {}", frame.frame)},
               {"cat", "frame"},
               {"id", frame.frame},
               {"pid", process_of_plan(frame.plan)},
               {"tid", 0},
               {"ph", "b"},
               {"ts", event_time(frame.released)},
               {"args",
                {{"submitted_ms", milliseconds(frame.submitted)},
                 {"latency_ms", milliseconds(frame.completed - frame.released)}}}};
    add(event);
    event["ph"] = "e";
    event["ts"] = event_time(frame.completed);
    event.erase("args");
    add(event);
  }

  const Trace& trace_;
  const std::vector<std::string> processors_;
  std::ostream& out_;
  bool first_ = true;
};

/// "ts" counts in microseconds, fields that end in "_ms" in milliseconds.
Time time_of(const JsonView& view, double unit_ns) {
  constexpr double longest_ns = 1e15;  // twelve days
  const double ns = view.number() * unit_ns;
  if (!(std::abs(ns) <= longest_ns)) view.fail("found a time of more than twelve days");
  return Time(std::llround(ns));
}

class ChromeTraceReader {
 public:
  explicit ChromeTraceReader(const std::filesystem::path& path)
      : json_(read_json(path)), file_(json_, path.string()) {}

  Trace read() {
    for (const JsonView& event : file_.at("traceEvents").items()) {
      const std::string kind = event.at("ph").text();
      if (kind == "M") read_name(event);
      if (kind == "X") read_span(event);
      if (kind == "b") read_frame(event);
      if (kind == "C") read_clock(event);
    }
    return std::move(trace_);
  }

 private:
  void read_name(const JsonView& event) {
    const std::string what = event.at("name").text();
    if (what != "process_name" && what != "thread_name") return;
    const std::int64_t process = event.at("pid").integer();
    const std::string name = event.at("args").at("name").text();
    if (what == "thread_name" && process == board_process)
      processors_[event.at("tid").integer()] = name;
    if (what == "process_name" && name.starts_with(frames_prefix) &&
        process == process_of_plan(trace_.plans.size()))
      trace_.plans.push_back(name.substr(frames_prefix.size()));
  }

  /// A firing or a wait.
  void read_span(const JsonView& event) {
    if (event.at("pid").integer() != board_process || !event.has("args")) return;
    const JsonView args = event.at("args");
    if (!args.has("stage") || !args.has("plan")) return;
    const std::size_t stage = stage_of(event);
    const Time begin = time_of(event.at("ts"), 1e3);
    const Time end = begin + time_of(event.at("dur"), 1e3);
    if (end < begin) event.at("dur").fail("found a time below 0");
    if (!args.has("phase")) {
      trace_.waits.push_back({stage, begin, end});
      return;
    }
    constexpr std::size_t most_phases = std::size_t{1} << 24;
    const std::int64_t count = args.at("frames").integer();
    if (count < 1) args.at("frames").fail("expected at least one frame");
    trace_.firings.push_back({stage, args.at("phase").index(most_phases),
                              args.at("frame").integer(), count, begin, end});
    if (args.has("in_ms") || args.has("out_ms")) read_borders(args, trace_.firings.back());
  }

  static void read_borders(const JsonView& args, TraceFiring& firing) {
    firing.in = time_of(args.at("in_ms"), 1e6);
    firing.out = time_of(args.at("out_ms"), 1e6);
    if (firing.in < Time{} || firing.out < Time{} ||
        firing.in + firing.out > firing.end - firing.begin)
      args.at("in_ms").fail("with 'out_ms', it does not lie within the event's time");
  }

  void read_clock(const JsonView& event) {
    if (!event.has("name") || !event.at("name").text().starts_with(clock_prefix)) return;
    const std::string device = event.at("name").text().substr(clock_prefix.size());
    trace_.clocks.push_back({device, time_of(event.at("ts"), 1e3),
                             event.at("args").at("MHz").number()});
  }

  std::size_t stage_of(const JsonView& event) {
    const JsonView args = event.at("args");
    const std::string plan = args.at("plan").text(), stage = args.at("stage").text();
    const auto [found, fresh] = stages_.try_emplace({plan, stage}, trace_.stages.size());
    if (fresh) trace_.stages.push_back({plan_named(args), stage, processor_of(event)});
    return found->second;
  }

  std::size_t plan_named(const JsonView& args) const {
    const std::string name = args.at("plan").text();
    for (std::size_t i = 0; i < trace_.plans.size(); ++i)
      if (trace_.plans[i] == name) return i;
    args.at("plan").fail("no process '" + std::string(frames_prefix) + name + "' was named before");
  }

  std::string processor_of(const JsonView& event) const {
    const auto found = processors_.find(event.at("tid").integer());
    return found == processors_.end() ? std::string() : found->second;
  }

  void read_frame(const JsonView& event) {
    const std::int64_t process = event.at("pid").integer();
    if (process < process_of_plan(0) || !event.has("args")) return;
    const JsonView args = event.at("args");
    if (!args.has("submitted_ms") || !args.has("latency_ms")) return;
    TraceFrame frame;
    frame.plan = static_cast<std::size_t>(process - process_of_plan(0));
    if (frame.plan >= trace_.plans.size()) event.at("pid").fail("no such process was named before");
    frame.frame = event.at("id").integer();
    frame.released = time_of(event.at("ts"), 1e3);
    frame.submitted = time_of(args.at("submitted_ms"), 1e6);
    frame.completed = frame.released + time_of(args.at("latency_ms"), 1e6);
    trace_.frames.push_back(frame);
  }

  const nlohmann::json json_;
  const JsonView file_;
  Trace trace_;
  std::map<std::int64_t, std::string> processors_;  // by row
  std::map<std::pair<std::string, std::string>, std::size_t> stages_;
};

}  // namespace

std::vector<std::string> processors_of(const Trace& trace) {
  std::vector<std::string> processors;
  for (const TraceStage& stage : trace.stages)
    if (std::find(processors.begin(), processors.end(), stage.processor) == processors.end())
      processors.push_back(stage.processor);
  return processors;
}

void write_chrome_trace(const std::filesystem::path& path, const Trace& trace) {
  write_file(path, [&](std::ostream& out) { ChromeTraceWriter(trace, out).write(); });
}

Trace read_chrome_trace(const std::filesystem::path& path) {
  return ChromeTraceReader(path).read();
}

}  // namespace millrace
