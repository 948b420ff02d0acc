#include "product/deployment/loaded_deployment.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <deque>
#include <mutex>
#include <utility>

#include "application/source.h"
#include "base/error.h"
#include "engine/registry.h"
#include "plan/plan.h"
#include "product/cache.h"
#include "product/open_model.h"
#include "runtime/controller/task_times.h"

namespace millrace::product {
namespace {

void copy_into(std::span<const std::span<std::byte>> inputs,
               const std::vector<network::Array>& arrays) {
  for (std::size_t i = 0; i < inputs.size(); ++i)
    std::memcpy(inputs[i].data(), arrays.at(i).memory->data(), inputs[i].size());
}

/// What the network made, as the application's processing takes it.
std::vector<network::Array> arrays_of(const network::Network& network,
                                      std::span<const std::span<const std::byte>> outputs) {
  std::vector<network::Array> arrays;
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    const network::Tensor& tensor = network[network.outputs[o]];
    auto memory = network::Buffer::uninitialized(tensor.size());
    std::ranges::copy(outputs[o], memory.data());
    arrays.push_back(network::make_array(tensor.type, tensor.shape, std::move(memory)));
  }
  return arrays;
}

struct PictureBetween {
  application::Picture picture;
  bool is_rehearsed;  // nobody takes what is found in it
};
/// The pictures of frames that are between the steps, in order. Both threads have one priority.
class PicturesBetween {
 public:
  void push(PictureBetween picture) {
    const std::lock_guard lock(mutex_);
    pictures_.push_back(std::move(picture));
  }
  std::optional<PictureBetween> pop() {
    const std::lock_guard lock(mutex_);
    if (pictures_.empty()) return {};
    PictureBetween picture = std::move(pictures_.front());
    pictures_.pop_front();
    return picture;
  }

 private:
  std::mutex mutex_;
  std::deque<PictureBetween> pictures_;
};

/// Each is called by one thread. `live`: null: pictures are used in turn, and nobody takes results.
/// A step whose time is measured runs without the other one: then any picture does.
void add_steps(const GroupSteps& steps, application::LiveGroup* live, runtime::GroupToRun& group) {
  const auto between = std::make_shared<PicturesBetween>();
  group.preprocess = [&steps, live, between, next = std::size_t{0}](auto inputs) mutable {
    std::optional<application::Picture> given;
    if (live != nullptr) given = live->picture();
    const bool is_rehearsed = !given;
    if (!given) given = steps.pictures[next++ % steps.pictures.size()];
    copy_into(inputs, steps.application->before->before(*given));
    between->push({std::move(*given), is_rehearsed});
  };
  group.postprocess = [&steps, live, between, network = group.network](auto outputs) {
    auto [picture, is_rehearsed] =
        between->pop().value_or(PictureBetween{steps.pictures.front(), true});
    std::vector<network::Array> arrays = arrays_of(*network, outputs);
    application::Outcome outcome = outcome_of(steps, std::move(picture), arrays, is_rehearsed);
    if (live == nullptr) return;
    if (!live->wants_outputs()) arrays.clear();
    live->take({std::move(outcome.picture), std::move(outcome.findings), std::move(arrays)});
  };
}

/// A program fills the inputs of a model alone, and takes its outputs.
void add_ends(application::LiveGroup& live, runtime::GroupToRun& group) {
  group.preprocess = [&live](auto inputs) { live.fill(inputs); };
  group.postprocess = [&live, network = group.network](auto outputs) {
    live.take({{}, {}, arrays_of(*network, outputs)});
  };
}

void add_ends(const LoadedDeployment& loaded, std::size_t g, runtime::GroupToRun& group) {
  application::LiveGroup* live = g < loaded.live.size() ? loaded.live[g].get() : nullptr;
  if (loaded.steps[g].application)
    add_steps(loaded.steps[g], live, group);
  else if (live != nullptr && group.network != nullptr)
    add_ends(*live, group);
  if (live != nullptr)
    group.ended = [live](const runtime::EndedFrame& frame) { live->ended(frame); };
}

/// Where the board is not here, each firing of a task takes its average time on its processor, and
/// its function is called meanwhile. Steps before and after a network take their worst times.
void pace_tasks(const LoadedDeployment& loaded, std::size_t g, runtime::GroupToRun& group) {
  const auto paced = [&](const deployment::Task& task, Time time) -> runtime::Paced {
    const auto processor =
        std::ranges::find(loaded.board.processors, task.processor, &board::Processor::name);
    return [pacer = loaded.simulated.engine->pacer(*processor),
            time](const std::function<void()>& work) { return pacer(time, work); };
  };
  for (const deployment::Task& task : loaded.deployment.assignments[g].tasks) {
    if (task.step == deployment::Step::preprocess) group.paced_front = paced(task, task.worst);
    if (task.step == deployment::Step::postprocess) group.paced_back = paced(task, task.worst);
    if (task.step == deployment::Step::task && task.firing == 0)
      group.tasks[task.node].paced = paced(task, task.average);
  }
}

/// Whether a stage of the processor is computed there, and not simulated.
bool has_real_stage(const LoadedDeployment& loaded, const std::string& processor) {
  for (const deployment::Assignment& assignment : loaded.deployment.assignments)
    for (const plan::Stage& stage : assignment.plan.plan.stages)
      if (!plan::is_simulated(stage) &&
          std::ranges::find(stage.processors, processor, &board::Processor::name) !=
              stage.processors.end())
        return true;
  return false;
}

/// The engine of the first simulated stage computes for all.
void make_simulated(LoadedDeployment& loaded, const engine::EngineOptions& options) {
  LoadedDeployment::Simulated& simulated = loaded.simulated;
  for (std::size_t g = 0; g < loaded.networks.size(); ++g) {
    if (loaded.networks[g] == nullptr) continue;
    plan::PlanFile& file = loaded.deployment.assignments[g].plan;
    const network::Network& network = *loaded.networks[g];
    const std::vector<LayerId> layers = runtime::simulated_layers(file.plan);
    if (layers.empty()) continue;
    if (!simulated.computing)
      simulated.computing = engine::make_engine(
          engine::engine_for(network, layers, runtime::simulation_host()), options);
    runtime::add_run_times(file.plan, file.evidence, 1, simulated.times[&network]);
    file.plan = runtime::computed_here(file.plan, network, *simulated.computing).plan;
  }
  if (!simulated.computing && !loaded.is_here)
    simulated.computing = engine::make_engine(engine::engine_names().front(), options);
  if (!simulated.computing) return;
  simulated.engine = std::make_unique<engine::simulated::PacedEngine>(
      *simulated.computing, runtime::simulation_host(),
      [times = &simulated.times](const engine::SubnetRequest& request) {
        const auto of_network = times->find(request.network);
        if (of_network == times->end()) return engine::simulated::RunTime{};
        const auto found = of_network->second.find({request.processor.name, request.layers});
        return found == of_network->second.end() ? engine::simulated::RunTime{} : found->second;
      });
}

void make_engines(LoadedDeployment& loaded, const engine::EngineOptions& options) {
  for (std::size_t g = 0; g < loaded.deployment.assignments.size(); ++g) {
    auto& engines = loaded.engines.emplace_back();
    const std::string whose = "the plan of group '" + loaded.deployment.system.groups[g].name + "'";
    for (const plan::Stage& stage : loaded.deployment.assignments[g].plan.plan.stages)
      if (!plan::is_simulated(stage) && !engines.contains(stage.engine))
        engines[stage.engine] = runtime::make_engine_of(whose, stage.engine, options);
  }
}

/// Whether the input comes from an application, or from functions of tasks.
bool has_real_input(const system::Group& group) {
  return !group.application.empty() ||
         std::ranges::any_of(group.graph.tasks, [](const system::GraphTask& task) {
           return !task.code.function.empty();
         });
}

void check_weights(const LoadedDeployment& loaded, const Context& context) {
  for (std::size_t g = 0; loaded.is_here && g < loaded.networks.size(); ++g)
    if (loaded.networks[g] != nullptr && has_real_input(loaded.deployment.system.groups[g]))
      check_weights(*loaded.networks[g], loaded.deployment.assignments[g].plan.origin.model,
                    context);
  for (const GroupSteps& steps : loaded.steps)
    if (loaded.is_here && steps.crops)
      check_weights(steps.application->of_crops->loaded->network,
                    steps.application->application.crops->model, context);
}

}  // namespace

std::vector<runtime::GroupToRun> LoadedDeployment::groups_to_run() const {
  std::vector<runtime::GroupToRun> groups;
  for (std::size_t g = 0; g < networks.size(); ++g) {
    runtime::GroupToRun& group = groups.emplace_back();
    group.name = deployment.system.groups[g].name;
    group.network = networks[g];
    for (const auto& [name, engine] : engines[g]) group.engines[name] = engine.get();
    if (simulated.engine) group.engines[plan::simulated_engine] = simulated.engine.get();
    if (is_here) add_ends(*this, g, group);
    group.tasks = tasks_to_run(deployment.system.groups[g].graph, codes[g]);
    group.token_bytes = codes[g].token_bytes;
    if (!is_here) pace_tasks(*this, g, group);
  }
  return groups;
}

runtime::SimulatedClock LoadedDeployment::simulated_clock() const {
  if (is_here) return {};
  return [this](const board::Device& device, double slowdown) {
    for (const std::string& processor : device.processors)
      if (has_real_stage(*this, processor)) return false;
    for (const std::string& processor : device.processors)
      simulated.engine->set_slowdown(processor, slowdown);
    return true;
  };
}

application::EdgesSpecification edges_of(const system::System& system,
                                         std::vector<const network::Network*> networks) {
  application::EdgesSpecification all{{}, {}, std::move(networks)};
  for (const system::GroupEdge& edge : system.edges)
    all.edges.push_back({edge.from.index, edge.to.index, edge.output, edge.input,
                         edge.read == system::EdgeRead::queue ? edge.capacity : 0, edge.place});
  for (const system::Chain& chain : system.chains)
    for (auto& groups = all.chains.emplace_back(); const system::GroupId group : chain.groups)
      groups.push_back(group.index);
  return all;
}

std::unique_ptr<LoadedDeployment> load_deployment(const std::string& file,
                                                  const TaskSources& sources,
                                                  const Context& context) {
  Networks opened(context);
  deployment::Deployment deployment = open_deployment(file, opened);
  auto loaded = make_ready(std::move(deployment), {std::move(opened), sources}, context);
  check_weights(*loaded, context);
  return loaded;
}

std::unique_ptr<LoadedDeployment> make_ready(deployment::Deployment deployment,
                                             DeploymentSources sources, const Context& context) {
  auto result = std::make_unique<LoadedDeployment>();
  result->deployment = std::move(deployment);
  result->opened = std::move(sources.opened);
  const system::System& system = result->deployment.system;
  result->is_here = system.board.empty();
  result->board = board_of(result->deployment, context);
  sources.tasks.may_lack = sources.tasks.may_lack || !result->is_here;
  for (std::size_t g = 0; g < system.groups.size(); ++g) {
    const system::Group& group = system.groups[g];
    const auto& model = result->deployment.assignments.at(g).plan.origin.model;
    result->networks.push_back(group.has_network() ? &result->opened.of(model) : nullptr);
    result->steps.push_back(open_steps(group, context));
    result->codes.push_back(open_code(group, result->networks.back(), sources.tasks, context));
  }
  if (!system.edges.empty() && result->is_here)
    result->edges =
        std::make_unique<application::GroupEdges>(edges_of(system, result->networks));
  const engine::EngineOptions options = engine_options(context);
  make_simulated(*result, options);
  make_engines(*result, options);
  return result;
}

}  // namespace millrace::product
