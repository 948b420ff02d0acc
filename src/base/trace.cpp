#include "base/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

#include "base/file.h"

namespace millrace {
namespace {

using nlohmann::json;

/// Process numbers: the processors are one, the frames of each plan another.
constexpr int board_process = 1;
int process_of_plan(std::size_t plan) { return board_process + 1 + static_cast<int>(plan); }

/// Events count in microseconds; three decimals keep the nanoseconds.
double event_time(Time time) { return microseconds(time); }

class ChromeTrace {
 public:
  ChromeTrace(const Trace& trace, std::ostream& out)
      : trace_(trace), processors_(processors_of(trace)), out_(out) {}

  void write() {
    out_ << R"({"displayTimeUnit": "ms", "traceEvents": [)";
    write_names();
    for (const TraceFiring& firing : trace_.firings) write_firing(firing);
    for (const TraceWait& wait : trace_.waits) write_wait(wait);
    for (const TraceFrame& frame : trace_.frames) write_frame(frame);
    out_ << "\n]}\n";
  }

 private:
  void add(const json& event) {
    out_ << (first_ ? "\n" : ",\n") << event.dump(-1, ' ', false, json::error_handler_t::replace);
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
      name("process_name", process_of_plan(plan), 0, "frames of " + trace_.plans[plan]);
  }

  void write_firing(const TraceFiring& firing) {
    const TraceStage& stage = trace_.stages[firing.stage];
    add({{"name", fmt::format("{}, phase {}, frame {}", stage.name, firing.phase, firing.frame)},
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
           {"frames", firing.count}}}});
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

}  // namespace

std::vector<std::string> processors_of(const Trace& trace) {
  std::vector<std::string> processors;
  for (const TraceStage& stage : trace.stages)
    if (std::find(processors.begin(), processors.end(), stage.processor) == processors.end())
      processors.push_back(stage.processor);
  return processors;
}

void write_chrome_trace(const std::filesystem::path& path, const Trace& trace) {
  write_file(path, [&](std::ostream& out) { ChromeTrace(trace, out).write(); });
}

}  // namespace millrace
