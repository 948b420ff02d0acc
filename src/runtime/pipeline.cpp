#include "runtime/pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "runtime/scheduling/thread_priority.h"
#include "schedule/schedule.h"

namespace millrace::runtime {
namespace {

/// The schedule's channels, and those from the caller to itself for inputs that are results too.
std::vector<schedule::Channel> all_channels(const schedule::Schedule& schedule,
                                            const network::Network& network) {
  std::vector<schedule::Channel> channels = schedule.channels;
  for (TensorId input : network.inputs) {
    const auto& outputs = network.outputs;
    if (std::find(outputs.begin(), outputs.end(), input) == outputs.end()) continue;
    const auto of_input = [&](const schedule::Channel& channel) {
      return channel.tensor == input && channel.space.empty();
    };
    const auto any = std::find_if(channels.begin(), channels.end(), of_input);
    const auto capacity = any == channels.end() ? plan::Channel{}.capacity : any->slots();
    const bool there = std::any_of(channels.begin(), channels.end(), [&](const auto& channel) {
      return of_input(channel) && channel.to.is_outside();
    });
    if (there) continue;
    const std::size_t edge = static_cast<std::size_t>(-1) - input.index;  // of no other
    channels.push_back({input, {}, {}, {}, capacity, 0, edge});
  }
  return channels;
}

/// By stage; none if none are wanted, or the system refuses.
std::vector<int> priorities_for(const SessionOptions& options, std::size_t stages) {
  std::vector<int> wanted = options.priorities;
  if (wanted.empty()) return {};
  if (wanted.size() == 1) wanted.assign(stages, wanted.front());
  if (wanted.size() != stages)
    throw InputError("priorities", fmt::format("found {}, expected one, or one for each of {} "
                                               "stages",
                                               wanted.size(), stages));
  const auto [least, most] = std::ranges::minmax(wanted);
  if (least < lowest_priority || most > highest_priority)
    throw InputError("priorities", fmt::format("found {} to {}, expected {} to {}", least, most,
                                               lowest_priority, highest_priority));
  const Verdict allowed = may_have_priority(most);
  if (allowed) return wanted;
  if (options.note) options.note(allowed.reason());
  return {};
}

class Assembler {
 public:
  Assembler(const PlanToRun& given, const SessionOptions& options)
      : given_(given),
        plan_(given.plan),
        network_(given.network),
        options_(options),
        schedule_(schedule::compile(given.plan)),
        wires_(all_channels(schedule_, given.network)),
        priorities_(priorities_for(options, given.plan.stages.size())) {
    for (const schedule::Channel& wire : wires_)
      most_in_flight_ = std::min(most_in_flight_ + wire.capacity, Channel::largest_capacity);
    pipeline_.depth = most_in_flight_;
    for (const schedule::Channel& wire : wires_)
      pipeline_.depth = std::min(pipeline_.depth, wire.slots());
    pipeline_.slots.resize(network_.tensors.size());
    if (schedule_.first_free)
      pipeline_.shared =
          std::make_unique<Shared>(pipeline_.depth, schedule_.replicas, waiting_of({}));
  }

  Pipeline assemble() {
    pipeline_.event_count->end_on(options_.interrupt);
    std::vector<PreparedActor> prepared = prepare(given_, schedule_, options_.pin);
    allocate_slots(sizes_of(prepared));
    allocate_on_devices(prepared);
    for (std::size_t a = 0; a < prepared.size(); ++a)
      add_actor(schedule_.actors[a], std::move(prepared[a]));
    for (const schedule::Channel& wire : wires_) connect(wire);
    if (!pipeline_.shared)
      for (const schedule::Channel& credit : schedule_.credits) connect(credit);
    hand_out_links();
    add_bookkeeping();
    return std::move(pipeline_);
  }

 private:
  /// Sizes by tensor, of one frame: plain, unless an engine chose otherwise.
  std::vector<Bytes> sizes_of(const std::vector<PreparedActor>& prepared) const {
    std::vector<Bytes> sizes;
    for (const network::Tensor& tensor : network_.tensors) sizes.push_back(tensor.size());
    for (const schedule::Channel& wire : wires_) {
      if (wire.from.is_outside()) continue;
      const auto& [actor, phase] = wire.from;
      if (schedule_.actors[actor].phases[phase].batch > 1) continue;  // plain
      for (const engine::Port& port : prepared[actor][phase].subnet->outputs())
        sizes[port.tensor.index] = port.layout.size;
    }
    return sizes;
  }

  void allocate_slots(const std::vector<Bytes>& sizes) {
    for (const schedule::Channel& wire : wires_)
      if (wire.space.empty()) allocate(wire.tensor, sizes, wire.slots());
    for (TensorId input : network_.inputs) allocate(input, sizes, 1);
  }

  void allocate(TensorId tensor, const std::vector<Bytes>& sizes, std::int64_t capacity) {
    auto& slots = pipeline_.slots[tensor.index];
    if (!slots)
      slots = std::make_unique<Slots>(network_[tensor].name, sizes[tensor.index], capacity);
  }

  void allocate_on_devices(const std::vector<PreparedActor>& prepared) {
    for (const schedule::Channel& wire : wires_) {
      const plan::SlotsKey key{wire.tensor, wire.space};
      if (wire.space.empty() || pipeline_.device_slots.contains(key)) continue;
      const network::Tensor& tensor = network_[wire.tensor];
      engine::Layout layout = engine::plain_layout(tensor);
      layout.space = wire.space;
      engine::Subnet& writer = *prepared[wire.from.actor][wire.from.phase].subnet;
      pipeline_.device_slots.emplace(key, make_slots(tensor.name, layout, wire.slots(), writer));
    }
  }

  Slots* memory_of(TensorId tensor) { return pipeline_.slots[tensor.index].get(); }

  std::vector<Slots*> memory_of(std::span<const engine::Port> ports) {
    std::vector<Slots*> result;
    for (const engine::Port& port : ports)
      result.push_back(port.layout.space.empty()
                           ? memory_of(port.tensor)
                           : &pipeline_.device_slots.at({port.tensor, port.layout.space}));
    return result;
  }

  Channel* new_channel(std::int64_t capacity, const schedule::End& from, const schedule::End& to) {
    pipeline_.channels.push_back(
        std::make_unique<Channel>(capacity, waiting_of(from), waiting_of(to)));
    return pipeline_.channels.back().get();
  }

  Waiting waiting_of(const schedule::End& end) {
    const Time spin = end.is_outside() ? options_.caller_spin : options_.spin;
    if (end.is_outside()) return Waiting(unshared(spin), pipeline_.event_count.get());
    return Waiting(unshared(spin), &pipeline_.stages[end.actor]->event_count);
  }

  void add_actor(const schedule::Actor& actor, PreparedActor prepared) {
    auto stage = std::make_unique<StageTask>(actor);
    stage->shared = pipeline_.shared.get();
    if (stage->shared != nullptr) stage->claimed.emplace(actor);
    stage->pin = options_.pin && binds_threads(engine_of(plan_.stages[actor.stage], given_.engines),
                                               actor.processor);
    if (actor.lane == actor.processor.name) {  // else its core is that of another one, too
      stage->spin = unshared(options_.spin);
      stage->spin_for_stages = unshared(stage->pin ? options_.spin_for_stages : options_.spin);
    }
    if (!priorities_.empty()) stage->priority = priorities_[actor.stage];
    if (options_.core_times) stage->core_times = std::vector<PhaseTimes>(actor.phases.size());
    for (PreparedPhase& each : prepared) {
      const std::int64_t batch = actor.phases[stage->phases.size()].batch;
      add_memory(*stage, each, batch);
      Ports inputs(memory_of(each.subnet->inputs()), batch);
      Ports outputs(memory_of(each.subnet->outputs()), batch);
      stage->phases.push_back({batch, std::move(each), std::move(inputs), std::move(outputs)});
    }
    stage->firings.set_capacity(firings_to_keep(actor));
    pipeline_.stages.push_back(std::move(stage));
  }

  /// A thread of high priority that spins would keep the core from whom it waits for.
  Time unshared(Time spin) const { return options_.priorities.empty() ? spin : Time{}; }

  static void add_memory(StageTask& stage, const PreparedPhase& phase, std::int64_t batch) {
    const engine::Memory memory = phase.subnet->memory();
    stage.memory.arena += memory.arena;
    if (phase.of_one) stage.memory.arena += phase.of_one->memory().arena;
    stage.memory.naive += memory.naive;
    stage.memory.weights += memory.weights;
    stage.memory.moved.count += memory.moved.count / batch;
    stage.memory.moved_layer_by_layer.count += memory.moved_layer_by_layer.count / batch;
  }

  /// Firings of the last frames that leave, while others are on their way behind them.
  std::size_t firings_to_keep(const schedule::Actor& actor) const {
    if (options_.trace_frames == 0) return 0;
    return static_cast<std::size_t>(options_.trace_frames + most_in_flight_) * actor.phases.size();
  }

  PhaseTask& phase_at(const schedule::End& end) {
    return pipeline_.stages[end.actor]->phases[end.phase];
  }

  /// Either side has one link for an edge; a replica's is one channel if the other side has no more
  /// replicas.
  void connect(const schedule::Channel& wire) {
    const bool carries = wire.tensor.valid();
    if (carries && wire.to.is_outside() && !wire.from.is_outside())
      phase_at(wire.from).results.push_back(&outlet_of(wire).ready);
    if (pipeline_.shared && wire.frames.step > 1) return;
    Channel* channel = new_channel(wire.capacity, wire.from, wire.to);
    const auto add_to = [&](Link& link, const schedule::End& end) {
      const bool is_all =
          !end.is_outside() && schedule_.actors[end.actor].frames.step == wire.frames.step;
      link.add(channel, is_all ? schedule::Frames{} : wire.frames);
    };
    if (wire.to.is_outside())
      add_to(outlet_of(wire).link, wire.to);
    else
      add_to(links_[{true, wire.to.actor, wire.to.phase, wire.edge}].link, wire.to);
    Edge& edge = links_[{false, wire.from.actor, wire.from.phase, wire.edge}];
    edge.tensor = wire.tensor;
    add_to(edge.link, wire.from);
  }

  /// Brings the links to those who use them.
  void hand_out_links() {
    for (auto& [key, edge] : links_) {
      const auto& [is_incoming, actor, phase, number] = key;
      if (actor == schedule::End::outside) {
        if (!edge.tensor.valid())
          pipeline_.credits.push_back(std::move(edge.link));
        else
          from_outside_.push_back(std::move(edge));
        continue;
      }
      PhaseTask& task = phase_at({actor, phase});
      (is_incoming ? task.incoming : task.outgoing).push_back(std::move(edge.link));
    }
  }

  Outlet& outlet_of(const schedule::Channel& wire) {
    for (const auto& outlet : pipeline_.outlets)
      if (outlet->tensor == wire.tensor) return *outlet;
    pipeline_.outlets.push_back(std::make_unique<Outlet>(
        Outlet{wire.tensor, {}, wire.from.is_outside(), TimeStamps(wire.slots())}));
    return *pipeline_.outlets.back();
  }

  void add_bookkeeping() {
    for (TensorId input : network_.inputs) {
      Inlet& inlet = pipeline_.inlets.emplace_back();
      inlet.slots = memory_of(input);
      for (const Edge& edge : from_outside_)
        if (edge.tensor == input) inlet.links.push_back(edge.link);
    }
    // If frames are shared, no two on their way may have one slot; else each channel sees to that.
    pipeline_.submitted_capacity = pipeline_.shared ? pipeline_.depth : most_in_flight_;
    pipeline_.submitted = new_channel(pipeline_.submitted_capacity, {}, {});
    pipeline_.largest_offset = schedule_.largest_offset;
    pipeline_.round = schedule_.round;
    pipeline_.trace_frames = options_.trace_frames;
    pipeline_.has_priorities = !priorities_.empty();
  }

  struct Edge {
    TensorId tensor;
    Link link;
  };
  /// Incoming or not, the actor and phase whose it is, the edge.
  using LinkKey = std::tuple<bool, std::size_t, std::size_t, std::size_t>;

  const PlanToRun& given_;
  const plan::Plan& plan_;
  const network::Network& network_;
  const SessionOptions& options_;
  const schedule::Schedule schedule_;
  const std::vector<schedule::Channel> wires_;
  const std::vector<int> priorities_;  // by stage; none: ordinary threads
  std::int64_t most_in_flight_ = 1;
  std::map<LinkKey, Edge> links_;
  std::vector<Edge> from_outside_;
  Pipeline pipeline_;
};

}  // namespace

Pipeline assemble(const PlanToRun& given, const SessionOptions& options) {
  check_plan_to_run(given);
  return Assembler(given, options).assemble();
}

}  // namespace millrace::runtime
