#include "runtime/preparation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/error.h"
#include "engine/batch.h"
#include "plan/build.h"

namespace millrace::runtime {
namespace {

using PhaseIndex = std::pair<std::size_t, std::size_t>;  // stage, phase

bool is_outside(const plan::Endpoint& end) { return end.stage == plan::Endpoint::outside; }

/// Producers before consumers.
std::vector<PhaseIndex> preparation_order(const plan::Plan& plan) {
  std::map<PhaseIndex, std::size_t> waiting_for;
  std::multimap<PhaseIndex, PhaseIndex> readers;
  for (std::size_t s = 0; s < plan.stages.size(); ++s)
    for (std::size_t p = 0; p < plan.stages[s].phases.size(); ++p) waiting_for[{s, p}] = 0;
  for (const plan::Channel& channel : plan.channels) {
    if (is_outside(channel.from) || is_outside(channel.to)) continue;
    readers.emplace(PhaseIndex{channel.from.stage, channel.from.phase},
                    PhaseIndex{channel.to.stage, channel.to.phase});
    ++waiting_for[{channel.to.stage, channel.to.phase}];
  }
  std::vector<PhaseIndex> order;
  for (const auto& [phase, count] : waiting_for)
    if (count == 0) order.push_back(phase);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto [begin, end] = readers.equal_range(order[i]);
    for (auto reader = begin; reader != end; ++reader)
      if (--waiting_for[reader->second] == 0) order.push_back(reader->second);
  }
  if (order.size() != waiting_for.size())
    throw InputError("plan", "some phases wait for each other in a circle; make the plan anew");
  return order;
}

engine::Engine& engine_of(const plan::Stage& stage,
                          const std::map<std::string, engine::Engine*>& engines) {
  const auto found = engines.find(stage.engine);
  if (found != engines.end()) return *found->second;
  std::vector<std::string> known;
  for (const auto& [name, engine] : engines) known.push_back(name);
  throw InputError("plan", fmt::format("{} asks for the engine '{}'; there is {}", stage.name,
                                       stage.engine, fmt::join(known, ", ")));
}

/// Binds the thread to the stage's processor, all of it.
class OnProcessorOf {
 public:
  explicit OnProcessorOf(const plan::Stage& stage) {
    try {
      guard_.emplace(stage.processor);
    } catch (const EngineError&) {
      refuse(stage);
    }
    if (board::cores_of_this_thread() != stage.processor.cores) refuse(stage);
  }

 private:
  [[noreturn]] static void refuse(const plan::Stage& stage) {
    throw InputError(
        "plan",
        fmt::format("{} runs on {} (core {}), which this machine lacks or this process "
                    "may not use; make a plan for this machine",
                    stage.name, stage.processor.name, fmt::join(stage.processor.cores, ", ")));
  }
  std::optional<board::PinGuard> guard_;
};

class Preparation {
 public:
  explicit Preparation(const Deployment& deployment)
      : plan_(deployment.plan), network_(deployment.network), engines_(deployment.engines) {
    for (const network::Tensor& tensor : network_.tensors)
      layouts_.push_back(engine::plain_layout(tensor));
  }

  std::unique_ptr<engine::Subnet> prepare(PhaseIndex index) {
    const plan::Stage& stage = plan_.stages[index.first];
    engine::SubnetRequest request;
    request.network = &network_;
    request.processor = stage.processor;
    request.layers = stage.phases[index.second].layers;
    const engine::Border border = engine::border_of(network_, request.layers);
    for (TensorId input : border.inputs) request.inputs.push_back({input, layouts_[input.index]});
    request.outputs = border.outputs;
    request.variants = plan_.variants;
    if (plan_.calibration) request.calibration = &*plan_.calibration;
    for (TensorId output : border.outputs) request.plain.push_back(must_be_plain(output, stage));
    const std::int64_t batch = stage.phases[index.second].batch;
    auto subnet = engine::prepare_batch(engine_of(stage, engines_), request, batch);
    if (batch > 1) return subnet;
    for (const engine::Port& port : subnet->outputs()) layouts_[port.tensor.index] = port.layout;
    return subnet;
  }

 private:
  /// The caller and other engines understand only plain tensors; those of several frames are.
  bool must_be_plain(TensorId tensor, const plan::Stage& maker) const {
    return std::any_of(plan_.channels.begin(), plan_.channels.end(), [&](const auto& channel) {
      if (channel.tensor != tensor) return false;
      if (is_outside(channel.to)) return true;
      const plan::Stage& reader = plan_.stages[channel.to.stage];
      return reader.engine != maker.engine || reader.phases[channel.to.phase].batch > 1;
    });
  }

  const plan::Plan& plan_;
  const network::Network& network_;
  const std::map<std::string, engine::Engine*>& engines_;
  std::vector<engine::Layout> layouts_;  // by tensor; of those already made
};

}  // namespace

void check_deployment(const Deployment& deployment) {
  const auto& [plan, network, engines] = deployment;
  const std::string& made_for = plan.origin.network;
  if (!made_for.empty() && made_for != network::hash_of(network))
    throw InputError(
        "plan", fmt::format("was made for another network ('{}', {}) than '{}' ({})",
                            plan.network_name, made_for, network.name, network::hash_of(network)));
  plan::check(plan, network);
}

std::vector<PreparedStage> prepare(const Deployment& deployment, bool pin) {
  std::vector<PreparedStage> prepared;
  for (const plan::Stage& stage : deployment.plan.stages)
    prepared.emplace_back().subnets.resize(stage.phases.size());
  Preparation preparation(deployment);
  for (const PhaseIndex& index : preparation_order(deployment.plan)) {
    std::optional<OnProcessorOf> here;
    if (pin) here.emplace(deployment.plan.stages[index.first]);
    prepared[index.first].subnets[index.second] = preparation.prepare(index);
  }
  return prepared;
}

}  // namespace millrace::runtime
