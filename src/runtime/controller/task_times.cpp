#include "runtime/controller/task_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/random.h"
#include "network/random_values.h"
#include "runtime/controller/controller.h"
#include "runtime/graph/graph_rehearsal.h"
#include "runtime/stage_times.h"

namespace millrace::runtime {
namespace {

using StreamClock = std::chrono::steady_clock;

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
         const std::vector<GroupToRun>& groups, const TaskTimesOptions& options)
      : board_(board), options_(options) {
    for (std::size_t g = 0; g < deployment.assignments.size(); ++g)
      add_group(g, deployment, groups.at(g));
  }

  std::vector<TimedPiece>& pieces() { return pieces_; }
  /// Where a piece belongs: its group, and which of the assignment's tasks it is.
  std::pair<std::size_t, std::size_t> task_of(std::size_t piece) const { return tasks_[piece]; }

 private:
  void add_group(std::size_t g, const deployment::Deployment& deployment,
                 const GroupToRun& group) {
    const deployment::Assignment& assignment = deployment.assignments[g];
    trials_.push_back(nullptr);
    memories_.push_back(nullptr);
    if (group.network != nullptr) {
      trials_.back() =
          std::make_shared<StageTrials>(assignment.plan.plan, *group.network, group.engines);
      memories_.back() = std::make_shared<StepMemory>(assignment, group, true);
    }
    add_rehearsal(deployment.system.groups[g].graph, assignment, group);
    for (std::size_t t = 0; t < assignment.tasks.size(); ++t) {
      const deployment::Task& task = assignment.tasks[t];
      const auto on = std::ranges::find(board_.processors, task.processor, &board::Processor::name);
      std::function<Time()> run = runner(task, group);
      if (on == board_.processors.end() || !run) continue;
      pieces_.push_back({fmt::format("group '{}': task '{}'", group.name, task.name),
                         static_cast<std::size_t>(on - board_.processors.begin()), std::move(run)});
      tasks_.emplace_back(g, t);
    }
  }

  void add_rehearsal(const system::TaskGraph& graph, const deployment::Assignment& assignment,
                     const GroupToRun& group) {
    rehearsals_.push_back(nullptr);
    if (graph.empty()) return;
    std::optional<Session> session;
    RunNetwork run;
    if (group.network != nullptr) {
      session.emplace(deploy(assignment.plan.plan, *group.network, group.engines));
      run = [&session](const Session::Fill& fill, const Session::Use& use) {
        session->submit_in_place(fill);
        session->next_in_place(use);
      };
    }
    const Watchdog watchdog{options_.patience, [] {}, options_.between};
    rehearsals_.back() = std::make_unique<GraphRehearsal>(graph, group, run, watchdog);
  }

  std::function<Time()> runner(const deployment::Task& task, const GroupToRun& group) {
    const auto& trials = trials_.back();
    const auto& memory = memories_.back();
    GraphRehearsal* const rehearsal = rehearsals_.back().get();
    if (task.step == deployment::Step::task && rehearsal->can_fire(task.node))
      return rehearsal->firing_of(task.node);
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

  const board::Board& board_;
  const TaskTimesOptions& options_;
  std::vector<TimedPiece> pieces_;
  std::vector<std::pair<std::size_t, std::size_t>> tasks_;  // by piece
  // By GroupId; shared with threads, of which one that does not return may outlive this.
  std::vector<std::shared_ptr<StageTrials>> trials_;
  std::vector<std::shared_ptr<StepMemory>> memories_;
  std::vector<std::unique_ptr<GraphRehearsal>> rehearsals_;  // by GroupId; null: it has no graph
};

}  // namespace

std::vector<std::vector<TaskTimes>> measure_tasks(const deployment::Deployment& deployment,
                                                  const board::Board& board,
                                                  const std::vector<GroupToRun>& groups,
                                                  const TaskTimesOptions& options) {
  deployment::check(deployment, board);
  Trials trials(deployment, board, groups, options);
  measure_pieces(trials.pieces(), board, {options, fifo_priorities(deployment).back()});
  std::vector<std::vector<TaskTimes>> result;
  for (const deployment::Assignment& assignment : deployment.assignments)
    result.emplace_back(assignment.tasks.size());
  for (std::size_t i = 0; i < trials.pieces().size(); ++i) {
    const auto [group, task] = trials.task_of(i);
    result[group][task] = times_of(trials.pieces()[i].samples);
  }
  return result;
}

deployment::Deployment with_times(deployment::Deployment deployment,
                                  const std::vector<std::vector<TaskTimes>>& tasks,
                                  const Overhead& overhead, bool beside_others) {
  deployment.system.overhead = overhead.frame.worst;
  deployment.system.release_cost = overhead.release.worst;
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
      task.worst += (overhead.frame.worst + Time(count - 1)) / count;
    }
  }
  return deployment;
}

}  // namespace millrace::runtime
