#include "dataflow/static_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/file.h"
#include "dataflow/analysis.h"
#include "dataflow/checked.h"

namespace millrace::dataflow {
namespace {

std::string place_of(const std::string& processor) {
  return fmt::format("processor '{}'", processor);
}

/// How often the order holds each actor.
std::map<ActorId, std::int64_t> counts_of(const StaticOrder& order) {
  std::map<ActorId, std::int64_t> counts;
  for (ActorId actor : order.firings) ++counts[actor];
  return counts;
}

/// Each actor as often as the others, measured in iterations.
void check_counts(const Graph& graph, const StaticOrder& order,
                  const std::vector<std::int64_t>& cycles) {
  if (order.firings.empty())
    throw InputError(place_of(order.processor), "its order is empty; name at least one actor");
  const std::map<ActorId, std::int64_t> counts = counts_of(order);
  const auto in_iteration = [&](ActorId actor) {
    return checked_multiply(cycles[actor.index],
                            static_cast<std::int64_t>(graph[actor].times.size()), graph.name);
  };
  const auto& [first, first_count] = *counts.begin();
  for (const auto& [actor, count] : counts) {
    const auto phases = static_cast<std::int64_t>(graph[actor].times.size());
    if (count % phases != 0)
      throw InputError(place_of(order.processor),
                       fmt::format("its order has actor '{}' {} times, which is no multiple of its "
                                   "{} phases",
                                   graph[actor].name, count, phases));
    if (static_cast<__int128>(count) * in_iteration(first) !=
        static_cast<__int128>(first_count) * in_iteration(actor))
      throw InputError(place_of(order.processor),
                       fmt::format("its order has actor '{}' {} times and '{}' {} times, but an "
                                   "iteration has {} and {} firings of them",
                                   graph[first].name, first_count, graph[actor].name, count,
                                   in_iteration(first), in_iteration(actor)));
  }
}

template <class Values>
void repeat(Values& values, std::int64_t times) {
  const Values once = values;
  for (std::int64_t i = 1; i < times; ++i) values.insert(values.end(), once.begin(), once.end());
}

/// A phase for each time that the order has the actor.
void unroll(Graph& graph, ActorId actor, std::int64_t cycles) {
  repeat(graph.actors[actor.index].times, cycles);
  for (Channel& channel : graph.channels) {
    if (channel.from == actor) repeat(channel.production, cycles);
    if (channel.to == actor) repeat(channel.consumption, cycles);
  }
}

/// A token goes from each firing to the next in the order, and at the beginning to the first.
void chain(Graph& graph, const StaticOrder& order) {
  std::map<std::pair<ActorId, ActorId>, ChannelId> channels;
  std::map<ActorId, std::size_t> phases;
  const auto channel_between = [&](ActorId from, ActorId to) -> Channel& {
    const auto [found, fresh] = channels.try_emplace({from, to});
    if (fresh)
      found->second = graph.add_channel(
          {fmt::format("order of {}: {} to {}", order.processor, graph[from].name, graph[to].name),
           from, to, std::vector<std::int64_t>(graph[from].times.size(), 0),
           std::vector<std::int64_t>(graph[to].times.size(), 0)});
    return graph.channels[found->second.index];
  };
  ActorId before = order.firings.back();
  std::size_t before_phase = graph[before].times.size() - 1;
  for (std::size_t i = 0; i < order.firings.size(); ++i) {
    const ActorId actor = order.firings[i];
    const std::size_t phase = phases[actor]++;
    Channel& channel = channel_between(before, actor);
    channel.production[before_phase] = 1;
    channel.consumption[phase] = 1;
    if (i == 0) channel.initial_tokens = 1;
    before = actor;
    before_phase = phase;
  }
}

/// One iteration in time, on processors that fire one actor at a time.
class ListScheduler {
 public:
  ListScheduler(const Graph& graph, const std::vector<Binding>& bindings)
      : graph_(graph),
        orders_(bindings.size() + graph.actors.size()),
        processor_(graph.actors.size()),
        busy_(orders_.size(), false),
        phase_(graph.actors.size(), 0),
        left_(repetition_vector(graph)),
        ready_since_(graph.actors.size(), -1) {
    for (std::size_t a = 0; a < graph.actors.size(); ++a) {
      processor_[a] = bindings.size() + a;  // a processor of its own
      left_[a] = checked_multiply(left_[a], static_cast<std::int64_t>(graph.actors[a].times.size()),
                                  graph.name);
    }
    for (std::size_t p = 0; p < bindings.size(); ++p) bind(bindings[p], p);
    for (const Channel& channel : graph.channels) tokens_.push_back(channel.initial_tokens);
  }

  std::vector<StaticOrder> run(std::size_t processors) {
    do {
      while (start_one()) continue;
    } while (advance());
    orders_.resize(processors);
    return std::move(orders_);
  }

 private:
  void bind(const Binding& binding, std::size_t processor) {
    orders_[processor].processor = binding.processor;
    for (ActorId actor : binding.actors) {
      if (processor_[actor.index] < processor)
        throw InputError(
            place_of(binding.processor),
            fmt::format("actor '{}' is on processor '{}' already; each actor has one",
                        graph_[actor].name, orders_[processor_[actor.index]].processor));
      processor_[actor.index] = processor;
    }
  }

  bool is_ready(std::size_t actor) const {
    if (left_[actor] == 0) return false;
    return std::all_of(graph_.channels.begin(), graph_.channels.end(), [&](const Channel& channel) {
      return channel.to.index != actor ||
             tokens_[static_cast<std::size_t>(&channel - graph_.channels.data())] >=
                 channel.consumption[phase_[actor]];
    });
  }

  /// Starts the actor that has been ready for longest on a free processor.
  bool start_one() {
    std::size_t first = graph_.actors.size();
    for (std::size_t a = 0; a < graph_.actors.size(); ++a) {
      if (!is_ready(a)) continue;
      if (ready_since_[a] < 0) ready_since_[a] = now_;
      if (busy_[processor_[a]]) continue;
      if (first == graph_.actors.size() || ready_since_[a] < ready_since_[first]) first = a;
    }
    if (first == graph_.actors.size()) return false;
    start(first);
    return true;
  }

  void start(std::size_t actor) {
    for (std::size_t c = 0; c < tokens_.size(); ++c)
      if (graph_.channels[c].to.index == actor)
        tokens_[c] -= graph_.channels[c].consumption[phase_[actor]];
    const std::int64_t end = checked_add(now_, graph_.actors[actor].times[phase_[actor]].count(),
                                         "the time of an iteration");
    ends_.emplace(end, std::pair{actor, phase_[actor]});
    phase_[actor] = (phase_[actor] + 1) % graph_.actors[actor].times.size();
    --left_[actor];
    ready_since_[actor] = -1;
    busy_[processor_[actor]] = true;
    orders_[processor_[actor]].firings.push_back(ActorId(actor));
  }

  bool advance() {
    if (ends_.empty()) return false;
    now_ = ends_.begin()->first;
    while (!ends_.empty() && ends_.begin()->first == now_) {
      const auto [actor, phase] = ends_.begin()->second;
      ends_.erase(ends_.begin());
      for (std::size_t c = 0; c < tokens_.size(); ++c)
        if (graph_.channels[c].from.index == actor)
          tokens_[c] += graph_.channels[c].production[phase];
      busy_[processor_[actor]] = false;
    }
    return true;
  }

  const Graph& graph_;
  std::vector<StaticOrder> orders_;     // by processor
  std::vector<std::size_t> processor_;  // by actor
  std::vector<bool> busy_;              // by processor
  std::vector<std::size_t> phase_;      // by actor
  std::vector<std::int64_t> left_, ready_since_, tokens_;
  std::multimap<std::int64_t, std::pair<std::size_t, std::size_t>> ends_;  // actor and phase
  std::int64_t now_ = 0;
};

ActorId actor_named(const Graph& graph, const std::string& name, const std::string& place) {
  std::vector<std::string_view> names;
  for (std::size_t a = 0; a < graph.actors.size(); ++a) {
    if (graph.actors[a].name == name) return ActorId(a);
    names.push_back(graph.actors[a].name);
  }
  const std::string near = nearest_word(name, names);
  throw InputError(place,
                   fmt::format("there is no actor '{}'{}", name,
                               near.empty() ? "" : fmt::format("; did you mean '{}'?", near)));
}

}  // namespace

StaticOrder parse_order(const Graph& graph, const std::string& text, const std::string& place) {
  const auto equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    throw InputError(place, fmt::format("found '{}', expected NAME=ACTOR,ACTOR...", text));
  StaticOrder order{text.substr(0, equals), {}};
  for (std::size_t begin = equals + 1; begin <= text.size();) {
    const std::size_t comma = std::min(text.find(',', begin), text.size());
    std::string name = text.substr(begin, comma - begin);
    std::size_t count = 1;
    const auto star = name.find('*');
    if (star != std::string::npos && star > 0 && star < 8 &&
        name.find_first_not_of("0123456789") == star) {
      count = std::stoul(name);
      name = name.substr(star + 1);
    }
    order.firings.insert(order.firings.end(), count, actor_named(graph, name, place));
    begin = comma + 1;
  }
  return order;
}

Graph with_static_orders(const Graph& graph, const std::vector<StaticOrder>& orders) {
  const std::vector<std::int64_t> cycles = repetition_vector(graph);
  Graph result = graph;
  std::map<ActorId, std::string> owners;
  for (const StaticOrder& order : orders) {
    check_counts(graph, order, cycles);
    for (const auto& [actor, count] : counts_of(order)) {
      const auto [owner, fresh] = owners.try_emplace(actor, order.processor);
      if (!fresh)
        throw InputError(place_of(order.processor),
                         fmt::format("actor '{}' is on processor '{}' already; each actor has one",
                                     graph[actor].name, owner->second));
      unroll(result, actor, count / static_cast<std::int64_t>(graph[actor].times.size()));
    }
  }
  for (const StaticOrder& order : orders) chain(result, order);
  return result;
}

std::vector<StaticOrder> static_orders(const Graph& graph, const std::vector<Binding>& bindings) {
  return ListScheduler(graph, bindings).run(bindings.size());
}

}  // namespace millrace::dataflow
