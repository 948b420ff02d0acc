#include "simulate/drive.h"

#include <algorithm>

#include "base/error.h"
#include "deployment/power.h"
#include "deployment/releases.h"
#include "schedule/release_machine.h"
#include "simulate/task_runs.h"

namespace millrace::simulate {
namespace {

using deployment::Deployment, schedule::Decision, schedule::FrameCounts;

/// All groups at once, so that tasks have the same ids in all scenarios.
realtime::TaskSystem tasks_of_all(Deployment deployment, const board::Board& board) {
  system::Scenario all{.name = "all", .groups = {}};
  for (std::size_t g = 0; g < deployment.system.groups.size(); ++g) all.groups.emplace_back(g);
  deployment.system.scenarios = {std::move(all)};
  // Frames take no more than their worst times; the machine holds back those beyond a budget.
  for (system::Group& group : deployment.system.groups) group.budget.reset();
  return task_system(deployment, board, {system::ScenarioId(0), deployment.system.levels - 1});
}

class DriveRun {
 public:
  DriveRun(const Deployment& deployment, const board::Board& board, const DriveOptions& options)
      : deployment_(deployment),
        system_(deployment.system),
        board_(board),
        options_(options),
        tasks_(tasks_of_all(deployment, board)),
        runs_(tasks_, options.drawn, options.seed),
        machine_(deployment, {options.seed, &options.recorded}),
        groups_(system_.groups.size()),
        busy_(tasks_of_groups()) {
    for (const system::Group& group : system_.groups)
      drive_.groups.emplace_back().name = group.name;
    for (const board::Device& device : board.devices)
      if (!device.power.empty()) drive_.devices.push_back({.name = device.name});
    if (options.traced_frames > 0) begin_trace();
  }

  Drive run() {
    machine_.begin(options_.script.front().wanted);
    step_ = 1;
    while (true) {
      end_frames();
      if (now_ < options_.duration) {
        follow_script();
        while (const auto decision = machine_.decide(now_)) follow(*decision);
      }
      runs_.dispatch(now_);
      const Time next = next_event();
      if (next == Time::max()) break;
      now_ = next;
    }
    now_ = std::max(now_, options_.duration);
    count_energy();
    return result();
  }

 private:
  struct OnTheWay {
    std::int64_t frame = 0;
    Time due{}, deadline{};
    std::size_t part = 0;
  };
  struct Group {
    std::int64_t frames = 0;
    std::vector<OnTheWay> on_the_way = {};
  };

  void begin_trace() {
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      drive_.trace.plans.push_back(tasks_.flows[g].name);
      for (const realtime::TaskId task : tasks_.flows[g].tasks)
        drive_.trace.stages.push_back({g, tasks_[task].name, tasks_[tasks_[task].resource].name});
    }
    runs_.trace_into(drive_.trace, options_.traced_frames);
  }

  /// Number of the groups' tasks; tasks of releases have the ids behind them.
  std::size_t tasks_of_groups() const {
    std::size_t sum = 0;
    for (const deployment::Assignment& assignment : deployment_.assignments)
      sum += assignment.tasks.size();
    return sum;
  }

  /// The group's frames in this scenario and level.
  DrivePart& part_of(std::size_t group, const deployment::Wanted& at) {
    auto& parts = drive_.groups[group].parts;
    const auto found = std::ranges::find(parts, at, &DrivePart::at);
    return found != parts.end() ? *found : parts.emplace_back(DrivePart{.at = at, .frames = {}});
  }

  void end_frames() {
    for (const FrameDone& done : runs_.end_pieces(now_)) {
      if (done.flow.index >= groups_.size()) continue;  // a release
      Group& runs = groups_[done.flow.index];
      DriveGroup& group = drive_.groups[done.flow.index];
      const auto frame = std::ranges::find(runs.on_the_way, done.frame, &OnTheWay::frame);
      const Time response = now_ - frame->due;
      DrivePart& part = group.parts[frame->part];
      const bool is_late = response > frame->deadline;
      for (FrameCounts* frames : {&group.frames, &part.frames}) {
        ++frames->done;
        frames->missed += is_late ? 1 : 0;
      }
      machine_.end_frames(system::GroupId(done.flow.index), 1, is_late ? 1 : 0);
      part.largest = std::max(part.largest, response);
      group.responses.add(response);
      if (done.frame < options_.traced_frames)
        drive_.trace.frames.push_back({done.flow.index, done.frame, frame->due, frame->due, now_});
      runs.on_the_way.erase(frame);
    }
  }

  void follow_script() {
    for (; step_ < options_.script.size() && options_.script[step_].at <= now_; ++step_)
      machine_.wish(options_.script[step_].wanted, now_, now_);
  }

  void follow(const Decision& decision) {
    if (decision.kind == Decision::Kind::enter) return enter(decision.at);
    DriveGroup& group = drive_.groups[decision.group.index];
    DrivePart& part = part_of(decision.group.index, decision.at);
    for (FrameCounts* frames : {&group.frames, &part.frames}) frames->count(decision);
    if (decision.is_release())
      release(decision, static_cast<std::size_t>(&part - group.parts.data()));
  }

  /// All processors are idle.
  void enter(const deployment::Wanted& at) {
    count_energy();
    const deployment::Setting* setting = setting_for(deployment_, at.scenario, at.level);
    clocks_ = setting ? setting->clocks : deployment::Clocks{};
    std::vector<double> slowdowns;
    for (const board::Processor& processor : board_.processors) {
      const board::Device* device = device_of(board_, processor);
      slowdowns.push_back(device ? deployment::slowdown(*device, clocks_) : 1);
    }
    runs_.set_slowdowns(std::move(slowdowns));
  }

  void release(const Decision& decision, std::size_t part) {
    const std::size_t index = decision.group.index;
    Group& group = groups_[index];
    group.on_the_way.push_back(
        {group.frames, decision.due, decision.deadline - system_.overhead, part});
    runs_.activate(realtime::FlowId(index), group.frames, now_);
    // On every core, since the release thread may be on any.
    if (const realtime::FlowId release(groups_.size() + index); release.index < tasks_.flows.size())
      runs_.activate(release, group.frames, now_);
    ++group.frames;
  }

  Time next_event() const {
    // What waits for the end of another frame may have been ready before.
    Time next = runs_.next(), release = std::max(now_, machine_.next_due());
    if (step_ < options_.script.size()) release = std::min(release, options_.script[step_].at);
    // What would be due later than the drive lasts does not come.
    if (release < options_.duration) next = std::min(next, release);
    return next;
  }

  /// Counts the energy since the last count, in which time the clocks were the same.
  void count_energy() {
    std::vector<Time> busy = runs_.take_busy();
    busy.resize(tasks_of_groups());
    const Time passed = now_ - counted_;
    counted_ = now_;
    for (DriveDevice& counted : drive_.devices) {
      const board::Device& device =
          *std::ranges::find(board_.devices, counted.name, &board::Device::name);
      const std::vector<board::Processor> processors = processors_of(device);
      counted.still_mj += deployment::still_mw(device, clocks_) * seconds(passed) *
                          static_cast<double>(processors.size());
      for (std::size_t t = 0; t < busy.size(); ++t)
        if (std::ranges::find(processors, tasks_[tasks_.tasks[t].resource].name,
                              &board::Processor::name) != processors.end())
          counted.busy_mj += deployment::busy_mw(device, clocks_, task_of(t)) * seconds(busy[t]);
    }
    for (std::size_t t = 0; t < busy.size(); ++t) busy_[t] += busy[t];
  }

  const deployment::Task& task_of(std::size_t task) const {
    for (const deployment::Assignment& assignment : deployment_.assignments) {
      if (task < assignment.tasks.size()) return assignment.tasks[task];
      task -= assignment.tasks.size();
    }
    throw InputError(deployment_.system.file, "has no such task");
  }

  Drive result() {
    drive_.elapsed = now_;
    drive_.transitions = machine_.transitions();
    const std::size_t stages = drive_.trace.stages.size();
    std::erase_if(drive_.trace.firings, [&](const auto& each) { return each.stage >= stages; });
    for (std::size_t r = 0; r < tasks_.resources.size(); ++r) {
      DriveProcessor processor{.name = tasks_.resources[r].name};
      bool is_used = false;
      for (std::size_t t = 0; t < busy_.size(); ++t) {
        if (tasks_.tasks[t].resource != realtime::ResourceId(r)) continue;
        is_used = true;
        processor.busy += busy_[t];
      }
      if (is_used) drive_.processors.push_back(std::move(processor));
    }
    return std::move(drive_);
  }

  const Deployment& deployment_;
  const system::System& system_;
  const board::Board& board_;
  const DriveOptions& options_;
  const realtime::TaskSystem tasks_;  // FlowIds are GroupIds; behind them, releases as groups
  TaskRuns runs_;
  schedule::ReleaseMachine machine_;
  std::vector<Group> groups_;
  std::vector<Time> busy_;  // by TaskId
  deployment::Clocks clocks_;
  std::size_t step_ = 0;  // of the script: the next one
  Time now_{}, counted_{};
  Drive drive_;
};

}  // namespace

Drive drive(const deployment::Deployment& deployment, const board::Board& board,
            const DriveOptions& options) {
  if (options.script.empty()) throw InputError("the script", "has no steps, expected one at least");
  return DriveRun(deployment, board, options).run();
}

bool SimulatedDrive::has_misses() const {
  return std::ranges::any_of(drive.groups,
                             [](const DriveGroup& group) { return group.frames.missed > 0; });
}

}  // namespace millrace::simulate
