// Frames of a deployment whose tasks do nothing.
#include <algorithm>
#include <vector>

#include "runtime/background_load.h"
#include "runtime/controller/controller.h"
#include "runtime/controller/script.h"
#include "runtime/controller/task_times.h"
#include "runtime/scheduling/host.h"

namespace millrace::runtime {
namespace {

/// A rate at which frames whose tasks do nothing do not disturb each other much.
constexpr double idle_frames_per_second = 100;
/// What an ordinary thread does at once before it is asked to end.
constexpr std::size_t burning_bytes = 1 << 20;

/// A measurement is repeated if the host took time of a core meanwhile; the least counts then.
constexpr int most_attempts = 3;

class IdleSubnet final : public engine::Subnet {
 public:
  explicit IdleSubnet(const engine::SubnetRequest& request) : inputs_(request.inputs) {
    for (const TensorId tensor : request.outputs)
      outputs_.push_back({tensor, engine::plain_layout((*request.network)[tensor])});
  }
  std::span<const engine::Port> inputs() const override { return inputs_; }
  std::span<const engine::Port> outputs() const override { return outputs_; }
  void run(std::span<const std::byte* const>, std::span<std::byte* const>) override {}
  std::vector<engine::GroupTime> run_timed(std::span<const std::byte* const>,
                                           std::span<std::byte* const>) override {
    return {};
  }
  engine::Memory memory() const override { return {}; }

 private:
  std::vector<engine::Port> inputs_, outputs_;
};

class IdleEngine final : public engine::Engine {
 public:
  std::string name() const override { return "idle"; }
  std::string version() const override { return "1"; }
  Verdict supports(const network::Network&, std::span<const LayerId>,
                   const board::Processor&) const override {
    return Verdict::yes();
  }
  std::unique_ptr<engine::Subnet> prepare(const engine::SubnetRequest& request) override {
    return std::make_unique<IdleSubnet>(request);
  }
};

/// One scenario, in which all groups are active.
deployment::Deployment without_work(deployment::Deployment deployment) {
  system::System& system = deployment.system;
  system::Scenario all{"all", {}};
  for (std::size_t g = 0; g < system.groups.size(); ++g) {
    all.groups.emplace_back(g);
    system.groups[g].rates = {idle_frames_per_second, idle_frames_per_second};
    system.groups[g].events = {};
    system.groups[g].deadline.reset();
    for (deployment::Task& task : deployment.assignments[g].tasks)
      task.worst = task.average = task.best = {};
  }
  system.scenarios = {all};
  system.transitions.clear();
  system.levels = 1;
  deployment.settings.clear();
  return deployment;
}

std::vector<GroupToRun> on_idle_engine(std::vector<GroupToRun> groups, engine::Engine& idle) {
  for (GroupToRun& group : groups) {
    for (auto& [name, engine] : group.engines) engine = &idle;
    group.preprocess = [](auto) {};
    group.postprocess = [](auto) {};
    for (TaskToRun& task : group.tasks)
      task.make = [] { return [](const Firing&) {}; };
  }
  return groups;
}

/// An ordinary thread that wants a core, and its caches.
class Burner {
 public:
  explicit Burner(board::Processor processor) : processor_(std::move(processor)) {}
  void run() {
    if (!is_pinned_) board::pin_this_thread(processor_);
    is_pinned_ = true;
    for (std::size_t i = 0; i < memory_.size(); i += 64) memory_[i] = ++value_;
  }

 private:
  board::Processor processor_;
  std::vector<unsigned char> memory_ = std::vector<unsigned char>(burning_bytes);
  unsigned char value_ = 0;
  bool is_pinned_ = false;
};

Overhead overhead_of(const deployment::Deployment& idle, const board::Board& board,
                     const std::vector<GroupToRun>& groups, const TaskTimesOptions& options) {
  ControllerOptions controlling;
  controlling.priorities = options.priorities;
  controlling.keep_responses = static_cast<std::size_t>(4 * options.samples);
  controlling.keep_release_costs = controlling.keep_responses;
  Controller controller(idle, board, groups, controlling);
  std::vector<Burner> burners;
  for (const board::Processor& processor : board.processors)
    if (!processor.cores.empty()) burners.emplace_back(processor);
  std::vector<std::function<void()>> burning;
  for (Burner& burner : burners) burning.emplace_back([&burner] { burner.run(); });
  const Time half =
      time_from_seconds(static_cast<double>(options.samples) / idle_frames_per_second / 2);
  controller.start({});
  play(controller, {}, half);
  if (options.between) options.between();
  under_background_load(burning, [&] { play(controller, {}, half); });
  const ControllerRecord record = controller.stop();
  Overhead most;
  for (const GroupRecord& group : record.groups)
    if (const TaskTimes times = times_of(group.kept_responses); times.worst > most.frame.worst)
      most.frame = times;
  most.release = times_of(record.release_costs);
  return most;
}

Time stolen_on(const board::Board& board) {
  Time sum{};
  for (const board::Processor& processor : board.processors) sum += stolen_from(processor.cores);
  return sum;
}

}  // namespace

Overhead measure_overhead(const deployment::Deployment& deployment, const board::Board& board,
                          const std::vector<GroupToRun>& groups, const TaskTimesOptions& options) {
  const deployment::Deployment idle = without_work(deployment);
  IdleEngine engine;
  const auto to_run = on_idle_engine(groups, engine);
  Overhead least;
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    const Time before = stolen_on(board);
    const Overhead found = overhead_of(idle, board, to_run, options);
    if (attempt == 0 || found.frame.worst < least.frame.worst) least.frame = found.frame;
    if (attempt == 0 || found.release.worst < least.release.worst) least.release = found.release;
    if (stolen_on(board) == before) break;
  }
  return least;
}

}  // namespace millrace::runtime
