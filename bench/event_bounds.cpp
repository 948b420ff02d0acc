// Groups whose frames come late, in bursts, after an offset, sporadically or at any time, some with
// a budget, and read each other: bounds beside simulated drives, also while groups with a budget
// come much too often; and how many small systems are accepted beside an enumeration of what their
// events allow. To be read by people: event_bounds [SYSTEMS [SEED [SMALL_SYSTEMS]]];
// docs/methods/events.md.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <vector>

#include "analysis/schedulability.h"
#include "base/random.h"
#include "realtime/analysis.h"
#include "realtime/simulate.h"
#include "realtime/utilisation.h"
#include "simulate/drive.h"
#include "support/random_budgets.h"
#include "support/random_events.h"
#include "support/sample_deployment.h"

namespace millrace {
namespace {

using namespace test;
using system::GroupId, system::ScenarioId;

constexpr Time drive_length = std::chrono::seconds(2);

struct Found {
  std::int64_t systems = 0, schedulable = 0, groups = 0, chains = 0, frames = 0;
  std::int64_t budgets = 0, held = 0;  // groups that have one, and frames that waited for it
  std::int64_t too_often = 0;          // drives in which groups with a budget came too often
  std::int64_t below = 0;              // bounds below what was simulated
  std::vector<double> ratios;   // the largest response as a share of its bound
  std::vector<double> of_ages;  // the same of data ages
};

Time some(Random& random, std::int64_t most_us) {
  return std::chrono::microseconds(1 + random.below(static_cast<std::uint64_t>(most_us)));
}

/// Often at once.
Time some_or_none(Random& random) {
  return random.below(2) == 0 ? Time{} : some(random, 20'000);
}

deployment::Task random_task(Random& random, std::size_t index) {
  constexpr std::array processors{"core0", "core1", "gpu0"};
  deployment::Task task{.name = fmt::format("t{}", index),
                        .processor = processors[random.below(processors.size())]};
  const bool is_gpu = task.processor == "gpu0";
  for (std::size_t k = 0; is_gpu && k < random.below(4); ++k)
    task.worst += task.kernels.emplace_back(some(random, 2000));
  if (task.kernels.empty()) task.worst = some(random, 5000);
  task.average = task.best = share_of(random, task.worst);
  if (index > 0) task.after = {index - 1};
  return task;
}

/// Two to four groups, each of which reads the one before it in a random order.
Deployment random_deployment(Random& random) {
  Deployment result;
  system::System& system = result.system;
  system::Scenario& all = system.scenarios.emplace_back(system::Scenario{"all", {}});
  for (std::size_t g = 0; g < 2 + random.below(3); ++g) {
    system::Group group{.name = fmt::format("g{}", g), .model = {}, .rates = {}};
    group.rates.most_fps = group.rates.least_fps = 5 + 40 * random.unit();
    if (random.below(2) == 0) group.deadline = ms(20 + static_cast<int>(random.below(200)));
    system.groups.push_back(group);
    all.groups.emplace_back(g);
    Assignment assignment{.tasks = {}, .priority = static_cast<std::int64_t>(random.below(4))};
    for (std::size_t t = 0; t < 1 + random.below(4); ++t)
      assignment.tasks.push_back(random_task(random, t));
    result.assignments.push_back(std::move(assignment));
  }
  give_random_events(system, random);
  give_random_budgets(result, random);
  system::Chain& chain = system.chains.emplace_back(system::Chain{"chain", all.groups});
  for (std::size_t g = chain.groups.size(); g > 1; --g)
    std::swap(chain.groups[g - 1], chain.groups[random.below(g)]);
  return result;
}

struct Job {
  Time came{}, begin = Time::max(), end{};
  std::int64_t origin = -1;  // the frame of the chain's first group whose value it uses; -1: none
};

std::vector<Job> jobs_of(const Trace& trace, std::size_t group) {
  std::map<std::int64_t, Job> jobs;
  for (const TraceFrame& frame : trace.frames)
    if (frame.plan == group) jobs[frame.frame] = {frame.released, Time::max(), frame.completed};
  for (const TraceFiring& firing : trace.firings)
    if (const auto job = jobs.find(firing.frame);
        trace.stages[firing.stage].plan == group && job != jobs.end())
      job->second.begin = std::min(job->second.begin, firing.begin);
  std::vector<Job> result;
  for (const auto& [number, job] : jobs) result.push_back(job);
  return result;
}

struct ChainSeen {
  Time age{}, reaction{};
};

/// A frame reads when it begins, and writes when it ends.
void read_newest(const std::vector<Job>& writers, std::vector<Job>& readers) {
  for (Job& reader : readers)
    for (const Job& writer : writers)
      if (writer.end <= reader.begin) reader.origin = std::max(reader.origin, writer.origin);
}

/// Reactions are counted as long as all groups come.
ChainSeen seen_in(const Trace& trace, const system::Chain& chain) {
  std::vector<Job> before = jobs_of(trace, chain.groups.front().index);
  for (std::size_t j = 0; j < before.size(); ++j) before[j].origin = static_cast<std::int64_t>(j);
  const std::vector<Job> first = before;
  Time horizon = first.empty() ? Time{} : first.back().came;
  for (std::size_t c = 1; c < chain.groups.size(); ++c) {
    std::vector<Job> jobs = jobs_of(trace, chain.groups[c].index);
    horizon = std::min(horizon, jobs.empty() ? Time{} : jobs.back().came);
    read_newest(before, jobs);
    before = std::move(jobs);
  }
  std::ranges::sort(before, {}, &Job::end);
  ChainSeen seen;
  std::int64_t known = -1;
  for (const Job& job : before) {
    if (job.origin < 0 || job.begin > horizon) continue;
    seen.age = std::max(seen.age, job.end - first[static_cast<std::size_t>(job.origin)].came);
    if (known >= 0 && job.origin > known)
      seen.reaction =
          std::max(seen.reaction, job.end - first[static_cast<std::size_t>(known)].came);
    known = std::max(known, job.origin);
  }
  return seen;
}

double share(Time of, Time bound) {
  return static_cast<double>(of.count()) / static_cast<double>(std::max(Time{1}, bound).count());
}

/// Of aperiodic groups, frames are skipped when too many wait.
void look_at_groups(const simulate::Drive& drive, const system::System& system,
                    const realtime::Bounds& bounds, Found& found) {
  for (std::size_t g = 0; g < drive.groups.size(); ++g) {
    const simulate::DriveGroup& group = drive.groups[g];
    found.frames += group.frames.done;
    found.budgets += system.groups[g].budget ? 1 : 0;
    found.held += group.frames.held;
    if (group.frames.done == 0) continue;
    ++found.groups;
    const Time bound = bounds.flows[g].response, largest = group.responses.maximum();
    const bool is_skipped = group.frames.skipped > 0 && !system.groups[g].events.aperiodic;
    if (largest > bound || group.frames.missed > 0 || is_skipped) ++found.below;
    found.ratios.push_back(share(largest, bound));
  }
}

/// All groups with a budget come as often as they like: the bounds of others still hold.
void look_at_others(const Deployment& deployment, const realtime::Bounds& bounds,
                    simulate::DriveOptions options, Found& found) {
  Random random(options.seed);
  const auto& groups = deployment.system.groups;
  options.recorded.resize(groups.size());
  options.traced_frames = 0;
  bool some = false;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (!groups[g].budget) continue;
    some = true;
    std::vector<Time>& comes = options.recorded[g];
    for (Time at{}; at < drive_length && comes.size() < 4000; at += some_or_none(random))
      comes.push_back(at);
  }
  if (!some) return;
  ++found.too_often;
  const simulate::Drive drive = simulate::drive(deployment, sample_board(), options);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const simulate::DriveGroup& group = drive.groups[g];
    if (groups[g].budget || group.frames.done == 0) continue;
    if (group.responses.maximum() > bounds.flows[g].response || group.frames.skipped > 0)
      ++found.below;
  }
}

void look_at_chain(const simulate::Drive& drive, const system::System& system,
                   const analysis::DeadlineAnswers& answer, Found& found) {
  const realtime::ChainBounds& bounds = answer.chains.front().bounds;
  if (!bounds.age) return;
  ++found.chains;
  const ChainSeen seen = seen_in(drive.trace, system.chains.front());
  const bool is_late = bounds.reaction && seen.reaction > *bounds.reaction;
  if (seen.age > *bounds.age || is_late) ++found.below;
  found.of_ages.push_back(share(seen.age, *bounds.age));
}

void look_at(std::uint64_t seed, Found& found) {
  Random random(seed);
  Deployment deployment = random_deployment(random);
  if (random.below(3) == 0) deployment.system.release_cost = some(random, 300);
  const auto answers = analysis::check_deadlines(deployment, sample_board(), {{}, {}, {1, 0}});
  ++found.systems;
  if (!answers.front().is_schedulable()) return;
  ++found.schedulable;
  const simulate::DriveOptions options{.script = {{Time{}, {ScenarioId(0), 0}}},
                                       .duration = drive_length,
                                       .drawn = random.below(2) == 0,
                                       .seed = seed,
                                       .traced_frames = 1 << 20};
  const simulate::Drive drive = simulate::drive(deployment, sample_board(), options);
  const realtime::Bounds& bounds = answers.front().answers.bounds;
  look_at_groups(drive, deployment.system, bounds, found);
  look_at_others(deployment, bounds, options, found);
  look_at_chain(drive, deployment.system, answers.front(), found);
}

double quantile(std::vector<double> values, double at) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  return values[static_cast<std::size_t>(at * static_cast<double>(values.size() - 1))];
}

// Small systems: times of a few ticks, so that all phases can be tried.

realtime::EventModel small_events(Random& random) {
  constexpr std::array periods{6, 8, 10, 12};
  realtime::EventModel events;
  events.period = Time{periods[random.below(periods.size())]};
  if (random.below(2) == 0) events.jitter = Time{1 + static_cast<int>(random.below(5))};
  if (random.below(4) == 0) events.burst = 2, events.burst_distance = Time{random.below(3)};
  if (random.below(3) == 0)
    events.min_distance = events.burst > 1 ? events.burst_distance : Time{2};
  events.sporadic = random.below(4) == 0;
  return events;
}

realtime::TaskSystem small_system(Random& random, bool has_limits) {
  realtime::TaskSystem system;
  for (const char* name : {"core0", "core1"}) system.add_resource({name});
  for (std::size_t f = 0; f < 2 + random.below(2); ++f) {
    const realtime::EventModel events = small_events(random);
    const Time deadline = events.period + Time{random.below(4)};
    const realtime::FlowId flow =
        system.add_flow({.name = fmt::format("f{}", f), .events = events, .deadline = deadline});
    if (has_limits && random.below(2) == 0)
      system.flows.back().limit = {1 + static_cast<std::int64_t>(random.below(2)),
                                   events.period + Time{random.below(5)} - Time{2}};
    for (std::size_t t = 0; t < 1 + random.below(2); ++t) {
      realtime::Task task{.name = fmt::format("f{}.t{}", f, t),
                          .resource = realtime::ResourceId(random.below(2))};
      task.worst = task.best = Time{1 + random.below(events.burst > 1 ? 2 : 4)};
      task.priority = static_cast<std::int64_t>(10 - f);
      if (t > 0) task.after = {system[flow].tasks.back()};
      system.add_task(flow, task);
    }
  }
  return system;
}

/// Calls with each combination of a phase below each period and of the last late event.
bool holds_in_all(const realtime::TaskSystem& system, realtime::Scenario& scenario,
                  std::size_t flow, std::vector<Time>& largest) {
  constexpr std::int64_t last_late = 3;
  if (flow == system.flows.size()) {
    const auto result = realtime::run_scenario(system, scenario);
    bool holds = true;
    for (std::size_t f = 0; f < largest.size(); ++f) {
      largest[f] = std::max(largest[f], result.flows[f]);
      holds = holds && result.flows[f] <= *system.flows[f].deadline;
    }
    return holds;
  }
  const realtime::EventModel& events = system.flows[flow].events;
  bool holds = true;
  const Time phases = flow == 0 ? Time{1} : events.period;  // only relative ones matter
  for (Time phase{}; phase < phases; phase += Time{1})
    for (std::int64_t late = 0; late < (events.jitter > Time{} ? last_late : 1); ++late) {
      scenario.flows[flow].phase = phase;
      scenario.flows[flow].critical_event = late;
      holds = holds_in_all(system, scenario, flow + 1, largest) && holds;
    }
  return holds;
}

struct Acceptance {
  std::int64_t systems = 0, schedulable = 0, accepted = 0, below = 0;
};

void look_at_small(std::uint64_t seed, bool has_limits, Acceptance& found) {
  Random random(seed);
  const realtime::TaskSystem system = small_system(random, has_limits);
  for (const auto& one : realtime::utilisations(system))
    if (one.is_overloaded) return;
  ++found.systems;
  const realtime::Bounds bounds = realtime::analyse(system);
  realtime::Scenario scenario = realtime::critical_scenario(system);
  scenario.span = Time{60};
  std::vector<Time> largest(system.flows.size());
  const bool holds = holds_in_all(system, scenario, 0, largest);
  for (std::size_t f = 0; f < largest.size(); ++f)
    if (largest[f] > bounds.flows[f].response) ++found.below;
  found.schedulable += holds ? 1 : 0;
  found.accepted += realtime::is_schedulable(system, bounds) ? 1 : 0;
}

int run(std::uint64_t systems, std::uint64_t seed, std::uint64_t small) {
  Found found;
  for (std::uint64_t i = 0; i < systems; ++i) look_at(seed * 10'000'000 + i, found);
  fmt::print("{} systems, {} schedulable: {} groups with {} frames, {} chains, {} bounds below the "
             "simulation\n",
             found.systems, found.schedulable, found.groups, found.frames, found.chains,
             found.below);
  fmt::print("largest response / bound: median {:.2f}, 99 % {:.2f}, largest {:.3f}\n",
             quantile(found.ratios, 0.5), quantile(found.ratios, 0.99), quantile(found.ratios, 1));
  fmt::print("largest data age / bound: median {:.2f}, 99 % {:.2f}, largest {:.3f}\n",
             quantile(found.of_ages, 0.5), quantile(found.of_ages, 0.99),
             quantile(found.of_ages, 1));
  fmt::print("{} groups with a budget, which held {} frames back; {} drives in which they came "
             "much too often\n",
             found.budgets, found.held, found.too_often);
  bool holds = found.below == 0;
  for (const bool has_limits : {false, true}) {
    Acceptance all;
    for (std::uint64_t i = 0; i < small; ++i) look_at_small(seed * 10'000'000 + i, has_limits, all);
    fmt::print("{} small systems{}, {} keep their deadlines in all phases, {} accepted, {} bounds "
               "below\n",
               all.systems, has_limits ? " with limits" : "", all.schedulable, all.accepted,
               all.below);
    holds = holds && all.below == 0 && all.accepted <= all.schedulable;
  }
  return holds ? 0 : 1;
}

}  // namespace
}  // namespace millrace

int main(int count, char** words) {
  const auto number = [&](int word, std::uint64_t otherwise) {
    return count > word ? std::strtoull(words[word], nullptr, 10) : otherwise;
  };
  return millrace::run(number(1, 1000), number(2, 1), number(3, 50));
}
