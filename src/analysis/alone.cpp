#include "analysis/alone.h"

#include <algorithm>
#include <optional>

namespace millrace::analysis {
namespace {

struct Task {
  std::size_t stage, phase;
  std::int64_t lag;
  Time time;
  std::size_t inputs = 0;  // that are not there yet
  bool gives_result = false;
  std::vector<std::size_t> readers = {};
};

class Frame {
 public:
  Frame(const plan::Plan& plan, const std::vector<std::vector<Time>>& phase_times)
      : running_(plan.stages.size()) {
    std::vector<std::size_t> first;  // by stage: its first task
    for (std::size_t s = 0; s < plan.stages.size(); ++s) {
      first.push_back(tasks_.size());
      const auto& phases = plan.stages[s].phases;
      for (std::size_t p = 0; p < phases.size(); ++p)
        tasks_.push_back({s, p, phases[p].lag, phase_times[s][p]});
    }
    const auto is_busy = [&](const plan::Endpoint& end) {
      return end.is_outside() || plan.stages[end.stage].turn.index == 0;
    };
    for (const plan::Channel& channel : plan.channels) {
      if (channel.from.is_outside()) continue;
      if (!is_busy(channel.from) || !is_busy(channel.to)) continue;
      Task& writer = tasks_[first[channel.from.stage] + channel.from.phase];
      if (channel.to.is_outside()) {
        writer.gives_result = true;
        continue;
      }
      writer.readers.push_back(first[channel.to.stage] + channel.to.phase);
      ++tasks_[writer.readers.back()].inputs;
    }
    for (std::size_t t = 0; t < tasks_.size(); ++t)
      if (is_busy({tasks_[t].stage, tasks_[t].phase})) waiting_.push_back(t);
    std::stable_sort(waiting_.begin(), waiting_.end(),
                     [&](std::size_t a, std::size_t b) { return tasks_[a].lag < tasks_[b].lag; });
  }

  Time run() {
    Time now{};
    for (start(now); is_running(); start(now)) {
      now = next_end();
      for (auto& each : running_)
        if (each && each->end == now) end(each);
    }
    return result_;
  }

 private:
  struct Running {
    std::size_t task;
    Time end;
  };

  /// On every stage that is idle, the next of its phases if its inputs are there.
  void start(Time now) {
    std::vector<bool> taken(running_.size(), false);
    std::erase_if(waiting_, [&](std::size_t t) {
      const Task& task = tasks_[t];
      auto& stage = running_[task.stage];
      if (taken[task.stage] || stage) return false;
      taken[task.stage] = true;  // no later phase overtakes it
      if (task.inputs > 0) return false;
      stage = Running{t, now + task.time};
      return true;
    });
  }

  void end(std::optional<Running>& running) {
    const Task& task = tasks_[running->task];
    if (task.gives_result) result_ = running->end;
    for (const std::size_t reader : task.readers) --tasks_[reader].inputs;
    running.reset();
  }

  bool is_running() const {
    return std::any_of(running_.begin(), running_.end(), [](const auto& each) { return !!each; });
  }

  Time next_end() const {
    Time next = Time::max();
    for (const auto& each : running_)
      if (each) next = std::min(next, each->end);
    return next;
  }

  std::vector<Task> tasks_;
  std::vector<std::size_t> waiting_;             // in the order of the plan's graph
  std::vector<std::optional<Running>> running_;  // by stage
  Time result_{};                                // when the last one so far was there
};

}  // namespace

Time latency_alone(const plan::Plan& plan, const std::vector<std::vector<Time>>& phase_times) {
  return Frame(plan, phase_times).run();
}

}  // namespace millrace::analysis
