#include "simulate/drive.h"

#include <algorithm>

#include "base/error.h"
#include "deployment/power.h"
#include "deployment/releases.h"
#include "simulate/task_runs.h"

namespace millrace::simulate {
namespace {

using deployment::Deployment, deployment::Wanted;

/// So long nothing is late before the policy lower_rate raises the level again; as the runtime's.
constexpr Time calm = std::chrono::seconds(1);

/// All groups at once, so that tasks have the same ids in all scenarios.
realtime::TaskSystem tasks_of_all(Deployment deployment, const board::Board& board) {
  system::Scenario all{.name = "all", .groups = {}};
  for (std::size_t g = 0; g < deployment.system.groups.size(); ++g) all.groups.emplace_back(g);
  deployment.system.scenarios = {std::move(all)};
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
        beats_(system_.groups.size()),
        busy_(tasks_of_groups()) {
    for (std::size_t g = 0; g < beats_.size(); ++g) {
      beats_[g].most = deployment::most_on_the_way(system_, system::GroupId(g));
      drive_.groups.emplace_back().name = system_.groups[g].name;
    }
    for (const board::Device& device : board.devices)
      if (!device.power.empty()) drive_.devices.push_back({.name = device.name});
    if (options.traced_frames > 0) begin_trace();
  }

  Drive run() {
    wish_ = options_.script.front().wanted;
    step_ = 1;
    enter(wish_);
    while (true) {
      end_frames();
      if (now_ < options_.duration) {
        follow_script();
        if (in_transition_ && on_the_way() == 0) end_transition();
        if (!in_transition_) release_due();
        if (!in_transition_ && system_.overload == system::Overload::lower_rate) follow_overload();
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
  /// One group's releases.
  struct Beat {
    bool active = false, waiting = false;  // waiting: for a frame to end, by the policy stretch
    Time next{}, last{}, period{}, deadline{};
    bool has_last = false;
    std::int64_t most = 1, frames = 0;
    std::vector<OnTheWay> on_the_way = {};
    bool is_busy() const { return static_cast<std::int64_t>(on_the_way.size()) >= most; }
  };

  void begin_trace() {
    for (std::size_t g = 0; g < beats_.size(); ++g) {
      drive_.trace.plans.push_back(tasks_.flows[g].name);
      for (const realtime::TaskId task : tasks_.flows[g].tasks)
        drive_.trace.stages.push_back({g, tasks_[task].name, tasks_[tasks_[task].resource].name});
    }
    runs_.trace_into(drive_.trace, options_.traced_frames);
  }

  /// Those of releases have the ids behind them.
  std::size_t tasks_of_groups() const {
    std::size_t sum = 0;
    for (const deployment::Assignment& assignment : deployment_.assignments)
      sum += assignment.tasks.size();
    return sum;
  }

  /// The group's frames in the present scenario and level.
  DrivePart& part_of(std::size_t group) {
    auto& parts = drive_.groups[group].parts;
    const auto found = std::ranges::find(parts, here_, &DrivePart::at);
    return found != parts.end() ? *found : parts.emplace_back(DrivePart{.at = here_, .frames = {}});
  }

  std::size_t on_the_way() const {
    std::size_t sum = 0;
    for (const Beat& beat : beats_) sum += beat.on_the_way.size();
    return sum;
  }

  void end_frames() {
    for (const FrameDone& done : runs_.end_pieces(now_)) {
      if (done.flow.index >= beats_.size()) continue;  // a release
      Beat& beat = beats_[done.flow.index];
      DriveGroup& group = drive_.groups[done.flow.index];
      const auto frame = std::ranges::find(beat.on_the_way, done.frame, &OnTheWay::frame);
      const Time response = now_ - frame->due;
      DrivePart& part = group.parts[frame->part];
      const bool is_late = response > frame->deadline;
      for (DriveFrames* frames : {&group.frames, &part.frames}) {
        ++frames->done;
        frames->missed += is_late ? 1 : 0;
      }
      overload_ |= is_late;
      part.largest = std::max(part.largest, response);
      group.responses.add(response);
      if (done.frame < options_.traced_frames)
        drive_.trace.frames.push_back({done.flow.index, done.frame, frame->due, frame->due, now_});
      beat.on_the_way.erase(frame);
    }
  }

  void follow_script() {
    for (; step_ < options_.script.size() && options_.script[step_].at <= now_; ++step_) {
      ++drive_.transitions.wished;
      if (in_transition_) ++drive_.transitions.replaced;
      wish_ = options_.script[step_].wanted;
      begin_transition(wish_);
    }
  }

  /// From now on no frame is released, until those on their way are done.
  void begin_transition(const Wanted& to) {
    target_ = to;
    if (!in_transition_) asked_ = now_;
    in_transition_ = true;
  }

  void end_transition() {
    ++drive_.transitions.done;
    drive_.transitions.longest = std::max(drive_.transitions.longest, now_ - asked_);
    in_transition_ = false;
    count_energy();
    enter(target_);
  }

  /// All processors are idle.
  void enter(const Wanted& wanted) {
    drop_waiting();
    here_ = wanted;
    const deployment::Setting* setting = setting_for(deployment_, here_.scenario, here_.level);
    clocks_ = setting ? setting->clocks : deployment::Clocks{};
    std::vector<double> slowdowns;
    for (const board::Processor& processor : board_.processors) {
      const board::Device* device = device_of(board_, processor);
      slowdowns.push_back(device ? deployment::slowdown(*device, clocks_) : 1);
    }
    runs_.set_slowdowns(std::move(slowdowns));
    for (Beat& beat : beats_) beat.active = false;
    for (const system::GroupId group : system_[here_.scenario].groups) {
      Beat& beat = beats_[group.index];
      beat.active = true;
      beat.period = period_of(system_, group, here_.level);
      beat.deadline = deadline_of(system_, group, here_.level) - system_.overhead;
      // A group that was active before keeps its distance between two frames.
      beat.next = beat.has_last ? std::max(now_, beat.last + beat.period) : now_;
    }
    calm_since_ = now_;
  }

  /// Frames that were due and would have come later.
  void drop_waiting() {
    for (std::size_t g = 0; g < beats_.size(); ++g) {
      if (beats_[g].waiting) count(g, &DriveFrames::skipped);
      beats_[g].waiting = false;
    }
  }

  void count(std::size_t group, std::int64_t DriveFrames::*what) {
    ++(drive_.groups[group].frames.*what);
    ++(part_of(group).frames.*what);
  }

  void release_due() {
    for (const system::GroupId group : system_[here_.scenario].groups) release_due(group.index);
  }

  void release_due(std::size_t group) {
    Beat& beat = beats_[group];
    if (beat.waiting && !beat.is_busy()) {
      beat.waiting = false;
      count(group, &DriveFrames::stretched);
      release(group, beat.next);
      beat.last = now_;
      beat.next = now_ + beat.period;
    }
    while (!beat.waiting && beat.next <= now_) {
      count(group, &DriveFrames::due);
      if (!beat.is_busy()) {
        release(group, beat.next);
        beat.next += beat.period;
      } else if (system_.overload == system::Overload::stretch) {
        beat.waiting = true;
      } else {
        overload_ = true;
        count(group, &DriveFrames::skipped);
        beat.next += beat.period;
      }
    }
  }

  void release(std::size_t group, Time due) {
    Beat& beat = beats_[group];
    count(group, &DriveFrames::released);
    const auto part = static_cast<std::size_t>(&part_of(group) - drive_.groups[group].parts.data());
    beat.last = due;
    beat.has_last = true;
    beat.on_the_way.push_back({beat.frames, due, beat.deadline, part});
    runs_.activate(realtime::FlowId(group), beat.frames, now_);
    // On every core, since the release thread may be on any.
    if (const realtime::FlowId release(beats_.size() + group); release.index < tasks_.flows.size())
      runs_.activate(release, beat.frames, now_);
    ++beat.frames;
  }

  /// Down at once, up after a while.
  void follow_overload() {
    const bool late = std::exchange(overload_, false);
    if (late) calm_since_ = now_;
    Wanted next = here_;
    if (late && here_.level > 0)
      --next.level;
    else if (!late && here_.level < wish_.level && now_ - calm_since_ >= calm)
      ++next.level;
    if (next == here_) return;
    ++drive_.transitions.level_changes;
    begin_transition(next);
  }

  Time next_event() const {
    Time next = runs_.next(), release = Time::max();
    if (step_ < options_.script.size()) release = options_.script[step_].at;
    for (const Beat& beat : beats_)
      if (beat.active && !beat.waiting && !in_transition_) release = std::min(release, beat.next);
    if (in_transition_ && on_the_way() == 0) release = now_;
    // What would be due later than the drive lasts does not come.
    if (release < options_.duration) next = std::min(next, release);
    return next;
  }

  /// Of the time since it was last counted, in which the clocks were the same.
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
  std::vector<Beat> beats_;
  std::vector<Time> busy_;  // by TaskId
  deployment::Clocks clocks_;
  Wanted wish_, here_, target_;
  bool in_transition_ = false, overload_ = false;
  std::size_t step_ = 0;  // of the script: the next one
  Time now_{}, asked_{}, calm_since_{}, counted_{};
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
