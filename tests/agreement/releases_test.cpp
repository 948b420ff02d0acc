// The simulator and the runtime's release thread decide the same of the same frames.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "base/random.h"
#include "runtime/controller/release_loop.h"
#include "simulate/drive.h"
#include "support/random_budgets.h"
#include "support/random_events.h"
#include "support/sample_deployment.h"

namespace millrace {
namespace {

using namespace millrace::test;
using runtime::Clock;
using system::GroupId, system::ScenarioId;

constexpr std::int64_t duration_ms = 4000;

std::int64_t between(Random& random, std::int64_t least, std::int64_t most) {
  const auto count = static_cast<std::uint64_t>(most - least + 1);
  return least + static_cast<std::int64_t>(random.below(count));
}

void add_group(Deployment& deployment, Random& random) {
  const std::size_t index = deployment.system.groups.size();
  const double most = static_cast<double>(between(random, 5, 60));
  system::Group group{.name = fmt::format("g{}", index), .model = {}, .rates = {most / 3, most}};
  if (random.below(2) == 0) group.deadline = ms(between(random, 10, 200));
  const std::string core = random.below(2) == 0 ? "core0" : "core1";
  deployment.system.groups.push_back(std::move(group));
  Assignment assignment{.tasks = {}, .priority = static_cast<std::int64_t>(index)};
  const Time worst = ms(between(random, 2, 60));
  assignment.tasks = {{.name = "stage0",
                       .processor = core,
                       .worst = worst,
                       .average = worst / 2,
                       .best = worst / 8}};
  deployment.assignments.push_back(std::move(assignment));
}

Deployment random_deployment(Random& random) {
  Deployment result;
  for (std::int64_t g = between(random, 1, 4); g > 0; --g) add_group(result, random);
  result.system.name = "random";
  result.system.levels = between(random, 1, 3);
  result.system.overload = static_cast<system::Overload>(random.below(3));
  for (std::int64_t s = between(random, 1, 3); s > 0; --s) {
    system::Scenario scenario{fmt::format("s{}", s), {}};
    for (std::size_t g = 0; g < result.system.groups.size(); ++g)
      if (random.below(3) > 0) scenario.groups.emplace_back(g);
    result.system.scenarios.push_back(std::move(scenario));
  }
  return result;
}

deployment::Script random_steps(const system::System& system, Random& random) {
  deployment::Script script;
  for (std::int64_t at = 0; at < duration_ms; at += between(random, 0, 900))
    script.push_back({ms(at),
                      {ScenarioId(random.below(system.scenarios.size())),
                       between(random, 0, system.levels - 1)}});
  return script;
}

/// Its frames end when they ended in the simulation.
class ReplayedGroup : public runtime::ReleasedGroup {
 public:
  ReplayedGroup(const Time& now, std::size_t group, const Trace& trace) : now_(now) {
    for (const TraceFrame& frame : trace.frames)
      if (frame.plan == group) simulated_.push_back(frame);
    std::ranges::sort(simulated_, {}, &TraceFrame::frame);
  }

  std::int64_t on_the_way() const override {
    return std::ssize(dues_) - ended([](std::size_t) { return true; });
  }
  std::int64_t missed() const override {
    return ended([&](std::size_t f) { return end_of(f) - dues_[f] > deadlines_[f]; });
  }
  void watch() override {}
  void release(const runtime::ReleasedFrame& frame) override {
    dues_.push_back(frame.due.time_since_epoch());
    deadlines_.push_back(frame.deadline);
  }
  void finish() override {}

  /// After now.
  Time next_end() const {
    Time next = Time::max();
    for (std::size_t f = 0; f < dues_.size(); ++f)
      if (end_of(f) > now_) next = std::min(next, end_of(f));
    return next;
  }
  const std::vector<Time>& dues() const { return dues_; }
  std::vector<Time> simulated_dues() const {
    std::vector<Time> dues;
    for (const TraceFrame& frame : simulated_) dues.push_back(frame.released);
    return dues;
  }

 private:
  Time end_of(std::size_t frame) const {
    return frame < simulated_.size() ? simulated_[frame].completed : Time::max();
  }
  template <class Is>
  std::int64_t ended(const Is& is) const {
    std::int64_t count = 0;
    for (std::size_t f = 0; f < dues_.size(); ++f) count += end_of(f) <= now_ && is(f) ? 1 : 0;
    return count;
  }

  const Time& now_;
  std::vector<TraceFrame> simulated_;
  std::vector<Time> dues_, deadlines_;
};

/// The release thread's work, without the thread and without waiting.
class Replay {
 public:
  Replay(const Deployment& deployment, const Trace& trace,
         const schedule::ReleaseOptions& releases)
      : clocks_(deployment, board_, [](const board::Device&, double) { return true; }) {
    runtime::ReleaseLoop::Parts parts{&deployment, {}, clocks_, signals_};
    for (std::size_t g = 0; g < deployment.system.groups.size(); ++g)
      parts.groups.push_back(
          groups.emplace_back(std::make_unique<ReplayedGroup>(now_, g, trace)).get());
    parts.releases = releases;
    loop = std::make_unique<runtime::ReleaseLoop>(parts);
  }

  void run(const deployment::Script& script) {
    loop->begin(script.front().wanted);
    std::size_t step = 1;
    while (now_ < ms(duration_ms)) {
      for (; step < script.size() && script[step].at <= now_; ++step)
        loop->ask(script[step].wanted);
      loop->step(Clock::time_point(now_));
      Time next = loop->next_step().time_since_epoch();
      if (step < script.size()) next = std::min(next, script[step].at);
      for (const auto& group : groups) next = std::min(next, group->next_end());
      now_ = std::max(now_, next);
    }
  }

  std::vector<std::unique_ptr<ReplayedGroup>> groups;
  std::unique_ptr<runtime::ReleaseLoop> loop;

 private:
  Time now_{};
  board::Board board_ = sample_board();
  runtime::ControllerSignals signals_;
  runtime::ClockControl clocks_;
};

void expect_same_decisions(const schedule::FrameCounts& simulated,
                           const schedule::FrameCounts& run) {
  EXPECT_EQ(run.due, simulated.due);
  EXPECT_EQ(run.released, simulated.released);
  EXPECT_EQ(run.skipped, simulated.skipped);
  EXPECT_EQ(run.stretched, simulated.stretched);
  EXPECT_EQ(run.held, simulated.held);
  EXPECT_EQ(run.longest_held, simulated.longest_held);
}

std::vector<runtime::OperationRecord> operations_of(const system::System& system) {
  std::vector<runtime::OperationRecord> operations;
  for (std::size_t s = 0; s < system.scenarios.size(); ++s)
    for (std::int64_t level = 0; level < system.levels; ++level)
      operations.push_back({.at = {ScenarioId(s), level}, .frames = {}});
  return operations;
}

void expect_same(const simulate::Drive& drive, const Replay& replay, const system::System& system) {
  const runtime::TransitionRecord run = replay.loop->transitions();
  EXPECT_EQ(run.wished, drive.transitions.wished);
  EXPECT_EQ(run.replaced, drive.transitions.replaced);
  EXPECT_EQ(run.done, drive.transitions.done);
  EXPECT_EQ(run.level_changes, drive.transitions.level_changes);
  EXPECT_EQ(run.longest, drive.transitions.longest);
  for (std::size_t g = 0; g < drive.groups.size(); ++g) {
    SCOPED_TRACE(drive.groups[g].name);
    EXPECT_EQ(replay.groups[g]->dues(), replay.groups[g]->simulated_dues());
    std::vector<runtime::OperationRecord> operations = operations_of(system);
    replay.loop->add_to(g, operations);
    for (const runtime::OperationRecord& each : operations) {
      const auto& parts = drive.groups[g].parts;
      const auto part = std::ranges::find(parts, each.at, &simulate::DrivePart::at);
      expect_same_decisions(part == parts.end() ? schedule::FrameCounts{} : part->frames,
                            each.frames);
    }
  }
}

struct Seen {
  schedule::FrameCounts frames;
  std::int64_t level_changes = 0, transitions = 0, passed_over = 0;
};

/// What comes: by the period; by events of all kinds; as it was recorded of one group; by events of
/// groups some of which have a budget.
enum class Coming { periodic, events, recorded, budgets };

std::vector<std::vector<Time>> record_of_first_group(Random& random) {
  std::vector<std::vector<Time>> recorded(1);
  for (Time at{}; at < ms(duration_ms); at += ms(between(random, 0, 120)))
    recorded[0].push_back(at);
  return recorded;
}

Seen compare_drives(std::uint64_t seeds, Coming coming) {
  Seen seen;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Deployment deployment = random_deployment(random);
    if (coming == Coming::events || coming == Coming::budgets)
      give_random_events(deployment.system, random);
    if (coming == Coming::budgets) give_random_budgets(deployment, random);
    const deployment::Script script = random_steps(deployment.system, random);
    simulate::DriveOptions options{.script = script,
                                   .duration = ms(duration_ms),
                                   .drawn = true,
                                   .seed = seed,
                                   .traced_frames = 1 << 20};
    if (coming == Coming::recorded) options.recorded = record_of_first_group(random);
    const simulate::Drive drive = simulate::drive(deployment, sample_board(), options);
    Replay replay(deployment, drive.trace, {seed, &options.recorded});
    replay.run(script);
    expect_same(drive, replay, deployment.system);
    EXPECT_EQ(replay.loop->transitions().passed_over, drive.transitions.passed_over);
    if (testing::Test::HasFailure()) return seen;
    for (const simulate::DriveGroup& group : drive.groups) seen.frames += group.frames;
    seen.transitions += drive.transitions.done;
    seen.level_changes += drive.transitions.level_changes;
    seen.passed_over += drive.transitions.passed_over;
  }
  return seen;
}

TEST(releases, are_decided_alike_by_simulator_and_runtime) {
  const Seen seen = compare_drives(300, Coming::periodic);
  // All rules were at work.
  EXPECT_GT(seen.frames.released, 10000);
  EXPECT_GT(seen.frames.skipped, 1000);
  EXPECT_GT(seen.frames.stretched, 100);
  EXPECT_GT(seen.frames.missed, 1000);
  EXPECT_GT(seen.transitions, 500);
  EXPECT_GT(seen.level_changes, 100);
}

TEST(releases, of_all_kinds_of_events_are_decided_alike) {
  const Seen seen = compare_drives(300, Coming::events);
  EXPECT_GT(seen.frames.released, 5000);
  EXPECT_GT(seen.frames.skipped, 500);
  EXPECT_GT(seen.frames.stretched, 50);
  EXPECT_GT(seen.transitions, 300);
}

TEST(releases, of_groups_with_budgets_are_decided_alike) {
  const Seen seen = compare_drives(500, Coming::budgets);
  EXPECT_GT(seen.frames.released, 4000);
  EXPECT_GT(seen.frames.held, 500);
  EXPECT_GT(seen.frames.stretched, 30);
  EXPECT_GT(seen.transitions, 300);
}

TEST(releases, that_were_recorded_are_decided_alike) {
  const Seen seen = compare_drives(200, Coming::recorded);
  EXPECT_GT(seen.frames.released, 5000);
  EXPECT_GT(seen.passed_over, 100);
}

}  // namespace
}  // namespace millrace
