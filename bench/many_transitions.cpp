// A drive of random transitions through four scenarios of three groups, each a pipeline on two
// cores, on an engine that only takes time: every frame is accounted for, none is lost, no
// transition waits for ever, and memory does not grow. `many_transitions [TRANSITIONS [SECONDS]]`,
// by default 1000 in 120 seconds; 1 if anything is wrong.
#include <fmt/format.h>

#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "engine/simulated/simulated.h"
#include "plan/build.h"
#include "runtime/controller/controller.h"
#include "runtime/controller/script.h"
#include "runtime/scheduling/host.h"

namespace {

using namespace millrace;

/// What memory may grow by between a tenth of the drive and its end.
constexpr Bytes most_growth{1 << 20};
constexpr std::size_t layers = 4;
constexpr Time half = std::chrono::milliseconds(1);  // of the network's work

network::Network chain() {
  network::Network network{"chain", {}, {}, {}, {}};
  const network::Shape shape{64};
  network.tensors.push_back({"x", network::DataType::float32, shape, {}});
  network.inputs = {TensorId(0)};
  for (std::size_t i = 0; i < layers; ++i) {
    network.tensors.push_back({fmt::format("t{}", i), network::DataType::float32, shape, {}});
    network.layers.push_back({fmt::format("l{}", i),
                              network::Unary{network::UnaryKind::relu},
                              {TensorId(i)},
                              {TensorId(i + 1)}});
  }
  network.outputs = {TensorId(layers)};
  return network;
}

deployment::Task step(const std::string& name, deployment::Step step, Time worst) {
  deployment::Task task;
  task.name = name;
  task.step = step;
  task.worst = task.average = task.best = worst;
  return task;
}

/// Half of the layers on each core, the first half on core `first`.
deployment::Assignment assignment_of(const network::Network& network, const board::Board& board,
                                     std::size_t first) {
  plan::Mapping mapping;
  for (std::size_t l = 0; l < layers; ++l)
    mapping.processors.emplace_back(l < layers / 2 ? first : 1 - first);
  deployment::Assignment result;
  result.plan.plan = plan::build(network, board, mapping, {.engine = "simulated work"});
  result.tasks = {step("pre", deployment::Step::preprocess, half / 2),
                  step("stage0", deployment::Step::phase, half),
                  step("stage1", deployment::Step::phase, half),
                  step("post", deployment::Step::postprocess, half / 2)};
  for (std::size_t t = 0; t < result.tasks.size(); ++t) {
    const std::size_t stage = t < 2 ? 0 : 1;
    result.tasks[t].stage = result.tasks[t].step == deployment::Step::phase ? stage : 0;
    result.tasks[t].processor = board.processors[stage == 0 ? first : 1 - first].name;
    if (t > 0) result.tasks[t].after = {t - 1};
  }
  return result;
}

deployment::Deployment deployment_of(const network::Network& network, const board::Board& board) {
  deployment::Deployment result;
  system::System& system = result.system;
  system.name = system.file = "many_transitions";
  system.levels = 3;
  for (std::size_t g = 0; g < 3; ++g) {
    system::Group group{fmt::format("g{}", g), {}, {}, {}};
    const double fps = 100.0 / static_cast<double>(g + 1);
    group.rates = {fps / 4, fps};
    group.preprocess = group.postprocess = half / 2;
    system.groups.push_back(group);
    result.assignments.push_back(assignment_of(network, board, g % 2));
    result.assignments.back().priority = static_cast<std::int64_t>(3 - g);
  }
  using Groups = std::vector<system::GroupId>;
  const system::GroupId a{0}, b{1}, c{2};
  system.scenarios = {{"one", Groups{a}},
                      {"two", Groups{a, b}},
                      {"three", Groups{a, b, c}},
                      {"other", Groups{b, c}},
                      {"none", {}}};
  return result;
}

bool is_accounted_for(const runtime::ControllerRecord& record) {
  bool all = true;
  for (const runtime::GroupRecord& group : record.groups) {
    const schedule::FrameCounts& frames = group.frames;
    fmt::print("{}: {} due, {} done, {} missed, {} skipped, {} lost; responses up to {}\n",
               group.name, frames.due, frames.done, frames.missed, frames.skipped, frames.lost(),
               to_text(group.responses.largest()));
    all =
        all && frames.due == frames.done + frames.skipped && frames.lost() == 0 && frames.done > 0;
  }
  return all;
}

bool run(std::int64_t transitions, Time duration) {
  const board::Board board = board::only(board::this_machine(), {"core0", "core1"});
  const network::Network network = chain();
  const auto engine =
      engine::simulated::make([](const network::Network&, LayerId, const board::Processor&) {
        return Time(std::chrono::microseconds(500));
      });
  const deployment::Deployment deployment = deployment_of(network, board);
  std::vector<runtime::GroupToRun> groups(3);
  for (runtime::GroupToRun& group : groups) {
    group.network = &network;
    group.engines = {{"simulated work", engine.get()}};
  }
  const deployment::Script script =
      deployment::random_script(deployment.system, {duration, transitions, 1});
  runtime::Controller controller(deployment, board, groups);
  controller.start(script.front().wanted);
  const std::size_t tenth = 1 + script.size() / 10;
  const deployment::Script first(script.begin() + 1, script.begin() + static_cast<long>(tenth));
  runtime::play(controller, first, duration / 10);
  const Bytes before = runtime::resident_memory();
  deployment::Script rest(script.begin() + static_cast<long>(tenth), script.end());
  for (deployment::ScriptStep& each : rest) each.at = std::max(Time{}, each.at - duration / 10);
  runtime::play(controller, rest, duration - duration / 10);
  const Bytes after = runtime::resident_memory();
  const runtime::ControllerRecord record = controller.stop();
  const auto& seen = record.transitions;
  fmt::print(
      "{} transitions wished, {} done, {} replaced; the longest took {}, {} were allowed; {} "
      "took longer than allowed; memory {}, then {}\n",
      seen.wished, seen.done, seen.replaced, to_text(seen.longest), to_text(seen.longest_bound),
      seen.beyond_bound, to_text(before), to_text(after));
  const bool all_wished =
      seen.wished == transitions && seen.done + seen.replaced >= transitions - 1;
  for (const runtime::ProcessorRecord& each : record.processors)
    fmt::print("{}: {} stolen by the host; ", each.name, to_text(each.stolen));
  fmt::print("releases at most {} late\n", to_text(record.lateness.largest()));
  return is_accounted_for(record) && all_wished && after <= before + most_growth;
}

}  // namespace

int main(int count, char** arguments) try {
  const std::int64_t transitions = count > 1 ? std::atoll(arguments[1]) : 1000;
  const double seconds = count > 2 ? std::atof(arguments[2]) : 120;
  if (millrace::board::cores_of_this_thread().size() < 2) {
    fmt::print("this machine has one core\n");
    return 77;
  }
  return run(transitions, millrace::time_from_seconds(seconds)) ? 0 : 1;
} catch (const std::exception& error) {
  fmt::print(stderr, "many_transitions: {}\n", error.what());
  return 2;
}
