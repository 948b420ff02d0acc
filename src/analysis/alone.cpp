#include "analysis/alone.h"

#include <optional>

#include "schedule/execution.h"

namespace millrace::analysis {
namespace {

struct Running {
  schedule::Firing firing;
  Time end;
};

/// The earliest end of the firings that run; nothing: none runs.
std::optional<Time> next_end(const std::vector<std::optional<Running>>& running) {
  std::optional<Time> next;
  for (const auto& each : running)
    if (each && (!next || each->end < *next)) next = each->end;
  return next;
}

}  // namespace

Time latency_alone(const plan::Plan& plan, const plan::PhaseTimes& phase_times) {
  const schedule::Schedule schedule = schedule::compile(plan);
  schedule::Execution execution(schedule);
  std::vector<std::optional<Running>> running(schedule.actors.size());
  const auto begin = [&](std::size_t actor, Time now) {
    if (running[actor]) return;
    if (const auto firing = execution.next(actor))
      running[actor] = Running{*firing, now + phase_times[actor][firing->phase]};
  };
  const auto end = [&](std::size_t actor, Time now) {
    if (!running[actor] || running[actor]->end > now) return;
    execution.end(actor, running[actor]->firing);
    running[actor].reset();
  };
  Time now{};
  execution.submit();
  while (!execution.may_take()) {
    for (std::size_t a = 0; a < running.size(); ++a) begin(a, now);
    const std::optional<Time> next = next_end(running);
    if (!next) break;
    now = *next;
    for (std::size_t a = 0; a < running.size(); ++a) end(a, now);
  }
  return now;
}

}  // namespace millrace::analysis
