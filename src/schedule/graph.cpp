#include "schedule/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "dataflow/analysis.h"

namespace millrace::schedule {
namespace {

/// The caller's two actors come after the others when something needs them.
class ScheduleGraph {
 public:
  ScheduleGraph(const Schedule& schedule, const network::Network& network,
                const GraphOptions& options)
      : schedule_(schedule), network_(network), options_(options) {
    graph_.name = schedule.name;
    for (std::size_t a = 0; a < schedule.actors.size(); ++a) add_actor(a);
    if (options.outside) add_outside();
  }

  dataflow::Graph take() {
    for (const Channel& channel : schedule_.channels) connect(channel);
    return std::move(graph_);
  }

 private:
  void add_actor(std::size_t index) {
    const Actor& actor = schedule_.actors[index];
    std::vector<Time> times(actor.phases.size(), Time{0});
    if (!options_.phase_times.empty()) {
      if (index >= options_.phase_times.size() ||
          options_.phase_times[index].size() != times.size())
        throw InputError(actor.name, "has other phases than the times given for it");
      times = options_.phase_times[index];
    }
    graph_.add_actor({actor.name, over_round(actor, times)});
  }

  /// What each phase has, cycle by cycle: nothing in the cycles in which it does nothing.
  template <class T>
  std::vector<T> over_round(const Actor& actor, const std::vector<T>& by_phase) const {
    std::vector<T> result;
    const std::int64_t cycles = schedule_.round / actor.frames.step;
    for (std::int64_t cycle = 0; cycle < cycles; ++cycle)
      for (std::size_t p = 0; p < by_phase.size(); ++p)
        result.push_back(actor.phases[p].fires_in(cycle) ? by_phase[p] : T{0});
    return result;
  }

  void add_outside() {
    const auto& channels = schedule_.channels;
    if (std::any_of(channels.begin(), channels.end(),
                    [](const Channel& channel) { return channel.from.is_outside(); }))
      submitting_ = graph_.add_actor({"input", no_times()});
    if (std::any_of(channels.begin(), channels.end(),
                    [](const Channel& channel) { return channel.to.is_outside(); }))
      collecting_ = graph_.add_actor({"output", no_times()});
  }

  std::vector<Time> no_times() const {
    return std::vector<Time>(static_cast<std::size_t>(schedule_.replicas));
  }

  std::int64_t tokens_of(TensorId tensor) const {
    if (!options_.tokens_are_elements) return 1;
    return std::max<std::int64_t>(
        1, network::element_count(network_[tensor].shape, network_[tensor].name));
  }

  std::int64_t bits_of(TensorId tensor) const { return times(network_[tensor].size().count, 8); }

  /// One end of a channel that carries these frames, and works on each of them `offset` cycles
  /// late.
  struct Side {
    End end;
    std::int64_t offset;
    Frames frames;
  };

  /// Cycle by cycle, nothing in those in which the phase works on frames of other channels only.
  std::vector<std::int64_t> rates(const Side& side, std::int64_t tokens) const {
    std::vector<std::int64_t> result;
    if (side.end.is_outside()) {
      for (std::int64_t frame = 0; frame < schedule_.replicas; ++frame)
        result.push_back(carries(side, frame) ? tokens : 0);
      return result;
    }
    const Actor& actor = schedule_.actors[side.end.actor];
    const std::int64_t batch = actor.phases[side.end.phase].batch;
    std::int64_t gathered = 0;
    for (std::int64_t cycle = 0; cycle < schedule_.round / actor.frames.step; ++cycle) {
      gathered += carries(side, actor.frames.first + cycle * actor.frames.step) ? 1 : 0;
      for (std::size_t p = 0; p < actor.phases.size(); ++p)
        result.push_back(p == side.end.phase && (cycle + 1) % batch == 0
                             ? times(std::exchange(gathered, 0), tokens)
                             : 0);
    }
    return result;
  }

  /// Whether the side works on a frame of the channel where it would be at this one without offset.
  static bool carries(const Side& side, std::int64_t frame) {
    const std::int64_t step = side.frames.step;
    return side.frames.has((frame + step - side.offset % step) % step);
  }

  void connect(const Channel& channel) {
    if (!options_.outside && (channel.from.is_outside() || channel.to.is_outside())) return;
    const auto from =
        channel.from.is_outside() ? submitting_ : dataflow::ActorId(channel.from.actor);
    const auto to = channel.to.is_outside() ? collecting_ : dataflow::ActorId(channel.to.actor);
    const std::int64_t tokens = tokens_of(channel.tensor);
    const Side writer{channel.from, offset_of(channel.from, 0), channel.frames};
    const Side reader{channel.to, offset_of(channel.to, schedule_.largest_offset), channel.frames};
    const auto id = graph_.add_channel({.name = network_[channel.tensor].name,
                                        .from = from,
                                        .to = to,
                                        .production = rates(writer, tokens),
                                        .consumption = rates(reader, tokens),
                                        .initial_tokens = times(channel.initial_tokens, tokens),
                                        .token_bits = bits_of(channel.tensor) / tokens});
    if (options_.bounded) dataflow::bound_channel(graph_, id, times(channel.capacity, tokens));
  }

  std::int64_t offset_of(const End& end, std::int64_t of_caller) const {
    return end.is_outside() ? of_caller : schedule_.actors[end.actor].phases[end.phase].offset;
  }

  std::int64_t times(std::int64_t frames, std::int64_t tokens) const {
    std::int64_t product = 0;
    if (__builtin_mul_overflow(frames, tokens, &product))
      throw InputError(graph_.name, fmt::format("{} frames of {} tokens are too many for a channel",
                                                frames, tokens));
    return product;
  }

  const Schedule& schedule_;
  const network::Network& network_;
  const GraphOptions& options_;
  dataflow::Graph graph_;
  dataflow::ActorId submitting_, collecting_;
};

}  // namespace

dataflow::Graph csdf_graph(const Schedule& schedule, const network::Network& network,
                           const GraphOptions& options) {
  return ScheduleGraph(schedule, network, options).take();
}

dataflow::Graph csdf_graph(const plan::Plan& plan, const network::Network& network,
                           const GraphOptions& options) {
  return csdf_graph(compile(plan), network, options);
}

void check_live(const plan::Plan& plan, const network::Network& network) {
  const dataflow::Graph graph = csdf_graph(plan, network);
  dataflow::repetition_vector(graph);
  if (const Verdict live = dataflow::is_live(graph); !live)
    throw InputError(plan.network_name, live.reason());
}

}  // namespace millrace::schedule
