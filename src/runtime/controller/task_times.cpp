#include "runtime/controller/task_times.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <memory>
#include <thread>
#include <utility>

#include "base/random.h"
#include "network/random_values.h"
#include "runtime/controller/controller.h"
#include "runtime/first_error.h"
#include "runtime/graph/graph_rehearsal.h"
#include "runtime/maybe_pinned.h"
#include "runtime/scheduling/thread_priority.h"
#include "runtime/stage_times.h"
#include "runtime/waiting/event_count.h"

namespace millrace::runtime {
namespace {

using StreamClock = std::chrono::steady_clock;

/// Real-time threads leave this share of their time to the system, which would else take it, in
/// one piece, from whatever is measured.
constexpr double rest_share = 0.3;
/// What other groups have of the caches in between.
constexpr std::int64_t disturbing_bytes = 8 << 20;

/// Memory that goes through the caches and takes their place.
class Disturber {
 public:
  Disturber() : memory_(static_cast<std::size_t>(disturbing_bytes)) {}
  void run() {
    for (std::size_t i = 0; i < memory_.size(); i += 64) memory_[i] = ++value_;
  }

 private:
  std::vector<unsigned char> memory_;
  unsigned char value_ = 0;
};

/// A task that can be run, and its samples.
struct TimedPiece {
  std::size_t group = 0, task = 0;
  std::function<Time()> run;
  std::vector<Time> samples = {};
};

/// The pieces of one processor.
struct TimedProcessor {
  const board::Processor* processor = nullptr;
  std::vector<TimedPiece> pieces;
  Disturber disturber = {};
  bool is_done(std::int64_t samples) const {
    return std::ranges::all_of(pieces, [&](const TimedPiece& piece) {
      return static_cast<std::int64_t>(piece.samples.size()) >= samples;
    });
  }
};

/// Inputs and outputs of a network as its steps see them, from a frame that went through it.
class StepMemory {
 public:
  StepMemory(const deployment::Assignment& assignment, const GroupToRun& group, bool pin) {
    const network::Network& network = *group.network;
    SessionOptions options;
    options.pin = pin;
    Session session = deploy(assignment.plan.plan, network, group.engines, options);
    session.submit_in_place([&](std::span<const std::span<std::byte>> inputs) {
      Random random(1);
      for (std::size_t i = 0; i < inputs.size(); ++i)
        network::fill_random(inputs[i], network[network.inputs[i]].type, random);
      if (group.preprocess) group.preprocess(inputs);
      for (const auto& input : inputs) inputs_.emplace_back(input.begin(), input.end());
    });
    session.next_in_place([&](std::span<const std::span<const std::byte>> outputs) {
      for (const auto& output : outputs) outputs_.emplace_back(output.begin(), output.end());
    });
    for (auto& input : inputs_) input_spans_.emplace_back(input);
    for (const auto& output : outputs_) output_spans_.emplace_back(output);
  }

  std::span<const std::span<std::byte>> inputs() const { return input_spans_; }
  std::span<const std::span<const std::byte>> outputs() const { return output_spans_; }

 private:
  std::vector<std::vector<std::byte>> inputs_, outputs_;
  std::vector<std::span<std::byte>> input_spans_;
  std::vector<std::span<const std::byte>> output_spans_;
};

Time timed(const auto& work) {
  const auto begin = StreamClock::now();
  work();
  return StreamClock::now() - begin;
}

/// Everything that is to be measured.
class Trials {
 public:
  Trials(const deployment::Deployment& deployment, const board::Board& board,
         const std::vector<GroupToRun>& groups) {
    for (const board::Processor& processor : board.processors) add_processor(processor);
    for (std::size_t g = 0; g < deployment.assignments.size(); ++g)
      add_group(g, deployment, groups.at(g));
    std::erase_if(processors_, [](const auto& each) { return each->pieces.empty(); });
  }

  std::vector<std::unique_ptr<TimedProcessor>>& processors() { return processors_; }

 private:
  void add_processor(const board::Processor& processor) {
    processors_.push_back(std::make_unique<TimedProcessor>());
    processors_.back()->processor = &processor;
  }

  void add_group(std::size_t g, const deployment::Deployment& deployment,
                 const GroupToRun& group) {
    const deployment::Assignment& assignment = deployment.assignments[g];
    trials_.push_back(nullptr);
    memories_.push_back(nullptr);
    if (group.network != nullptr) {
      trials_.back() =
          std::make_unique<StageTrials>(assignment.plan.plan, *group.network, group.engines);
      memories_.back() = std::make_unique<StepMemory>(assignment, group, true);
    }
    add_rehearsal(deployment.system.groups[g].graph, assignment, group);
    for (std::size_t t = 0; t < assignment.tasks.size(); ++t) {
      const deployment::Task& task = assignment.tasks[t];
      const auto on = std::ranges::find_if(
          processors_, [&](const auto& each) { return each->processor->name == task.processor; });
      std::function<Time()> run = runner(task, group);
      if (on != processors_.end() && run) (*on)->pieces.push_back({g, t, std::move(run)});
    }
  }

  void add_rehearsal(const system::TaskGraph& graph, const deployment::Assignment& assignment,
                     const GroupToRun& group) {
    rehearsals_.push_back(nullptr);
    if (graph.empty()) return;
    if (group.network == nullptr) {
      rehearsals_.back() = std::make_unique<GraphRehearsal>(graph, group, RunNetwork{});
      return;
    }
    Session session = deploy(assignment.plan.plan, *group.network, group.engines);
    const RunNetwork run = [&](const Session::Fill& fill, const Session::Use& use) {
      session.submit_in_place(fill);
      session.next_in_place(use);
    };
    rehearsals_.back() = std::make_unique<GraphRehearsal>(graph, group, run);
  }

  std::function<Time()> runner(const deployment::Task& task, const GroupToRun& group) {
    StageTrials* const trials = trials_.back().get();
    const StepMemory* const memory = memories_.back().get();
    GraphRehearsal* const rehearsal = rehearsals_.back().get();
    if (task.step == deployment::Step::task && rehearsal->can_fire(task.node))
      return [rehearsal, node = task.node] { return rehearsal->fire(node); };
    if (task.step == deployment::Step::phase)
      return [trials, stage = task.stage, phase = task.phase] {
        return trials->run_once(stage, phase);
      };
    if (task.step == deployment::Step::preprocess && group.preprocess)
      return [memory, step = group.preprocess] { return timed([&] { step(memory->inputs()); }); };
    if (task.step == deployment::Step::postprocess && group.postprocess)
      return [memory, step = group.postprocess] { return timed([&] { step(memory->outputs()); }); };
    return {};
  }

  std::vector<std::unique_ptr<TimedProcessor>> processors_;
  std::vector<std::unique_ptr<StageTrials>> trials_;   // by GroupId
  std::vector<std::unique_ptr<StepMemory>> memories_;  // by GroupId
  std::vector<std::unique_ptr<GraphRehearsal>> rehearsals_;  // by GroupId; null: it has no graph
};

/// Lets others have the core for a while, after so much work.
void rest_after(Time work) {
  EventCount never;
  never.sleep_before(never.ticket(),
                     StreamClock::now() + time_from_seconds(rest_share * seconds(work)));
}

/// What all measuring threads know.
struct Measuring {
  const TaskTimesOptions& options;
  int priority = 0;
  std::atomic<std::size_t> unfinished{0};
  std::atomic<bool> ended{false};
  FirstError error = {};
};

/// Every piece once, in an order by chance.
void run_round(TimedProcessor& on, Random& random, const TaskTimesOptions& options) {
  std::vector<std::size_t> order(on.pieces.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  for (const std::size_t i : order) {
    const auto begin = StreamClock::now();
    if (options.beside_others && random.below(2) == 0) on.disturber.run();
    on.pieces[i].samples.push_back(on.pieces[i].run());
    rest_after(StreamClock::now() - begin);
  }
}

/// Until all processors have their samples, so that none is measured beside idle ones.
void measure_on(TimedProcessor& on, Measuring& measuring) {
  const TaskTimesOptions& options = measuring.options;
  const MaybePinned pinned(*on.processor, !on.processor->cores.empty());
  const PriorityGuard priority(measuring.priority);
  Random random(options.seed);
  for (const TimedPiece& piece : on.pieces) piece.run();  // the first run is of cold code
  bool is_done = false;
  while (!measuring.ended && (measuring.unfinished > 0 || !is_done)) {
    run_round(on, random, options);
    if (is_done || !on.is_done(options.samples)) continue;
    is_done = true;
    --measuring.unfinished;
  }
}

void guarded_measure(TimedProcessor& on, Measuring& measuring) {
  try {
    measure_on(on, measuring);
    return;
  } catch (const InputError& error) {
    measuring.error.set({error.what(), true});
  } catch (const std::exception& error) {
    measuring.error.set({error.what()});
  }
  measuring.ended = true;
}

void measure_at_once(std::span<const std::unique_ptr<TimedProcessor>> processors,
                     Measuring& measuring) {
  measuring.unfinished = processors.size();
  std::vector<std::jthread> threads;
  for (const auto& each : processors)
    threads.emplace_back([&measuring, on = each.get()] { guarded_measure(*on, measuring); });
}

}  // namespace

TaskTimes times_of(const std::vector<Time>& samples) {
  constexpr double deviations = 6;
  TaskTimes result;
  if (samples.empty()) return result;
  result.samples = static_cast<std::int64_t>(samples.size());
  const auto count = static_cast<double>(samples.size());
  double mean = 0, squares = 0;
  for (const Time sample : samples) mean += static_cast<double>(sample.count()) / count;
  for (const Time sample : samples)
    squares += std::pow(static_cast<double>(sample.count()) - mean, 2) / count;
  const auto [best, largest] = std::ranges::minmax(samples);
  result.best = best;
  result.largest = largest;
  result.average = std::clamp(Time(static_cast<std::int64_t>(mean)), best, largest);
  result.worst = std::max(
      largest, Time(static_cast<std::int64_t>(std::ceil(mean + deviations * std::sqrt(squares)))));
  return result;
}

std::vector<std::vector<TaskTimes>> measure_tasks(const deployment::Deployment& deployment,
                                                  const board::Board& board,
                                                  const std::vector<GroupToRun>& groups,
                                                  const TaskTimesOptions& options) {
  deployment::check(deployment, board);
  Trials trials(deployment, board, groups);
  const int highest = fifo_priorities(deployment).back();
  Measuring measuring{options, options.priorities && may_have_priority(highest) ? highest : 0};
  const auto& processors = trials.processors();
  if (options.beside_others) {
    measure_at_once(processors, measuring);
  } else {
    for (const auto& each : processors) {
      if (options.between) options.between();
      measure_at_once(std::span(&each, 1), measuring);
    }
  }
  measuring.error.rethrow();
  std::vector<std::vector<TaskTimes>> result;
  for (const deployment::Assignment& assignment : deployment.assignments)
    result.emplace_back(assignment.tasks.size());
  for (const auto& each : processors)
    for (const TimedPiece& piece : each->pieces)
      result[piece.group][piece.task] = times_of(piece.samples);
  return result;
}

deployment::Deployment with_times(deployment::Deployment deployment,
                                  const std::vector<std::vector<TaskTimes>>& tasks,
                                  const TaskTimes& overhead, bool beside_others) {
  deployment.system.overhead = overhead.worst;
  deployment.contention =
      beside_others ? deployment::Contention::beside_others : deployment::Contention::alone;
  for (std::size_t g = 0; g < deployment.assignments.size(); ++g) {
    auto& assigned = deployment.assignments[g].tasks;
    const auto count = static_cast<std::int64_t>(assigned.size());
    for (std::size_t t = 0; t < assigned.size(); ++t) {
      deployment::Task& task = assigned[t];
      const TaskTimes& measured = tasks.at(g).at(t);
      if (measured.samples > 0) {
        task.worst = measured.worst;
        task.average = measured.average;
        task.best = measured.best;
        task.kernels.clear();
      }
      task.worst += (overhead.worst + Time(count - 1)) / count;
    }
  }
  return deployment;
}

}  // namespace millrace::runtime
