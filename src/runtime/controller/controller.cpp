#include "runtime/controller/controller.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <mutex>
#include <numeric>
#include <optional>
#include <set>

#include "base/error.h"
#include "deployment/budgets.h"
#include "runtime/controller/group_runner.h"
#include "runtime/controller/group_trace.h"
#include "runtime/controller/release_loop.h"
#include "runtime/controller/thread_place.h"
#include "runtime/controller/throttle_signs.h"
#include "runtime/scheduling/host.h"
#include "runtime/scheduling/thread_priority.h"
#include "runtime/waiting/repeated.h"

namespace millrace::runtime {
namespace {

/// Below what kernels need for themselves, and above what users give to sound and the like.
constexpr int first_priority = 10;

const board::Processor& processor_named(const board::Board& board, const std::string& name) {
  const auto found = std::ranges::find(board.processors, name, &board::Processor::name);
  if (found == board.processors.end())
    throw InputError(fmt::format("processor '{}'", name),
                     fmt::format("the board '{}' has none of this name", board.name));
  return *found;
}

/// Places of the graph's tasks. All firings of one are on the same processor.
std::vector<StepPlace> places_of_tasks(const system::TaskGraph& graph,
                                       const deployment::Assignment& assignment,
                                       const board::Board& board) {
  std::vector<StepPlace> places;
  for (std::size_t node = 0; node < graph.tasks.size(); ++node) {
    const auto found = std::ranges::find_if(assignment.tasks, [&](const deployment::Task& task) {
      return task.step == deployment::Step::task && task.node == node;
    });
    StepPlace& place = places.emplace_back();
    place.task = graph.tasks[node].name;
    if (found == assignment.tasks.end())
      throw InputError(fmt::format("task '{}'", place.task),
                       "the deployment says no processor for it; make it again");
    place.processor = processor_named(board, found->processor);
    place.worst = found->worst;
  }
  return places;
}

/// Without a task of this step its thread only hands frames over, where its neighbour runs.
StepPlace place_of(const deployment::Assignment& assignment, deployment::Step step,
                   const board::Board& board) {
  StepPlace place;
  const auto& tasks = assignment.tasks;
  const auto found = std::ranges::find(tasks, step, &deployment::Task::step);
  if (found != tasks.end()) {
    place = {found->name, processor_named(board, found->processor), found->worst};
  } else if (!assignment.plan.plan.stages.empty()) {
    const auto& stages = assignment.plan.plan.stages;
    const auto& next = step == deployment::Step::preprocess ? stages.front() : stages.back();
    place.processor = next.processors.front();
  }
  if (place.processor && place.processor->cores.empty()) place.processor.reset();
  return place;
}

}  // namespace

std::vector<int> fifo_priorities(const deployment::Deployment& deployment) {
  std::set<std::int64_t> distinct;
  for (const deployment::Assignment& each : deployment.assignments) distinct.insert(each.priority);
  const int top = first_priority + static_cast<int>(distinct.size());
  if (top >= highest_priority)
    throw InputError(deployment.system.file,
                     fmt::format("found {} different priorities, expected "
                                 "at most {}",
                                 distinct.size(), highest_priority - first_priority - 1));
  std::vector<int> result;
  for (const deployment::Assignment& each : deployment.assignments)
    result.push_back(first_priority + static_cast<int>(std::distance(
                                          distinct.begin(), distinct.find(each.priority))));
  result.push_back(top);
  return result;
}

struct Controller::State {
  State(const deployment::Deployment& of, const board::Board& on, std::vector<GroupToRun> to_run,
        const ControllerOptions& chosen)
      : first(of),
        deployment(&of),
        board(on),
        options(chosen),
        release_core(core_of(chosen.thread)),
        clocks(of, on, chosen.simulated_clock, chosen.places) {
    deployment::check(of, board);
    std::vector<int> priorities = fifo_priorities(of);
    record.priorities = options.priorities ? may_have_priority(priorities.back())
                                           : Verdict::no("no priorities were asked for");
    if (!record.priorities) std::ranges::fill(priorities, 0);
    release_priority = priorities.back();
    first_group_priority = priorities.front();
    if (options.priorities && !record.priorities) note(record.priorities.reason());
    for (std::size_t g = 0; g < of.system.groups.size(); ++g)
      groups.push_back(std::make_unique<GroupRunner>(place(system::GroupId(g), priorities[g]),
                                                     std::move(to_run.at(g)), signals));
    if (options.lock_memory) {
      locked.emplace();
      record.locked_memory = locked->verdict();
      if (!record.locked_memory) note(record.locked_memory.reason());
    } else {
      record.locked_memory = Verdict::no("no locked memory was asked for");
    }
    for (const std::string& clock : clocks.staying()) note("its clock stays: " + clock);
    if (clocks.restored() > 0)
      note(fmt::format("a run that was killed had left {} of clocks, which are as before now",
                       counted(clocks.restored(), "limit")));
    loop.emplace(ReleaseLoop::Parts{deployment,
                                    runners(),
                                    clocks,
                                    signals,
                                    options.keep_release_costs,
                                    {options.seed, &options.recorded},
                                    patience_of(of, options.thread.watchdog)});
  }
  ~State() { end(); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void note(const std::string& text) const {
    if (options.note) options.note(text);
  }
  GroupPlace place(system::GroupId group, int priority) const;
  std::vector<ReleasedGroup*> runners() const {
    std::vector<ReleasedGroup*> result;
    for (const auto& group : groups) result.push_back(group.get());
    return result;
  }
  int priority_of_added(std::size_t group) const;
  void check_wanted(const deployment::Wanted& wanted) const;
  Time shortest_period() const;
  void take_release_place();
  void watch_heat();
  void look_at_heat();
  void end();
  void make_record();
  std::optional<Time> busy(const board::Processor& processor) const;
  void add_processors();

  const deployment::Deployment& first;       // with the scenarios and levels of all
  const deployment::Deployment* deployment;  // with all that was added
  const board::Board& board;
  const ControllerOptions options;
  const std::optional<int> release_core;
  ControllerSignals signals;
  std::optional<LockedMemory> locked;
  ClockControl clocks;
  mutable std::mutex of_groups;  // while others are added
  std::vector<std::unique_ptr<GroupRunner>> groups;
  int release_priority = 0, first_group_priority = 0;  // 0: ordinary threads
  std::optional<ReleaseLoop> loop;
  std::optional<ThrottleSigns> signs;  // the repeated call's
  std::unique_ptr<Repeated> heat;
  std::thread releaser;
  Clock::time_point started{};
  std::vector<Time> stolen_before;  // by processor of the board
  ControllerRecord record;
};

GroupPlace Controller::State::place(system::GroupId group, int priority) const {
  const system::System& system = deployment->system;
  const deployment::Assignment& assignment = deployment->assignments[group.index];
  GroupPlace place;
  place.name = system[group].name;
  place.plan = assignment.plan.plan;
  place.front = place_of(assignment, deployment::Step::preprocess, board);
  place.back = place_of(assignment, deployment::Step::postprocess, board);
  place.graph = system[group].graph;
  place.tasks = places_of_tasks(place.graph, assignment, board);
  place.priority = priority;
  place.most = deployment::most_on_the_way(system, group);
  place.operations = system.scenarios.size() * static_cast<std::size_t>(system.levels);
  place.allowances = deployment::frame_allowances(*deployment, board, group);
  place.pin = options.pin;
  place.trace_frames = options.trace_frames;
  place.seed = options.seed + group.index;
  place.keep_responses = options.keep_responses;
  place.note = options.note;
  place.patience = options.patience;
  return place;
}

void Controller::State::check_wanted(const deployment::Wanted& wanted) const {
  const system::System& system = first.system;
  if (wanted.scenario.index >= system.scenarios.size())
    throw InputError(system.file, fmt::format("found scenario {}, there are {}",
                                              wanted.scenario.index, system.scenarios.size()));
  if (wanted.level < 0 || wanted.level >= system.levels)
    throw InputError(system.file, fmt::format("found level {}, expected 0 to {}", wanted.level,
                                              system.levels - 1));
}

/// Groups that run keep their priorities, so that the numbers are counted from the first of them.
int Controller::State::priority_of_added(std::size_t group) const {
  if (!record.priorities) return 0;
  const std::vector<int> all = fifo_priorities(*deployment);
  const int priority = all[group] - all.front() + first_group_priority;
  if (priority < lowest_priority)
    throw InputError(deployment->system.file,
                     fmt::format("no real-time priority is left for group '{}'",
                                 deployment->system.groups[group].name));
  return priority;
}

Time Controller::State::shortest_period() const {
  Time shortest = Time::max();
  for (std::size_t g = 0; g < first.system.groups.size(); ++g)
    shortest =
        std::min(shortest, period_of(first.system, system::GroupId(g), first.system.levels - 1));
  return shortest;
}

/// Twice in each period of the fastest group, so that the level below holds within two.
void Controller::State::watch_heat() {
  if (!options.watch_heat || options.simulated_clock) return;
  signs.emplace(board.devices, options.places.root);
  if (signs->is_empty()) return;
  constexpr std::chrono::milliseconds least(2), most(500);
  const auto interval =
      std::chrono::duration_cast<std::chrono::milliseconds>(shortest_period() / 2);
  heat = std::make_unique<Repeated>([this] { look_at_heat(); }, std::clamp(interval, least, most));
}

/// The release thread's.
void Controller::State::take_release_place() {
  ControllerThread thread = options.thread;
  thread.has_deadline = thread.has_deadline && release_priority > 0;
  record.release_deadline = take_place(thread, release_core, release_priority, shortest_period());
}

void Controller::State::look_at_heat() {
  constexpr std::size_t most_texts = 8;
  const std::uint64_t before = clocks.times_set();
  const std::string sign = signs->look(before);
  if (before % 2 == 1 || clocks.times_set() != before) return;  // what was seen may be its own
  loop->set_hot(!sign.empty());
  const bool is_known = std::ranges::find(record.heat, sign) != record.heat.end();
  if (!sign.empty() && !is_known && record.heat.size() < most_texts) record.heat.push_back(sign);
}

void Controller::State::end() {
  heat.reset();
  if (!releaser.joinable()) return;
  loop->stop();
  releaser.join();
  for (const auto& group : groups) group->finish();  // also those that it has not taken
  // A task that does not return keeps its core from groups of lower priority.
  std::vector<std::size_t> order(groups.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater{},
                           [&](std::size_t g) { return deployment->assignments[g].priority; });
  for (const std::size_t g : order) groups[g]->join();
}

void Controller::State::make_record() {
  record.elapsed = Clock::now() - started;
  record.transitions = loop->transitions();
  record.lateness = loop->lateness();
  record.release_costs = loop->release_costs();
  record.clocks_that_stay = clocks.staying();
  const auto levels = static_cast<std::size_t>(deployment->system.levels);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    GroupRecord& group = record.groups.emplace_back();
    std::vector<OperationRecord> operations(deployment->system.scenarios.size() * levels);
    for (std::size_t o = 0; o < operations.size(); ++o)
      operations[o].at = {system::ScenarioId(o / levels), static_cast<std::int64_t>(o % levels)};
    loop->add_to(g, operations);
    loop->add_to(g, group);
    groups[g]->add_to(group, operations);
    for (const OperationRecord& each : operations) {
      group.frames += each.frames;
      if (each.frames.due > 0) group.operations.push_back(each);
    }
    if (options.trace_frames > 0) add_trace(record.trace, group.name, groups[g]->trace(started));
  }
  add_processors();
}

/// The times of the tasks that ran there; nothing: it has none.
std::optional<Time> Controller::State::busy(const board::Processor& processor) const {
  std::optional<Time> sum;
  for (const GroupRecord& group : record.groups)
    for (const TaskRecord& task : group.tasks)
      if (task.processor == processor.name) sum = sum.value_or(Time{}) + task.times.sum;
  return sum;
}

void Controller::State::add_processors() {
  for (std::size_t p = 0; p < board.processors.size(); ++p) {
    const board::Processor& processor = board.processors[p];
    if (const auto busy_with = busy(processor))
      record.processors.push_back(
          {processor.name, *busy_with, stolen_from(processor.cores) - stolen_before[p]});
  }
}

Controller::Controller(const deployment::Deployment& deployment, const board::Board& board,
                       std::vector<GroupToRun> groups, const ControllerOptions& options)
    : state_(std::make_unique<State>(deployment, board, std::move(groups), options)) {}

Controller::~Controller() = default;

void Controller::start(const deployment::Wanted& wanted) {
  State& state = *state_;
  state.check_wanted(wanted);
  for (const board::Processor& processor : state.board.processors)
    state.stolen_before.push_back(stolen_from(processor.cores));
  for (const auto& group : state.groups) group->start();
  state.started = Clock::now();
  state.watch_heat();
  state.releaser = std::thread([&state, wanted] {
    try {
      ::pthread_setname_np(::pthread_self(), "release");
      state.take_release_place();
      state.record.start = age_of_this_process();
      state.loop->run(wanted);
    } catch (const std::exception& error) {
      state.signals.error.set({fmt::format("the release of frames: {}", error.what())});
      state.signals.failed = true;
      state.loop->finish_groups();
    }
  });
}

void Controller::switch_to(const deployment::Wanted& wanted) {
  state_->check_wanted(wanted);
  state_->loop->ask(wanted);
}

void Controller::add(const deployment::Deployment& joined, std::vector<GroupToRun> added) {
  State& state = *state_;
  deployment::check(joined, state.board);
  const deployment::Deployment& before = *state.deployment;
  const std::size_t count = state.groups.size();
  state.deployment = &joined;
  std::vector<std::unique_ptr<GroupRunner>> runners;
  try {
    for (std::size_t g = count; g < joined.system.groups.size(); ++g)
      runners.push_back(
          std::make_unique<GroupRunner>(state.place(system::GroupId(g), state.priority_of_added(g)),
                                        std::move(added.at(g - count)), state.signals));
    for (const auto& runner : runners) runner->start();
  } catch (...) {
    state.deployment = &before;
    throw;
  }
  {
    const std::lock_guard lock(state.of_groups);
    std::ranges::move(runners, std::back_inserter(state.groups));
  }
  state.loop->extend(joined, state.runners());
}

bool Controller::has_failed() const { return state_->signals.failed; }

std::vector<GroupTasks> Controller::tasks() const {
  const std::lock_guard lock(state_->of_groups);
  std::vector<GroupTasks> all;
  for (const auto& group : state_->groups) all.push_back({group->name(), group->tasks()});
  return all;
}

Trace Controller::recent(Time span) const {
  const std::lock_guard lock(state_->of_groups);
  Trace all;
  for (const auto& group : state_->groups) add_trace(all, group->name(), group->recent(span));
  return all;
}

int Controller::release_priority() const { return state_->release_priority; }

ControllerRecord Controller::stop() {
  state_->end();
  state_->signals.error.rethrow();
  state_->make_record();
  return state_->record;
}

}  // namespace millrace::runtime
