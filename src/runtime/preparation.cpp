#include "runtime/preparation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "base/error.h"
#include "board/cores_in_use.h"
#include "board/limits/usable_memory.h"
#include "engine/batch.h"
#include "plan/build.h"
#include "plan/capacities.h"
#include "schedule/graph.h"

namespace millrace::runtime {
namespace {

using PhaseIndex = std::pair<std::size_t, std::size_t>;  // actor, phase

/// Producers before consumers.
std::vector<PhaseIndex> preparation_order(const schedule::Schedule& schedule) {
  std::map<PhaseIndex, std::size_t> waiting_for;
  std::multimap<PhaseIndex, PhaseIndex> readers;
  for (std::size_t a = 0; a < schedule.actors.size(); ++a)
    for (std::size_t p = 0; p < schedule.actors[a].phases.size(); ++p) waiting_for[{a, p}] = 0;
  for (const schedule::Channel& channel : schedule.channels) {
    if (channel.from.is_outside() || channel.to.is_outside()) continue;
    readers.emplace(PhaseIndex{channel.from.actor, channel.from.phase},
                    PhaseIndex{channel.to.actor, channel.to.phase});
    ++waiting_for[{channel.to.actor, channel.to.phase}];
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
    throw InputError("plan",
                     "some phases wait for each other in a cycle; make a new plan with 'millrace "
                     "plan'");
  return order;
}

/// Binds the thread to the actor's processor, all of it.
class OnProcessorOf {
 public:
  explicit OnProcessorOf(const schedule::Actor& actor) {
    try {
      guard_.emplace(actor.processor);
    } catch (const EngineError&) {
      refuse(actor);
    }
    if (board::cores_of_this_thread() != actor.processor.cores) refuse(actor);
  }

 private:
  [[noreturn]] static void refuse(const schedule::Actor& actor) {
    throw InputError(
        "plan",
        fmt::format("{} runs on {} (core {}), which this machine lacks or this process "
                    "may not use; make a plan for this machine",
                    actor.name, actor.processor.name, fmt::join(actor.processor.cores, ", ")));
  }
  std::optional<board::PinGuard> guard_;
};

/// The layouts of tensors between phases, as their makers announce them. Thread-safe.
class Layouts {
 public:
  explicit Layouts(const network::Network& network) : known_(network.tensors.size()) {
    for (const network::Tensor& tensor : network.tensors)
      layouts_.push_back(engine::plain_layout(tensor));
  }

  /// Announces what a phase makes; replicas make the same ones, and must agree.
  void announce(std::span<const engine::Port> ports) {
    const std::lock_guard lock(mutex_);
    for (const engine::Port& port : ports) {
      engine::Layout& layout = layouts_[port.tensor.index];
      if (known_[port.tensor.index] && (layout.format != port.layout.format ||
                                        layout.size != port.layout.size))
        throw EngineError(fmt::format("tensor {} has different layouts in the replicas of a stage",
                                      port.tensor.index));
      layout = port.layout;
      layout.space.clear();  // who reads it there knows that from its channel
    }
  }
  void finish(std::span<const TensorId> tensors) {
    const std::lock_guard lock(mutex_);
    for (const TensorId tensor : tensors) known_[tensor.index] = true;
    changed_.notify_all();
  }
  /// No more will come.
  void end() {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    changed_.notify_all();
  }
  /// Waits for all of them; nothing if the others have failed.
  std::optional<std::vector<engine::Port>> wait_for(std::span<const TensorId> tensors) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] {
      return ended_ || std::all_of(tensors.begin(), tensors.end(),
                                   [&](TensorId tensor) { return known_[tensor.index]; });
    });
    if (ended_) return std::nullopt;
    std::vector<engine::Port> ports;
    for (const TensorId tensor : tensors) ports.push_back({tensor, layouts_[tensor.index]});
    return ports;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<engine::Layout> layouts_;  // by tensor
  std::vector<bool> known_;              // by tensor
  bool ended_ = false;
};

class Preparation {
 public:
  Preparation(const PlanToRun& given, const schedule::Schedule& schedule)
      : plan_(given.plan),
        network_(given.network),
        engines_(given.engines),
        schedule_(schedule),
        layouts_(given.network),
        errors_(schedule.actors.size()) {
    std::vector<bool> made(network_.tensors.size());
    for (const network::Layer& layer : network_.layers)
      for (const TensorId output : layer.outputs)
        if (output.valid()) made[output.index] = true;
    std::vector<TensorId> known;
    for (std::size_t i = 0; i < made.size(); ++i)
      if (!made[i]) known.emplace_back(i);
    layouts_.finish(known);
  }

  /// Without a subnet if others have failed.
  PreparedPhase prepare(PhaseIndex index) {
    const schedule::Actor& actor = schedule_.actors[index.first];
    const plan::Stage& stage = plan_.stages[actor.stage];
    if (stage.phases[index.second].transfer) return prepare_transfer(index);
    const std::int64_t batch = stage.phases[index.second].batch;
    engine::SubnetRequest request;
    request.network = &network_;
    request.processor = actor.processor;
    request.layers = stage.phases[index.second].layers;
    const engine::Border border = engine::border_of(network_, request.layers);
    engine::Engine& engine = engine_of(stage, engines_);
    auto inputs = layouts_.wait_for(border.inputs);
    if (!inputs) return {};
    request.inputs = std::move(*inputs);
    request.outputs = border.outputs;
    request.variants = plan_.variants;
    if (plan_.calibration) request.calibration = &*plan_.calibration;
    for (TensorId output : border.outputs) request.plain.push_back(must_be_plain(output, stage));
    set_spaces({actor.stage, index.second}, request);
    const auto announce = [&](std::span<const engine::Port> ports) {
      if (batch == 1) layouts_.announce(ports);  // of several frames they are plain
      layouts_.finish(border.outputs);
    };
    request.announce = announce;
    PreparedPhase prepared{batch == 1 ? this->prepared(stage, request)
                                      : engine::prepare_batch(engine, request, batch)};
    announce(prepared.subnet->outputs());
    if (batch == 1) return prepared;
    request.plain.assign(request.outputs.size(), true);
    request.announce = {};
    prepared.of_one = engine.prepare(request);
    return prepared;
  }

  /// What the actor's thread does: its error is kept, and all end.
  void guarded(std::size_t actor, const std::function<void()>& work) {
    try {
      work();
    } catch (...) {
      errors_[actor] = std::current_exception();
      layouts_.end();
    }
  }
  /// After all threads: the error of the first actor that has one.
  void rethrow() const {
    for (const std::exception_ptr& error : errors_)
      if (error) std::rethrow_exception(error);
  }

 private:
  PreparedPhase prepare_transfer(PhaseIndex index) {
    const schedule::Actor& actor = schedule_.actors[index.first];
    const plan::Stage& stage = plan_.stages[actor.stage];
    const plan::Transfer& transfer = *stage.phases[index.second].transfer;
    if (!layouts_.wait_for(std::span(&transfer.tensor, 1))) return {};
    return {prepared(stage, engine::transfer_request(network_, actor.processor, transfer.tensor,
                                                     {transfer.from, transfer.to}))};
  }

  std::unique_ptr<engine::Subnet> prepared(const plan::Stage& stage,
                                           const engine::SubnetRequest& request) const {
    try {
      return engine_of(stage, engines_).prepare(request);
    } catch (const engine::NoSuchSpace& error) {
      throw InputError("plan", fmt::format("{} works in a memory that is not here: {}; make the "
                                           "plan again on this machine",
                                           stage.name, error.what()));
    }
  }

  /// Where the phase's channels say that tensors lie.
  void set_spaces(const plan::Endpoint& phase, engine::SubnetRequest& request) const {
    if (plan_.stages[phase.stage].space.empty()) return;
    request.spaces.resize(request.outputs.size());
    for (const plan::Channel& channel : plan_.channels) {
      for (engine::Port& port : request.inputs)
        if (channel.to == phase && channel.tensor == port.tensor)
          port.layout.space = channel.space;
      for (std::size_t i = 0; i < request.outputs.size(); ++i)
        if (channel.from == phase && channel.tensor == request.outputs[i])
          request.spaces[i] = channel.space;
    }
  }

  /// The caller, other engines and transfers understand only plain tensors; those of several frames
  /// are. What runs on a GPU is of another engine than what runs on cores, although several engines
  /// have one name.
  bool must_be_plain(TensorId tensor, const plan::Stage& maker) const {
    return std::any_of(plan_.channels.begin(), plan_.channels.end(), [&](const auto& channel) {
      if (channel.tensor != tensor) return false;
      if (channel.to.is_outside()) return true;
      const plan::Stage& reader = plan_.stages[channel.to.stage];
      return reader.engine != maker.engine || is_on_cores(reader) != is_on_cores(maker) ||
             reader.phases[channel.to.phase].batch > 1 ||
             reader.phases[channel.to.phase].transfer.has_value();
    });
  }

  static bool is_on_cores(const plan::Stage& stage) {
    return std::ranges::all_of(stage.processors, [](const board::Processor& processor) {
      return !processor.cores.empty();
    });
  }

  const plan::Plan& plan_;
  const network::Network& network_;
  const std::map<std::string, engine::Engine*>& engines_;
  const schedule::Schedule& schedule_;
  Layouts layouts_;
  std::vector<std::exception_ptr> errors_;  // by actor
};

/// The phases of each actor, in an order in which none waits for a later one, so that with all
/// actors at work there is always one that can go on.
std::vector<std::vector<std::size_t>> orders_of(const schedule::Schedule& schedule) {
  std::vector<std::vector<std::size_t>> orders(schedule.actors.size());
  for (const auto& [actor, phase] : preparation_order(schedule)) orders[actor].push_back(phase);
  return orders;
}

}  // namespace

engine::Engine& engine_of(const plan::Stage& stage,
                          const std::map<std::string, engine::Engine*>& engines) {
  const auto found = engines.find(stage.engine);
  if (found != engines.end()) return *found->second;
  std::vector<std::string> known;
  for (const auto& [name, engine] : engines) known.push_back(name);
  throw InputError("plan", fmt::format("{} asks for the engine '{}'; there is {}", stage.name,
                                       stage.engine, fmt::join(known, ", ")));
}

namespace {

/// Of the layers on cores of this machine, in the precisions that they run in.
Bytes weights_here(const plan::Plan& plan, const network::Network& network) {
  std::set<LayerId> layers;
  for (const plan::Stage& stage : plan.stages)
    if (!plan::is_simulated(stage) &&
        std::ranges::any_of(stage.processors, [](const auto& p) { return !p.cores.empty(); }))
      for (const plan::Phase& phase : stage.phases)
        layers.insert(phase.layers.begin(), phase.layers.end());
  Bytes sum{};
  for (const LayerId layer : layers) {
    const auto precision =
        plan.variants.empty() ? board::Precision::f32 : plan.variants[layer.index].precision;
    sum += Bytes{network::weights_of(network, layer).count * board::bytes_per_element(precision) /
                 board::bytes_per_element(board::Precision::f32)};
  }
  return sum;
}

}  // namespace

void check_plan_to_run(const PlanToRun& given) {
  const auto& [plan, network, engines] = given;
  const std::string& made_for = plan.network_hash;
  if (!made_for.empty() && made_for != network::hash_of(network))
    throw InputError(
        "plan", fmt::format("was made for another network ('{}', {}) than '{}' ({})",
                            plan.network_name, made_for, network.name, network::hash_of(network)));
  plan::check(plan, network);
  plan::check_cores(plan);
  schedule::check_live(plan, network);
  const Bytes needed = plan::slot_bytes(plan, network), there = board::usable_memory();
  if (needed > there)
    throw InputError("plan", fmt::format("its channels hold {} of frames, this machine has {} of "
                                         "memory; use smaller inputs or batches, or make the plan "
                                         "again",
                                         to_text(needed), to_text(there)));
  const Bytes weights = weights_here(plan, network);
  if (weights > there)
    throw InputError(
        network.name,
        fmt::format("its weights need {}, and this process may use {} of memory: {} "
                    "are missing; run it on more boards: docs/methods/clusters.md",
                    to_text(weights), to_text(there), to_text(Bytes{weights.count - there.count})));
}

std::vector<PreparedActor> prepare(const PlanToRun& given, const schedule::Schedule& schedule,
                                   bool pin) {
  std::vector<PreparedActor> prepared;
  for (const schedule::Actor& actor : schedule.actors) prepared.emplace_back(actor.phases.size());
  const auto orders = orders_of(schedule);
  Preparation preparation(given, schedule);
  const auto prepare_actor = [&](std::size_t a) {
    std::optional<OnProcessorOf> here;
    const schedule::Actor& actor = schedule.actors[a];
    const plan::Stage& stage = given.plan.stages[actor.stage];
    if (pin && binds_threads(engine_of(stage, given.engines), actor.processor)) {
      here.emplace(actor);
      board::note_use(actor.processor.cores);
    }
    for (const std::size_t phase : orders[a]) {
      prepared[a][phase] = preparation.prepare({a, phase});
      if (!prepared[a][phase].subnet) return;
    }
  };
  {
    std::vector<std::jthread> threads;  // end before what they use
    for (std::size_t a = 1; a < prepared.size(); ++a)
      preparation.guarded(a, [&, a] {
        threads.emplace_back([&, a] { preparation.guarded(a, [&] { prepare_actor(a); }); });
      });
    if (!prepared.empty()) preparation.guarded(0, [&] { prepare_actor(0); });
  }
  preparation.rethrow();
  return prepared;
}

}  // namespace millrace::runtime
