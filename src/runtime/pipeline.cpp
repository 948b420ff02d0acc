#include "runtime/pipeline.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "plan/build.h"
#include "plan/steps.h"

namespace millrace::runtime {
namespace {

std::int64_t sum_of_capacities(const std::vector<plan::Channel>& channels) {
  std::int64_t sum = 0;
  for (const plan::Channel& channel : channels)
    sum = std::min(sum + channel.capacity, Channel::largest_capacity - 1);
  return sum;
}

/// The plan's channels, and those from the caller to itself for inputs that are results too.
std::vector<plan::Channel> all_channels(const plan::Plan& plan, const network::Network& network) {
  std::vector<plan::Channel> channels = plan.channels;
  for (TensorId input : network.inputs) {
    const auto& outputs = network.outputs;
    if (std::find(outputs.begin(), outputs.end(), input) == outputs.end()) continue;
    const auto of_input = [&](const plan::Channel& channel) { return channel.tensor == input; };
    const auto any = std::find_if(channels.begin(), channels.end(), of_input);
    const auto capacity = any == channels.end() ? plan::Channel{}.capacity : any->capacity;
    const bool there = std::any_of(channels.begin(), channels.end(), [&](const auto& channel) {
      return of_input(channel) && channel.to.is_outside();
    });
    if (!there) channels.push_back({input, {}, {}, capacity});
  }
  return channels;
}

class Assembler {
 public:
  Assembler(const Deployment& deployment, const SessionOptions& options)
      : plan_(deployment.plan),
        network_(deployment.network),
        engines_(deployment.engines),
        options_(options),
        wires_(all_channels(deployment.plan, deployment.network)) {
    pipeline_.slots.resize(network_.tensors.size());
    if (plan::is_shared(plan_)) share();
  }

  Pipeline assemble(std::vector<PreparedStage> prepared) {
    allocate_slots(sizes_of(prepared));
    for (std::size_t s = 0; s < prepared.size(); ++s)
      add_stage(plan_.stages[s], std::move(prepared[s]));
    for (const plan::Channel& wire : wires_) connect(wire);
    hand_out_links();
    add_tickets();
    add_bookkeeping();
    return std::move(pipeline_);
  }

 private:
  void share() {
    pipeline_.shared =
        std::make_unique<Shared>(smallest_capacity(), plan::turns_of(plan_), waiting_of({}));
  }

  std::int64_t smallest_capacity() const {
    std::int64_t smallest = 1 + sum_of_capacities(wires_);
    for (const plan::Channel& wire : wires_) smallest = std::min(smallest, wire.capacity);
    return smallest;
  }

  /// Sizes by tensor, of one frame: plain, unless an engine chose otherwise.
  std::vector<Bytes> sizes_of(const std::vector<PreparedStage>& prepared) const {
    std::vector<Bytes> sizes;
    for (const network::Tensor& tensor : network_.tensors) sizes.push_back(tensor.size());
    for (const plan::Channel& wire : wires_) {
      if (wire.from.is_outside()) continue;
      const auto& [stage, phase] = wire.from;
      if (plan_.stages[stage].phases[phase].batch > 1) continue;  // plain
      for (const engine::Port& port : prepared[stage][phase].subnet->outputs())
        sizes[port.tensor.index] = port.layout.size;
    }
    return sizes;
  }

  void allocate_slots(const std::vector<Bytes>& sizes) {
    for (const plan::Channel& wire : wires_) allocate(wire.tensor, sizes, wire.capacity);
    for (TensorId input : network_.inputs) allocate(input, sizes, 1);
  }

  void allocate(TensorId tensor, const std::vector<Bytes>& sizes, std::int64_t capacity) {
    auto& slots = pipeline_.slots[tensor.index];
    if (!slots)
      slots = std::make_unique<Slots>(network_[tensor].name, sizes[tensor.index], capacity);
  }

  Slots* slots_of(TensorId tensor) { return pipeline_.slots[tensor.index].get(); }

  std::vector<Slots*> slots_of(std::span<const engine::Port> ports) {
    std::vector<Slots*> result;
    for (const engine::Port& port : ports) result.push_back(slots_of(port.tensor));
    return result;
  }

  Channel* new_channel(std::int64_t capacity, const plan::Endpoint& from,
                       const plan::Endpoint& to) {
    pipeline_.channels.push_back(
        std::make_unique<Channel>(capacity, waiting_of(from), waiting_of(to)));
    return pipeline_.channels.back().get();
  }

  Waiting waiting_of(const plan::Endpoint& end) {
    if (end.is_outside()) return Waiting(options_.caller_spin, pipeline_.bell.get());
    return Waiting(options_.spin, &pipeline_.stages[end.stage]->bell);
  }

  void add_stage(const plan::Stage& planned, PreparedStage prepared) {
    auto stage = std::make_unique<StageTask>();
    stage->name = planned.name;
    stage->processor = planned.processor;
    stage->replicas = planned.turn.of;
    stage->shared = pipeline_.shared.get();
    if (stage->shared != nullptr) stage->group.emplace(planned);
    stage->pin = options_.pin && engine_of(planned, engines_).uses_cores();
    stage->spin = options_.spin;
    stage->spin_for_stages = stage->pin ? options_.spin_for_stages : options_.spin;
    for (PreparedPhase& each : prepared) {
      engine::Subnet& subnet = *each.subnet;
      const engine::Memory memory = subnet.memory();
      stage->memory.arena += memory.arena;
      if (each.of_one) stage->memory.arena += each.of_one->memory().arena;
      stage->memory.naive += memory.naive;
      stage->memory.weights += memory.weights;
      const plan::Phase& phase = planned.phases[stage->phases.size()];
      stage->memory.moved.count += memory.moved.count / phase.batch;
      stage->memory.moved_layer_by_layer.count += memory.moved_layer_by_layer.count / phase.batch;
      pipeline_.largest_lag = std::max(pipeline_.largest_lag, phase.lag);
      Ports inputs(slots_of(subnet.inputs()), phase.batch);
      Ports outputs(slots_of(subnet.outputs()), phase.batch);
      stage->phases.push_back(
          {phase.lag, phase.batch, std::move(each), std::move(inputs), std::move(outputs)});
      stage->phases.back().frame = planned.turn.index;
      stage->phases.back().step = planned.turn.of;
    }
    stage->firings = Latest<Firing>(firings_to_keep(planned));
    pipeline_.stages.push_back(std::move(stage));
  }

  /// Of the last frames that leave, while others are on their way behind them.
  std::size_t firings_to_keep(const plan::Stage& stage) const {
    if (options_.trace_frames == 0) return 0;
    const std::int64_t frames = options_.trace_frames + 1 + sum_of_capacities(wires_);
    return static_cast<std::size_t>(frames) * stage.phases.size();
  }

  PhaseTask& phase_at(const plan::Endpoint& end) {
    return pipeline_.stages[end.stage]->phases[end.phase];
  }

  void connect(const plan::Channel& wire) {
    const plan::Turn turn = plan::turn_of(plan_, wire);
    if (pipeline_.shared && turn.of > 1) {
      if (wire.to.is_outside()) phase_at(wire.from).results.push_back(&outlet_of(wire).ready);
      return;
    }
    Channel* channel = new_channel(wire.capacity / turn.of, wire.from, wire.to);
    const auto seen_from = [&](const plan::Endpoint& end) {
      return end.is_outside() || plan_.stages[end.stage].turn.of == 1 ? turn : plan::Turn{};
    };
    if (wire.to.is_outside()) {
      Outlet& outlet = outlet_of(wire);
      outlet.link.add(channel, turn);
      if (!wire.from.is_outside()) phase_at(wire.from).results.push_back(&outlet.ready);
    } else {
      const LinkKey key{true, wire.to.stage, wire.to.phase, wire.tensor, 0, 0};
      links_[key].add(channel, seen_from(wire.to));
    }
    const std::size_t reader = first_replica(wire.to);
    const LinkKey key{false, wire.from.stage, wire.from.phase, wire.tensor, reader, wire.to.phase};
    links_[key].add(channel, seen_from(wire.from));
  }

  /// Brings the links to those who use them.
  void hand_out_links() {
    for (auto& [key, link] : links_) {
      const auto& [is_incoming, stage, phase, tensor, reader, reading_phase] = key;
      if (stage == plan::Endpoint::outside) {
        from_outside_.emplace_back(tensor, std::move(link));
        continue;
      }
      PhaseTask& task = phase_at({stage, phase});
      (is_incoming ? task.incoming : task.outgoing).push_back(std::move(link));
    }
  }

  Outlet& outlet_of(const plan::Channel& wire) {
    for (const auto& outlet : pipeline_.outlets)
      if (outlet->tensor == wire.tensor) return *outlet;
    pipeline_.outlets.push_back(std::make_unique<Outlet>(
        Outlet{wire.tensor, {}, wire.from.is_outside(), Moments(wire.capacity)}));
    return *pipeline_.outlets.back();
  }

  /// Channels to, or from, the replicas of a stage are one link for what is on the other side.
  std::size_t first_replica(const plan::Endpoint& end) const {
    if (end.is_outside()) return end.stage;
    const plan::Stage& stage = plan_.stages[end.stage];
    if (stage.turn.of == 1) return end.stage;
    const auto first =
        std::find_if(plan_.stages.begin(), plan_.stages.end(), [&](const plan::Stage& other) {
          return other.turn.of > 1 && other.phases[0].layers == stage.phases[0].layers;
        });
    return static_cast<std::size_t>(first - plan_.stages.begin());
  }

  /// A phase that reads only constants would run ahead for ever: it gets one token per frame.
  void add_tickets() {
    if (pipeline_.shared) return;
    for (std::size_t s = 0; s < pipeline_.stages.size(); ++s)
      for (PhaseTask& phase : pipeline_.stages[s]->phases)
        if (phase.incoming.empty()) {
          Channel* channel = new_channel(1 + sum_of_capacities(wires_), {}, {s, 0});
          phase.incoming.emplace_back().add(channel, {});
          ticket_of(s).add(channel, plan_.stages[s].turn);
        }
  }

  /// Of all replicas of the stage: each gets the tokens of its frames.
  Link& ticket_of(std::size_t stage) {
    const auto [found, fresh] =
        tickets_.try_emplace(first_replica({stage, 0}), pipeline_.tickets.size());
    if (fresh || plan_.stages[stage].turn.of == 1) return pipeline_.tickets.emplace_back();
    return pipeline_.tickets[found->second];
  }

  void add_bookkeeping() {
    for (TensorId input : network_.inputs) {
      Inlet& inlet = pipeline_.inlets.emplace_back();
      inlet.slots = slots_of(input);
      for (const auto& [tensor, link] : from_outside_)
        if (tensor == input) inlet.links.push_back(link);
    }
    // Of shared frames no two on their way may have the same slot; else each channel sees to that.
    pipeline_.submitted_capacity =
        pipeline_.shared ? smallest_capacity() : 1 + sum_of_capacities(wires_);
    pipeline_.submitted = new_channel(pipeline_.submitted_capacity, {}, {});
    pipeline_.round = plan::round_of(plan_);
    pipeline_.trace_frames = options_.trace_frames;
    pipeline_.depth = smallest_capacity();
  }

  const plan::Plan& plan_;
  const network::Network& network_;
  const std::map<std::string, engine::Engine*>& engines_;
  const SessionOptions& options_;
  std::vector<plan::Channel> wires_;
  /// Incoming or not, the stage and phase whose it is, the tensor, and of outgoing ones the
  /// reader's stage (its first replica) and phase.
  using LinkKey = std::tuple<bool, std::size_t, std::size_t, TensorId, std::size_t, std::size_t>;
  std::map<LinkKey, Link> links_;
  std::map<std::size_t, std::size_t> tickets_;  // by the stage's first replica
  std::vector<std::pair<TensorId, Link>> from_outside_;
  Pipeline pipeline_;
};

}  // namespace

Pipeline assemble(const Deployment& deployment, const SessionOptions& options) {
  check_deployment(deployment);
  return Assembler(deployment, options).assemble(prepare(deployment, options.pin));
}

}  // namespace millrace::runtime
