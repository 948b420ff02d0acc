#include "simulate/drive.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "analysis/schedulability.h"
#include "base/random.h"
#include "support/message_of.h"
#include "support/random_events.h"
#include "support/releasing_deployment.h"

namespace millrace::simulate {
namespace {

using namespace millrace::test;
using deployment::Wanted;
using system::GroupId, system::ScenarioId;

deployment::ScriptStep step(std::int64_t at, std::size_t scenario, std::int64_t level) {
  return {ms(at), {ScenarioId(scenario), level}};
}

Drive drive_of(const Deployment& deployment, const DriveOptions& options) {
  return drive(deployment, sample_board(), options);
}

/// Group a alone, so many times a second.
Deployment lone_group(double least_fps, double most_fps) {
  Deployment deployment = sample_deployment(sample_network());
  deployment.system.groups[0].rates = {least_fps, most_fps};
  deployment.settings.clear();
  return deployment;
}

TEST(drive, releases_each_frame_in_its_time) {
  const Drive found = drive_of(sample_deployment(sample_network()),
                               {.script = {step(0, 0, 1), step(1000, 1, 1)}, .duration = ms(2000)});
  const schedule::FrameCounts& a = found.groups[0].frames;
  EXPECT_EQ(a.due, 20);
  EXPECT_EQ(a.done, 20);
  EXPECT_EQ(a.missed + a.skipped, 0);
  EXPECT_EQ(found.groups[0].parts[0].largest, ms(3 + 10 + 5));
  EXPECT_EQ(found.groups[1].frames.done, 20);
  EXPECT_EQ(found.transitions.done, 1);
  EXPECT_EQ(found.transitions.longest, Time{});  // nothing was on its way
}

TEST(drive, waits_at_a_transition_for_frames_on_their_way) {
  const Drive found =
      drive_of(sample_deployment(sample_network()),
               {.script = {step(0, 0, 1), step(5, 1, 1), step(7, 0, 1)}, .duration = ms(100)});
  EXPECT_EQ(found.transitions.wished, 2);
  EXPECT_EQ(found.transitions.replaced, 1);
  EXPECT_EQ(found.transitions.done, 1);
  EXPECT_EQ(found.transitions.longest, ms(18 - 5));
  EXPECT_EQ(found.groups[0].frames.done, 1);  // the next one, a period later, is not due any more
}

TEST(drive, has_the_clocks_of_the_setting) {
  const Drive found = drive_of(sample_deployment(sample_network()),
                               {.script = {step(0, 0, 0)}, .duration = ms(1000)});
  EXPECT_EQ(found.groups[0].responses.maximum(), ms(36));
  EXPECT_EQ(found.processors[0].name, "core0");
  EXPECT_EQ(found.processors[0].busy, 5 * ms(20));
}

TEST(drive, skips_frames_that_find_their_group_busy) {
  const Drive found =
      drive_of(lone_group(100, 100), {.script = {step(0, 0, 0)}, .duration = ms(1000)});
  const schedule::FrameCounts& a = found.groups[0].frames;
  EXPECT_EQ(a.due, 100);
  EXPECT_EQ(a.released, 50);
  EXPECT_EQ(a.skipped, 50);
  EXPECT_EQ(a.missed, 50);
}

TEST(drive, keeps_frames_in_the_pipeline_that_the_deadline_allows) {
  Deployment deployment = lone_group(50, 50);  // each 20 ms
  for (deployment::Task& task : deployment.assignments[0].tasks) task.kernels.clear();
  deployment.assignments[0].tasks[2].worst = ms(15);
  deployment.system.groups[0].deadline = ms(40);
  const Drive found = drive_of(deployment, {.script = {step(0, 0, 0)}, .duration = ms(1000)});
  EXPECT_EQ(found.groups[0].frames.done, 50);
  EXPECT_EQ(found.groups[0].frames.missed, 0);
  EXPECT_EQ(found.groups[0].responses.maximum(), ms(28));
}

TEST(drive, stretches_the_period_if_told) {
  Deployment deployment = lone_group(100, 100);
  deployment.system.overload = system::Overload::stretch;
  const Drive found = drive_of(deployment, {.script = {step(0, 0, 0)}, .duration = ms(1000)});
  const schedule::FrameCounts& a = found.groups[0].frames;
  EXPECT_EQ(a.released, 56);  // one each 18 ms
  EXPECT_EQ(a.stretched, 55);
  EXPECT_EQ(a.missed, a.done);
  EXPECT_EQ(found.groups[0].responses.minimum(), ms(18));
  EXPECT_EQ(found.groups[0].responses.maximum(), ms(26));  // with the 8 that it waited
  EXPECT_EQ(a.due, a.released + a.skipped);
}

TEST(drive, lowers_the_rate_if_told_and_raises_it_after_a_while) {
  Deployment deployment = lone_group(25, 100);
  deployment.system.overload = system::Overload::lower_rate;
  const Drive found = drive_of(deployment, {.script = {step(0, 0, 1)}, .duration = ms(1500)});
  EXPECT_EQ(found.transitions.level_changes, 3);  // down, up after a second, down
  ASSERT_EQ(found.groups[0].parts.size(), 2u);
  EXPECT_EQ(found.groups[0].parts[1].at, (Wanted{ScenarioId(0), 0}));
  EXPECT_EQ(found.groups[0].parts[1].frames.missed, 0);
  EXPECT_GT(found.groups[0].parts[1].frames.done, 30);
}

TEST(drive, counts_energy_by_device_and_clock) {
  const Drive found = drive_of(sample_deployment(sample_network()),
                               {.script = {step(0, 0, 0)}, .duration = ms(1000)});
  const double elapsed = seconds(found.elapsed);
  ASSERT_EQ(found.devices.size(), 2u);
  EXPECT_NEAR(found.devices[0].still_mj, 2 * 50 * elapsed, 1e-9);
  EXPECT_NEAR(found.devices[0].busy_mj, 5 * 0.026 * 200, 1e-9);
  EXPECT_NEAR(found.devices[1].busy_mj, 5 * 0.010 * 875, 1e-9);
}

TEST(drive, draws_times_from_its_seed) {
  DriveOptions options{.script = {step(0, 1, 1)}, .duration = ms(2000), .drawn = true};
  const Deployment deployment = sample_deployment(sample_network());
  const Drive first = drive_of(deployment, options), again = drive_of(deployment, options);
  EXPECT_EQ(first.groups[1].responses.mean(), again.groups[1].responses.mean());
  options.seed = 2;
  EXPECT_NE(first.groups[1].responses.mean(),
            drive_of(deployment, options).groups[1].responses.mean());
  EXPECT_GE(first.groups[0].responses.minimum(), ms(1 + 8 + 4));
}

TEST(drive, has_a_trace_of_the_first_frames) {
  const Drive found =
      drive_of(sample_deployment(sample_network()),
               {.script = {step(0, 1, 1)}, .duration = ms(1000), .traced_frames = 2});
  EXPECT_EQ(found.trace.plans, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(found.trace.frames.size(), 4u);
  EXPECT_EQ(found.trace.stages[2].name, "a.stage1");
  EXPECT_GE(found.trace.firings.size(), 12u);
}

/// Both groups' first frames are due at once: two releases, and then those of the next frames.
TEST(drive, has_the_cost_of_releases_and_no_group_nor_energy_of_theirs) {
  const Deployment with = releasing_deployment(ms(1)), without = releasing_deployment({});
  const DriveOptions options{.script = {step(0, 0, 0)}, .duration = ms(1000), .traced_frames = 50};
  const Drive found = drive_of(with, options), plain = drive_of(without, options);
  EXPECT_EQ(plain.groups[1].responses.maximum(), ms(40));
  EXPECT_EQ(found.groups[0].responses.maximum(), ms(5 + 1 + 1));
  EXPECT_EQ(found.groups[1].responses.maximum(), ms(49));
  ASSERT_EQ(found.groups.size(), 2u);
  EXPECT_EQ(found.groups[1].frames.done, 10);
  EXPECT_EQ(found.processors[0].busy, plain.processors[0].busy);
  EXPECT_EQ(found.devices[0].busy_mj, plain.devices[0].busy_mj);
  EXPECT_EQ(found.trace.plans, (std::vector<std::string>{"high", "low"}));
  for (const TraceFiring& firing : found.trace.firings)
    EXPECT_LT(firing.stage, found.trace.stages.size());
}

TEST(drive, of_an_empty_script_is_refused) {
  const Deployment deployment = sample_deployment(sample_network());
  EXPECT_THROW(drive_of(deployment, {}), InputError);
}

Time some(Random& random, std::int64_t most_us) {
  return std::chrono::microseconds(1 + random.below(static_cast<std::uint64_t>(most_us)));
}

/// A chain over the sample board.
Assignment random_assignment(Random& random) {
  Assignment assignment;
  assignment.priority = static_cast<std::int64_t>(random.below(3));
  for (std::size_t t = 0; t < 1 + random.below(4); ++t) {
    const bool is_gpu = random.below(2) == 0;
    deployment::Task task{.name = fmt::format("t{}", t),
                          .processor = is_gpu            ? "gpu0"
                                       : random.below(2) ? "core0"
                                                         : "core1"};
    for (std::size_t k = 0; is_gpu && k < random.below(4); ++k)
      task.worst += task.kernels.emplace_back(some(random, 2000));
    if (task.kernels.empty()) task.worst = some(random, 6000);
    task.average = task.best = task.worst * static_cast<std::int64_t>(random.below(101)) / 100;
    if (t > 0) task.after = {t - 1};
    assignment.tasks.push_back(std::move(task));
  }
  return assignment;
}

/// Up to four groups; each scenario has some of them.
Deployment random_deployment(Random& random) {
  Deployment result;
  system::System& system = result.system;
  system.levels = 1 + static_cast<std::int64_t>(random.below(3));
  for (std::size_t g = 0; g < 1 + random.below(4); ++g) {
    system::Group group{.name = fmt::format("g{}", g), .model = {}, .rates = {}};
    group.rates.most_fps = 5 + 40 * random.unit();
    group.rates.least_fps = group.rates.most_fps * (0.2 + 0.8 * random.unit());
    if (random.below(3) == 0) group.deadline = ms(20 + static_cast<int>(random.below(200)));
    system.groups.push_back(group);
    result.assignments.push_back(random_assignment(random));
  }
  for (std::size_t s = 0; s < 1 + random.below(3); ++s) {
    system::Scenario scenario{.name = fmt::format("s{}", s), .groups = {}};
    for (std::size_t g = 0; g < system.groups.size(); ++g)
      if (random.below(4) > 0) scenario.groups.emplace_back(g);
    system.scenarios.push_back(std::move(scenario));
  }
  return result;
}

/// Bound of the group where the part is; nothing if a deadline may be missed there.
std::optional<Time> bound_of_part(const std::vector<analysis::DeadlineAnswers>& answers,
                                  const std::string& group, const DrivePart& part) {
  for (const analysis::DeadlineAnswers& one : answers) {
    if (one.operation.scenario != part.at.scenario || one.operation.level != part.at.level)
      continue;
    for (std::size_t f = 0; f < one.tasks.flows.size(); ++f)
      if (one.is_schedulable() && one.tasks.flows[f].name == group)
        return one.answers.bounds.flows[f].response;
  }
  return std::nullopt;
}

/// How many parts of it have a bound.
int compare_with_bounds(const Drive& found, const std::vector<analysis::DeadlineAnswers>& answers) {
  int compared = 0;
  for (const DriveGroup& group : found.groups) {
    EXPECT_EQ(group.frames.released, group.frames.done);
    for (const DrivePart& part : group.parts) {
      const auto bound = bound_of_part(answers, group.name, part);
      if (!bound) continue;
      EXPECT_LE(part.largest, *bound);
      EXPECT_EQ(part.frames.missed + part.frames.skipped, 0);
      ++compared;
    }
  }
  return compared;
}

/// If all deadlines hold everywhere, how long frames may be on their way; else nothing.
std::optional<Time> longest_bound(const std::vector<analysis::DeadlineAnswers>& answers) {
  Time longest{};
  for (const analysis::DeadlineAnswers& one : answers) {
    if (!one.is_schedulable()) return std::nullopt;
    for (const realtime::FlowBound& bound : one.answers.bounds.flows)
      longest = std::max(longest, bound.response);
  }
  return longest;
}

/// How many parts of random drives have a bound.
int compare_random_drives(std::uint64_t seed, int drives, bool with_events) {
  Random random(seed);
  int compared = 0;
  for (int n = 0; n < drives; ++n) {
    Deployment deployment = random_deployment(random);
    if (with_events) give_random_events(deployment.system, random);
    if (n % 3 == 0) deployment.system.release_cost = some(random, 500);
    const auto answers = analysis::check_deadlines(deployment, sample_board(), {{}, {}, {1, 0}});
    DriveOptions options{.script = {}, .duration = ms(5000), .drawn = n % 2 == 0, .seed = random()};
    options.script = deployment::random_script(deployment.system, {options.duration, 30, random()});
    const Drive found = drive_of(deployment, options);
    compared += compare_with_bounds(found, answers);
    EXPECT_LE(found.transitions.longest, longest_bound(answers).value_or(Time::max()));
    if (testing::Test::HasFailure()) {
      ADD_FAILURE() << "in system " << n;
      return compared;
    }
  }
  return compared;
}

TEST(drive, never_exceeds_the_bounds_of_a_schedulable_scenario) {
  EXPECT_GT(compare_random_drives(11, 150, false), 200);
}

TEST(drive, never_exceeds_them_with_jitter_offsets_bursts_and_sporadic_groups) {
  EXPECT_GT(compare_random_drives(12, 400, true), 300);
}

TEST(drive, has_the_arrivals_that_were_recorded) {
  DriveOptions options{.script = {step(0, 1, 1)}, .duration = ms(400), .traced_frames = 100};
  options.recorded = {{ms(5), ms(115), ms(290), ms(500)}, {}};
  const Drive found = drive_of(sample_deployment(sample_network()), options);
  std::vector<Time> released;
  for (const TraceFrame& frame : found.trace.frames)
    if (frame.plan == 0) released.push_back(frame.released);
  EXPECT_EQ(released, (std::vector{ms(5), ms(115), ms(290)}));
  EXPECT_EQ(found.groups[1].frames.due, 8);  // as the system says
}

}  // namespace
}  // namespace millrace::simulate
